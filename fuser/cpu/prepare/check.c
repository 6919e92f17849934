/* What there is no code for: said before any is made, with the operation, its function and line. */
#include "fuser/cpu/prepare/check.h"

#include <stdio.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/target/target.h"
#include "ir/analysis/reachable_globals.h"

struct checker {
    const struct ir_function *kernel;
    struct diag_list *list;
    bool failed;
    struct ir_held globals;
};

static void refuse(struct checker *c, const struct ir_inst *inst, const char *why)
{
    c->failed = true;
    diag_add(c->list, c->kernel->name, NULL, inst->loc.line, 0, "%s: %s", ir_op_info(inst->op)->text, why);
}

static uint64_t bytes_of(const struct ir_module *m, const struct ir_global *g)
{
    if (ir_type_kind(g->type) == IR_KIND_PIPE) return kernel_pipe_bytes(ir_type_size(m, g->packet), g->capacity);
    return ir_type_size(m, g->type);
}

static void check_global(struct checker *c, const struct ir_inst *inst, const struct ir_global *g)
{
    char why[160];
    if (g->linkage == IR_LINKAGE_IMPORT)
        refuse(c, inst, "the variable is not defined in this module");
    else if (bytes_of(c->kernel->module, g) > 1 << 30)
        refuse(c, inst, "a variable or pipe of the program is limited to 1 GiB");
    if (!g->n_addresses || g->space != IR_SPACE_GLOBAL) return;
    snprintf(why, sizeof why, "the variable %.60s can be written, and addresses lie in its initial value", g->name);
    refuse(c, inst, why);
}

/* The variable, and those it holds addresses of: each where it is first used. */
static void check_globals(struct checker *c, const struct ir_inst *inst)
{
    uint32_t before = c->globals.n;
    ir_held_add(&c->globals, inst->attrs.global);
    for (uint32_t i = before; i < c->globals.n; i++) check_global(c, inst, c->globals.list[i]);
}

static void check_inst(struct ir_inst *inst, void *data)
{
    struct checker *c = data;
    switch (inst->op) {
    case IR_OP_CALL: /* those of functions with a body are put in place, or make the kernel too large */
        if (!inst->attrs.callee->body) refuse(c, inst, "the function is not defined in this module");
        break;
    case IR_OP_GLOBAL: check_globals(c, inst); break;
    case IR_OP_VAR:
        if (ir_type_size(c->kernel->module, inst->type) > 1 << 20)
            refuse(c, inst, "private memory is limited to 1 MiB a variable");
        break;
    default: break;
    }
}

static void check_sub_group_size(struct checker *c)
{
    const uint32_t *sizes = cpu_sub_group_sizes();
    uint32_t size = sub_group_size_of(c->kernel);
    while (*sizes && *sizes != size) sizes++;
    if (*sizes || !uses_sub_groups(c->kernel)) return;
    c->failed = true;
    diag_add(c->list, c->kernel->name, NULL, c->kernel->loc.line, 0,
             "there is no code for sub-groups of %u work-items, only for 1, 4, 8, 16, 32 and 64", size);
}

bool check_kernel(const struct ir_function *kernel, struct diag_list *list)
{
    struct checker c = {.kernel = kernel, .list = list};
    ir_held_open(&c.globals, kernel->module);
    ir_walk(kernel->body, check_inst, &c);
    ir_held_close(&c.globals);
    check_sub_group_size(&c);
    return !c.failed;
}
