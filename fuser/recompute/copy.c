#include "fuser/recompute/copy.h"

#include <string.h>

#include "fuser/passes/contract.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"

static void see_call(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_CALL) *(bool *)data = true;
}

/* Contracted once, each kernel by itself: what it is put into contracts nothing of it. */
static void forget_contract(struct ir_inst *inst, void *data)
{
    (void)data;
    inst->attrs.fp &= (uint8_t)~IR_FP_CONTRACT;
}

struct ir_function *recompute_copy(struct fuse *f, const struct ir_function *kernel, bool contract)
{
    bool calls = false;
    struct ir_function *copy = ir_function_copy(f->module, kernel, NULL);
    copy->assumes = 0; /* what it becomes a part of has other launches */
    f->part = kernel->name;
    if (contract && contract_possible(kernel)) pipeline_run(&pipeline_contract, copy);
    if (contract) ir_walk(copy->body, forget_contract, NULL);
    pipeline_run(&pipeline_analysis, copy);
    pass_run(&pass_lower_returns, copy);
    ir_walk(copy->body, see_call, &calls);
    if (!calls) return copy;
    fuse_refuse(f, "kernel %s calls functions", kernel->name);
    return NULL;
}

void recompute_set_numbers(struct ir_function *f, const int64_t *numbers)
{
    for (uint32_t i = 0; i < f->n_params; i++) {
        struct ir_value *v = f->params[i].value;
        if (!numbers[i] || !ir_type_is_int(v->type) || ir_type_is_vector(v->type)) continue;
        ir_replace_uses(f->body, v, ir_const_int(f->module, v->type, (uint64_t)numbers[i]));
    }
}

void recompute_drop_param(struct ir_function *f, uint32_t i)
{
    memmove(&f->params[i], &f->params[i + 1], (f->n_params - i - 1) * sizeof *f->params);
    f->n_params--;
    for (; i < f->n_params; i++) f->params[i].value->index = i;
}
