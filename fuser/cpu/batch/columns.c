/*
 * The loops, which the compiler makes vectors of. Compiled once for each instruction set, as the table that
 * COLUMNS names. What has no loop here is computed number by number (evaluate.c).
 */
#include "fuser/cpu/batch/columns.h"

#include <math.h>
#include <string.h>

#include "ir/core/float.h"
#include "ir/formula/types.h"

#define LOOP(name, R, A, B, C, x_y_z)                                                                                  \
    static void name(void *rp, const void *ap, const void *bp, const void *cp, size_t n)                               \
    {                                                                                                                  \
        R *restrict r = rp;                                                                                            \
        const A *a = ap;                                                                                               \
        const B *b = bp;                                                                                               \
        const C *c = cp;                                                                                               \
        (void)b, (void)c;                                                                                              \
        for (size_t i = 0; i < n; i++) r[i] = (R)(x_y_z);                                                              \
    }
#define x (a[i])
#define y (b[i])
#define z (c[i])

/* ---- integers ---- */

#define S(bits, v) ((int##bits##_t)(v))
#define BY(bits) (y & (bits - 1))

/* Operations on each width: row(op, bits, expression). */
#define INT_UNARY(row, bits) row(NEG, bits, 0u - x) row(NOT, bits, ~x) row(SABS, bits, S(bits, x) < 0 ? 0u - x : x)
#define INT_BINARY(row, bits)                                                                                          \
    row(ADD, bits, x + y) row(SUB, bits, x - y) row(MUL, bits, 1u * x * y) row(UDIV, bits, y ? x / y : 0)              \
        row(SDIV, bits,                                                                                                \
            y == 0             ? 0                                                                                     \
            : S(bits, y) == -1 ? (uint64_t)0 - x                                                                       \
                               : (uint64_t)(S(bits, x) / S(bits, y))) row(UREM, bits, y ? x % y : 0)                   \
            row(SREM, bits, y == 0 || S(bits, y) == -1 ? 0 : S(bits, x) % S(bits, y)) row(SHL, bits, x << BY(bits))    \
                row(LSHR, bits, x >> BY(bits)) row(ASHR, bits, S(bits, x) >> BY(bits)) row(AND, bits, x &y)            \
                    row(OR, bits, x | y) row(XOR, bits, x ^ y) row(SMIN, bits, S(bits, x) < S(bits, y) ? x : y)        \
                        row(UMIN, bits, x < y ? x : y) row(SMAX, bits, S(bits, x) > S(bits, y) ? x : y)                \
                            row(UMAX, bits, x > y ? x : y)                                                             \
                                row(ROTATE, bits, x << BY(bits) | x >> ((bits - BY(bits)) & (bits - 1)))
#define INT_TERNARY(row, bits)                                                                                         \
    row(BITSELECT, bits, (x & ~z) | (y & z)) row(                                                                      \
        SCLAMP, bits, S(bits, S(bits, x) > S(bits, y) ? x : y) < S(bits, z) ? (S(bits, x) > S(bits, y) ? x : y) : z)   \
        row(UCLAMP, bits, (x > y ? x : y) < z ? (x > y ? x : y) : z)
#define INT_COMPARE(row, bits)                                                                                         \
    row(IEQ, bits, x == y) row(INE, bits, x != y) row(SLT, bits, S(bits, x) < S(bits, y))                              \
        row(SLE, bits, S(bits, x) <= S(bits, y)) row(SGT, bits, S(bits, x) > S(bits, y))                               \
            row(SGE, bits, S(bits, x) >= S(bits, y)) row(ULT, bits, x < y) row(ULE, bits, x <= y)                      \
                row(UGT, bits, x > y) row(UGE, bits, x >= y)
/* Sums and means that need more bits than they have: in those of twice as many. */
#define INT_WIDER(row, bits, wide)                                                                                     \
    row(SADD_SAT, bits, CLAMPED(bits, (int##wide##_t)S(bits, x) + S(bits, y)))                                         \
        row(SSUB_SAT, bits, CLAMPED(bits, (int##wide##_t)S(bits, x) - S(bits, y)))                                     \
            row(UADD_SAT, bits, (uint##bits##_t)(x + y) < x ? UINT##bits##_MAX : x + y)                                \
                row(USUB_SAT, bits, x < y ? 0 : x - y) row(SABS_DIFF, bits, S(bits, x) < S(bits, y) ? y - x : x - y)   \
                    row(UABS_DIFF, bits, x < y ? y - x : x - y)                                                        \
                        row(SHADD, bits, ((int##wide##_t)S(bits, x) + S(bits, y)) >> 1)                                \
                            row(UHADD, bits, ((uint##wide##_t)x + y) >> 1)                                             \
                                row(SRHADD, bits, ((int##wide##_t)S(bits, x) + S(bits, y) + 1) >> 1)                   \
                                    row(URHADD, bits, ((uint##wide##_t)x + y + 1) >> 1)
#define CLAMPED(bits, v) ((v) < INT##bits##_MIN ? INT##bits##_MIN : (v) > INT##bits##_MAX ? INT##bits##_MAX : (v))
/* What has a loop on 32 bits alone. */
#define INT_32(row)                                                                                                    \
    row(SMUL_HI, 32, (int64_t)S(32, x) * S(32, y) >> 32) row(UMUL_HI, 32, (uint64_t)x *y >> 32)                        \
        row(SMUL24, 32, (uint32_t)((int32_t)(x << 8) >> 8) * (uint32_t)((int32_t)(y << 8) >> 8))                       \
            row(UMUL24, 32, (x & 0xffffff) * (y & 0xffffff))                                                           \
                row(SMAD24, 32, (uint32_t)((int32_t)(x << 8) >> 8) * (uint32_t)((int32_t)(y << 8) >> 8) + z)           \
                    row(UMAD24, 32, (x & 0xffffff) * (y & 0xffffff) + z) row(POPCOUNT, 32, __builtin_popcount(x))      \
                        row(CLZ, 32, x ? __builtin_clz(x) : 32) row(CTZ, 32, x ? __builtin_ctz(x) : 32)

#define INT_LOOP(op, bits, e) LOOP(op##_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, uint##bits##_t, e)
#define INT_BOOL_LOOP(op, bits, e) LOOP(op##_##bits, uint8_t, uint##bits##_t, uint##bits##_t, uint##bits##_t, e)
#define INT_LOOPS(bits)                                                                                                \
    INT_UNARY(INT_LOOP, bits)                                                                                          \
    INT_BINARY(INT_LOOP, bits) INT_TERNARY(INT_LOOP, bits) INT_COMPARE(INT_BOOL_LOOP, bits)
INT_LOOPS(8)
INT_LOOPS(16)
INT_LOOPS(32)
INT_LOOPS(64)
INT_32(INT_LOOP)
INT_WIDER(INT_LOOP, 8, 32)
INT_WIDER(INT_LOOP, 16, 32)
INT_WIDER(INT_LOOP, 32, 64)

LOOP(not_bool, uint8_t, uint8_t, uint8_t, uint8_t, x ^ 1)
LOOP(truth, uint8_t, uint8_t, uint8_t, uint8_t, x != 0)

/* ---- floats ---- */

#define NEITHER(kind, v, w) ((v) == (v) && (w) == (w))
#define CLEAR_SIGN(kind, v) __builtin_fabs##kind(v)
/* Away from zero from halves on: what is cut off is exact. */
#define ROUNDED(kind, v)                                                                                               \
    __builtin_copysign##kind(                                                                                          \
        __builtin_trunc##kind(v) +                                                                                     \
            (__builtin_fabs##kind((v)-__builtin_trunc##kind(v)) >= FLOAT_HALF ? __builtin_copysign##kind(1, v) : 0),   \
        v)
#define FLOAT_HALF 0.5f
#define FLOAT_UNARY(row, k)                                                                                            \
    row(FNEG, k, -x) row(FABS, k, __builtin_fabs##k(x)) row(SQRT, k, __builtin_sqrt##k(x))                             \
        row(FLOOR, k, __builtin_floor##k(x)) row(CEIL, k, __builtin_ceil##k(x)) row(TRUNC, k, __builtin_trunc##k(x))   \
            row(RINT, k, __builtin_rint##k(x)) row(ROUND, k, ROUNDED(k, x))
#define FLOAT_BINARY(row, k)                                                                                           \
    row(FADD, k, x + y) row(FSUB, k, x - y) row(FMUL, k, x *y) row(FDIV, k, x / y)                                     \
        row(COPYSIGN, k, __builtin_copysign##k(x, y)) row(FMA, k, __builtin_fma##k(x, y, z))                           \
            row(LESSER, k, x < y ? x : y) row(GREATER, k, x > y ? x : y)
#define FLOAT_COMPARE(row, k)                                                                                          \
    row(FOEQ, k, x == y) row(FONE, k, (x < y) | (x > y)) row(FOLT, k, x < y) row(FOLE, k, x <= y) row(FOGT, k, x > y)  \
        row(FOGE, k, x >= y) row(FUEQ, k, !((x < y) | (x > y))) row(FUNE, k, x != y) row(FULT, k, !(x >= y))           \
            row(FULE, k, !(x > y)) row(FUGT, k, !(x <= y)) row(FUGE, k, !(x < y)) row(FORD, k, (x == x) & (y == y))    \
                row(FUNO, k, (x != x) | (y != y)) row(ISNAN, k, x != x)                                                \
                    row(ISINF, k, __builtin_fabs##k(x) == (FLOAT)INFINITY)                                             \
                        row(ISFINITE, k, __builtin_fabs##k(x) < (FLOAT)INFINITY)                                       \
                            row(ISNORMAL, k,                                                                           \
                                (__builtin_fabs##k(x) < (FLOAT)INFINITY) & (__builtin_fabs##k(x) >= FLOAT_LEAST))      \
                                row(SIGNBIT, k, BITS_OF(x) >> (8 * sizeof(FLOAT) - 1))

static inline uint32_t bits_of_f(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline uint64_t bits_of_(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

#define FLOAT_LOOP(op, k, e) LOOP(op##_float##k, FLOAT, FLOAT, FLOAT, FLOAT, e)
#define FLOAT_BOOL_LOOP(op, k, e) LOOP(op##_float##k, uint8_t, FLOAT, FLOAT, FLOAT, e)
#define FLOAT float
#define FLOAT_LEAST 0x1p-126f
#define BITS_OF bits_of_f
FLOAT_UNARY(FLOAT_LOOP, f)
FLOAT_BINARY(FLOAT_LOOP, f)
FLOAT_COMPARE(FLOAT_BOOL_LOOP, f)
#undef FLOAT
#undef FLOAT_LEAST
#undef BITS_OF
#define FLOAT double
#define FLOAT_LEAST 0x1p-1022
#define BITS_OF bits_of_
FLOAT_UNARY(FLOAT_LOOP, )
FLOAT_BINARY(FLOAT_LOOP, )
FLOAT_COMPARE(FLOAT_BOOL_LOOP, )

/* x * 2^y for a whole y from -152 to 131, rounded once: by two powers of two, of which the first product is exact. */
static inline float power_of_two(int32_t e)
{
    uint32_t bits = (uint32_t)(e + 127) << 23;
    float p;
    memcpy(&p, &bits, sizeof p);
    return p;
}
static inline float scaled(float v, float by)
{
    int32_t e = by == by ? (int32_t)by : 0, half = e >> 1;
    return by == by ? (float)((double)v * power_of_two(half) * power_of_two(e - half)) : by;
}
LOOP(scale_float, float, float, float, float, scaled(x, y))

/* ---- selection and moves ---- */

#define SIZED(bits)                                                                                                    \
    LOOP(select_##bits, uint##bits##_t, uint8_t, uint##bits##_t, uint##bits##_t, x ? y : z)                            \
    LOOP(splat_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, uint##bits##_t, a[0])                           \
    static void blend_##bits(void *rp, const void *ap, const uint8_t *lanes, size_t n)                                 \
    {                                                                                                                  \
        uint##bits##_t *r = rp;                                                                                        \
        const uint##bits##_t *a = ap;                                                                                  \
        for (size_t i = 0; i < n; i++) r[i] = lanes[i] ? a[i] : r[i];                                                  \
    }
SIZED(8)
SIZED(16)
SIZED(32)
SIZED(64)

/* ---- memory ---- */

typedef uint16_t __attribute__((aligned(1), may_alias)) unaligned_16;
typedef uint32_t __attribute__((aligned(1), may_alias)) unaligned_32;
typedef uint64_t __attribute__((aligned(1), may_alias)) unaligned_64;
typedef uint8_t unaligned_8;

/* Numbers one behind the other, which many loads and stores are of: told by the ends first. */
#define CONSECUTIVE(index_bits)                                                                                        \
    static bool consecutive_##index_bits(const int##index_bits##_t *index, size_t n)                                   \
    {                                                                                                                  \
        uint##index_bits##_t first = (uint##index_bits##_t)index[0], wrong = 0;                                        \
        if ((uint##index_bits##_t)index[n - 1] - first != n - 1 || index[n - 1] < index[0]) return false;              \
        for (size_t i = 0; i < n; i++) wrong |= (uint##index_bits##_t)index[i] ^ (first + (uint##index_bits##_t)i);    \
        return !wrong;                                                                                                 \
    }
CONSECUTIVE(32)
CONSECUTIVE(64)

#define AT(i) ((void *)((uintptr_t)base + (uint64_t)(i) * (uint64_t)scale))
/* Lanes that are not set read and write a place of their own. */
#define ACCESS(bits, index_bits)                                                                                       \
    static void load_##bits##_##index_bits(void *rp, const uint8_t *base, const void *ip, int64_t scale,               \
                                           const uint8_t *lanes, size_t n)                                             \
    {                                                                                                                  \
        uint##bits##_t *restrict r = rp, nowhere = 0;                                                                  \
        const int##index_bits##_t *restrict index = ip;                                                                \
        if (!lanes && scale == bits / 8 && consecutive_##index_bits(index, n))                                         \
            memcpy(r, AT(index[0]), n * sizeof *r);                                                                    \
        else if (!lanes)                                                                                               \
            for (size_t i = 0; i < n; i++) r[i] = *(const unaligned_##bits *)(AT(index[i]));                           \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++)                                                                             \
                r[i] = *(const unaligned_##bits *)(lanes[i] ? AT(index[i]) : (void *)&nowhere);                        \
    }                                                                                                                  \
    static void store_##bits##_##index_bits(const void *vp, uint8_t *base, const void *ip, int64_t scale,              \
                                            const uint8_t *lanes, size_t n)                                            \
    {                                                                                                                  \
        uint##bits##_t nowhere;                                                                                        \
        const uint##bits##_t *v = vp;                                                                                  \
        const int##index_bits##_t *index = ip;                                                                         \
        if (!lanes && scale == bits / 8 && consecutive_##index_bits(index, n))                                         \
            memcpy(AT(index[0]), v, n * sizeof *v);                                                                    \
        else if (!lanes)                                                                                               \
            for (size_t i = 0; i < n; i++) *(unaligned_##bits *)(AT(index[i])) = v[i];                                 \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) *(unaligned_##bits *)(lanes[i] ? AT(index[i]) : (void *)&nowhere) = v[i];   \
    }
#define ADDRESS(index_bits)                                                                                            \
    static void address_##index_bits(uint64_t *restrict r, uint64_t base, const void *ip, int64_t scale, size_t n)     \
    {                                                                                                                  \
        const int##index_bits##_t *index = ip;                                                                         \
        for (size_t i = 0; i < n; i++) r[i] = base + (uint64_t)index[i] * (uint64_t)scale;                             \
    }
#define ACCESSES(index_bits)                                                                                           \
    ACCESS(8, index_bits)                                                                                              \
    ACCESS(16, index_bits) ACCESS(32, index_bits) ACCESS(64, index_bits) ADDRESS(index_bits)
ACCESSES(32)
ACCESSES(64)

/* ---- conversions ---- */

LOOP(trunc_16_8, uint8_t, uint16_t, uint8_t, uint8_t, x)
LOOP(trunc_32_8, uint8_t, uint32_t, uint8_t, uint8_t, x)
LOOP(trunc_64_8, uint8_t, uint64_t, uint8_t, uint8_t, x)
LOOP(trunc_32_16, uint16_t, uint32_t, uint8_t, uint8_t, x)
LOOP(trunc_64_16, uint16_t, uint64_t, uint8_t, uint8_t, x)
LOOP(trunc_64_32, uint32_t, uint64_t, uint8_t, uint8_t, x)
#define EXTEND(from, to)                                                                                               \
    LOOP(zext_##from##_##to, uint##to##_t, uint##from##_t, uint8_t, uint8_t, x)                                        \
    LOOP(sext_##from##_##to, int##to##_t, int##from##_t, uint8_t, uint8_t, x)
EXTEND(8, 16)
EXTEND(8, 32)
EXTEND(8, 64)
EXTEND(16, 32)
EXTEND(16, 64)
EXTEND(32, 64)
#define OF_BOOL(to)                                                                                                    \
    LOOP(zext_bool_##to, uint##to##_t, uint8_t, uint8_t, uint8_t, x)                                                   \
    LOOP(sext_bool_##to, uint##to##_t, uint8_t, uint8_t, uint8_t, 0u - (uint##to##_t)x)
OF_BOOL(8)
OF_BOOL(16)
OF_BOOL(32)
OF_BOOL(64)

/* Of integers to narrower ones, or of another sign. */
#define SATURATE(from, to)                                                                                             \
    LOOP(ssat_##from##_##to, int##to##_t, int##from##_t, uint8_t, uint8_t, CLAMPED(to, (int64_t)x))                    \
    LOOP(usat_##from##_##to, uint##to##_t, uint##from##_t, uint8_t, uint8_t,                                           \
         (uint64_t)x > UINT##to##_MAX ? UINT##to##_MAX : x)                                                            \
    LOOP(s2u_##from##_##to, uint##to##_t, int##from##_t, uint8_t, uint8_t,                                             \
         x<0 ? 0 : (uint64_t)x> UINT##to##_MAX ? UINT##to##_MAX : (uint64_t)x)                                         \
    LOOP(u2s_##from##_##to, int##to##_t, uint##from##_t, uint8_t, uint8_t,                                             \
         (uint64_t)x > (uint64_t)INT##to##_MAX ? (uint64_t)INT##to##_MAX : x)
#define SATURATE_FROM(from) SATURATE(from, 8) SATURATE(from, 16) SATURATE(from, 32) SATURATE(from, 64)
SATURATE_FROM(8)
SATURATE_FROM(16)
SATURATE_FROM(32)
SATURATE_FROM(64)

/* Saturated; a NaN is 0. */
#define TO_INT(bits, F, k, low, high)                                                                                  \
    LOOP(ftos_##k##_##bits, int##bits##_t, F, uint8_t, uint8_t,                                                        \
         x >= -(low)  ? INT##bits##_MAX                                                                                \
         : x >= (low) ? (int##bits##_t)x                                                                               \
         : x < (low)  ? INT##bits##_MIN                                                                                \
                      : 0)                                                                                              \
    LOOP(ftou_##k##_##bits, uint##bits##_t, F, uint8_t, uint8_t,                                                       \
         x >= (high) ? UINT##bits##_MAX                                                                                \
         : x > 0     ? (uint##bits##_t)x                                                                               \
                     : 0)                                                                                                  \
    LOOP(stof_##bits##_##k, F, int##bits##_t, uint8_t, uint8_t, x)                                                     \
    LOOP(utof_##bits##_##k, F, uint##bits##_t, uint8_t, uint8_t, x)
TO_INT(8, float, f32, -0x1p7f, 0x1p8f)
TO_INT(16, float, f32, -0x1p15f, 0x1p16f)
TO_INT(32, float, f32, -0x1p31f, 0x1p32f)
TO_INT(64, float, f32, -0x1p63f, 0x1p64f)
TO_INT(8, double, f64, -0x1p7, 0x1p8)
TO_INT(16, double, f64, -0x1p15, 0x1p16)
TO_INT(32, double, f64, -0x1p31, 0x1p32)
TO_INT(64, double, f64, -0x1p63, 0x1p64)
LOOP(fpconv_f32_f64, double, float, uint8_t, uint8_t, x)
LOOP(fpconv_f64_f32, float, double, uint8_t, uint8_t, x)
LOOP(fpconv_f16_f32, float, uint16_t, uint8_t, uint8_t, ir_f16_to_float(x))
LOOP(fpconv_f16_f64, double, uint16_t, uint8_t, uint8_t, (double)ir_f16_to_float(x))
LOOP(fpconv_f32_f16, uint16_t, float, uint8_t, uint8_t, ir_f16_from_float(x))
LOOP(fpconv_f64_f16, uint16_t, double, uint8_t, uint8_t, ir_float_bits(IR_KIND_F16, x))
#undef x
#undef y
#undef z

/* ---- the table ---- */

enum { N_OPERATIONS = FORMULA_LIBRARY };
enum { IR_OP_LESSER = FORMULA_FMIN, IR_OP_GREATER = FORMULA_FMAX };

#define INT_ROW(op, bits, e) [IR_OP_##op] = {[IR_KIND_I##bits] = op##_##bits},
#define INT_KINDS(op) [IR_KIND_I8] = op##_8, [IR_KIND_I16] = op##_16, [IR_KIND_I32] = op##_32, [IR_KIND_I64] = op##_64
#define INTS(op, bits, e) [IR_OP_##op] = {INT_KINDS(op)},
#define INTS_AND_BOOL(op) [IR_OP_##op] = {[IR_KIND_BOOL] = op##_8, INT_KINDS(op)},
#define INTS_TO_32(op, bits, e)                                                                                        \
    [IR_OP_##op] = {[IR_KIND_I8] = op##_8, [IR_KIND_I16] = op##_16, [IR_KIND_I32] = op##_32},
#define FLOATS(op, k, e) [IR_OP_##op] = {[IR_KIND_F32] = op##_floatf, [IR_KIND_F64] = op##_float},

#pragma GCC diagnostic ignored "-Woverride-init"
static column_function *const operations[N_OPERATIONS][IR_KIND_F64 + 1] = {
    INT_UNARY(INTS, ) INT_BINARY(INTS, ) INT_TERNARY(INTS, ) INT_COMPARE(INTS, ) INT_32(INT_ROW)
        INT_WIDER(INTS_TO_32, , ) FLOAT_UNARY(FLOATS, ) FLOAT_BINARY(FLOATS, ) FLOAT_COMPARE(FLOATS, )
            INTS_AND_BOOL(AND) INTS_AND_BOOL(OR) INTS_AND_BOOL(XOR) INTS_AND_BOOL(IEQ)
                INTS_AND_BOOL(INE)[IR_OP_NOT] = {[IR_KIND_BOOL] = not_bool, INT_KINDS(NOT)},
    [IR_OP_BITSELECT] = {INT_KINDS(BITSELECT), [IR_KIND_F16] = BITSELECT_16, [IR_KIND_F32] = BITSELECT_32,
                         [IR_KIND_F64] = BITSELECT_64},
    [FORMULA_SCALE] = {[IR_KIND_F32] = scale_float},
};

static column_function *find_operation(unsigned op, enum ir_kind kind)
{
    return op < N_OPERATIONS && kind <= IR_KIND_F64 ? operations[op][kind] : NULL;
}

#define TO(kind) [IR_KIND_##kind]
#define KINDS (IR_KIND_F64 + 1)
static column_function *const trunc_loops[KINDS][KINDS] = {
    TO(I8) = {TO(I16) = trunc_16_8, TO(I32) = trunc_32_8, TO(I64) = trunc_64_8},
    TO(I16) = {TO(I32) = trunc_32_16, TO(I64) = trunc_64_16},
    TO(I32) = {TO(I64) = trunc_64_32},
};
static column_function *const zext_loops[KINDS][KINDS] = {
    TO(BOOL) = {TO(I8) = truth},
    TO(I8) = {TO(BOOL) = zext_bool_8},
    TO(I16) = {TO(BOOL) = zext_bool_16, TO(I8) = zext_8_16},
    TO(I32) = {TO(BOOL) = zext_bool_32, TO(I8) = zext_8_32, TO(I16) = zext_16_32},
    TO(I64) = {TO(BOOL) = zext_bool_64, TO(I8) = zext_8_64, TO(I16) = zext_16_64, TO(I32) = zext_32_64},
};
static column_function *const sext_loops[KINDS][KINDS] = {
    TO(I8) = {TO(BOOL) = sext_bool_8},
    TO(I16) = {TO(BOOL) = sext_bool_16, TO(I8) = sext_8_16},
    TO(I32) = {TO(BOOL) = sext_bool_32, TO(I8) = sext_8_32, TO(I16) = sext_16_32},
    TO(I64) = {TO(BOOL) = sext_bool_64, TO(I8) = sext_8_64, TO(I16) = sext_16_64, TO(I32) = sext_32_64},
};
static column_function *const fpconv_loops[KINDS][KINDS] = {
    TO(F16) = {TO(F32) = fpconv_f32_f16, TO(F64) = fpconv_f64_f16},
    TO(F32) = {TO(F16) = fpconv_f16_f32, TO(F64) = fpconv_f64_f32},
    TO(F64) = {TO(F16) = fpconv_f16_f64, TO(F32) = fpconv_f32_f64},
};
#define INTS_FROM(name)                                                                                                \
    TO(I8) = {TO(F32) = name##_f32_8, TO(F64) = name##_f64_8},                                                         \
    TO(I16) = {TO(F32) = name##_f32_16, TO(F64) = name##_f64_16},                                                      \
    TO(I32) = {TO(F32) = name##_f32_32, TO(F64) = name##_f64_32},                                                      \
    TO(I64) = {TO(F32) = name##_f32_64, TO(F64) = name##_f64_64}
#define FLOAT_FROM(name, k)                                                                                            \
    {                                                                                                                  \
        TO(I8) = name##_8_##k, TO(I16) = name##_16_##k, TO(I32) = name##_32_##k, TO(I64) = name##_64_##k               \
    }
#define SATURATED(name)                                                                                                \
    {                                                                                                                  \
        TO(I8) = {SATURATED_FROM(name, 8)}, TO(I16) = {SATURATED_FROM(name, 16)},                                      \
        TO(I32) = {SATURATED_FROM(name, 32)}, TO(I64) = {                                                              \
            SATURATED_FROM(name, 64)                                                                                   \
        }                                                                                                              \
    }
#define SATURATED_FROM(name, to)                                                                                       \
    TO(I8) = name##_8_##to, TO(I16) = name##_16_##to, TO(I32) = name##_32_##to, TO(I64) = name##_64_##to
static column_function *const saturation_loops[][KINDS][KINDS] = {SATURATED(ssat), SATURATED(usat), SATURATED(s2u),
                                                                  SATURATED(u2s)};
static column_function *const ftos_loops[KINDS][KINDS] = {INTS_FROM(ftos)};
static column_function *const ftou_loops[KINDS][KINDS] = {INTS_FROM(ftou)};
static column_function *const stof_loops[KINDS][KINDS] = {TO(F32) = FLOAT_FROM(stof, f32),
                                                          TO(F64) = FLOAT_FROM(stof, f64)};
static column_function *const utof_loops[KINDS][KINDS] = {TO(F32) = FLOAT_FROM(utof, f32),
                                                          TO(F64) = FLOAT_FROM(utof, f64)};

static column_function *find_conversion(enum ir_op op, enum ir_kind to, enum ir_kind from)
{
    if (to > IR_KIND_F64 || from > IR_KIND_F64) return NULL;
    switch (op) {
    case IR_OP_ITRUNC: return trunc_loops[to][from];
    case IR_OP_ZEXT: return zext_loops[to][from];
    case IR_OP_SEXT: return sext_loops[to][from];
    case IR_OP_SSAT ... IR_OP_U2S_SAT: return saturation_loops[op - IR_OP_SSAT][to][from];
    case IR_OP_FPCONV: return fpconv_loops[to][from];
    case IR_OP_FTOS: return ftos_loops[to][from];
    case IR_OP_FTOU: return ftou_loops[to][from];
    case IR_OP_STOF: return stof_loops[to][from];
    case IR_OP_UTOF: return utof_loops[to][from];
    default: return NULL;
    }
}

/* library.c */
column_function *COLUMNS_LIBRARY(enum ir_op op, enum ir_kind kind);

const struct columns COLUMNS = {
    .operation = find_operation,
    .conversion = find_conversion,
    .library = COLUMNS_LIBRARY,
    .select = {select_8, select_16, select_32, select_64},
    .splat = {splat_8, splat_16, splat_32, splat_64},
    .blend = {blend_8, blend_16, blend_32, blend_64},
    .load = {{load_8_32, load_16_32, load_32_32, load_64_32}, {load_8_64, load_16_64, load_32_64, load_64_64}},
    .store = {{store_8_32, store_16_32, store_32_32, store_64_32}, {store_8_64, store_16_64, store_32_64, store_64_64}},
    .address = {address_32, address_64},
};
