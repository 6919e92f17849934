/*
 * Which space a generic pointer is in. A cast to a named space is null where the address lies in another one. An
 * address does not tell its space, but where private and work-group memory lie is known; the rest is global.
 */
#include "fuser/cpu/code_passes.h"
#include "fuser/cpu/emit.h"

/* ---- casts that only serve to reach memory are addresses as they are ---- */

struct cast_use {
    const struct ir_value *pointer;
    bool asked; /* the pointer is used for more than what lies there */
};

static bool only_reached(struct ir_block *body, const struct ir_value *pointer);

static void see_use(struct ir_inst *inst, void *data)
{
    struct cast_use *use = data;
    bool reaches = inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE || inst->op == IR_OP_COPY ||
                   inst->op == IR_OP_PREFETCH || (inst->op >= IR_OP_ATOMIC_LOAD && inst->op <= IR_OP_ATOMIC_CLEAR);
    for (uint32_t i = 0; i < inst->n_operands && !use->asked; i++) {
        if (inst->operands[i] != use->pointer) continue;
        if (inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD)
            use->asked = !only_reached(inst->parent->function->body, inst->results[0]);
        else
            use->asked = !reaches || (i > 0 && inst->op != IR_OP_COPY); /* itself stored */
    }
}

static bool only_reached(struct ir_block *body, const struct ir_value *pointer)
{
    struct cast_use use = {.pointer = pointer};
    ir_walk(body, see_use, &use);
    return !use.asked;
}

static void drop_question(struct ir_inst *inst, void *data)
{
    bool *changed = data;
    if (!spaces_asks(inst) || !only_reached(inst->parent->function->body, inst->results[0])) return;
    struct ir_builder b = ir_builder_before(inst);
    inst->operands[0] = ir_build1(&b, IR_OP_PTRTOINT, IR_I64, inst->operands[0]);
    inst->op = IR_OP_INTTOPTR;
    *changed = true;
}

bool spaces_asks(const struct ir_inst *inst)
{
    return inst->op == IR_OP_SPACECAST && inst->attrs.space != IR_SPACE_GENERIC;
}

static bool run_address_spaces(struct ir_function *kernel)
{
    bool changed = false;
    ir_walk(kernel->body, drop_question, &changed);
    return changed;
}

const struct pass pass_address_spaces = {"address_spaces", "casts that need not ask where an address lies",
                                         run_address_spaces};

/* ---- the others ask ---- */

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
    if (inst->op != IR_OP_VAR || groups_variable(s->e, inst, &elsewhere)) return;
    uint64_t bytes = ir_type_size(s->e->module, inst->type) * s->e->width;
    rval start = jit_read(jit_keep(s->e, jit_address(s->e, memory_storage(s->e, inst))));
    add_span(s, (struct span){start, jit_int(s->e, IR_KIND_I64, bytes)});
}

/* Variables on the stack or beside the work-group's memory, and structs passed by value. */
static struct lanes is_private(struct emit *e, struct lanes address)
{
    struct search s = {e, address, lanes_int(e, IR_KIND_BOOL, 0)};
    add_span(&s, e->place.args);
    add_span(&s, e->place.scratch);
    ir_walk(e->kernel->body, see_variable, &s);
    return s.found;
}

static struct lanes is_local(struct emit *e, struct lanes address)
{
    struct lanes in = in_span(e, address, (struct span){e->place.local, e->place.local_bytes});
    if (!e->place.scratch.start) return in;
    struct lanes outside = op1(e, IR_OP_NOT, IR_KIND_BOOL, in_span(e, address, e->place.scratch));
    return op2(e, IR_OP_AND, IR_KIND_BOOL, in, outside);
}

struct lanes spaces_cast(struct emit *e, const struct ir_inst *inst, struct lanes pointer)
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
