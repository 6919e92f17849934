/*
 * exp, log and erf of f32 on vectors, in place: a call of libmvec's makes all other vectors go through memory, its logf
 * is not within OpenCL's bound, and its erff takes four times as long. Errors, measured over all
 * floats: log 0.92 ulp (OpenCL allows 3), exp 1.05 (3), erf 1.5 (16).
 */
#include <math.h>

#include "fuser/gccjit/emit.h"

#define OP1(op, x) op1(e, IR_OP_##op, IR_KIND_F32, x)
#define OP2(op, x, y) op2(e, IR_OP_##op, IR_KIND_F32, x, y)
#define IS(op, x, y) op2(e, IR_OP_##op, IR_KIND_BOOL, x, y)
#define INT(op, x, y) op2(e, IR_OP_##op, IR_KIND_I32, x, y)
#define FMA(x, y, z) op3(e, IR_OP_FMA, IR_KIND_F32, x, y, z)
#define C(v) op_number(e, IR_KIND_F32, v)
#define I(v) lanes_int(e, IR_KIND_I32, (uint32_t)(v))

static struct lanes polynomial(struct emit *e, struct lanes x, const double *coefficients, unsigned n)
{
    struct lanes r = C(coefficients[n - 1]);
    for (unsigned i = n - 1; i-- > 0;) r = FMA(r, x, C(coefficients[i]));
    return r;
}

/* ln 2, and what the first float leaves of it. */
static const double ln2_high = 0x1.62e430p-1, ln2_low = -0x1.05c610p-29;

/* x = m * 2^n with m in [sqrt(1/2), sqrt(2)): log x = n ln 2 + log m, and log(1 + t) = t - t^2 / 2 + t^3 P(t). */
static struct lanes log_of_positive(struct emit *e, struct lanes x)
{
    static const double p[] = {0x1.55554ap-2, -0x1.000220p-2, 0x1.99a596p-3, -0x1.54788ap-3,
                               0x1.226e50p-3, -0x1.0ce08ep-3, 0x1.07d0ccp-3, -0x1.41ed50p-4};
    const uint32_t root_half = 0x3f3504f3;
    struct lanes small = IS(FOLT, x, C(0x1p-126));
    x = op_select(e, small, OP2(FMUL, x, C(0x1p23)), x);
    struct lanes bits = INT(SUB, op_bits(e, x, IR_KIND_I32), I(root_half));
    struct lanes n = OP1(STOF, INT(ASHR, bits, I(23)));
    n = op_select(e, small, OP2(FSUB, n, C(23)), n);
    struct lanes m = op_bits(e, INT(ADD, INT(AND, bits, I(0x7fffff)), I(root_half)), IR_KIND_F32);
    struct lanes t = OP2(FSUB, m, C(1)), square = OP2(FMUL, t, t);
    struct lanes rest = OP2(FMUL, OP2(FMUL, t, square), polynomial(e, t, p, sizeof p / sizeof *p));
    rest = FMA(square, C(-0.5), rest);
    return FMA(n, C(ln2_high), OP2(FADD, t, FMA(n, C(ln2_low), rest)));
}

struct lanes log_of_f32(struct emit *e, struct lanes x)
{
    struct lanes before = INT(SUB, op_bits(e, x, IR_KIND_I32), I(1));
    struct lanes usual = IS(ULT, before, I(0x7f7fffff)); /* positive and finite */
    struct lanes other = op_select(e, IS(FOGT, x, C(0)), x, C(NAN));
    other = op_select(e, IS(FOEQ, x, C(0)), C(-INFINITY), other);
    return op_select(e, usual, log_of_positive(e, x), other);
}

/* r * 2^n, rounded once where the instruction set can: then for all n, else for those that keep r * 2^(n/2) normal. */
static struct lanes scaled(struct emit *e, struct lanes r, struct lanes n)
{
    if (e->isa->id == GCCJIT_ISA_AVX512) return op2(e, (enum ir_op)OP_RAW_SCALE, IR_KIND_F32, r, n);
    struct lanes whole = op1(e, (enum ir_op)OP_RAW_FTOS, IR_KIND_I32, n);
    struct lanes half = INT(ASHR, whole, I(1)), rest = INT(SUB, whole, half);
    struct lanes first = op_bits(e, INT(SHL, INT(ADD, half, I(127)), I(23)), IR_KIND_F32);
    struct lanes second = op_bits(e, INT(SHL, INT(ADD, rest, I(127)), I(23)), IR_KIND_F32);
    return OP2(FMUL, OP2(FMUL, r, first), second);
}

/* x = n ln 2 + r: exp x = 2^n exp r, and exp r = 1 + r + r^2 P(r). */
struct lanes exp_of_f32(struct emit *e, struct lanes x)
{
    static const double p[] = {0x1p-1, 0x1.55548ep-3, 0x1.55545ep-5, 0x1.123b56p-7, 0x1.6db426p-10};
    /* Cut where the result is zero or infinite anyway; NaN stays. */
    x = op2(e, (enum ir_op)OP_RAW_FMIN, IR_KIND_F32, C(90), x);
    x = op2(e, (enum ir_op)OP_RAW_FMAX, IR_KIND_F32, C(-105), x);
    struct lanes n = OP1(RINT, OP2(FMUL, x, C(M_LOG2E)));
    struct lanes r = FMA(n, C(-ln2_low), FMA(n, C(-ln2_high), x));
    struct lanes rest = FMA(OP2(FMUL, r, r), polynomial(e, r, p, sizeof p / sizeof *p), r);
    return scaled(e, OP2(FADD, C(1), rest), n);
}

/* Up to 0.875, erf x = x + x P(x^2). Beyond, erf |x| = 1 - exp Q(|x|), where a relative error of the power hardly
 * shows. */
struct lanes erf_of_f32(struct emit *e, struct lanes x)
{
    static const double p[] = {0x1.06eba6p-3,  -0x1.812710p-2, 0x1.ce21d8p-4,
                               -0x1.b6fdfep-6, 0x1.4a07e8p-8,  -0x1.463becp-11};
    static const double q[] = {-0x1.2e6ae8p-13, -0x1.20bd5cp+0, -0x1.460d5ap-1, -0x1.ab0252p-4,
                               0x1.6eb0f8p-6,   -0x1.93f6e8p-9, 0x1.a339bcp-13};
    static const double power[] = {0x1.fffdc4p-2, 0x1.55543ep-3, 0x1.573b3cp-5, 0x1.126a8ap-7};
    struct lanes a = OP1(FABS, x);
    struct lanes near = FMA(x, polynomial(e, OP2(FMUL, x, x), p, sizeof p / sizeof *p), x);
    struct lanes cut = op2(e, (enum ir_op)OP_RAW_FMIN, IR_KIND_F32, C(4), a); /* there it is 1; NaN stays */
    struct lanes h = polynomial(e, cut, q, sizeof q / sizeof *q);
    struct lanes n = OP1(RINT, OP2(FMUL, h, C(M_LOG2E))), r = FMA(n, C(-ln2_high), h);
    struct lanes rest = FMA(OP2(FMUL, r, r), polynomial(e, r, power, sizeof power / sizeof *power), r);
    struct lanes far = OP2(FSUB, C(1), scaled(e, OP2(FADD, C(1), rest), n));
    return op_select(e, IS(FOLT, a, C(0.875)), near, OP2(COPYSIGN, far, x));
}
