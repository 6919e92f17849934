/* The aspect filter of seed 004. */
#include "fuser/features/filter.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/base/arena.h"

static bool has(const uint32_t *numbers, uint32_t n, uint32_t number)
{
    for (uint32_t i = 0; i < n; i++)
        if (numbers[i] == number) return true;
    return false;
}

static bool has_all(const uint32_t *numbers, uint32_t n, const struct property_list *wanted)
{
    for (uint32_t i = 0; i < wanted->n; i++)
        if (!has(numbers, n, wanted->items[i])) return false;
    return true;
}

static bool fits(const struct ir_target *t, const struct property_work_group *g)
{
    uint64_t items = 1;
    for (uint32_t d = 0; d < g->n_dims; d++)
        if (__builtin_mul_overflow(items, g->dims[d], &items)) return !t->max_work_group_size;
    return !t->max_work_group_size || items <= t->max_work_group_size;
}

bool filter_accepts(const struct ir_target *t, const struct property_set *s)
{
    bool is_one = !s->fixed;
    for (uint32_t i = 0; i < s->fixed_targets.n; i++)
        is_one |= has(t->aspects, t->n_aspects, s->fixed_targets.items[i]);
    for (uint32_t i = 0; i < s->n_work_groups; i++)
        if (!fits(t, &s->work_groups[i])) return false;
    return is_one && has_all(t->aspects, t->n_aspects, &s->aspects) &&
           has_all(t->sub_group_sizes, t->n_sub_group_sizes, &s->sub_group_sizes);
}

char *filter_read_file(const char *path, struct error *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "rbe");
    if (!f) {
        error_set(e, 1, path, "%m");
        return NULL;
    }
    if (getdelim(&text, &size, '\0', f) < 0) {
        if (!text) text = malloc(1);
        if (text) *text = 0;
    }
    fclose(f);
    return text;
}

/* 1: the row stays; 0: it does not; -1: the error. */
static int check_row(const char *path, const struct ir_target *t, struct arena *a, struct error *e)
{
    struct property_set s;
    char *text = filter_read_file(path, e);
    int found = text ? property_set_read(&s, a, text, path, e) : -1;
    free(text);
    return found > 0 ? filter_accepts(t, &s) : found == 0 ? 1 : -1;
}

int filter_table(const struct file_table *from, const struct ir_target *t, struct file_table *to, struct error *e)
{
    int column = file_table_column(from, "Properties");
    for (uint32_t i = 0; i < from->n_columns; i++) file_table_add_column(to, from->columns[i]);
    for (size_t i = 0; i < from->n_rows; i++) {
        int keep = column < 0 ? 1 : check_row(from->rows[i].cells[column], t, to->arena, e);
        if (keep < 0) return -1;
        if (keep) file_table_add_row(to, from->rows[i].cells);
    }
    return 0;
}
