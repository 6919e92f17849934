/*
 * Division of integers over vectors, by way of floats of more than their bits: f32 for 8 and 16 bits, f64 for 32.
 *
 * A quotient a / b that is no integer is at least 1 / b away from one. It is rounded by less than that where a has
 * fewer bits than the float, so it never comes to the next integer, and cutting it off is exact. By a divisor that is
 * the same for all lanes it is a product with the reciprocal, made larger by a few units in the last place: so that the
 * product is never below an integer it should reach, and is still less than 1 / b too large.
 */
#include "fuser/cpu/lower/division.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/op.h"
#include "fuser/cpu/target/isa.h"

struct division {
    enum ir_kind kind; /* i8 to i32 */
    enum ir_kind real; /* the float */
    bool is_signed;
    struct lanes a, b;
};

static struct lanes number(struct emit *e, enum ir_kind kind, uint64_t bits)
{
    return lanes_int(e, kind, bits);
}

/* ---- to floats and back ---- */

static bool needs_bias(const struct emit *e, const struct division *d)
{
    return d->kind == IR_KIND_I32 && !d->is_signed && e->isa->id < CPU_ISA_AVX512;
}

/* Exact. Unsigned numbers of 32 bits have a conversion with AVX-512 only; else they are moved by 2^31 for it. */
static struct lanes as_float(struct emit *e, const struct division *d, struct lanes x)
{
    if (x.shape != SHAPE_UNIFORM && needs_bias(e, d)) {
        struct lanes moved = op2(e, IR_OP_XOR, d->kind, x, number(e, d->kind, 1u << 31));
        return op2(e, IR_OP_FADD, d->real, op1(e, IR_OP_STOF, d->real, moved), op_number(e, d->real, 0x1p31));
    }
    return op1(e, d->is_signed ? IR_OP_STOF : IR_OP_UTOF, d->real, x);
}

/* What is left of a quotient without its fraction. */
static struct lanes as_int(struct emit *e, const struct division *d, struct lanes x)
{
    if (needs_bias(e, d)) {
        struct lanes whole = op1(e, IR_OP_TRUNC, d->real, x);
        whole = op2(e, IR_OP_FSUB, d->real, whole, op_number(e, d->real, 0x1p31));
        struct lanes moved = op1(e, (enum ir_op)OP_RAW_FTOS, d->kind, whole);
        return op2(e, IR_OP_XOR, d->kind, moved, number(e, d->kind, 1u << 31));
    }
    bool wide = d->kind == IR_KIND_I32;
    struct lanes r = op1(e, (enum ir_op)(wide && !d->is_signed ? OP_RAW_FTOU : OP_RAW_FTOS), IR_KIND_I32, x);
    return wide ? r : op1(e, IR_OP_ITRUNC, d->kind, r);
}

/* ---- the quotient ---- */

static struct lanes divided(struct emit *e, const struct division *d)
{
    struct lanes a = as_float(e, d, d->a), b = as_float(e, d, d->b);
    if (d->b.shape != SHAPE_UNIFORM) return op2(e, IR_OP_FDIV, d->real, a, b);
    struct lanes more = op_number(e, d->real, d->real == IR_KIND_F32 ? 1 + 0x1p-22 : 1 + 0x1p-51);
    struct lanes reciprocal = op2(e, IR_OP_FDIV, d->real, op_number(e, d->real, 1), b);
    return op2(e, IR_OP_FMUL, d->real, a, op2(e, IR_OP_FMUL, d->real, reciprocal, more));
}

/* By zero everything gives 0. */
static struct lanes zero_by_zero(struct emit *e, const struct division *d, struct lanes r)
{
    struct lanes zero = number(e, d->kind, 0), is_zero = op2(e, IR_OP_IEQ, IR_KIND_BOOL, d->b, zero);
    if (d->b.shape != SHAPE_UNIFORM) return op_select(e, is_zero, zero, r);
    struct lanes keep = op_select(e, is_zero, zero, number(e, d->kind, UINT64_MAX));
    return op2(e, IR_OP_AND, d->kind, r, keep);
}

/* The remainder has the sign of the dividend; SMOD's has that of the divisor. */
static struct lanes with_sign_of_divisor(struct emit *e, const struct division *d, struct lanes rest)
{
    struct lanes zero = number(e, d->kind, 0);
    struct lanes differ = op2(e, IR_OP_SLT, IR_KIND_BOOL, op2(e, IR_OP_XOR, d->kind, rest, d->b), zero);
    struct lanes some = op2(e, IR_OP_INE, IR_KIND_BOOL, rest, zero);
    struct lanes add = op_select(e, op2(e, IR_OP_AND, IR_KIND_BOOL, differ, some), d->b, zero);
    return op2(e, IR_OP_ADD, d->kind, rest, add);
}

static struct lanes narrow_division(struct emit *e, enum ir_op op, const struct division *d)
{
    struct lanes r = as_int(e, d, divided(e, d));
    if (op != IR_OP_UDIV && op != IR_OP_SDIV) r = op2(e, IR_OP_SUB, d->kind, d->a, op2(e, IR_OP_MUL, d->kind, r, d->b));
    if (op == IR_OP_SMOD) r = with_sign_of_divisor(e, d, r);
    return zero_by_zero(e, d, r);
}

/* ---- 64 bits ---- */

/* Whether all lanes of both, whatever runs in them, are less than 2^32: a bool. */
static rval are_small(struct emit *e, const struct lanes *args)
{
    struct lanes both = op2(e, IR_OP_OR, IR_KIND_I64, args[0], args[1]);
    struct lanes small =
        op2(e, IR_OP_IEQ, IR_KIND_BOOL, op2(e, IR_OP_LSHR, IR_KIND_I64, both, number(e, IR_KIND_I64, 32)),
            number(e, IR_KIND_I64, 0));
    struct lanes large = op1(e, IR_OP_NOT, IR_KIND_BOOL, small);
    return jit_not(e, mask_any(e, mask_of(e, &large)));
}

/* Sizes and indices are of 64 bits, but are small: then in 32 bits. As signed numbers they are not negative. */
static struct lanes wide_division(struct emit *e, enum ir_op op, const struct lanes *args)
{
    bool quotient = op == IR_OP_UDIV || op == IR_OP_SDIV;
    struct lanes result = lanes_variable(e, IR_KIND_I64, (struct shape){.kind = SHAPE_VARYING});
    gcc_jit_block *small = jit_block(e), *large = jit_block(e), *join = jit_block(e);
    jit_branch(e, are_small(e, args), small, large);
    jit_begin(e, small);
    struct lanes in[2];
    for (int i = 0; i < 2; i++) in[i] = op1(e, IR_OP_ITRUNC, IR_KIND_I32, args[i]);
    struct lanes r = op2(e, quotient ? IR_OP_UDIV : IR_OP_UREM, IR_KIND_I32, in[0], in[1]);
    r = op1(e, IR_OP_ZEXT, IR_KIND_I64, r);
    lanes_assign(e, &result, &r);
    jit_jump(e, join);
    jit_begin(e, large);
    r = op_in_loop(e, op, IR_KIND_I64, 2, args);
    lanes_assign(e, &result, &r);
    jit_jump(e, join);
    jit_begin(e, join);
    return result;
}

bool lower_division(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    if (!(ir_op_info(op)->flags & IR_FLAG_PARTIAL) || e->isa->id == CPU_ISA_GENERIC) return false;
    if (args[0].shape == SHAPE_UNIFORM && args[1].shape == SHAPE_UNIFORM) return false;
    if (kind == IR_KIND_I64) {
        *result = wide_division(e, op, args);
        return true;
    }
    struct division d = {.kind = kind,
                         .real = kind == IR_KIND_I32 ? IR_KIND_F64 : IR_KIND_F32,
                         .is_signed = op != IR_OP_UDIV && op != IR_OP_UREM,
                         .a = args[0],
                         .b = args[1]};
    *result = narrow_division(e, op, &d);
    return true;
}
