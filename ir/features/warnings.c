/* Warnings about optional features. */
#include "ir/features/warnings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/strbuf.h"

/* Who is told, and of which module. */
struct audience {
    struct ir_usage *u;
    const struct ir_module *m;
    ir_warn *warn;
    void *data;
    bool gone; /* wants to hear no more */
};

static void tell(struct audience *a, struct strbuf *text)
{
    char *s = strbuf_take(text);
    a->gone = a->gone || !a->warn(a->data, s);
    free(s);
}

/* "kernels.cl:12", or "kernels.cl:12:3" */
static void add_place(struct strbuf *out, const struct ir_module *m, struct ir_loc loc)
{
    const char *file = loc.file && loc.file <= m->n_files ? m->files[loc.file - 1] : m->name;
    if (file) strbuf_printf(out, "%s:", file);
    strbuf_printf(out, "%" PRIu32, loc.line);
    if (loc.column) strbuf_printf(out, ":%" PRIu32, loc.column);
}

/* The use, what is wrong with it, and the calls that lead to it. */
static void warn_use(struct audience *a, const struct ir_function *f, unsigned bit, const char *complaint)
{
    struct ir_usage_chain chain;
    struct strbuf out = {0};
    bool has_lines = false;
    ir_usage_find(a->u, f, bit, &chain);
    if (chain.loc.line) {
        add_place(&out, a->m, chain.loc);
        strbuf_add(&out, ": ");
        has_lines = true;
    }
    strbuf_printf(&out, "warning: function '%s' uses aspect '%s' %s\nuse is from this call chain:\n  %s()", f->name,
                  ir_module_aspect_name(a->m, bit), complaint, f->name);
    for (uint32_t i = 0; i < chain.n_calls; i++) {
        strbuf_printf(&out, "\n  %s()", chain.calls[i]->attrs.callee->name);
        if (!chain.calls[i]->loc.line) continue;
        strbuf_add(&out, " ");
        add_place(&out, a->m, chain.calls[i]->loc);
        has_lines = true;
    }
    if (!has_lines) strbuf_add(&out, "\ncompile with '-g' to get source location");
    tell(a, &out);
}

static void warn_uses(struct audience *a, const struct ir_function *f, uint64_t set, const char *complaint)
{
    for (unsigned bit = 0; bit < IR_ASPECT_BITS && !a->gone; bit++)
        if (set >> bit & 1) warn_use(a, f, bit, complaint);
}

void ir_warn_undeclared(struct ir_usage *u, ir_warn *warn, void *data)
{
    struct audience a = {u, ir_usage_module(u), warn, data, false};
    for (uint32_t i = 0; i < a.m->n_functions && !a.gone; i++) {
        const struct ir_function *f = a.m->functions[i];
        if (f->has_declared && f->linkage != IR_LINKAGE_IMPORT)
            warn_uses(&a, f, ir_usage_all(u, f) & ~f->aspects_declared, "not listed in 'sycl::device_has'");
    }
}

/* ---- fixed targets ---- */

static const struct ir_target *find_target(const struct ir_targets *known, const char *name)
{
    for (size_t i = 0; i < known->n; i++)
        if (strcmp(known->items[i].name, name) == 0) return &known->items[i];
    return NULL;
}

static bool has_number(const uint32_t *numbers, uint32_t n, uint32_t number)
{
    for (uint32_t i = 0; i < n; i++)
        if (numbers[i] == number) return true;
    return false;
}

static void warn_aspects(struct audience *a, const struct ir_function *f, const struct ir_target *t)
{
    uint64_t used = ir_usage_all(a->u, f), declared = f->has_declared ? f->aspects_declared : 0, missing = 0;
    char complaint[256];
    snprintf(complaint, sizeof complaint, "not supported by fixed target '%.200s'", t->name);
    for (unsigned bit = 0; bit < IR_ASPECT_BITS; bit++)
        if ((used | declared) >> bit & 1 && !has_number(t->aspects, t->n_aspects, ir_module_aspect_number(a->m, bit)))
            missing |= (uint64_t)1 << bit;
    warn_uses(a, f, missing & used, complaint);
    for (unsigned bit = 0; bit < IR_ASPECT_BITS; bit++) {
        struct strbuf out = {0};
        if (!((missing & ~used) >> bit & 1)) continue;
        strbuf_printf(&out, "warning: function '%s' declares aspect '%s' %s", f->name, ir_module_aspect_name(a->m, bit),
                      complaint);
        tell(a, &out);
    }
}

static void warn_sizes(struct audience *a, const struct ir_function *f, const struct ir_target *t)
{
    const uint32_t *group = f->work_group_size, s = f->sub_group_size;
    uint64_t items = (uint64_t)group[0] * group[1] * group[2];
    struct strbuf out = {0};
    if (s && s != IR_SUB_GROUP_AUTOMATIC && s != IR_SUB_GROUP_PRIMARY &&
        !has_number(t->sub_group_sizes, t->n_sub_group_sizes, s)) {
        strbuf_printf(&out,
                      "warning: function '%s' has required sub-group size '%u' not supported by fixed target '%s'",
                      f->name, s, t->name);
        tell(a, &out);
    }
    if (group[0] && t->max_work_group_size && items > t->max_work_group_size) {
        out = (struct strbuf){0};
        strbuf_printf(&out,
                      "warning: function '%s' has required work-group size '%u, %u, %u' not supported by fixed target "
                      "'%s'",
                      f->name, group[0], group[1], group[2], t->name);
        tell(a, &out);
    }
}

void ir_warn_targets(struct ir_usage *u, const struct ir_targets *known, ir_warn *warn, void *data)
{
    struct audience a = {u, ir_usage_module(u), warn, data, false};
    for (uint32_t i = 0; i < a.m->n_functions && !a.gone; i++) {
        const struct ir_function *f = a.m->functions[i];
        for (uint32_t k = 0; k < f->n_targets && !a.gone; k++) {
            const struct ir_target *t = find_target(known, f->targets[k]);
            if (t) {
                warn_aspects(&a, f, t);
                warn_sizes(&a, f, t);
            } else {
                struct strbuf out = {0};
                strbuf_printf(&out,
                              "warning: function '%s' has fixed target '%s', which the device configuration file "
                              "does not have",
                              f->name, f->targets[k]);
                tell(&a, &out);
            }
        }
    }
}
