/* The aspects of everything a function reaches. */
#include "ir/analysis/required_aspects.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

static uint64_t type_aspects(ir_type t)
{
    switch (ir_type_kind(t)) {
    case IR_KIND_F16: return IR_ASPECT_FP16;
    case IR_KIND_F64: return IR_ASPECT_FP64;
    case IR_KIND_IMAGE: return IR_ASPECT_IMAGE;
    case IR_KIND_PIPE: return IR_ASPECT_PIPES;
    case IR_KIND_PTR: return ir_type_space(t) == IR_SPACE_GENERIC ? IR_ASPECT_GENERIC_SPACE : 0;
    default: return 0;
    }
}

/* Functions reached so far; those before `done` have been looked at. */
struct reach {
    const struct ir_function **functions;
    uint32_t n, done;
    bool *seen; /* by ir_function.scratch */
    uint64_t aspects;
};

static void reach_function(struct reach *r, const struct ir_function *f)
{
    if (!f || r->seen[f->scratch]) return;
    r->seen[f->scratch] = true;
    r->functions[r->n++] = f;
}

static void look_at(struct ir_inst *inst, void *data)
{
    struct reach *r = data;
    const struct ir_op_info *info = ir_op_info(inst->op);
    r->aspects |= info->aspects | type_aspects(inst->type);
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (inst->operands[i]) r->aspects |= type_aspects(inst->operands[i]->type);
    for (uint32_t i = 0; i < inst->n_results; i++) r->aspects |= type_aspects(inst->results[i]->type);
    if (info->op_class == IR_CLASS_ATOMIC) {
        if (ir_type_bits(inst->type) == 64) r->aspects |= IR_ASPECT_ATOMIC64;
        if (info->type_class == 'f') r->aspects |= IR_ASPECT_FLOAT_ATOMICS;
    } else if (strchr(info->attrs, 's') && inst->attrs.scope == IR_SCOPE_SUB_GROUP && inst->op != IR_OP_FENCE) {
        r->aspects |= IR_ASPECT_SUB_GROUPS;
    }
    if (inst->op == IR_OP_CALL) reach_function(r, inst->attrs.callee);
}

uint64_t ir_function_aspects(const struct ir_function *f)
{
    struct ir_module *m = f->module;
    struct reach r = {
        .functions = arena_realloc(NULL, m->n_functions * sizeof *r.functions),
        .seen = calloc(m->n_functions + 1, sizeof *r.seen),
    };
    if (!r.seen) abort();
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
    reach_function(&r, f);
    while (r.done < r.n) {
        const struct ir_function *g = r.functions[r.done++];
        r.aspects |= type_aspects(g->result);
        for (uint32_t i = 0; i < g->n_params; i++)
            if (g->params[i].value) r.aspects |= type_aspects(g->params[i].value->type);
        if (g->body) ir_walk(g->body, look_at, &r);
    }
    free(r.functions);
    free(r.seen);
    return r.aspects;
}
