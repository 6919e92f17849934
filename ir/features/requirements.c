/* Requirements of functions and of what they reach. */
#include "ir/features/requirements.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

char *ir_target_names(const char *const *targets, uint32_t n)
{
    struct strbuf out = {0};
    strbuf_add(&out, "");
    for (uint32_t i = 0; i < n; i++) strbuf_printf(&out, "%s%s", i ? ", " : "", targets[i]);
    return strbuf_take(&out);
}

static bool is_among(const char *name, const char *const *targets, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(targets[i], name) == 0) return true;
    return false;
}

static char *contradiction(const struct ir_requirements *r, const struct ir_function *f, const struct ir_function *g)
{
    struct strbuf out = {0};
    char *first = ir_target_names(r->targets, r->n_targets), *second = ir_target_names(g->targets, g->n_targets);
    strbuf_printf(&out, "%s is for the targets %s, but reaches function %s, which is for %s: no target is left",
                  f->name, first, g->name, second);
    free(first);
    free(second);
    return strbuf_take(&out);
}

/* Functions that do not fix their targets do not count. */
static bool add_targets(struct ir_requirements *r, const struct ir_function *f, const struct ir_function *g, char **why)
{
    uint32_t n = 0;
    if (!g->n_targets) return true;
    if (!r->fixed) {
        r->fixed = true;
        r->targets = arena_realloc(NULL, g->n_targets * sizeof *r->targets);
        for (; n < g->n_targets; n++) r->targets[n] = g->targets[n];
        r->n_targets = n;
        return true;
    }
    for (uint32_t i = 0; i < r->n_targets; i++) n += is_among(r->targets[i], g->targets, g->n_targets);
    if (!n) {
        if (why) *why = contradiction(r, f, g);
        return false;
    }
    n = 0;
    for (uint32_t i = 0; i < r->n_targets; i++)
        if (is_among(r->targets[i], g->targets, g->n_targets)) r->targets[n++] = r->targets[i];
    r->n_targets = n;
    return true;
}

static void add_sub_group_size(struct ir_requirements *r, uint32_t size)
{
    if (size && size != IR_SUB_GROUP_AUTOMATIC && size != IR_SUB_GROUP_PRIMARY)
        r->sub_group_sizes |= 1u << __builtin_ctz(size);
}

struct reach {
    const struct ir_function **functions;
    uint32_t n;
    bool *seen;
    const struct ir_module *m;
};

static void reach(struct reach *r, const struct ir_function *f)
{
    uint32_t i = f->scratch;
    if (i >= r->m->n_functions || r->m->functions[i] != f)
        for (i = 0; r->m->functions[i] != f; i++) {
        }
    if (r->seen[i]) return;
    r->seen[i] = true;
    r->functions[r->n++] = f;
}

static void see_call(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_CALL && inst->attrs.callee) reach(data, inst->attrs.callee);
}

bool ir_requirements_find(struct ir_usage *u, const struct ir_function *f, struct ir_requirements *r, char **why)
{
    const struct ir_module *m = f->module;
    struct arena *a = arena_new();
    struct reach all = {.functions = arena_alloc(a, m->n_functions * sizeof(*all.functions)),
                        .seen = memset(arena_alloc(a, m->n_functions), 0, m->n_functions),
                        .m = m};
    *r = (struct ir_requirements){.aspects = ir_usage_all(u, f) | (f->has_declared ? f->aspects_declared : 0)};
    memcpy(r->work_group_size, f->work_group_size, sizeof r->work_group_size);
    bool good = true;
    reach(&all, f);
    for (uint32_t i = 0; i < all.n && good; i++) {
        const struct ir_function *g = all.functions[i];
        if (g->body && !g->refused) ir_walk(g->body, see_call, &all);
        add_sub_group_size(r, g->sub_group_size);
        good = add_targets(r, f, g, why);
    }
    arena_free(a);
    if (!good) ir_requirements_clear(r);
    return good;
}

void ir_requirements_clear(struct ir_requirements *r)
{
    free(r->targets);
    *r = (struct ir_requirements){0};
}
