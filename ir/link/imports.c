/* Imports that a function needs: what must be linked before it can run. */
#include <stdlib.h>
#include <string.h>

#include "ir/arena.h"
#include "ir/link.h"

/* Functions reached so far; those before `done` have been looked at. */
struct reach {
    const struct ir_function **functions;
    uint32_t n, done;
    bool *seen; /* by ir_function.scratch */
    const struct ir_inst *import;
};

static void reach_function(struct reach *r, const struct ir_function *f)
{
    if (r->seen[f->scratch]) return;
    r->seen[f->scratch] = true;
    r->functions[r->n++] = f;
}

static void look_at(struct ir_inst *inst, void *data)
{
    struct reach *r = data;
    const struct ir_function *callee = inst->op == IR_OP_CALL ? inst->attrs.callee : NULL;
    bool imported = callee ? callee->linkage == IR_LINKAGE_IMPORT
                           : inst->op == IR_OP_GLOBAL && inst->attrs.global->linkage == IR_LINKAGE_IMPORT;
    if (imported && !r->import) r->import = inst;
    if (callee && callee->body) reach_function(r, callee);
}

const struct ir_inst *ir_find_import(const struct ir_function *f)
{
    const struct ir_module *m = f->module;
    struct arena *arena = arena_new();
    struct reach r = {.functions = arena_alloc(arena, m->n_functions * sizeof *r.functions),
                      .seen = arena_alloc(arena, m->n_functions * sizeof *r.seen)};
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
    if (f->body) reach_function(&r, f);
    while (r.done < r.n && !r.import) ir_walk(r.functions[r.done++]->body, look_at, &r);
    arena_free(arena);
    return r.import;
}
