/* Pipes. */
#include "ir/spirv/body.h"

/* The type behind a pointer that was cast on its way, where it has the size of a packet; else bytes. */
static ir_type packet_type(struct spirv_body *s, uint32_t pointer, uint64_t size)
{
    struct spirv_reader *r = s->r;
    for (unsigned steps = 0; steps < 8; steps++) {
        const struct spirv_inst *d = r->ids[pointer].def;
        const struct spirv_id *pointee = &r->ids[spirv_pointee(r, spirv_type_of(r, pointer))];
        if (pointee->known && ir_type_size(r->module, pointee->type) == size) return pointee->type;
        if (!d || (d->op != SpvOpBitcast && d->op != SpvOpPtrCastToGeneric)) break;
        pointer = d->words[3];
    }
    return ir_array_type(r->module, IR_I8, size);
}

static void emit_packet(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    uint64_t size;
    struct ir_value *o[2] = {spirv_value(s, i, i->words[3]), spirv_value(s, i, i->words[4])};
    if (!spirv_constant_uint(s->r, i->words[5], &size) || !size || size > 1 << 20 ||
        s->r->module->n_arrays >= IR_MAX_ARRAYS) {
        spirv_fail(s->r, i, "has no constant size of packets");
        return;
    }
    if (s->r->failed_function) return;
    struct ir_value *done = ir_build(&s->b, op, packet_type(s, i->words[4], size), o, 2)->results[0];
    ir_type t = s->r->ids[i->type].type; /* 0 where it was done, else negative */
    spirv_set(s, i, ir_build3(&s->b, IR_OP_SELECT, t, done, spirv_int(s, t, 0), spirv_int(s, t, UINT64_MAX)));
}

static void emit_number(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    struct ir_value *n = ir_build1(&s->b, op, IR_VOID, spirv_value(s, i, i->words[3]));
    spirv_set(s, i, spirv_as_int(s, n, s->r->ids[i->type].type));
}

bool spirv_emit_pipe(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpReadPipe: emit_packet(s, i, IR_OP_PIPE_READ); return true;
    case SpvOpWritePipe: emit_packet(s, i, IR_OP_PIPE_WRITE); return true;
    case SpvOpGetNumPipePackets: emit_number(s, i, IR_OP_PIPE_NUM_PACKETS); return true;
    case SpvOpGetMaxPipePackets: emit_number(s, i, IR_OP_PIPE_MAX_PACKETS); return true;
    default: return false;
    }
}
