/* Entries of images. */
#include "fuser/features/entries.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/features/usage.h"

static bool is_entry(const struct ir_function *f)
{
    return f->linkage == IR_LINKAGE_KERNEL || f->linkage == IR_LINKAGE_EXPORT || f->linkage == IR_LINKAGE_EXPORT_ONCE;
}

static uint32_t number_of(uint32_t sub_group_size)
{
    return sub_group_size == IR_SUB_GROUP_AUTOMATIC || sub_group_size == IR_SUB_GROUP_PRIMARY ? 0 : sub_group_size;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_targets(struct split_entries *e, struct split_entry *x)
{
    const char **sorted = arena_alloc(e->arena, (x->f->n_targets + 1) * sizeof *sorted);
    for (uint32_t i = 0; i < x->f->n_targets; i++) sorted[i] = x->f->targets[i];
    qsort(sorted, x->f->n_targets, sizeof *sorted, compare_names);
    x->targets = sorted;
    for (uint32_t i = 0; i < x->f->n_targets; i++)
        if (!x->n_targets || strcmp(sorted[x->n_targets - 1], sorted[i]) != 0) sorted[x->n_targets++] = sorted[i];
}

/* Of several definitions that are the same by promise, linking takes that which is `export` alone, else the first. */
static struct split_entry *place_for(struct split_entries *e, const struct ir_function *f)
{
    uintptr_t *slot = (uintptr_t *)names_put(&e->by_name, f->name, strlen(f->name));
    if (*slot) return f->linkage == IR_LINKAGE_EXPORT ? &e->items[*slot - 1] : NULL;
    e->items = arena_grow(e->arena, e->items, e->n, sizeof *e->items);
    *slot = ++e->n;
    return &e->items[e->n - 1];
}

static void add_entry(struct split_entries *e, struct ir_usage *u, uint32_t unit, const struct ir_function *f,
                      struct ir_module *whole, const struct names *defined)
{
    struct split_entry *x = place_for(e, f);
    if (!x) return;
    uint64_t aspects = ir_usage_all(u, f) | (f->has_declared ? f->aspects_declared : 0);
    *x = (struct split_entry){
        .f = names_get(defined, f->name, strlen(f->name)),
        .unit = unit,
        .aspects = ir_aspects_into(whole, f->module, aspects),
        .sub_group_size = number_of(f->sub_group_size),
    };
    sort_targets(e, x);
}

void split_find_entries(struct split_entries *e, const struct ir_module *const *units, uint32_t n,
                        struct ir_module *whole)
{
    struct names defined = {.arena = e->arena};
    e->by_name.arena = e->arena;
    for (uint32_t i = 0; i < whole->n_functions; i++)
        *names_put(&defined, whole->functions[i]->name, strlen(whole->functions[i]->name)) = whole->functions[i];
    for (uint32_t i = 0; i < n; i++) {
        struct ir_usage *u = ir_usage_new(units[i]);
        for (uint32_t k = 0; k < units[i]->n_functions; k++)
            if (is_entry(units[i]->functions[k])) add_entry(e, u, i, units[i]->functions[k], whole, &defined);
        ir_usage_free(u);
    }
}

const struct split_entry *split_entry_of(const struct split_entries *e, const char *name)
{
    uintptr_t place = (uintptr_t)names_get(&e->by_name, name, strlen(name));
    return place ? &e->items[place - 1] : NULL;
}

const char *split_requirement_key(const struct split_entries *e, const struct split_entry *x)
{
    struct strbuf key = {0};
    const uint32_t *size = x->f->work_group_size;
    if (!x->n_targets)
        strbuf_printf(&key, "%llx %u,%u,%u %u", (unsigned long long)x->aspects, size[0], size[1], size[2],
                      x->sub_group_size);
    for (uint32_t i = 0; i < x->n_targets; i++) strbuf_printf(&key, "%zu:%s", strlen(x->targets[i]), x->targets[i]);
    char *text = strbuf_take(&key);
    const char *kept = arena_strndup(e->arena, text, strlen(text));
    free(text);
    return kept;
}
