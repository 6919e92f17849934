/* The functions of OpenCL.std that are not exact: through libm, and through libmvec's vectors where their
   errors, measured over the whole range, are within OpenCL's bounds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fuser/gccjit/emit.h"

/* ---- libm ---- */

struct function {
    enum ir_op op;
    const char *name; /* of the double function; that for floats has an f more */
    unsigned n;
    /* Instruction sets whose libmvec function is accurate enough, for f32 and f64. */
    unsigned char vector_f32, vector_f64;
};

enum { SSE = 1 << GCCJIT_ISA_SSE4, AVX = 1 << GCCJIT_ISA_AVX2, WIDE = 1 << GCCJIT_ISA_AVX512, ALL = SSE | AVX | WIDE };

/* Not within bounds (glibc 2.36): logf 3.7 of 3 ulp, exp10f of AVX-512 3.8 of 3, cbrt of the narrower
   ones 2.9 (f32) and 2.2 (f64, denormals) of 2. */
static const struct function functions[] = {
    {IR_OP_ACOS, "acos", 1, ALL, ALL},         {IR_OP_ACOSH, "acosh", 1, ALL, ALL},
    {IR_OP_ASIN, "asin", 1, ALL, ALL},         {IR_OP_ASINH, "asinh", 1, ALL, ALL},
    {IR_OP_ATAN, "atan", 1, ALL, ALL},         {IR_OP_ATAN2, "atan2", 2, ALL, ALL},
    {IR_OP_ATANH, "atanh", 1, ALL, ALL},       {IR_OP_CBRT, "cbrt", 1, WIDE, WIDE},
    {IR_OP_COS, "cos", 1, ALL, ALL},           {IR_OP_COSH, "cosh", 1, ALL, ALL},
    {IR_OP_ERF, "erf", 1, ALL, ALL},           {IR_OP_ERFC, "erfc", 1, ALL, ALL},
    {IR_OP_EXP, "exp", 1, ALL, ALL},           {IR_OP_EXP2, "exp2", 1, ALL, ALL},
    {IR_OP_EXP10, "exp10", 1, SSE | AVX, ALL}, {IR_OP_EXPM1, "expm1", 1, ALL, ALL},
    {IR_OP_HYPOT, "hypot", 2, ALL, ALL},       {IR_OP_LOG, "log", 1, 0, ALL},
    {IR_OP_LOG2, "log2", 1, ALL, ALL},         {IR_OP_LOG10, "log10", 1, ALL, ALL},
    {IR_OP_LOG1P, "log1p", 1, ALL, ALL},       {IR_OP_POW, "pow", 2, ALL, ALL},
    {IR_OP_SIN, "sin", 1, ALL, ALL},           {IR_OP_SINH, "sinh", 1, ALL, ALL},
    {IR_OP_TAN, "tan", 1, ALL, ALL},           {IR_OP_TANH, "tanh", 1, ALL, ALL},
    {IR_OP_TGAMMA, "tgamma", 1, 0, 0},         {IR_OP_FREM, "fmod", 2, 0, 0},
    {IR_OP_REMAINDER, "remainder", 2, 0, 0},   {IR_OP_LOGB, "logb", 1, 0, 0},
    {IR_OP_LDEXP, "ldexp", 2, 0, 0},
};

static const struct function *find(enum ir_op op)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].op == op) return &functions[i];
    return NULL;
}

static const char *name_for(char *buffer, size_t size, const char *name, enum ir_kind kind)
{
    snprintf(buffer, size, "%s%s", name, kind == IR_KIND_F32 ? "f" : "");
    return buffer;
}

/* libm's functions that return a second result through a pointer. */
static rval with_second(struct emit *e, const char *name, enum ir_kind kind, rval x, lval *second)
{
    *second = jit_local(e, jit_c(e, GCC_JIT_TYPE_INT));
    jit_set(e, *second, gcc_jit_context_zero(e->gcc, jit_c(e, GCC_JIT_TYPE_INT)));
    rval args[2] = {x, gcc_jit_lvalue_get_address(*second, NULL)};
    return jit_read(jit_keep(e, jit_call(e, name, jit_type(e, kind), 2, args)));
}

static rval log_gamma(struct emit *e, enum ir_kind kind, rval x, lval *sign)
{
    return with_second(e, kind == IR_KIND_F32 ? "lgammaf_r" : "lgamma_r", kind, x, sign);
}

static rval mantissa(struct emit *e, enum ir_kind kind, rval x, lval *exponent)
{
    return with_second(e, kind == IR_KIND_F32 ? "frexpf" : "frexp", kind, x, exponent);
}

static rval is_finite(struct emit *e, enum ir_kind kind, rval x)
{
    rval difference = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MINUS, x, x)));
    return jit_compare(e, GCC_JIT_COMPARISON_EQ, difference, gcc_jit_context_zero(e->gcc, jit_type(e, kind)));
}

static rval int_result(struct emit *e, enum ir_op op, enum ir_kind from, rval x)
{
    gcc_jit_type *word = jit_type(e, IR_KIND_I32), *c_int = jit_c(e, GCC_JIT_TYPE_INT);
    char name[32];
    lval second;
    if (op == IR_OP_ILOGB) {
        /* C's values for zero and NaN differ between systems; ours do not. */
        rval r = jit_call(e, name_for(name, sizeof name, "ilogb", from), c_int, 1, &x);
        rval usual = jit_read(jit_keep(e, jit_cast(e, r, word)));
        rval zero = jit_compare(e, GCC_JIT_COMPARISON_EQ, x, gcc_jit_context_zero(e->gcc, jit_type(e, from)));
        rval other = jit_select(e, is_finite(e, from, x), usual, jit_int(e, IR_KIND_I32, INT32_MAX));
        return jit_select(e, zero, jit_int(e, IR_KIND_I32, 0x80000000), other);
    }
    if (op == IR_OP_FREXP_EXP) {
        (void)mantissa(e, from, x, &second);
        return jit_select(e, is_finite(e, from, x), jit_cast(e, jit_read(second), word), jit_int(e, IR_KIND_I32, 0));
    }
    if (op == IR_OP_LGAMMA_SIGN) {
        /* Of f64: the versions of the C library differ in the sign of f32's at poles. */
        (void)log_gamma(e, IR_KIND_F64, jit_cast(e, x, jit_type(e, IR_KIND_F64)), &second);
        rval negative = jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(second), gcc_jit_context_zero(e->gcc, c_int));
        return jit_select(e, negative, jit_int(e, IR_KIND_I32, 0xffffffff), jit_int(e, IR_KIND_I32, 1));
    }
    return NULL;
}

rval math_scalar(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from, rval *args)
{
    char name[32];
    lval second;
    if (kind == IR_KIND_I32) return int_result(e, op, from, args[0]);
    if (op == IR_OP_FREXP_MANT) return mantissa(e, kind, args[0], &second);
    if (op == IR_OP_LGAMMA) return log_gamma(e, kind, args[0], &second);
    const struct function *f = find(op);
    if (!f) return NULL;
    if (op == IR_OP_LDEXP) args[1] = jit_cast(e, args[1], jit_c(e, GCC_JIT_TYPE_INT));
    return jit_call(e, name_for(name, sizeof name, f->name, kind), jit_type(e, kind), f->n, args);
}

/* ---- libmvec ---- */

bool math_vector(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                 struct lanes *result)
{
    static const char letter[] = {[GCCJIT_ISA_SSE4] = 'b', [GCCJIT_ISA_AVX2] = 'd', [GCCJIT_ISA_AVX512] = 'e'};
#ifdef __x86_64__
    const struct function *f = find(op);
    if (!f || (kind != IR_KIND_F32 && kind != IR_KIND_F64)) return false;
    if (!((kind == IR_KIND_F32 ? f->vector_f32 : f->vector_f64) & 1u << e->isa->id)) return false;
    unsigned lanes = lanes_per_chunk(e, kind);
    char name[48];
    snprintf(name, sizeof name, "_ZGV%cN%u%s_%s%s", letter[e->isa->id], lanes, n == 2 ? "vv" : "v", f->name,
             kind == IR_KIND_F32 ? "f" : "");
    *result = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        rval in[2];
        for (unsigned i = 0; i < n; i++) in[i] = jit_read(lanes_vectors(e, &args[i])[c]);
        result->chunk[c] = jit_keep(e, jit_call(e, name, jit_vector(e, kind, lanes), n, in));
    }
    return true;
#else
    (void)letter, (void)e, (void)op, (void)kind, (void)n, (void)args, (void)result;
    return false;
#endif
}

/* ---- in terms of each other ---- */

#define OP1(op, x) op1(e, IR_OP_##op, kind, x)
#define OP2(op, x, y) op2(e, IR_OP_##op, kind, x, y)
#define IS(op, x, y) op2(e, IR_OP_##op, IR_KIND_BOOL, x, y)
#define SELECT(c, x, y) op_select(e, c, x, y)
#define C(v) op_number(e, kind, v)

/* sin(pi r) or cos(pi r) for r in [0, 1/4] and their like: the caller has reduced the argument exactly. */
static struct lanes of_pi(struct emit *e, enum ir_op op, struct lanes r)
{
    enum ir_kind kind = r.kind;
    return op1(e, op, kind, OP2(FMUL, C(M_PI), r));
}

static struct lanes sin_pi(struct emit *e, struct lanes x)
{
    enum ir_kind kind = x.kind;
    struct lanes t = OP2(FREM, OP1(FABS, x), C(2));
    struct lanes second = IS(FOGE, t, C(1)), u = SELECT(second, OP2(FSUB, t, C(1)), t);
    u = SELECT(IS(FOGT, u, C(0.5)), OP2(FSUB, C(1), u), u); /* sin(pi (1 - u)) is the same */
    struct lanes s = SELECT(IS(FOLE, u, C(0.25)), of_pi(e, IR_OP_SIN, u), of_pi(e, IR_OP_COS, OP2(FSUB, C(0.5), u)));
    struct lanes sign = SELECT(second, OP1(FNEG, x), x);
    return SELECT(IS(FOEQ, u, C(0)), OP2(COPYSIGN, C(0), x), OP2(COPYSIGN, s, sign));
}

static struct lanes cos_pi(struct emit *e, struct lanes x)
{
    enum ir_kind kind = x.kind;
    struct lanes t = OP2(FREM, OP1(FABS, x), C(2));
    t = SELECT(IS(FOGT, t, C(1)), OP2(FSUB, C(2), t), t);
    struct lanes negative = IS(FOGT, t, C(0.5)), u = SELECT(negative, OP2(FSUB, C(1), t), t);
    struct lanes s = SELECT(IS(FOLE, u, C(0.25)), of_pi(e, IR_OP_COS, u), of_pi(e, IR_OP_SIN, OP2(FSUB, C(0.5), u)));
    return SELECT(negative, OP1(FNEG, s), s);
}

/* A zero at even whole numbers has the sign of x, at odd ones the other; so have the infinities. */
static struct lanes tan_pi(struct emit *e, struct lanes x)
{
    enum ir_kind kind = x.kind;
    struct lanes t = OP2(FREM, OP1(FABS, x), C(2)), s = sin_pi(e, t), c = cos_pi(e, t);
    struct lanes r = OP2(FDIV, s, c);
    r = SELECT(IS(FOEQ, t, C(0)), C(0), r);
    r = SELECT(IS(FOEQ, t, C(1)), C(-0.0), r);
    r = SELECT(IS(FOEQ, t, C(0.5)), C(INFINITY), r);
    r = SELECT(IS(FOEQ, t, C(1.5)), C(-INFINITY), r);
    return SELECT(op1(e, IR_OP_SIGNBIT, IR_KIND_BOOL, x), OP1(FNEG, r), r);
}

static struct lanes pow_of_positive(struct emit *e, struct lanes x, struct lanes y)
{
    enum ir_kind kind = x.kind;
    struct lanes zero_y = IS(FOEQ, y, C(0)), infinite_y = IS(FOEQ, OP1(FABS, y), C(INFINITY));
    struct lanes edge_x = op2(e, IR_OP_OR, IR_KIND_BOOL, IS(FOEQ, x, C(0)), IS(FOEQ, x, C(INFINITY)));
    struct lanes bad = op2(e, IR_OP_AND, IR_KIND_BOOL, zero_y, edge_x);
    bad = op2(e, IR_OP_OR, IR_KIND_BOOL, bad, op2(e, IR_OP_AND, IR_KIND_BOOL, IS(FOEQ, x, C(1)), infinite_y));
    bad = op2(e, IR_OP_OR, IR_KIND_BOOL, bad, IS(FOLT, x, C(0)));
    bad = op2(e, IR_OP_OR, IR_KIND_BOOL, bad, IS(FUNO, x, y));
    return SELECT(bad, C(NAN), OP2(POW, OP1(FABS, x), y));
}

static struct lanes whole_root(struct emit *e, struct lanes x, struct lanes k)
{
    enum ir_kind kind = x.kind;
    struct lanes one = lanes_int(e, IR_KIND_I32, 1), none = lanes_int(e, IR_KIND_I32, 0);
    struct lanes odd = IS(INE, op2(e, IR_OP_AND, IR_KIND_I32, k, one), none);
    struct lanes degree = OP1(STOF, k), inverse = OP2(FDIV, C(1), degree), root = OP2(POW, OP1(FABS, x), inverse);
    /* 1 / k is rounded: x^(1/k) = x^(inverse + rest), and x^rest is next to 1 + rest * log(x). */
    struct lanes rest =
        OP2(FDIV, op_n(e, IR_OP_FMA, kind, 3, (struct lanes[]){OP1(FNEG, degree), inverse, C(1)}), degree);
    struct lanes change = OP2(FMUL, root, OP2(FMUL, rest, OP1(LOG, OP1(FABS, x))));
    root = SELECT(op1(e, IR_OP_ISFINITE, IR_KIND_BOOL, change), OP2(FADD, root, change), root);
    struct lanes bad = op2(e, IR_OP_AND, IR_KIND_BOOL, IS(FOLT, x, C(0)), op1(e, IR_OP_NOT, IR_KIND_BOOL, odd));
    bad = op2(e, IR_OP_OR, IR_KIND_BOOL, bad, IS(IEQ, k, none));
    return SELECT(bad, C(NAN), SELECT(odd, OP2(COPYSIGN, root, x), root));
}

/* Functions of f32 that are computed in f64 and rounded. */
static bool needs_double(enum ir_op op)
{
    switch (op) {
    case IR_OP_ACOSPI:
    case IR_OP_ASINPI:
    case IR_OP_ATANPI:
    case IR_OP_ATAN2PI:
    case IR_OP_SINPI:
    case IR_OP_COSPI:
    case IR_OP_TANPI:
    case IR_OP_POWN:
    case IR_OP_ROOTN: return true;
    default: return false;
    }
}

static struct lanes in_double(struct emit *e, enum ir_op op, const struct lanes *args)
{
    struct lanes in[2];
    unsigned n = op == IR_OP_ATAN2PI || op == IR_OP_POWN || op == IR_OP_ROOTN ? 2 : 1;
    for (unsigned i = 0; i < n; i++)
        in[i] = args[i].kind == IR_KIND_F32 ? op1(e, IR_OP_FPCONV, IR_KIND_F64, args[i]) : args[i];
    return op1(e, IR_OP_FPCONV, IR_KIND_F32, op_n(e, op, IR_KIND_F64, n, in));
}

/* The low 7 bits of x / y rounded to nearest even: libm promises three bits only. */
static struct lanes quotient_bits(struct emit *e, struct lanes x, struct lanes y)
{
    enum ir_kind kind = x.kind;
    struct lanes a = OP1(FABS, x), b = OP1(FABS, y), top = OP2(FMUL, b, C(128));
    struct lanes none = lanes_int(e, IR_KIND_I32, 0), q = none;
    a = SELECT(IS(FOLT, top, C(INFINITY)), OP2(FREM, a, top), a);
    for (int i = 6; i >= 0; i--) {
        struct lanes part = OP2(FMUL, b, C(1 << i)), in = IS(FOGE, a, part);
        a = SELECT(in, OP2(FSUB, a, part), a); /* exact: a is below twice part */
        q = op2(e, IR_OP_OR, IR_KIND_I32, q, SELECT(in, lanes_int(e, IR_KIND_I32, 1u << i), none));
    }
    struct lanes odd = IS(INE, op2(e, IR_OP_AND, IR_KIND_I32, q, lanes_int(e, IR_KIND_I32, 1)), none);
    struct lanes rest = OP2(FSUB, b, a), half = op2(e, IR_OP_AND, IR_KIND_BOOL, IS(FOEQ, a, rest), odd);
    struct lanes more = op2(e, IR_OP_OR, IR_KIND_BOOL, IS(FOGT, a, rest), half);
    q = op2(e, IR_OP_ADD, IR_KIND_I32, q, op1(e, IR_OP_ZEXT, IR_KIND_I32, more));
    q = op2(e, IR_OP_AND, IR_KIND_I32, q, lanes_int(e, IR_KIND_I32, 127));
    struct lanes negative =
        op2(e, IR_OP_XOR, IR_KIND_BOOL, op1(e, IR_OP_SIGNBIT, IR_KIND_BOOL, x), op1(e, IR_OP_SIGNBIT, IR_KIND_BOOL, y));
    q = SELECT(negative, op1(e, IR_OP_NEG, IR_KIND_I32, q), q);
    struct lanes good = op2(e, IR_OP_AND, IR_KIND_BOOL, op1(e, IR_OP_ISFINITE, IR_KIND_BOOL, x),
                            op1(e, IR_OP_ISFINITE, IR_KIND_BOOL, y));
    good = op2(e, IR_OP_AND, IR_KIND_BOOL, good, IS(FUNE, y, C(0)));
    return SELECT(good, q, none);
}

static bool in_place(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *x, struct lanes *result)
{
    if (kind != IR_KIND_F32 || x->shape != SHAPE_VARYING || e->isa->id < GCCJIT_ISA_AVX2) return false;
    switch (op) {
    case IR_OP_EXP: *result = exp_of_f32(e, *x); return true;
    case IR_OP_LOG: *result = log_of_f32(e, *x); return true;
    case IR_OP_ERF: *result = erf_of_f32(e, *x); return true;
    default: return false;
    }
}

bool lower_math(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    struct lanes x = args[0], y = args[1];
    if (in_place(e, op, kind, &args[0], result)) return true;
    if (kind == IR_KIND_F32 && (needs_double(op) || (op == IR_OP_LOG && x.shape == SHAPE_VARYING && e->isa->id))) {
        *result = in_double(e, op, args);
        return true;
    }
    switch (op) {
    case IR_OP_ACOSPI: *result = OP2(FDIV, OP1(ACOS, x), C(M_PI)); return true;
    case IR_OP_ASINPI: *result = OP2(FDIV, OP1(ASIN, x), C(M_PI)); return true;
    case IR_OP_ATANPI: *result = OP2(FDIV, OP1(ATAN, x), C(M_PI)); return true;
    case IR_OP_ATAN2PI: *result = OP2(FDIV, OP2(ATAN2, x, y), C(M_PI)); return true;
    case IR_OP_SINPI: *result = sin_pi(e, x); return true;
    case IR_OP_COSPI: *result = cos_pi(e, x); return true;
    case IR_OP_TANPI: *result = tan_pi(e, x); return true;
    case IR_OP_POWN: *result = OP2(POW, x, OP1(STOF, y)); return true;
    case IR_OP_POWR: *result = pow_of_positive(e, x, y); return true;
    case IR_OP_ROOTN: *result = whole_root(e, x, y); return true;
    case IR_OP_REMQUO_QUO: *result = quotient_bits(e, x, y); return true;
    default: return false;
    }
}
