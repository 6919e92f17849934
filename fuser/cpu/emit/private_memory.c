/*
 * Private variables. Where work-items run from the kernel's beginning to its end, a variable lies on the stack, once
 * for each lane. Where the kernel is cut into regions, each work-item has its own in memory beside the work-group's.
 */
#include "fuser/cpu/emit/private_memory.h"

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/prepare/uniformity.h"

/* What a variable takes for each work-item of its group, with all that lies between. */
static uint64_t item_bytes(const struct ir_inst *inst)
{
    const struct ir_function *kernel = inst->parent->function;
    uint64_t size = ir_type_size(kernel->module, inst->type), items = private_group_items(kernel);
    return inst->attrs.index ? (size * inst->attrs.index + items - 1) / items : size;
}

uint64_t private_memory_vector_bytes(const struct emit *e, const struct ir_inst *inst)
{
    return ir_type_size(e->module, inst->type) * (inst->attrs.index ? inst->attrs.index : e->width);
}

uint32_t private_memory_add(struct emit *e, const struct ir_inst *inst, uint32_t bytes)
{
    struct private_memory *m = e->private;
    uint32_t align = ir_type_align(e->module, inst->type);
    bytes = (bytes + align - 1) / align * align;
    m->offset[inst->scratch] = bytes + 1;
    m->variables = arena_grow(e->arena, m->variables, m->n_variables, sizeof *m->variables);
    m->variables[m->n_variables++] = inst;
    return bytes + (uint32_t)item_bytes(inst);
}

rval private_memory_of_group(struct emit *e, const struct ir_inst *inst)
{
    const struct private_memory *m = e->private;
    rval before = jit_mul(e, m->items, jit_int(e, IR_KIND_I64, m->offset[inst->scratch] - 1));
    return jit_read(jit_keep(e, jit_add(e, m->base, before)));
}

bool private_memory_of_item(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct private_memory *m = e->private;
    if (!m->offset || !m->offset[inst->scratch]) return false;
    uint64_t size = private_item_step(inst);
    rval own = jit_mul(e, m->linear, jit_int(e, IR_KIND_I64, size));
    rval address = jit_read(jit_keep(e, jit_add(e, private_memory_of_group(e, inst), own)));
    *result = lanes_linear(IR_KIND_PTR, address, e->width > 1 ? (int64_t)size : 0);
    return true;
}

void private_memory_begin(struct emit *e)
{
    struct private_memory *m = e->private;
    if (!m->offset) return;
    m->linear = jit_read(jit_keep(e, ids_local_linear(e)));
    for (uint32_t i = 0; i < m->n_variables; i++) {
        if (m->variables[i]->op != IR_OP_VAR) continue;
        struct lanes *address = arena_alloc(e->arena, sizeof *address);
        private_memory_of_item(e, m->variables[i], address);
        e->values->lanes[m->variables[i]->results[0]->scratch] = address;
    }
}

/* As many copies as there are lanes, one after the other. */
lval private_memory_on_stack(struct emit *e, const struct ir_inst *inst)
{
    lval *variable = &e->private->on_stack[inst->scratch];
    if (*variable) return *variable;
    uint64_t size = private_memory_vector_bytes(e, inst);
    *variable = jit_local(e, gcc_jit_context_new_array_type(e->gcc, NULL, jit_type(e, IR_KIND_I8), (int)size));
    unsigned align = ir_type_align(e->module, inst->type);
    gcc_jit_lvalue_set_alignment(*variable, align > 64 ? align : 64);
    return *variable;
}

void private_memory_variable(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    if (private_memory_of_item(e, inst, result)) return;
    uint64_t size = private_item_step(inst);
    rval address = jit_read(jit_keep(e, jit_address(e, private_memory_on_stack(e, inst))));
    *result = lanes_linear(IR_KIND_PTR, address, e->width > 1 ? (int64_t)size : 0);
}
