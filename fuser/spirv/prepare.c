/* A kernel brought into the form that is written: calls in place, by-value parameters where nobody writes. */
#include "fuser/spirv/prepare.h"

#include <stddef.h>

#include "fuser/coarsen/coarsen.h"
#include "fuser/passes/manager/pass_manager.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "fuser/spirv/handles.h"
#include "fuser/spirv/memory/pipe.h"
#include "fuser/spirv/print.h"

/* Early exits part ways for the rest of the kernel: as ifs they do so only where that shows. */
static const struct pass *const last[] = {&pass_lower_returns, NULL};
static const struct pass *const clean[] = {&pass_fold, &pass_cse, &pass_mem2reg, &pass_dce, NULL};
static const struct pass *const inline_and_copy[] = {&pass_inline, &pass_byval_copy, NULL};
static const struct pipeline pipeline_vulkan = {"vulkan", .first = inline_and_copy, .repeat = clean, .last = last};
static const struct pipeline pipeline_to_coarsen = {"to be coarse", .repeat = clean, .last = last};

/* What the work-items that one does have in common stands there more than once. */
static const struct pipeline pipeline_coarse = {"coarse", .repeat = clean};

static const struct pass *const only_inline[] = {&pass_inline, NULL};
static const struct pipeline pipeline_kernel = {"kernel dialect", .first = only_inline};
static const struct pipeline pipeline_block = {"kernel dialect, given a block", .first = inline_and_copy};

static const struct pipeline pipeline_prints = {"printing", .first = only_inline};

/* The library's functions know little of what they are called with: most of each goes. */
static const struct pipeline pipeline_handles = {"images and pipes", .first = only_inline, .repeat = clean};

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

/* ---- loops ---- */

/* A break carries its values into one more round, whose parameters they are; a continue says that there is none. */
static void leave_later(struct ir_inst *exit, void *data)
{
    const struct ir_inst *loop = data;
    const struct ir_block *body = loop->blocks[0];
    if (exit->op == IR_OP_RETURN) return;
    bool leaves = exit->op == IR_OP_BREAK;
    uint32_t n = body->n_args, own = n - loop->n_results - 1;
    struct ir_module *m = body->function->module;
    struct ir_value **operands = ir_alloc(m, (n + 1) * sizeof *operands);
    for (uint32_t i = 0; i < own; i++) operands[i] = leaves ? body->args[i] : exit->operands[i];
    operands[own] = ir_const_bool(m, leaves);
    for (uint32_t i = own + 1; i < n; i++) operands[i] = leaves ? exit->operands[i - own - 1] : body->args[i];
    pass_operands_set(exit, operands, n);
    exit->op = IR_OP_CONTINUE;
}

/* llvmpipe computes what is used behind a loop once more in each round, for work-items too that have left it, from
   parameters that have moved on. Parameters themselves stay: so it is these that a loop is left with, at its top. */
static void leave_with_parameters(struct ir_inst *loop)
{
    struct ir_block *body = loop->blocks[0];
    struct ir_module *m = body->function->module;
    struct ir_value *done = pass_arg_add(body, IR_BOOL);
    pass_operand_add(loop, ir_const_bool(m, false));
    for (uint32_t i = 0; i < loop->n_results; i++) {
        pass_arg_add(body, loop->results[i]->type);
        pass_operand_add(loop, ir_undef(m, loop->results[i]->type));
    }
    pass_walk_exits(body, leave_later, loop);
    struct ir_builder b = ir_builder_before(body->first);
    b.loc = loop->loc;
    struct ir_inst *branch = ir_build_if(&b, done, NULL, 0);
    struct ir_builder in = ir_builder_at_end(branch->blocks[0]);
    ir_build(&in, IR_OP_BREAK, IR_VOID, body->args + (body->n_args - loop->n_results), loop->n_results);
    in = ir_builder_at_end(branch->blocks[1]);
    ir_build(&in, IR_OP_YIELD, IR_VOID, NULL, 0);
}

static void see_loop(struct ir_inst *inst, void *data)
{
    const struct spirv_target *target = data;
    if (inst->op != IR_OP_LOOP) return;
    bool keeps = target->features & SPIRV_KEEPS_LOOP_VALUES || !inst->n_results;
    if (!keeps) leave_with_parameters(inst);
}

/* Kernels of the kernel dialect stay as they are where they do not become coarser. */
static struct ir_function *try_coarser(struct ir_function *kernel, uint32_t *items)
{
    struct ir_module *module = ir_module_new("coarse");
    ir_module_copy_numbers(module, kernel->module);
    struct ir_function *coarse = ir_function_copy(module, kernel, kernel->name);
    pipeline_run(&pipeline_to_coarsen, coarse);
    *items = coarsen(coarse);
    struct ir_function *other = *items > 1 ? kernel : coarse;
    ir_module_free(other->module);
    return *items > 1 ? coarse : kernel;
}

struct ir_function *spirv_prepare(const struct ir_function *kernel, const struct spirv_target *target,
                                  struct spirv_module *out)
{
    struct ir_module *module = ir_module_new("kernel");
    ir_module_copy_numbers(module, kernel->module);
    struct ir_function *copy = ir_function_copy(module, kernel, kernel->name);
    bool vulkan = target->dialect == SPIRV_VULKAN, block = vulkan || target->features & SPIRV_LAUNCH_BLOCK;
    if (block) pipeline_run(&pipeline_prints, copy);
    out->prints = block && spirv_lower_prints(copy);
    if (spirv_lower_handles(copy, spirv_keeps_pipes(copy, target))) pipeline_run(&pipeline_handles, copy);
    pipeline_run(vulkan ? &pipeline_vulkan : block ? &pipeline_block : &pipeline_kernel, copy);
    out->items = vulkan && !out->prints ? coarsen(copy) : 1;
    bool tries = !vulkan && !out->prints && target->features & SPIRV_SPECIALIZES;
    if (tries) copy = try_coarser(copy, &out->items);
    if (out->items > 1) pipeline_run(&pipeline_coarse, copy);
    if (block) share_by_value(copy);
    if (vulkan) ir_walk(copy->body, see_loop, (void *)target);
    return copy;
}
