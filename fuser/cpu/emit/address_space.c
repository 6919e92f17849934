/*
 * Which space a generic pointer is in. A cast to a named space is null where the address lies in another one. An
 * address does not tell its space, but where private and work-group memory lie is known; the rest is global.
 */
#include "fuser/cpu/emit/address_space.h"

#include "fuser/cpu/emit/launch.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"

static struct lanes in_span(struct emit *e, struct lanes address, struct span span)
{
    struct lanes start = lanes_uniform(IR_KIND_I64, span.start), bytes = lanes_uniform(IR_KIND_I64, span.bytes);
    return op2(e, IR_OP_ULT, IR_KIND_BOOL, op2(e, IR_OP_SUB, IR_KIND_I64, address, start), bytes);
}

struct search {
    struct emit *e;
    struct lanes address, found;
};

static void add_span(struct search *s, struct span span)
{
    if (span.start) s->found = op2(s->e, IR_OP_OR, IR_KIND_BOOL, s->found, in_span(s->e, s->address, span));
}

static void see_variable(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    struct lanes elsewhere;
    if (inst->op != IR_OP_VAR || private_memory_of_item(s->e, inst, &elsewhere)) return;
    uint64_t bytes = private_memory_vector_bytes(s->e, inst);
    rval start = jit_read(jit_keep(s->e, jit_address(s->e, private_memory_on_stack(s->e, inst))));
    add_span(s, (struct span){start, jit_int(s->e, IR_KIND_I64, bytes)});
}

/* Variables on the stack or beside the work-group's memory, and structs passed by value. */
static struct lanes is_private(struct emit *e, struct lanes address)
{
    struct search s = {e, address, lanes_int(e, IR_KIND_BOOL, 0)};
    add_span(&s, e->launch->args);
    add_span(&s, e->launch->scratch);
    ir_walk(e->kernel->body, see_variable, &s);
    return s.found;
}

static struct lanes is_local(struct emit *e, struct lanes address)
{
    struct lanes in = in_span(e, address, e->launch->local);
    if (!e->launch->scratch.start) return in;
    struct lanes outside = op1(e, IR_OP_NOT, IR_KIND_BOOL, in_span(e, address, e->launch->scratch));
    return op2(e, IR_OP_AND, IR_KIND_BOOL, in, outside);
}

struct lanes emit_address_space_cast(struct emit *e, const struct ir_inst *inst, struct lanes pointer)
{
    struct lanes address = pointer, in;
    address.kind = IR_KIND_I64;
    switch (inst->attrs.space) {
    case IR_SPACE_PRIVATE: in = is_private(e, address); break;
    case IR_SPACE_LOCAL: in = is_local(e, address); break;
    default:
        in = op2(e, IR_OP_OR, IR_KIND_BOOL, is_private(e, address), is_local(e, address));
        in = op1(e, IR_OP_NOT, IR_KIND_BOOL, in);
    }
    struct lanes result = op_select(e, in, address, lanes_int(e, IR_KIND_I64, 0));
    result.kind = IR_KIND_PTR;
    return result;
}
