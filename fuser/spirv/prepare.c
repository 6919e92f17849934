/* A kernel brought into the form that is written: calls in place, by-value parameters where nobody writes. */
#include "fuser/spirv/prepare.h"

#include <stddef.h>

#include "fuser/passes/manager/pass_manager.h"
#include "fuser/passes/passes.h"

static const struct pass *const first[] = {&pass_inline, &pass_byval_copy, NULL};
static const struct pass *const clean[] = {&pass_fold, &pass_cse, &pass_mem2reg, &pass_dce, NULL};
static const struct pipeline pipeline_vulkan = {"vulkan", .first = first, .repeat = clean};

static const struct pass *const only_inline[] = {&pass_inline, NULL};
static const struct pipeline pipeline_kernel = {"kernel dialect", .first = only_inline};

static void see_derived(struct ir_inst *inst, void *data)
{
    (void)data;
    if (inst->op != IR_OP_ELEM && inst->op != IR_OP_FIELD) return;
    if (inst->operands[0]->type == IR_PTR(IR_SPACE_CONSTANT)) inst->results[0]->type = IR_PTR(IR_SPACE_CONSTANT);
}

/* What is passed by value lies among the arguments, which all work-items share: nobody writes there any more, and
   addresses into it only become addresses of its parts. */
static void share_by_value(struct ir_function *f)
{
    for (uint32_t i = 0; i < f->n_params; i++)
        if (f->params[i].by_value) f->params[i].value->type = IR_PTR(IR_SPACE_CONSTANT);
    ir_walk(f->body, see_derived, NULL);
}

struct ir_function *spirv_prepare(const struct ir_function *kernel, const struct spirv_target *target)
{
    struct ir_module *module = ir_module_new("kernel");
    struct ir_function *copy = ir_function_copy(module, kernel, kernel->name);
    bool vulkan = target->dialect == SPIRV_VULKAN;
    pipeline_run(vulkan ? &pipeline_vulkan : &pipeline_kernel, copy);
    if (vulkan) share_by_value(copy);
    return copy;
}
