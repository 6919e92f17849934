/* Operations that drivers of Vulkan need not round as IEEE 754 says: quotients, roots, fused products and sums where
   the target says so, and everything that becomes an f16. */
#include "fuser/spirv/numbers/rounding.h"

#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>

#include "fuser/spirv/maths/fma.h"
#include "fuser/spirv/numbers/notation.h"
#include "ir/formula/quotient.h"

/* ---- f16 ---- */

/* An f32 or f64 that an f16 can hold, the nearest one. Drivers take f16 back to what it was made of: NVIDIA's lets the
   conversions to f16 and back cancel, whatever rounding they are asked for. So nothing is left to round. */
static value as_half_would_be(const struct formula *f, value x)
{
    enum ir_kind real = x.kind, kind = spw_int_kind(real);
    unsigned digits = real == IR_KIND_F64 ? 52 : 23, cut = digits - 10;
    uint64_t rest = (1ull << cut) - 1, sign = 1ull << (spw_bits(real) - 1), infinity = ir_float_bits(real, INFINITY);
    value bits = AS_BITS(x), size = OP2(AND, bits, K(sign - 1));
    value odd = OP2(AND, OP2(LSHR, size, K(cut)), K(1));
    value rounded = OP2(AND, OP2(ADD, OP2(ADD, size, K(rest >> 1)), odd), K(~rest));
    /* Denormal ones: the last place of this sum is theirs. */
    kind = real;
    value unit = C(ldexp(1, (int)digits - 24));
    value small = OP2(FSUB, OP2(FADD, BITS(real, size), unit), unit);
    kind = spw_int_kind(real);
    value r = SELECT(IS2(ULT, size, K(ir_float_bits(real, 0x1p-14))), AS_BITS(small), rounded);
    r = SELECT(IS2(UGE, rounded, K(ir_float_bits(real, 0x1p16))), K(infinity), r);
    r = SELECT(IS2(UGT, size, K(infinity)), size, r);
    return BITS(real, OP2(OR, r, OP2(AND, bits, K(sign))));
}

static bool to_half(const struct formula *f, enum ir_op op, value x, value *result)
{
    enum ir_kind kind = IR_KIND_F32;
    switch (op) {
    case IR_OP_FPCONV: x = as_half_would_be(f, x); break;
    /* Integers that an f32 cannot hold are infinite. */
    case IR_OP_STOF: x = as_half_would_be(f, OP1(STOF, x)); break;
    case IR_OP_UTOF: x = as_half_would_be(f, OP1(UTOF, x)); break;
    default: return false;
    }
    *result = spw_native(f->user, IR_OP_FPCONV, IR_KIND_F16, 1, &x);
    return true;
}

static bool expand_fma(struct spw *w, enum ir_kind kind, const value *args, value *result)
{
    const struct formula *f = &w->formula;
    bool wide = kind == IR_KIND_F64;
    if (w->target->features & (wide ? SPIRV_FMA64 : SPIRV_FMA32)) return false;
    *result = wide ? spw_fma_f64(f, args) : spw_fma_f32(f, args);
    return true;
}

/* ---- quotients and roots of f32 ---- */

/* An f64 has more than twice the digits of an f32: rounded once more its quotients and roots are the nearest, also
   where the f32 is denormal. */
static value quotient_of_f64(const struct formula *f, const value *args)
{
    enum ir_kind kind = IR_KIND_F64;
    return AS(IR_KIND_F32, OP2(FDIV, AS(kind, args[0]), AS(kind, args[1])));
}

static value root_of_f64(const struct formula *f, const value *args)
{
    enum ir_kind kind = IR_KIND_F64;
    return AS(IR_KIND_F32, OP1(SQRT, AS(kind, args[0])));
}

/* Is a number, as bits without a sign, from `least` on and below `most`? */
static value is_between(const struct formula *f, value bits, double least, double most)
{
    const uint64_t low = ir_float_bits(IR_KIND_F32, least), high = ir_float_bits(IR_KIND_F32, most);
    return IS2(ULT, INT2(SUB, bits, I(low)), I(high - low));
}

/* Is it one for which the formulas are good? */
static value is_usual(const struct formula *f, value bits)
{
    return is_between(f, bits, FORMULA_QUOTIENT_LEAST, FORMULA_QUOTIENT_MOST);
}

static value size_of(const struct formula *f, value x)
{
    return INT2(AND, BITS(IR_KIND_I32, x), I(0x7fffffff));
}

/* Asked as bits: devices take denormals for 0. */
static value is_zero(const struct formula *f, value x)
{
    return IS2(IEQ, size_of(f, x), I(0));
}

static value reciprocal(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F32;
    return spw_native(f->user, IR_OP_FDIV, kind, 2, (value[]){C(1), x});
}

static value inverse_root(const struct formula *f, value x)
{
    return spw_by_set(f->user, "GLSL.std.450", IR_KIND_F32, GLSLstd450InverseSqrt, 1, &x);
}

static value any_quotient(const struct formula *f, const value *args)
{
    return formula_quotient_of_any_f32(f, args[0], args[1], reciprocal);
}

static value any_root(const struct formula *f, const value *args)
{
    return formula_root_of_any_f32(f, args[0], inverse_root);
}

static value quotient(const struct formula *f, const value *args)
{
    value x = args[0], y = args[1], size = size_of(f, y), digits = INT2(AND, size, I(0x7fffff));
    value usual_y = IS2(AND, is_usual(f, size), IS2(ULT, digits, I(FORMULA_QUOTIENT_MOST_DIGITS)));
    value usual_x = IS2(OR, is_usual(f, size_of(f, x)), IS2(IEQ, BITS(IR_KIND_I32, x), I(0)));
    value usual = IS2(AND, usual_y, usual_x);
    return f->rarely(f, IS1(NOT, usual), formula_quick_quotient_f32(f, x, y, reciprocal(f, y)), any_quotient, args);
}

static value root(const struct formula *f, const value *args)
{
    value x = args[0], zero = is_zero(f, x);
    value usual = IS2(OR, is_usual(f, BITS(IR_KIND_I32, x)), zero); /* negative ones are not */
    value r = f->rarely(f, IS1(NOT, usual), formula_root_f32(f, x, inverse_root(f, x)), any_root, args);
    return SELECT(zero, x, r);
}

/* Zeros are rare enough. */
static value quick_root(const struct formula *f, const value *args)
{
    value usual = is_between(f, BITS(IR_KIND_I32, args[0]), FORMULA_QUICK_ROOT_LEAST, INFINITY);
    value r = formula_quick_root_f32(f, args[0], inverse_root(f, args[0]));
    return f->rarely(f, IS1(NOT, usual), r, any_root, args);
}

/* By f32 alone where that has an FMA: GPUs compute f64 at a small part of the speed. */
static bool nearest(struct spw *w, enum ir_op op, const value *args, value *result)
{
    const struct formula *f = &w->formula;
    bool is_root = op == IR_OP_SQRT;
    if (is_root && w->target->features & SPIRV_FMA32 && w->target->features & SPIRV_QUICK_SQRT32)
        *result = quick_root(f, args);
    else if (w->target->features & SPIRV_FMA32)
        *result = is_root ? root(f, args) : quotient(f, args);
    else if (w->target->features & SPIRV_FLOAT64)
        *result = is_root ? root_of_f64(f, args) : quotient_of_f64(f, args);
    else
        return false;
    return true;
}

bool spw_expand_rounding(struct spw *w, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    if (!w->vulkan) return false;
    if (kind == IR_KIND_F16) return to_half(&w->formula, op, args[0], result);
    if (op == IR_OP_FMA) return expand_fma(w, kind, args, result);
    if (kind != IR_KIND_F32) return false;
    const uint64_t divides = SPIRV_EXACT_DIVISION32 | SPIRV_NORMAL_DIVISION32;
    if (op == IR_OP_FDIV && !(w->target->features & divides)) return nearest(w, op, args, result);
    if (op == IR_OP_SQRT && !(w->target->features & SPIRV_EXACT_SQRT32)) return nearest(w, op, args, result);
    return false;
}
