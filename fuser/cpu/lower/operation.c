/* Any pure operation on one component: taken apart, or once on scalars, or on vectors, or lane by lane. */
#include "fuser/cpu/lower/operation.h"

#include <string.h>

#include "fuser/cpu/jit/constant.h"
#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/int_compare.h"
#include "fuser/cpu/lower/lower.h"
#include "fuser/cpu/lower/math.h"
#include "fuser/cpu/lower/scalar.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/op.h"
#include "fuser/cpu/simd/spill.h"
#include "fuser/cpu/simd/x86.h"
#include "fuser/cpu/target/isa.h"
#include "ir/core/float.h"
#include "ir/eval/int.h"

static struct lanes by_lane(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args)
{
    rval results[MAX_WIDTH];
    struct lanes made[4];
    for (unsigned i = 0; i < n; i++) made[i] = lanes_made(e, args[i]);
    for (unsigned lane = 0; lane < e->width; lane++) {
        rval in[4];
        for (unsigned i = 0; i < n; i++) in[i] = jit_read(jit_keep(e, lanes_get(e, &made[i], lane)));
        results[lane] = jit_read(jit_keep(e, scalar_op(e, op, kind, args[0].kind, in)));
    }
    return lanes_build(e, kind, results);
}

/* Whether that is better a loop: of many lanes, or where one lane's code is long (without an instruction for it,
   halves are taken apart bit by bit). Bools have no place in memory. */
static bool in_loop_is_better(const struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from)
{
    bool half = op == IR_OP_FPCONV && (kind == IR_KIND_F16 || from == IR_KIND_F16) && e->isa->id < CPU_ISA_AVX2;
    return kind != IR_KIND_BOOL && (e->width > 16 || half);
}

struct lanes op_in_loop(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args)
{
    lval in[4] = {0}, out = lane_array(e, kind, 1);
    for (unsigned i = 0; i < n; i++)
        if (args[i].shape != SHAPE_UNIFORM) in[i] = spill_lanes(e, &args[i]);
    struct counted lane =
        counted_begin(e, jit_int(e, IR_KIND_I64, 0), jit_int(e, IR_KIND_I64, e->width), jit_int(e, IR_KIND_I64, 1));
    rval x[4];
    for (unsigned i = 0; i < n; i++) {
        bool uniform = args[i].shape == SHAPE_UNIFORM;
        x[i] = jit_read(jit_keep(e, uniform ? args[i].scalar : spilled_lane(e, in[i], jit_read(lane.v))));
    }
    rval result = jit_read(jit_keep(e, scalar_op(e, op, kind, args[0].kind, x)));
    jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(out), jit_read(lane.v)), result);
    counted_end(e, &lane);
    return unspill_lanes(e, kind, out);
}

/* Of integers that are known when code is made. */
static bool folded(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const rval *in, struct lanes *result)
{
    uint64_t v[4] = {0}, r;
    if ((int)op >= IR_OP_COUNT || kind < IR_KIND_I8 || kind > IR_KIND_I64) return false;
    for (unsigned i = 0; i < n; i++) {
        const struct constant *c = constant_of(e, in[i]);
        if (!c || gcc_jit_rvalue_get_type(in[i]) != jit_type(e, kind)) return false;
        v[i] = c->bits;
    }
    if (!eval_int(op, kind_bytes(kind) * 8, v, &r)) return false;
    *result = lanes_int(e, kind, r);
    return true;
}

struct lanes op_n(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *operands)
{
    /* As many as any operation has, so that whoever takes it apart need not count. */
    struct lanes result, args[4] = {0};
    memcpy(args, operands, n * sizeof *args);
    if (lower_op(e, op, kind, args, &result)) return result;
    bool uniform = true;
    for (unsigned i = 0; i < n; i++) uniform = uniform && args[i].shape == SHAPE_UNIFORM;
    if (uniform) {
        rval in[4];
        for (unsigned i = 0; i < n; i++) in[i] = args[i].scalar;
        if (folded(e, op, kind, n, in, &result)) return result;
        return lanes_uniform(kind, jit_read(jit_keep(e, scalar_op(e, op, kind, args[0].kind, in))));
    }
    if (op_is_comparison(op) && lower_int_comparison(e, op, args, &result)) return result;
    if (x86_op(e, op, kind, n, args, &result)) return result;
    if (math_vector(e, op, kind, n, args, &result)) return result;
    if (in_loop_is_better(e, op, kind, args[0].kind)) return op_in_loop(e, op, kind, n, args);
    return by_lane(e, op, kind, n, args);
}

struct lanes op1(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a)
{
    return op_n(e, op, kind, 1, &a);
}

struct lanes op2(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a, struct lanes b)
{
    return op_n(e, op, kind, 2, (struct lanes[]){a, b});
}

struct lanes op3(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a, struct lanes b, struct lanes c)
{
    return op_n(e, op, kind, 3, (struct lanes[]){a, b, c});
}

struct lanes op_select(struct emit *e, struct lanes condition, struct lanes a, struct lanes b)
{
    return op3(e, IR_OP_SELECT, a.kind, condition, a, b);
}

struct lanes op_number(struct emit *e, enum ir_kind kind, double v)
{
    return lanes_uniform(kind, jit_number(e, kind, ir_float_bits(kind, v)));
}

struct lanes op_bits(struct emit *e, struct lanes v, enum ir_kind kind)
{
    if (v.kind == kind) return v;
    struct lanes r = v;
    r.kind = kind;
    if (v.shape == SHAPE_UNIFORM) {
        r.scalar = jit_read(jit_keep(e, jit_bits(e, v.scalar, jit_type(e, kind))));
        return r;
    }
    r = lanes_varying(e, kind);
    lval *chunk = lanes_vectors(e, &v);
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++)
        r.chunk[c] = jit_keep(e, jit_bits(e, jit_read(chunk[c]), type));
    return r;
}

static const struct lane_origin *origin(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n,
                                        const struct lanes *args)
{
    struct lane_origin *o = arena_alloc(e->arena, sizeof *o);
    *o = (struct lane_origin){.compute = op_n, .op = op, .kind = kind, .n = n};
    for (unsigned i = 0; i < n; i++) o->args[i] = args[i];
    return o;
}

struct lanes op_linear(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                       int64_t stride)
{
    struct lanes scalars[4] = {0};
    /* Of the operations that keep steps even, these may lose high bits. */
    bool wraps = op == IR_OP_SEXT || op == IR_OP_ZEXT || op == IR_OP_AND || op == IR_OP_ASHR || op == IR_OP_LSHR;
    for (unsigned i = 0; i < n; i++) {
        scalars[i] = lanes_uniform(args[i].kind, args[i].scalar);
        wraps = wraps || args[i].wraps;
    }
    struct lanes first = op_n(e, op, kind, n, scalars), r = lanes_linear(kind, first.scalar, stride);
    if (!stride || !wraps || op == IR_OP_ITRUNC) return r;
    r.wraps = true;
    r.origin = origin(e, op, kind, n, args);
    return r;
}

struct lanes op_later(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args)
{
    return (struct lanes){.kind = kind, .shape = SHAPE_VARYING, .origin = origin(e, op, kind, n, args)};
}

struct lanes op_narrowed(struct emit *e, enum ir_kind kind, struct lanes whole)
{
    struct lanes r = op1(e, IR_OP_ITRUNC, kind, whole);
    if (r.shape == SHAPE_VARYING) r.origin = origin(e, IR_OP_ITRUNC, kind, 1, &whole);
    return r;
}

struct lanes op_fitting(struct emit *e, enum ir_op extension, enum ir_kind kind, struct lanes whole)
{
    struct lanes r = op_narrowed(e, kind, whole);
    if (r.shape != SHAPE_VARYING) return r;
    struct lane_origin *o = arena_alloc(e->arena, sizeof *o);
    *o = *r.origin;
    o->fits = extension;
    r.origin = o;
    return r;
}

struct lanes op_field(struct emit *e, enum ir_kind kind, struct lanes word, unsigned first)
{
    struct lanes low = first ? op2(e, IR_OP_LSHR, IR_KIND_I32, word, lanes_int(e, IR_KIND_I32, first)) : word;
    struct lanes r = op_narrowed(e, kind, low);
    if (r.shape != SHAPE_VARYING) return r;
    struct lane_origin *o = arena_alloc(e->arena, sizeof *o);
    *o = *r.origin;
    o->args[1] = word;
    o->is_field = true;
    o->first = first;
    r.origin = o;
    return r;
}

void op_assign_where(struct emit *e, struct lanes *variable, const struct lanes *v, const struct mask *mask)
{
    struct lanes blended = *v;
    bool blends = variable->shape == SHAPE_VARYING && mask && mask->chunk;
    if (blends) blended = op_select(e, mask_lanes_value(e, *mask), *v, *variable);
    lanes_assign(e, variable, &blended);
}
