/* "Error checking for SYCL_EXTERNAL functions" of seed 004. */
#include "fuser/features/image_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/features/device_config.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

struct check {
    const struct ir_module *image, *whole;
    const struct split_entries *all;
    const struct split_entry *first; /* what the image's entries have in common */
    struct arena *arena;
    struct property_set *out;
    ir_warn *warn;
    void *data;
    bool gone; /* who is warned wants to hear no more */
};

static void tell(struct check *c, struct strbuf *text)
{
    char *s = strbuf_take(text);
    c->gone = c->gone || !c->warn(c->data, s);
    free(s);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void add_number(struct check *c, struct property_list *list, uint32_t number)
{
    list->items = arena_grow(c->arena, list->items, list->n, sizeof *list->items);
    list->items[list->n++] = number;
}

static void sort(struct property_list *list)
{
    if (list->n) qsort(list->items, list->n, sizeof *list->items, compare_numbers);
}

/* ---- images for any target ---- */

static void warn_aspects(struct check *c, const char *function, uint64_t extra)
{
    for (unsigned bit = 0; bit < IR_ASPECT_BITS; bit++) {
        struct strbuf out = {0};
        if (!(extra >> bit & 1)) continue;
        strbuf_printf(&out,
                      "warning: function '%s' uses aspect '%s' not expected by its calling kernel. Missing "
                      "[[sycl::device_has()]] on SYCL_EXTERNAL function?",
                      function, ir_module_aspect_name(c->whole, bit));
        tell(c, &out);
    }
}

/* Only exported functions are sure to keep what they say until images are made; what others use, these do, too. */
static void check_aspects(struct check *c)
{
    uint64_t final = c->first->aspects;
    for (uint32_t i = 0; i < c->image->n_functions; i++) {
        const struct split_entry *e = split_entry_of(c->all, c->image->functions[i]->name);
        if (!e) continue;
        warn_aspects(c, e->f->name, e->aspects & ~c->first->aspects);
        final |= e->aspects;
    }
    for (unsigned bit = 0; bit < IR_ASPECT_BITS; bit++)
        if (final >> bit & 1) add_number(c, &c->out->aspects, ir_module_aspect_number(c->whole, bit));
    sort(&c->out->aspects);
}

static void check_sub_groups(struct check *c)
{
    struct property_list *sizes = &c->out->sub_group_sizes;
    if (c->first->sub_group_size) add_number(c, sizes, c->first->sub_group_size);
    for (uint32_t i = 0; i < c->image->n_functions; i++) {
        uint32_t size = c->image->functions[i]->sub_group_size;
        bool known = false;
        struct strbuf out = {0};
        if (!size || size == IR_SUB_GROUP_AUTOMATIC || size == IR_SUB_GROUP_PRIMARY || size == c->first->sub_group_size)
            continue;
        strbuf_printf(&out,
                      "warning: function '%s' has required sub-group size '%u' that does not match its calling kernel. "
                      "Missing [[sycl::reqd_sub_group()]] attribute on SYCL_EXTERNAL function?",
                      c->image->functions[i]->name, size);
        tell(c, &out);
        for (uint32_t k = 0; k < sizes->n; k++) known |= sizes->items[k] == size;
        if (!known) add_number(c, sizes, size);
    }
    sort(sizes);
}

static void set_work_group(struct check *c)
{
    const uint32_t *size = c->first->f->work_group_size;
    if (!size[0]) return;
    c->out->n_work_groups = 1;
    c->out->work_groups = arena_alloc(c->arena, sizeof *c->out->work_groups);
    *c->out->work_groups = (struct property_work_group){3, {size[0], size[1], size[2]}};
}

/* ---- images for fixed targets ---- */

static bool is_among(const char *name, const char *const *targets, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(targets[i], name) == 0) return true;
    return false;
}

static bool differs(const struct ir_function *f, const struct split_entry *e)
{
    for (uint32_t i = 0; i < f->n_targets; i++)
        if (!is_among(f->targets[i], e->targets, e->n_targets)) return true;
    for (uint32_t i = 0; i < e->n_targets; i++)
        if (!is_among(e->targets[i], f->targets, f->n_targets)) return true;
    return false;
}

/* A function that is known to be made without targets is a reason to warn, and takes none away. */
static void check_targets(struct check *c)
{
    const struct split_entry *e = c->first;
    const char **final = arena_alloc(c->arena, (e->n_targets + 1) * sizeof *final);
    uint32_t n = e->n_targets;
    memcpy(final, e->targets, n * sizeof *final);
    for (uint32_t i = 0; i < c->image->n_functions; i++) {
        const struct ir_function *f = c->image->functions[i];
        struct strbuf out = {0};
        if (!f->has_targets || !differs(f, e)) continue;
        strbuf_printf(&out,
                      "warning: function '%s' compiled with a different `-fsycl-fixed-targets` switch than its calling "
                      "kernel.",
                      f->name);
        tell(c, &out);
        uint32_t left = 0;
        for (uint32_t k = 0; k < n; k++)
            if (!f->n_targets || is_among(final[k], f->targets, f->n_targets)) final[left++] = final[k];
        n = left;
    }
    c->out->fixed = true;
    for (uint32_t i = 0; i < n; i++) add_number(c, &c->out->fixed_targets, device_config_target_aspect(final[i]));
    sort(&c->out->fixed_targets);
}

void image_check(const struct ir_module *image, const struct ir_module *whole, const struct split_entries *all,
                 const struct split_entry *first, struct arena *arena, struct property_set *out, ir_warn *warn,
                 void *data)
{
    struct check c = {image, whole, all, first, arena, out, warn, data, false};
    *out = (struct property_set){0};
    if (first->n_targets) {
        check_targets(&c);
        return;
    }
    check_aspects(&c);
    check_sub_groups(&c);
    set_work_group(&c);
}
