/* Pipes. The functions of groups are those of one work-item, between operations where all meet. */
#include "ir/spirv/translate/instructions/pipe.h"

#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/instructions/scope.h"
#include "ir/spirv/translate/values/values.h"

/* The type behind a pointer that was cast on its way, where it has the size of a packet; else bytes. */
static ir_type packet_type(struct spirv_body *s, uint32_t pointer, uint64_t size)
{
    struct spirv_reader *r = s->r;
    for (unsigned steps = 0; steps < 8; steps++) {
        const struct spirv_inst *d = spirv_def(r, pointer);
        const struct spirv_type *pointee = &r->types[spirv_pointee(r, spirv_type_of(r, pointer))];
        if (pointee->known && ir_type_size(r->module, pointee->ir) == size) return pointee->ir;
        if (!d || (d->op != SpvOpBitcast && d->op != SpvOpPtrCastToGeneric)) break;
        pointer = d->words[3];
    }
    return ir_array_type(r->module, IR_I8, size);
}

/* Of a packet that is the next one, or one of a reservation. The operands begin with the pipe; then come the
   reservation and the index in it, where there is one, the pointer and the size. */
static void emit_packet(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    uint64_t size;
    const uint32_t *w = i->words;
    bool reserved = op == IR_OP_PIPE_READ_AT || op == IR_OP_PIPE_WRITE_AT;
    uint32_t pointer = w[reserved ? 6 : 4];
    struct ir_value *o[4] = {spirv_value(s, i, w[3]), spirv_value(s, i, pointer)};
    if (!spirv_constant_uint(s->r, w[reserved ? 7 : 5], &size) || !size || size > 1 << 20 ||
        s->r->module->n_arrays >= IR_MAX_ARRAYS) {
        spirv_fail(s->r, i, "has no constant size of packets");
        return;
    }
    if (reserved) o[2] = spirv_value(s, i, w[4]), o[3] = spirv_as_int(s, spirv_value(s, i, w[5]), IR_I32);
    if (spirv_failed(s->r)) return;
    if (i->id < s->r->pipes.bound && s->r->pipes.waits[i->id]) { /* nobody asks whether it was done */
        enum ir_op waiting = op == IR_OP_PIPE_READ ? IR_OP_PIPE_READ_WAIT : IR_OP_PIPE_WRITE_WAIT;
        ir_build(&s->b, waiting, packet_type(s, pointer, size), o, 2);
        return;
    }
    struct ir_value *done = ir_build(&s->b, op, packet_type(s, pointer, size), o, reserved ? 4 : 2)->results[0];
    ir_type t = spirv_result_type(s->r, i); /* 0 where it was done, else negative */
    spirv_set(s, i, ir_build3(&s->b, IR_OP_SELECT, t, done, spirv_int(s, t, 0), spirv_int(s, t, UINT64_MAX)));
}

/* ---- reservations ---- */

static struct ir_value *reserve(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op, const uint32_t *w)
{
    struct ir_value *pipe = spirv_value(s, i, w[0]), *n = spirv_as_int(s, spirv_value(s, i, w[1]), IR_I32);
    return ir_build2(&s->b, op, IR_VOID, pipe, n);
}

static void emit_commit(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op, const uint32_t *w)
{
    struct ir_value *o[2] = {spirv_value(s, i, w[0]), spirv_value(s, i, w[1])};
    ir_build(&s->b, op, IR_VOID, o, 2);
}

/* An if that the first work-item of the group alone takes. */
static struct ir_inst *by_the_first(struct spirv_body *s, enum ir_scope scope, const ir_type *results, uint32_t n)
{
    bool sub_group = scope == IR_SCOPE_SUB_GROUP;
    struct ir_value *own = ir_build0(&s->b, sub_group ? IR_OP_SUB_GROUP_LOCAL_ID : IR_OP_LOCAL_LINEAR_ID, IR_VOID);
    struct ir_value *first = ir_build2(&s->b, IR_OP_IEQ, own->type, own, spirv_int(s, own->type, 0));
    return ir_build_if(&s->b, first, results, n);
}

/* One reservation for the group: the first work-item's. */
static void emit_group_reserve(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    enum ir_scope scope = spirv_group_scope(s, i, i->words[3]);
    ir_type type = IR_I64;
    struct ir_inst *one = by_the_first(s, scope, &type, 1);
    struct ir_builder after = s->b;
    s->b = ir_builder_at_end(one->blocks[0]);
    s->b.loc = after.loc;
    struct ir_value *id = reserve(s, i, op, i->words + 4), *none = spirv_int(s, IR_I64, 0);
    ir_build(&s->b, IR_OP_YIELD, IR_VOID, &id, 1);
    s->b = ir_builder_at_end(one->blocks[1]);
    s->b.loc = after.loc;
    ir_build(&s->b, IR_OP_YIELD, IR_VOID, &none, 1);
    s->b = after;
    struct ir_value *o[2] = {one->results[0], spirv_int(s, IR_I32, 0)};
    struct ir_inst *all = ir_build(&s->b, IR_OP_GROUP_BROADCAST, IR_I64, o, 2);
    all->attrs.scope = scope;
    spirv_set(s, i, all->results[0]);
}

/* Once all have read or written what they want, by the first work-item. */
static void emit_group_commit(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    enum ir_scope scope = spirv_group_scope(s, i, i->words[1]);
    ir_build(&s->b, IR_OP_BARRIER, IR_VOID, NULL, 0)->attrs.scope = scope;
    struct ir_inst *one = by_the_first(s, scope, NULL, 0);
    struct ir_builder after = s->b;
    for (int k = 0; k < 2; k++) {
        s->b = ir_builder_at_end(one->blocks[k]);
        s->b.loc = after.loc;
        if (k == 0) emit_commit(s, i, op, i->words + 2);
        ir_build(&s->b, IR_OP_YIELD, IR_VOID, NULL, 0);
    }
    s->b = after;
}

static void emit_is_valid(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *id = spirv_value(s, i, i->words[3]);
    spirv_set(s, i, ir_build2(&s->b, IR_OP_SGT, IR_I64, id, spirv_int(s, IR_I64, 0))); /* see ir/core/reservation.h */
}

static bool emit_reservation(struct spirv_body *s, const struct spirv_inst *i)
{
    const uint32_t *w = i->words;
    switch (i->op) {
    case SpvOpReserveReadPipePackets: spirv_set(s, i, reserve(s, i, IR_OP_PIPE_RESERVE_READ, w + 3)); return true;
    case SpvOpReserveWritePipePackets: spirv_set(s, i, reserve(s, i, IR_OP_PIPE_RESERVE_WRITE, w + 3)); return true;
    case SpvOpCommitReadPipe: emit_commit(s, i, IR_OP_PIPE_COMMIT_READ, w + 1); return true;
    case SpvOpCommitWritePipe: emit_commit(s, i, IR_OP_PIPE_COMMIT_WRITE, w + 1); return true;
    case SpvOpGroupReserveReadPipePackets: emit_group_reserve(s, i, IR_OP_PIPE_RESERVE_READ); return true;
    case SpvOpGroupReserveWritePipePackets: emit_group_reserve(s, i, IR_OP_PIPE_RESERVE_WRITE); return true;
    case SpvOpGroupCommitReadPipe: emit_group_commit(s, i, IR_OP_PIPE_COMMIT_READ); return true;
    case SpvOpGroupCommitWritePipe: emit_group_commit(s, i, IR_OP_PIPE_COMMIT_WRITE); return true;
    case SpvOpIsValidReserveId: emit_is_valid(s, i); return true;
    default: return false;
    }
}

static void emit_number(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    struct ir_value *n = ir_build1(&s->b, op, IR_VOID, spirv_value(s, i, i->words[3]));
    spirv_set(s, i, spirv_as_int(s, n, spirv_result_type(s->r, i)));
}

bool spirv_emit_pipe(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpCreatePipeFromPipeStorage: spirv_set(s, i, spirv_value(s, i, i->words[3])); return true;
    case SpvOpReadPipe: emit_packet(s, i, IR_OP_PIPE_READ); return true;
    case SpvOpWritePipe: emit_packet(s, i, IR_OP_PIPE_WRITE); return true;
    case SpvOpReservedReadPipe: emit_packet(s, i, IR_OP_PIPE_READ_AT); return true;
    case SpvOpReservedWritePipe: emit_packet(s, i, IR_OP_PIPE_WRITE_AT); return true;
    case SpvOpGetNumPipePackets: emit_number(s, i, IR_OP_PIPE_NUM_PACKETS); return true;
    case SpvOpGetMaxPipePackets: emit_number(s, i, IR_OP_PIPE_MAX_PACKETS); return true;
    default: return emit_reservation(s, i);
    }
}
