/* The arithmetic: ir_eval() on single operations, edge cases first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/core/float.h"
#include "ir/eval/eval.h"

static uint64_t f16(double d)
{
    return ir_float_bits(IR_KIND_F16, d);
}

static uint64_t f32(double d)
{
    return ir_float_bits(IR_KIND_F32, d);
}

static uint64_t f64(double d)
{
    return ir_float_bits(IR_KIND_F64, d);
}

/* An instruction that belongs to no module: ir_eval() looks at nothing else. */
struct one {
    struct ir_inst inst;
    struct ir_value values[4];
    struct ir_value *operands[4];
    const uint64_t *lanes[4];
};

static void one_init(struct one *o, enum ir_op op, ir_type type)
{
    memset(o, 0, sizeof *o);
    o->inst.op = op;
    o->inst.type = type;
    o->inst.operands = o->operands;
}

static void one_operand(struct one *o, ir_type type, const uint64_t *lanes)
{
    uint32_t i = o->inst.n_operands++;
    o->values[i].type = type;
    o->operands[i] = &o->values[i];
    o->lanes[i] = lanes;
}

static ir_type type_of_letter(char letter, ir_type t, ir_type from)
{
    switch (letter) {
    case 'J':
    case 'u': return IR_I32;
    case 'N':
    case 'X': return from;
    default: return t;
    }
}

static uint64_t run(enum ir_op op, ir_type type, ir_type from, const uint64_t *x, struct ir_attrs attrs)
{
    struct one o;
    one_init(&o, op, type);
    o.inst.attrs = attrs;
    const char *letters = ir_op_info(op)->operands;
    for (size_t i = 0; i < strlen(letters); i++) one_operand(&o, type_of_letter(letters[i], type, from), &x[i]);
    uint64_t r[IR_MAX_LANES] = {0};
    assert_true(ir_eval(&o.inst, o.lanes, r));
    return r[0];
}

static void expect(enum ir_op op, ir_type type, uint64_t x, uint64_t y, uint64_t z, uint64_t wanted)
{
    uint64_t v[4] = {x, y, z}, got = run(op, type, IR_VOID, v, (struct ir_attrs){0});
    if (got != wanted)
        fail_msg("%s %#llx %#llx %#llx: got %#llx, wanted %#llx", ir_op_info(op)->text, (unsigned long long)x,
                 (unsigned long long)y, (unsigned long long)z, (unsigned long long)got, (unsigned long long)wanted);
}

static void expect_conversion(enum ir_op op, ir_type to, ir_type from, enum ir_rounding rounding, bool saturate,
                              uint64_t x, uint64_t wanted)
{
    uint64_t got = run(op, to, from, &x, (struct ir_attrs){.rounding = rounding, .saturate = saturate});
    if (got != wanted)
        fail_msg("%s of %#llx: got %#llx, wanted %#llx", ir_op_info(op)->text, (unsigned long long)x,
                 (unsigned long long)got, (unsigned long long)wanted);
}

static void integers_wrap_and_divide(void **state)
{
    (void)state;
    expect(IR_OP_ADD, IR_I8, 0xff, 2, 0, 1);
    expect(IR_OP_SUB, IR_I64, 0, 1, 0, UINT64_MAX);
    expect(IR_OP_MUL, IR_I32, 0x80000001, 2, 0, 2);
    expect(IR_OP_NEG, IR_I16, 0x8000, 0, 0, 0x8000);
    for (enum ir_op op = IR_OP_UDIV; op <= IR_OP_SMOD; op++) expect(op, IR_I32, 77, 0, 0, 0);
    expect(IR_OP_SDIV, IR_I32, 0x80000000, 0xffffffff, 0, 0x80000000);
    expect(IR_OP_SDIV, IR_I64, 1ull << 63, UINT64_MAX, 0, 1ull << 63);
    expect(IR_OP_SREM, IR_I64, 1ull << 63, UINT64_MAX, 0, 0);
    expect(IR_OP_SDIV, IR_I8, (uint8_t)-7, 2, 0, (uint8_t)-3);
    expect(IR_OP_SREM, IR_I8, (uint8_t)-7, 2, 0, (uint8_t)-1);
    expect(IR_OP_SMOD, IR_I8, (uint8_t)-7, 2, 0, 1);
    expect(IR_OP_SMOD, IR_I8, 7, (uint8_t)-2, 0, (uint8_t)-1);
    expect(IR_OP_SMOD, IR_I8, (uint8_t)-6, 2, 0, 0);
}

static void shifts_are_modulo_the_width(void **state)
{
    (void)state;
    expect(IR_OP_SHL, IR_I32, 1, 33, 0, 2);
    expect(IR_OP_SHL, IR_I8, 1, 8, 0, 1);
    expect(IR_OP_LSHR, IR_I64, 1ull << 63, 64 + 63, 0, 1);
    expect(IR_OP_ASHR, IR_I16, 0x8000, 15, 0, 0xffff);
    expect(IR_OP_ASHR, IR_I64, 1ull << 63, 63, 0, UINT64_MAX);
    expect(IR_OP_ROTATE, IR_I8, 0x81, 9, 0, 0x03);
    expect(IR_OP_ROTATE, IR_I64, 1, 64, 0, 1);
}

static void integers_saturate(void **state)
{
    (void)state;
    expect(IR_OP_SADD_SAT, IR_I8, 100, 100, 0, 127);
    expect(IR_OP_SADD_SAT, IR_I64, 1ull << 63, UINT64_MAX, 0, 1ull << 63);
    expect(IR_OP_UADD_SAT, IR_I64, UINT64_MAX, 1, 0, UINT64_MAX);
    expect(IR_OP_USUB_SAT, IR_I32, 1, 2, 0, 0);
    expect(IR_OP_SSUB_SAT, IR_I32, 0x80000000, 1, 0, 0x80000000);
    expect(IR_OP_SMAD_SAT, IR_I64, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX);
    expect(IR_OP_UMAD_SAT, IR_I64, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    expect(IR_OP_SMAD_SAT, IR_I16, 0x8000, 2, 5, 0x8000);
    expect(IR_OP_SABS, IR_I32, 0x80000000, 0, 0, 0x80000000);
    expect(IR_OP_SABS_DIFF, IR_I8, 0x80, 0x7f, 0, 0xff);
    expect(IR_OP_UABS_DIFF, IR_I8, 0x00, 0xff, 0, 0xff);
}

static void integer_functions(void **state)
{
    (void)state;
    expect(IR_OP_SHADD, IR_I64, INT64_MAX, INT64_MAX, 0, INT64_MAX);
    expect(IR_OP_UHADD, IR_I64, UINT64_MAX, UINT64_MAX, 0, UINT64_MAX);
    expect(IR_OP_SRHADD, IR_I8, 0xff, 0, 0, 0);
    expect(IR_OP_URHADD, IR_I8, 0xff, 0, 0, 0x80);
    expect(IR_OP_SMUL_HI, IR_I64, UINT64_MAX, UINT64_MAX, 0, 0);
    expect(IR_OP_UMUL_HI, IR_I64, UINT64_MAX, UINT64_MAX, 0, UINT64_MAX - 1);
    expect(IR_OP_UMAD_HI, IR_I16, 0xffff, 0xffff, 3, 1);
    expect(IR_OP_SMUL24, IR_I32, 0x00ffffff, 2, 0, (uint32_t)-2);
    expect(IR_OP_UMUL24, IR_I32, 0xffffffff, 0xff000002, 0, 0x01fffffe);
    expect(IR_OP_CLZ, IR_I16, 0, 0, 0, 16);
    expect(IR_OP_CLZ, IR_I16, 1, 0, 0, 15);
    expect(IR_OP_CTZ, IR_I64, 0, 0, 0, 64);
    expect(IR_OP_CTZ, IR_I8, 0x40, 0, 0, 6);
    expect(IR_OP_BITREVERSE, IR_I8, 0x13, 0, 0, 0xc8);
    expect(IR_OP_BITSELECT, IR_I8, 0xf0, 0x0f, 0x3c, 0xcc);
    expect(IR_OP_SCLAMP, IR_I8, 0xff, 1, 5, 1);
    expect(IR_OP_UCLAMP, IR_I8, 0xff, 1, 5, 5);
    uint64_t insert[] = {0xffff, 0, 4, 8}, extract[] = {0x0f80, 4, 8}, none[] = {0x0f80, 4, 0};
    struct one o;
    one_init(&o, IR_OP_SBITFIELD_EXTRACT, IR_I16);
    one_operand(&o, IR_I16, &extract[0]);
    one_operand(&o, IR_I32, &extract[1]);
    one_operand(&o, IR_I32, &extract[2]);
    uint64_t r;
    assert_true(ir_eval(&o.inst, o.lanes, &r));
    assert_int_equal(r, 0xfff8);
    expect(IR_OP_UBITFIELD_EXTRACT, IR_I16, extract[0], extract[1], extract[2], 0xf8);
    expect(IR_OP_UBITFIELD_EXTRACT, IR_I16, none[0], none[1], none[2], 0);
    assert_int_equal(run(IR_OP_BITFIELD_INSERT, IR_I16, IR_VOID, insert, (struct ir_attrs){0}), 0xf00f);
}

static void float_edges(void **state)
{
    (void)state;
    uint64_t nan = f32(NAN), inf = f32(INFINITY);
    expect(IR_OP_FMIN, IR_F32, nan, f32(3), 0, f32(3));
    expect(IR_OP_FMAX, IR_F32, f32(3), nan, 0, f32(3));
    expect(IR_OP_FADD, IR_F32, inf, f32(-INFINITY), 0, 0x7fc00000);
    expect(IR_OP_FNEG, IR_F32, 0x7fc12345, 0, 0, 0xffc12345);
    expect(IR_OP_FABS, IR_F16, 0xfe01, 0, 0, 0x7e01);
    expect(IR_OP_COPYSIGN, IR_F64, f64(1), f64(-0.0), 0, f64(-1));
    expect(IR_OP_FDIV, IR_F32, f32(1), f32(-0.0), 0, f32(-INFINITY));
    expect(IR_OP_FDIV, IR_F32, f32(1), f32(3), 0, 0x3eaaaaab);
    expect(IR_OP_FMUL, IR_F32, 1, f32(0.5), 0, 0); /* the least denormal, to even */
    expect(IR_OP_FMUL, IR_F32, 3, f32(0.5), 0, 2); /* denormals are kept */
    expect(IR_OP_FREM, IR_F32, f32(-5.5), f32(2), 0, f32(-1.5));
    expect(IR_OP_REMAINDER, IR_F32, f32(5), f32(2), 0, f32(1));
    expect(IR_OP_RINT, IR_F32, f32(2.5), 0, 0, f32(2));
    expect(IR_OP_ROUND, IR_F32, f32(2.5), 0, 0, f32(3));
    expect(IR_OP_ROUND, IR_F64, f64(-0.4), 0, 0, f64(-0.0));
    /* x * x + z where the product's last bit decides */
    float x = 1 + 0x1p-12f, z = -(1 + 0x1p-11f);
    expect(IR_OP_FMA, IR_F32, f32(x), f32(x), f32(z), f32(0x1p-24));
    expect(IR_OP_MAD, IR_F32, f32(x), f32(x), f32(z), f32(0));
}

static void f16_rounds_once(void **state)
{
    (void)state;
    expect(IR_OP_FADD, IR_F16, f16(2048), f16(1), 0, f16(2048));
    expect(IR_OP_FADD, IR_F16, f16(2048), f16(3), 0, f16(2052));
    expect(IR_OP_FADD, IR_F16, f16(65504), f16(16), 0, f16(INFINITY));
    expect(IR_OP_FMUL, IR_F16, 1, f16(0.5), 0, 0);
    expect(IR_OP_FMUL, IR_F16, 3, f16(0.5), 0, 2);
    /* just above the middle between two numbers */
    expect(IR_OP_FMA, IR_F16, f16(1 + 0x1p-10), f16(0x1p-11), f16(1), f16(1 + 0x1p-10));
    expect(IR_OP_NEXTAFTER, IR_F16, f16(1), f16(2), 0, f16(1) + 1);
    expect(IR_OP_NEXTAFTER, IR_F16, f16(0), f16(-1), 0, 0x8001);
    for (uint32_t x = 0; x < 0x10000; x += 37) {
        double dx = ir_float_value(IR_KIND_F16, x), dy = ir_float_value(IR_KIND_F16, x * 29 & 0xffff);
        if (isnan(dx + dy) || isnan(dx * dy)) continue;
        expect(IR_OP_FADD, IR_F16, x, x * 29 & 0xffff, 0, f16(dx + dy));
        expect(IR_OP_FMUL, IR_F16, x, x * 29 & 0xffff, 0, f16(dx * dy));
    }
}

static void float_functions(void **state)
{
    (void)state;
    expect(IR_OP_ILOGB, IR_F32, 0, 0, 0, (uint32_t)INT_MIN);
    expect(IR_OP_ILOGB, IR_F32, 1, 0, 0, (uint32_t)-149);
    expect(IR_OP_ILOGB, IR_F32, f32(INFINITY), 0, 0, INT_MAX);
    expect(IR_OP_ILOGB, IR_F32, f32(NAN), 0, 0, INT_MAX);
    expect(IR_OP_LDEXP, IR_F32, f32(1), (uint32_t)-149, 0, 1);
    expect(IR_OP_LDEXP, IR_F32, f32(1.5), (uint32_t)-149, 0, 2);
    expect(IR_OP_POWN, IR_F32, f32(-2), 3, 0, f32(-8));
    expect(IR_OP_ROOTN, IR_F32, f32(-8), 3, 0, f32(-2));
    expect(IR_OP_ROOTN, IR_F32, f32(-8), 2, 0, 0x7fc00000);
    expect(IR_OP_ROOTN, IR_F64, f64(32), 5, 0, f64(2));
    expect(IR_OP_POWR, IR_F32, f32(-1), f32(2), 0, 0x7fc00000);
    expect(IR_OP_SINPI, IR_F32, f32(1), 0, 0, 0);
    expect(IR_OP_SINPI, IR_F32, f32(1.5), 0, 0, f32(-1));
    expect(IR_OP_SINPI, IR_F32, f32(-0.5), 0, 0, f32(-1));
    expect(IR_OP_COSPI, IR_F64, f64(0.5), 0, 0, 0);
    expect(IR_OP_COSPI, IR_F64, f64(1e9 + 1), 0, 0, f64(-1));
    expect(IR_OP_TANPI, IR_F32, f32(0.25), 0, 0, f32(1));
    expect(IR_OP_TANPI, IR_F32, f32(1.5), 0, 0, f32(-INFINITY));
    expect(IR_OP_FRACT, IR_F32, f32(-0x1p-30), 0, 0, f32(1 - 0x1p-24));
    expect(IR_OP_REMQUO_QUO, IR_F32, f32(1001), f32(-2), 0, (uint32_t) - (500 & 127));
    expect(IR_OP_REMQUO_QUO, IR_F32, f32(7), f32(2), 0, 4);
    expect(IR_OP_SMOOTHSTEP, IR_F32, f32(0), f32(1), f32(0.5), f32(0.5));
    expect(IR_OP_STEP, IR_F32, f32(1), f32(0.5), 0, 0);
    expect(IR_OP_SIGN, IR_F32, f32(-0.0), 0, 0, f32(-0.0));
    expect(IR_OP_SIGN, IR_F32, f32(NAN), 0, 0, 0);
    expect(IR_OP_MAXMAG, IR_F32, f32(-3), f32(2), 0, f32(-3));
    expect(IR_OP_NAN, IR_F16, 5, 0, 0, 0x7e05);
    expect(IR_OP_EXP, IR_F32, f32(1), 0, 0, f32(M_E));
    expect(IR_OP_EXP10, IR_F32, f32(3), 0, 0, f32(1000));
    expect(IR_OP_LGAMMA_SIGN, IR_F32, f32(-0.5), 0, 0, (uint32_t)-1);
}

static void comparisons_know_nan(void **state)
{
    (void)state;
    uint64_t nan = f32(NAN), one = f32(1);
    expect(IR_OP_FOEQ, IR_F32, nan, nan, 0, 0);
    expect(IR_OP_FUEQ, IR_F32, nan, one, 0, 1);
    expect(IR_OP_FONE, IR_F32, nan, one, 0, 0);
    expect(IR_OP_FUNE, IR_F32, nan, one, 0, 1);
    expect(IR_OP_FOLT, IR_F32, nan, one, 0, 0);
    expect(IR_OP_FULT, IR_F32, nan, one, 0, 1);
    expect(IR_OP_FUGE, IR_F32, f32(0), one, 0, 0);
    expect(IR_OP_FOEQ, IR_F32, f32(0), f32(-0.0), 0, 1);
    expect(IR_OP_FUNO, IR_F32, one, nan, 0, 1);
    expect(IR_OP_ISNORMAL, IR_F16, 0x03ff, 0, 0, 0);
    expect(IR_OP_ISNORMAL, IR_F16, 0x0400, 0, 0, 1);
    expect(IR_OP_SIGNBIT, IR_F64, f64(-0.0), 0, 0, 1);
    expect(IR_OP_SLT, IR_I8, 0x80, 0, 0, 1);
    expect(IR_OP_ULT, IR_I8, 0x80, 0, 0, 0);
}

static void conversions_round_and_saturate(void **state)
{
    (void)state;
    expect_conversion(IR_OP_SEXT, IR_I32, IR_BOOL, 0, false, 1, 0xffffffff);
    expect_conversion(IR_OP_ZEXT, IR_I32, IR_BOOL, 0, false, 1, 1);
    expect_conversion(IR_OP_ITRUNC, IR_I8, IR_I32, 0, false, 0x1ff, 0xff);
    expect_conversion(IR_OP_SSAT, IR_I8, IR_I32, 0, false, (uint32_t)-1000, 0x80);
    expect_conversion(IR_OP_USAT, IR_I8, IR_I32, 0, false, 1000, 0xff);
    expect_conversion(IR_OP_S2U_SAT, IR_I64, IR_I8, 0, false, 0x80, 0);
    expect_conversion(IR_OP_U2S_SAT, IR_I64, IR_I64, 0, false, UINT64_MAX, INT64_MAX);
    expect_conversion(IR_OP_FTOS, IR_I32, IR_F32, IR_ROUND_DEFAULT, false, f32(-1.9), (uint32_t)-1);
    expect_conversion(IR_OP_FTOS, IR_I32, IR_F32, IR_ROUND_RTE, false, f32(-1.5), (uint32_t)-2);
    expect_conversion(IR_OP_FTOS, IR_I32, IR_F32, IR_ROUND_RTN, false, f32(-1.1), (uint32_t)-2);
    expect_conversion(IR_OP_FTOU, IR_I8, IR_F32, IR_ROUND_RTP, false, f32(254.1), 255);
    expect_conversion(IR_OP_FTOS, IR_I8, IR_F16, 0, true, f16(300), 127);
    expect_conversion(IR_OP_FTOS, IR_I64, IR_F64, 0, true, f64(-1e30), 1ull << 63);
    expect_conversion(IR_OP_FTOU, IR_I32, IR_F32, 0, true, f32(-1), 0);
    expect_conversion(IR_OP_FTOU, IR_I64, IR_F64, 0, true, f64(INFINITY), UINT64_MAX);
    expect_conversion(IR_OP_FTOS, IR_I32, IR_F32, 0, true, f32(NAN), 0);
    expect_conversion(IR_OP_UTOF, IR_F32, IR_I64, IR_ROUND_DEFAULT, false, UINT64_MAX, f32(0x1p64));
    expect_conversion(IR_OP_UTOF, IR_F32, IR_I64, IR_ROUND_RTZ, false, UINT64_MAX, 0x5f7fffff);
    expect_conversion(IR_OP_STOF, IR_F32, IR_I64, IR_ROUND_RTN, false, (uint64_t)-16777217, f32(-16777218));
    expect_conversion(IR_OP_STOF, IR_F32, IR_I64, IR_ROUND_RTE, false, (uint64_t)-16777217, f32(-16777216));
    expect_conversion(IR_OP_STOF, IR_F64, IR_I64, 0, false, 1ull << 63, f64(-0x1p63));
    expect_conversion(IR_OP_UTOF, IR_F16, IR_I32, 0, false, 65520, f16(INFINITY));
    expect_conversion(IR_OP_UTOF, IR_F16, IR_I32, IR_ROUND_RTZ, false, 1000000, f16(65504));
    expect_conversion(IR_OP_FPCONV, IR_F16, IR_F32, IR_ROUND_RTP, false, f32(1e-10), 1);
    expect_conversion(IR_OP_FPCONV, IR_F16, IR_F32, IR_ROUND_RTN, false, f32(-1e-10), 0x8001);
    expect_conversion(IR_OP_FPCONV, IR_F16, IR_F64, 0, false, f64(1 + 0x1p-11 + 0x1p-40), f16(1) + 1);
    expect_conversion(IR_OP_FPCONV, IR_F32, IR_F64, IR_ROUND_RTZ, false, f64(1e300), 0x7f7fffff);
    expect_conversion(IR_OP_FPCONV, IR_F64, IR_F16, 0, false, 1, f64(0x1p-24));
    for (uint32_t x = 0; x < 0x7c00; x++) { /* every finite f16 comes back */
        uint64_t wide = f32(ir_float_value(IR_KIND_F16, x));
        expect_conversion(IR_OP_FPCONV, IR_F16, IR_F32, 0, false, wide, x);
    }
}

static void vectors(void **state)
{
    (void)state;
    ir_type t4 = ir_type_with_lanes(IR_I32, 4), t2 = ir_type_with_lanes(IR_I32, 2), b4 = ir_type_with_lanes(IR_BOOL, 4);
    const uint64_t a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, two[] = {7, 8}, mask[] = {1, 0, 0, 1}, index[] = {9};
    uint64_t r[IR_MAX_LANES];
    struct one o;

    one_init(&o, IR_OP_VEC, t4);
    one_operand(&o, IR_I32, a);
    one_operand(&o, t2, two);
    one_operand(&o, IR_I32, b);
    assert_true(ir_eval(&o.inst, o.lanes, r));
    assert_memory_equal(r, ((uint64_t[]){1, 7, 8, 10}), 32);

    one_init(&o, IR_OP_SHUFFLE, t4);
    one_operand(&o, t2, two);
    one_operand(&o, t4, a);
    memcpy(o.inst.attrs.mask, ((int8_t[]){5, 0, -1, 2}), 4);
    assert_true(ir_eval(&o.inst, o.lanes, r));
    assert_memory_equal(r, ((uint64_t[]){4, 7, 0, 1}), 32);

    one_init(&o, IR_OP_SELECT, t4);
    one_operand(&o, b4, mask);
    one_operand(&o, t4, a);
    one_operand(&o, t4, b);
    assert_true(ir_eval(&o.inst, o.lanes, r));
    assert_memory_equal(r, ((uint64_t[]){1, 20, 30, 4}), 32);
    o.values[0].type = IR_BOOL;
    assert_true(ir_eval(&o.inst, o.lanes, r));
    assert_memory_equal(r, a, 32);

    one_init(&o, IR_OP_EXTRACT, t4);
    one_operand(&o, t4, a);
    one_operand(&o, IR_I32, index);
    assert_true(ir_eval(&o.inst, o.lanes, r));
    assert_int_equal(r[0], 0);

    one_init(&o, IR_OP_BITCAST, ir_type_with_lanes(IR_I8, 8));
    one_operand(&o, t2, (uint64_t[]){0x04030201, 0x08070605});
    assert_true(ir_eval(&o.inst, o.lanes, r));
    assert_memory_equal(r, ((uint64_t[]){1, 2, 3, 4, 5, 6, 7, 8}), 64);

    ir_type f3 = ir_type_with_lanes(IR_F32, 3);
    const uint64_t x[] = {f32(1), f32(0), f32(0)}, y[] = {f32(0), f32(1), f32(0)}, big[] = {f32(3e38), f32(0), f32(0)};
    one_init(&o, IR_OP_CROSS, f3);
    one_operand(&o, f3, x);
    one_operand(&o, f3, y);
    assert_true(ir_eval(&o.inst, o.lanes, r));
    assert_memory_equal(r, ((uint64_t[]){0, 0, f32(1)}), 24);
    one_init(&o, IR_OP_NORMALIZE, f3);
    one_operand(&o, f3, big);
    assert_true(ir_eval(&o.inst, o.lanes, r));
    assert_memory_equal(r, x, 24);
}

static void what_is_not_known_is_refused(void **state)
{
    (void)state;
    uint64_t x[] = {1}, r[IR_MAX_LANES];
    static const enum ir_op ops[] = {IR_OP_GLOBAL_ID,   IR_OP_LOAD, IR_OP_ELEM,     IR_OP_GLOBAL,
                                     IR_OP_IMAGE_WIDTH, IR_OP_CALL, IR_OP_GROUP_ALL};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct one o;
        one_init(&o, ops[i], IR_I32);
        one_operand(&o, IR_I32, x);
        one_operand(&o, IR_I32, x);
        assert_false(ir_eval(&o.inst, o.lanes, r));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap_and_divide),
        cmocka_unit_test(shifts_are_modulo_the_width),
        cmocka_unit_test(integers_saturate),
        cmocka_unit_test(integer_functions),
        cmocka_unit_test(float_edges),
        cmocka_unit_test(f16_rounds_once),
        cmocka_unit_test(float_functions),
        cmocka_unit_test(comparisons_know_nan),
        cmocka_unit_test(conversions_round_and_saturate),
        cmocka_unit_test(vectors),
        cmocka_unit_test(what_is_not_known_is_refused),
    };
    return cmocka_run_group_tests_name("interp_eval", tests, NULL, NULL);
}
