/* What a function needs and cannot have: imports, which must be linked before it can run, and refused functions. */
#include "ir/link/unresolved.h"

#include <stdlib.h>
#include <string.h>

#include "ir/analysis/reachable_globals.h"
#include "ir/base/arena.h"

/* Functions reached so far; those before `done` have been looked at. */
struct reach {
    const struct ir_function **functions;
    uint32_t n, done;
    bool *seen; /* by ir_function.scratch */
    struct ir_held variables;
    const struct ir_inst *import;
    const struct ir_function *refused;
};

static void reach_function(struct reach *r, const struct ir_function *f)
{
    if (r->seen[f->scratch]) return;
    r->seen[f->scratch] = true;
    if (f->refused && !r->refused) r->refused = f;
    r->functions[r->n++] = f;
}

/* Whether one of them that was not reached before is imported. */
static bool reach_variable(struct reach *r, const struct ir_global *g)
{
    bool imported = false;
    uint32_t before = r->variables.n;
    ir_held_add(&r->variables, g);
    for (uint32_t i = before; i < r->variables.n; i++) imported |= r->variables.list[i]->linkage == IR_LINKAGE_IMPORT;
    return imported;
}

static void reach_instruction(struct ir_inst *inst, void *data)
{
    struct reach *r = data;
    const struct ir_function *callee = inst->op == IR_OP_CALL ? inst->attrs.callee : NULL;
    bool imported = callee ? callee->linkage == IR_LINKAGE_IMPORT
                           : inst->op == IR_OP_GLOBAL && reach_variable(r, inst->attrs.global);
    if (imported && !r->import) r->import = inst;
    if (callee && callee->body) reach_function(r, callee);
}

/* All that the function calls, up to the first import. */
static struct reach reach_all(const struct ir_function *f)
{
    const struct ir_module *m = f->module;
    struct arena *arena = arena_new();
    struct reach r = {.functions = arena_alloc(arena, m->n_functions * sizeof *r.functions),
                      .seen = arena_alloc(arena, m->n_functions * sizeof *r.seen)};
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
    ir_held_open(&r.variables, m);
    if (f->body) reach_function(&r, f);
    while (r.done < r.n && !r.import) ir_walk(r.functions[r.done++]->body, reach_instruction, &r);
    ir_held_close(&r.variables);
    arena_free(arena);
    return r;
}

const struct ir_inst *ir_find_import(const struct ir_function *f)
{
    return reach_all(f).import;
}

const struct ir_function *ir_find_refused(const struct ir_function *f)
{
    return reach_all(f).refused;
}
