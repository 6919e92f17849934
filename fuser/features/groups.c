/* Which entries become one image. */
#include "fuser/features/groups.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

bool split_mode_parse(const char *word, enum split_mode *mode)
{
    static const char *const words[] = {"off", "per_source", "per_kernel", "auto"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) != 0) continue;
        *mode = (enum split_mode)i;
        return true;
    }
    return false;
}

/* ---- which are together ---- */

/* Those with the same key are together. */
static const char *key_of(const struct split_entries *e, const struct split_entry *x, enum split_mode mode)
{
    const char *required = split_requirement_key(e, x);
    struct strbuf key = {0};
    if (mode == SPLIT_PER_KERNEL) return x->f->name;
    if (mode == SPLIT_OFF) return required;
    strbuf_printf(&key, "%u %s", x->unit, required);
    char *text = strbuf_take(&key);
    const char *kept = arena_strndup(e->arena, text, strlen(text));
    free(text);
    return kept;
}

static struct split_groups group(const struct split_entries *e, enum split_mode mode)
{
    struct names groups = {.arena = e->arena};
    struct split_groups g = {.first = arena_alloc(e->arena, (e->n + 1) * sizeof *g.first),
                             .group_of = arena_alloc(e->arena, (e->n + 1) * sizeof *g.group_of)};
    for (uint32_t i = 0; i < e->n; i++) {
        const char *key = key_of(e, &e->items[i], mode);
        uintptr_t *number = (uintptr_t *)names_put(&groups, key, strlen(key));
        if (!*number) {
            g.first[g.n++] = i;
            *number = g.n;
        }
        g.group_of[i] = (uint32_t)*number - 1;
    }
    return g;
}

/* ---- what the best way is ---- */

struct count {
    const struct ir_module *m;
    const struct ir_function **reached;
    uint32_t n;
    bool *seen;
    uint64_t insts;
};

static void reach(struct count *c, const struct ir_function *f)
{
    if (c->seen[f->scratch]) return;
    c->seen[f->scratch] = true;
    c->reached[c->n++] = f;
}

static void count_inst(struct ir_inst *inst, void *data)
{
    struct count *c = data;
    c->insts++;
    if (inst->op == IR_OP_CALL) reach(c, inst->attrs.callee);
}

/* Instructions of all images. */
static uint64_t size_of(const struct split_entries *e, const struct ir_module *m, const struct split_groups *g)
{
    struct arena *a = arena_new();
    struct count c = {.m = m, .reached = arena_alloc(a, (m->n_functions + 1) * sizeof(*c.reached))};
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
    for (uint32_t k = 0; k < g->n; k++) {
        c.seen = arena_alloc(a, m->n_functions + 1);
        c.n = 0;
        for (uint32_t i = g->first[k]; i < e->n; i++)
            if (g->group_of[i] == k) reach(&c, e->items[i].f);
        for (uint32_t i = 0; i < c.n; i++)
            if (c.reached[i]->body) ir_walk(c.reached[i]->body, count_inst, &c);
    }
    arena_free(a);
    return c.insts;
}

/* By sources, unless half as much again would be in the images for it. */
static struct split_groups group_best(const struct split_entries *e, const struct ir_module *whole)
{
    struct split_groups one = group(e, SPLIT_OFF), by_source = group(e, SPLIT_PER_SOURCE);
    return size_of(e, whole, &by_source) > size_of(e, whole, &one) / 2 * 3 ? one : by_source;
}

struct split_groups split_group(const struct split_entries *e, const struct ir_module *whole, enum split_mode mode)
{
    return mode == SPLIT_AUTO ? group_best(e, whole) : group(e, mode);
}
