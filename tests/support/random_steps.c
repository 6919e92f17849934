/* Statements of random kernels: arithmetic, conversions, vectors, memory. */
#include "tests/support/random_steps.h"

#include <string.h>

#include "tests/support/random_control.h"

static uint32_t below(struct steps *k, uint32_t n)
{
    return rng_below(&k->g.rng, n);
}

static bool chance(struct steps *k, uint32_t percent)
{
    return rng_chance(&k->g.rng, percent);
}

/* ---- types ---- */

static ir_type allowed_float(struct steps *k)
{
    for (;;) {
        ir_type t = gen_float(&k->g);
        if (!(t == IR_F16 && k->options.no_f16) && !(t == IR_F64 && k->options.no_f64)) return t;
    }
}

ir_type steps_scalar(struct steps *k)
{
    return chance(k, 50) ? gen_int(&k->g) : allowed_float(k);
}

static unsigned some_lanes(struct steps *k)
{
    return k->options.no_vectors ? 1 : gen_lanes(&k->g);
}

ir_type steps_type(struct steps *k)
{
    return ir_type_with_lanes(steps_scalar(k), some_lanes(k));
}

static bool is_int(ir_type t, const void *data)
{
    (void)data;
    return ir_type_is_int(t);
}

static bool is_float(ir_type t, const void *data)
{
    (void)data;
    return ir_type_is_float(t);
}

/* Types to compute with: mostly those of values in sight, so that results come together again. */
static ir_type int_type(struct steps *k)
{
    const struct ir_value *v = chance(k, 70) ? gen_find_if(&k->g, is_int, NULL) : NULL;
    return v ? v->type : ir_type_with_lanes(gen_int(&k->g), some_lanes(k));
}

static ir_type float_type(struct steps *k)
{
    const struct ir_value *v = chance(k, 70) ? gen_find_if(&k->g, is_float, NULL) : NULL;
    return v ? v->type : ir_type_with_lanes(allowed_float(k), some_lanes(k));
}

static ir_type number_type(struct steps *k)
{
    return chance(k, 50) ? int_type(k) : float_type(k);
}

/* ---- values ---- */

struct ir_value *steps_emit(struct steps *k, enum ir_op op, ir_type t, struct ir_value *const *operands, uint32_t n)
{
    k->g.b.loc.line++;
    if (k->left) k->left--;
    struct ir_inst *inst = ir_build(&k->g.b, op, t, operands, n);
    return inst->n_results ? gen_define(&k->g, inst->results[0]) : NULL;
}

static struct ir_value *emit1(struct steps *k, enum ir_op op, ir_type t, struct ir_value *x)
{
    return steps_emit(k, op, t, &x, 1);
}

static struct ir_value *emit2(struct steps *k, enum ir_op op, ir_type t, struct ir_value *x, struct ir_value *y)
{
    return steps_emit(k, op, t, (struct ir_value *[]){x, y}, 2);
}

static struct ir_value *to_int(struct steps *k, struct ir_value *v, ir_type t)
{
    unsigned from = ir_type_bits(v->type), to = ir_type_bits(t);
    if (ir_type_is_float(v->type)) {
        struct ir_value *r = emit1(k, chance(k, 50) ? IR_OP_FTOS : IR_OP_FTOU, t, v);
        r->of.inst->attrs.saturate = true;
        return r;
    }
    static const enum ir_op saturating[] = {IR_OP_SSAT, IR_OP_USAT, IR_OP_S2U_SAT, IR_OP_U2S_SAT};
    if (!ir_type_is_bool(v->type) && (from == to || chance(k, 30))) return emit1(k, saturating[below(k, 4)], t, v);
    if (from > to) return emit1(k, IR_OP_ITRUNC, t, v);
    return emit1(k, chance(k, 50) ? IR_OP_ZEXT : IR_OP_SEXT, t, v);
}

static struct ir_value *to_float(struct steps *k, struct ir_value *v, ir_type t)
{
    if (ir_type_is_float(v->type)) return emit1(k, IR_OP_FPCONV, t, v);
    if (ir_type_is_bool(v->type)) v = to_int(k, v, ir_type_with_lanes(IR_I32, ir_type_lanes(t)));
    return emit1(k, chance(k, 50) ? IR_OP_STOF : IR_OP_UTOF, t, v);
}

static struct ir_value *to_bool(struct steps *k, struct ir_value *v)
{
    struct ir_value *other = gen_constant(&k->g, v->type);
    if (ir_type_is_float(v->type)) return emit2(k, chance(k, 50) ? IR_OP_FOLT : IR_OP_FUGE, v->type, v, other);
    return emit2(k, chance(k, 50) ? IR_OP_SLT : IR_OP_UGE, v->type, v, other);
}

struct ir_value *steps_convert(struct steps *k, struct ir_value *v, ir_type t)
{
    if (v->type == t) return v;
    if (ir_type_is_bool(t)) return to_bool(k, v);
    return ir_type_is_int(t) ? to_int(k, v, t) : to_float(k, v, t);
}

static bool has_lanes(ir_type t, const void *data)
{
    return ir_type_is_number(t) && ir_type_lanes(t) == *(const unsigned *)data;
}

struct ir_value *steps_value(struct steps *k, ir_type t)
{
    unsigned lanes = ir_type_lanes(t), one = 1;
    struct ir_value *v = chance(k, 65) ? gen_find(&k->g, t) : NULL;
    if (v) return v;
    v = chance(k, 80) ? gen_find_if(&k->g, has_lanes, &lanes) : NULL;
    if (v) return steps_convert(k, v, t);
    v = lanes > 1 && chance(k, 80) ? gen_find_if(&k->g, has_lanes, &one) : NULL;
    if (v) return emit1(k, IR_OP_SPLAT, t, steps_convert(k, v, ir_type_element(t)));
    return gen_constant(&k->g, t);
}

/* ---- arithmetic ---- */

/* Ops of which every operand is a T, and every value of them defined. */
static const enum ir_op int_ops[] = {
    IR_OP_ADD,      IR_OP_SUB,      IR_OP_MUL,      IR_OP_NEG,        IR_OP_SHL,       IR_OP_LSHR,      IR_OP_ASHR,
    IR_OP_AND,      IR_OP_OR,       IR_OP_XOR,      IR_OP_NOT,        IR_OP_SABS,      IR_OP_SABS_DIFF, IR_OP_UABS_DIFF,
    IR_OP_SADD_SAT, IR_OP_UADD_SAT, IR_OP_SSUB_SAT, IR_OP_USUB_SAT,   IR_OP_SHADD,     IR_OP_UHADD,     IR_OP_SRHADD,
    IR_OP_URHADD,   IR_OP_SMIN,     IR_OP_UMIN,     IR_OP_SMAX,       IR_OP_UMAX,      IR_OP_SCLAMP,    IR_OP_UCLAMP,
    IR_OP_SMUL_HI,  IR_OP_UMUL_HI,  IR_OP_SMAD_HI,  IR_OP_UMAD_HI,    IR_OP_SMAD_SAT,  IR_OP_UMAD_SAT,  IR_OP_CLZ,
    IR_OP_CTZ,      IR_OP_POPCOUNT, IR_OP_ROTATE,   IR_OP_BITREVERSE, IR_OP_BITSELECT,
};
static const enum ir_op int24_ops[] = {IR_OP_SMUL24, IR_OP_UMUL24, IR_OP_SMAD24, IR_OP_UMAD24};
static const enum ir_op division_ops[] = {IR_OP_UDIV, IR_OP_SDIV, IR_OP_UREM, IR_OP_SREM, IR_OP_SMOD};
static const enum ir_op float_ops[] = {
    IR_OP_FADD,  IR_OP_FSUB,  IR_OP_FMUL, IR_OP_FDIV,  IR_OP_FREM,       IR_OP_FNEG,      IR_OP_FABS,
    IR_OP_FMA,   IR_OP_SQRT,  IR_OP_MAD,  IR_OP_FLOOR, IR_OP_CEIL,       IR_OP_TRUNC,     IR_OP_RINT,
    IR_OP_ROUND, IR_OP_LDEXP, IR_OP_LOGB, IR_OP_STEP,  IR_OP_MODF_FRACT, IR_OP_NEXTAFTER, IR_OP_REMAINDER,
    IR_OP_SIGN,  IR_OP_FADD,  IR_OP_FMUL, /* the usual ones once more */
};
static const enum ir_op inexact_ops[] = {
    IR_OP_ACOS,  IR_OP_ASIN, IR_OP_ATAN, IR_OP_ATAN2, IR_OP_CBRT,  IR_OP_COS, IR_OP_COSH,  IR_OP_ERF,   IR_OP_EXP,
    IR_OP_EXP2,  IR_OP_LOG,  IR_OP_LOG2, IR_OP_LOG10, IR_OP_POW,   IR_OP_SIN, IR_OP_SINH,  IR_OP_RSQRT, IR_OP_TAN,
    IR_OP_EXPM1, IR_OP_MIX,  IR_OP_TANH, IR_OP_HYPOT, IR_OP_LOG1P, IR_OP_DOT, IR_OP_EXP10,
};
static const enum ir_op int_compares[] = {IR_OP_IEQ, IR_OP_INE, IR_OP_SLT, IR_OP_SLE, IR_OP_SGT,
                                          IR_OP_SGE, IR_OP_ULT, IR_OP_ULE, IR_OP_UGT, IR_OP_UGE};
static const enum ir_op float_compares[] = {
    IR_OP_FOEQ, IR_OP_FONE, IR_OP_FOLT,  IR_OP_FOLE,  IR_OP_FOGT,     IR_OP_FOGE,
    IR_OP_FUEQ, IR_OP_FUNE, IR_OP_FULT,  IR_OP_FULE,  IR_OP_FUGT,     IR_OP_FUGE,
    IR_OP_FORD, IR_OP_FUNO, IR_OP_ISNAN, IR_OP_ISINF, IR_OP_ISFINITE, IR_OP_ISNORMAL,
};

#define ONE_OF(k, list) list[below(k, sizeof list / sizeof *list)]

/* Operands by the row of the table: T, J, E and the fixed ones. */
static struct ir_value *plain(struct steps *k, enum ir_op op, ir_type t)
{
    struct ir_value *operands[4];
    uint32_t n = 0;
    for (const char *letter = ir_op_info(op)->operands; *letter; letter++)
        operands[n++] = steps_value(k, *letter == 'J' ? ir_type_with_lanes(IR_I32, ir_type_lanes(t)) : t);
    return steps_emit(k, op, t, operands, n);
}

static void divide(struct steps *k, ir_type t)
{
    struct ir_value *divisor = emit2(k, IR_OP_OR, t, steps_value(k, t), ir_const_int(k->g.m, t, 1)); /* never 0 */
    emit2(k, ONE_OF(k, division_ops), t, steps_value(k, t), divisor);
}

static void bit_field(struct steps *k, ir_type t)
{
    uint32_t offset = below(k, ir_type_bits(t)), count = below(k, ir_type_bits(t) - offset + 1);
    struct ir_value *o = ir_const_int(k->g.m, IR_I32, offset), *c = ir_const_int(k->g.m, IR_I32, count);
    struct ir_value *base = steps_value(k, t);
    if (chance(k, 30)) {
        steps_emit(k, IR_OP_BITFIELD_INSERT, t, (struct ir_value *[]){base, steps_value(k, t), o, c}, 4);
    } else {
        enum ir_op op = chance(k, 50) ? IR_OP_SBITFIELD_EXTRACT : IR_OP_UBITFIELD_EXTRACT;
        steps_emit(k, op, t, (struct ir_value *[]){base, o, c}, 3);
    }
}

static void int_step(struct steps *k)
{
    ir_type t = int_type(k);
    switch (below(k, 12)) {
    case 0: divide(k, t); break;
    case 1: bit_field(k, t); break;
    case 2: plain(k, ONE_OF(k, int24_ops), ir_type_with_lanes(IR_I32, ir_type_lanes(t))); break;
    default: plain(k, ONE_OF(k, int_ops), t); break;
    }
}

/* With bounds that are not 0, so that it does not matter which zero is the smaller one. */
static void bounded(struct steps *k, ir_type t)
{
    struct ir_value *low = ir_const_float(k->g.m, t, -1.0 - below(k, 20)), *x = steps_value(k, t);
    struct ir_value *high = ir_const_float(k->g.m, t, 1.0 + below(k, 20));
    if (chance(k, 30)) {
        steps_emit(k, IR_OP_FCLAMP, t, (struct ir_value *[]){x, low, high}, 3);
    } else {
        emit2(k, chance(k, 50) ? IR_OP_FMIN : IR_OP_FMAX, t, x, chance(k, 50) ? low : high);
    }
}

static void float_step(struct steps *k)
{
    ir_type t = float_type(k);
    if (chance(k, 12)) {
        bounded(k, t);
    } else if (chance(k, 5)) {
        plain(k, IR_OP_ILOGB, t);
    } else {
        plain(k, ONE_OF(k, float_ops), t);
    }
}

static struct ir_value *condition(struct steps *k, unsigned lanes)
{
    ir_type t = ir_type_with_lanes(steps_scalar(k), lanes);
    return plain(k, ir_type_is_float(t) ? ONE_OF(k, float_compares) : ONE_OF(k, int_compares), t);
}

struct ir_value *steps_condition(struct steps *k)
{
    struct ir_value *v = chance(k, 30) ? gen_find(&k->g, IR_BOOL) : NULL;
    return v ? v : condition(k, 1);
}

static void bool_step(struct steps *k)
{
    static const enum ir_op ops[] = {IR_OP_AND, IR_OP_OR, IR_OP_XOR, IR_OP_NOT, IR_OP_IEQ, IR_OP_INE};
    unsigned lanes = some_lanes(k);
    if (chance(k, 60)) {
        condition(k, lanes);
    } else if (lanes > 1 && chance(k, 50)) {
        ir_type t = ir_type_with_lanes(chance(k, 50) ? IR_BOOL : gen_int(&k->g), lanes);
        plain(k, chance(k, 50) ? IR_OP_ANY : IR_OP_ALL, t);
    } else {
        plain(k, ONE_OF(k, ops), ir_type_with_lanes(IR_BOOL, lanes));
    }
}

static void select_step(struct steps *k)
{
    ir_type t = number_type(k);
    struct ir_value *c = condition(k, chance(k, 30) ? 1 : ir_type_lanes(t));
    steps_emit(k, IR_OP_SELECT, t, (struct ir_value *[]){c, steps_value(k, t), steps_value(k, t)}, 3);
}

/* Between integers only: the bits of a NaN would show. */
static void bitcast_step(struct steps *k)
{
    ir_type from = int_type(k), to = IR_VOID;
    unsigned bits = ir_type_bits(from) * ir_type_lanes(from);
    for (int tries = 0; tries < 30 && ir_type_bits(to) * ir_type_lanes(to) != bits; tries++)
        to = ir_type_with_lanes(gen_int(&k->g), some_lanes(k));
    if (ir_type_bits(to) * ir_type_lanes(to) == bits) emit1(k, IR_OP_BITCAST, to, steps_value(k, from));
}

static void convert_step(struct steps *k)
{
    ir_type t = number_type(k);
    if (chance(k, 20)) {
        bitcast_step(k);
        return;
    }
    steps_convert(k, steps_value(k, ir_type_with_lanes(steps_scalar(k), ir_type_lanes(t))), t);
}

/* ---- vectors ---- */

static void shuffle(struct steps *k, ir_type t)
{
    ir_type from = gen_vector_of(&k->g, ir_type_element(t));
    struct ir_value *r = emit2(k, IR_OP_SHUFFLE, t, steps_value(k, from), steps_value(k, from));
    for (unsigned i = 0; i < ir_type_lanes(t); i++)
        r->of.inst->attrs.mask[i] = (int8_t)below(k, 2 * ir_type_lanes(from));
}

/* Mask vectors of OpenCL's shuffle count modulo the lanes, which for 3 is no power of two. */
static void dynamic_shuffle(struct steps *k, ir_type t)
{
    ir_type from = gen_vector_of(&k->g, ir_type_element(t));
    if (ir_type_lanes(from) == 3) from = ir_type_with_lanes(from, 4);
    enum ir_kind kind = IR_KIND_I8;
    while (ir_type_bits(IR_TYPE(kind, 1, 0)) != ir_type_bits(t)) kind++;
    struct ir_value *mask = steps_value(k, IR_TYPE(kind, ir_type_lanes(t), 0));
    if (chance(k, 50)) {
        emit2(k, IR_OP_VSHUFFLE, t, steps_value(k, from), mask);
    } else {
        steps_emit(k, IR_OP_VSHUFFLE2, t, (struct ir_value *[]){steps_value(k, from), steps_value(k, from), mask}, 3);
    }
}

static void build_vector(struct steps *k, ir_type t)
{
    struct ir_value *parts[IR_MAX_LANES];
    uint32_t n = 0;
    for (unsigned left = ir_type_lanes(t); left;) {
        unsigned lanes = gen_lanes(&k->g);
        if (lanes > left || lanes >= ir_type_lanes(t)) lanes = 1;
        parts[n++] = steps_value(k, ir_type_with_lanes(t, lanes));
        left -= lanes;
    }
    steps_emit(k, IR_OP_VEC, t, parts, n);
}

static void vector_step(struct steps *k)
{
    ir_type t = gen_vector_of(&k->g, steps_scalar(k));
    struct ir_value *lane = ir_const_int(k->g.m, IR_I32, below(k, ir_type_lanes(t)));
    switch (below(k, 5)) {
    case 0: shuffle(k, t); break;
    case 1: dynamic_shuffle(k, t); break;
    case 2: build_vector(k, t); break;
    case 3: emit2(k, IR_OP_EXTRACT, t, steps_value(k, t), lane); break;
    default:
        steps_emit(k, IR_OP_INSERT, t,
                   (struct ir_value *[]){steps_value(k, t), steps_value(k, ir_type_element(t)), lane}, 3);
    }
}

/* ---- memory ---- */

/* One of the elements that are this work-item's. */
static struct ir_value *own_element(struct steps *k, uint32_t arg)
{
    uint32_t each = (uint32_t)(k->args[arg].count / k->options.items);
    struct ir_value *index = k->id;
    if (each > 1) {
        index = ir_build2(&k->g.b, IR_OP_MUL, IR_I64, index, ir_const_int(k->g.m, IR_I64, each));
        index = ir_build2(&k->g.b, IR_OP_ADD, IR_I64, index, ir_const_int(k->g.m, IR_I64, below(k, each)));
    }
    return ir_build2(&k->g.b, IR_OP_ELEM, k->args[arg].type, k->f->params[arg].value, index);
}

void steps_load(struct steps *k, uint32_t arg)
{
    k->g.b.loc.line++;
    gen_define(&k->g, ir_build_load(&k->g.b, k->args[arg].type, own_element(k, arg), NULL));
}

/* Mostly of what was computed last, so that little is computed in vain. */
void steps_store(struct steps *k, uint32_t arg)
{
    ir_type t = k->args[arg].type;
    unsigned lanes = ir_type_lanes(t);
    struct ir_value *v = chance(k, 60) ? gen_find_newest(&k->g, has_lanes, &lanes) : NULL;
    v = v ? steps_convert(k, v, t) : steps_value(k, t);
    k->g.b.loc.line++;
    ir_build_store(&k->g.b, t, own_element(k, arg), NULL, v);
}

void steps_barrier(struct steps *k, enum ir_scope scope)
{
    struct ir_inst *inst = ir_build(&k->g.b, IR_OP_BARRIER, IR_VOID, NULL, 0);
    inst->attrs.scope = scope;
    inst->attrs.fence = IR_FENCE_LOCAL;
}

static void memory_step(struct steps *k)
{
    uint32_t arg = below(k, k->options.buffers);
    bool can_load = k->args[arg].access != IR_ACCESS_WRITE, can_store = k->args[arg].access != IR_ACCESS_READ;
    if (can_load && (!can_store || chance(k, 50))) {
        steps_load(k, arg);
    } else {
        steps_store(k, arg);
    }
}

static struct ir_value *variable(struct steps *k, ir_type t)
{
    return ir_build_ptr(&k->g.b, IR_OP_VAR, t, IR_SPACE_PRIVATE, NULL, 0)->results[0];
}

/* An array in private memory, written and then read at a place that depends on data. */
static void private_array(struct steps *k)
{
    ir_type t = steps_type(k);
    struct ir_value *array = variable(k, ir_array_type(k->g.m, t, 4));
    for (uint64_t i = 0; i < 4; i++)
        ir_build_store(&k->g.b, t, array, ir_const_int(k->g.m, IR_I32, i), steps_value(k, t));
    struct ir_value *at = emit2(k, IR_OP_AND, IR_I32, steps_value(k, IR_I32), ir_const_int(k->g.m, IR_I32, 3));
    gen_define(&k->g, ir_build_load(&k->g.b, t, array, at));
}

static void private_struct(struct steps *k)
{
    char name[24] = "s0";
    name[1] = (char)('0' + k->g.m->n_structs);
    if (k->g.m->n_structs > 8) return;
    ir_type types[3] = {steps_type(k), steps_type(k), steps_type(k)};
    struct ir_struct *s = ir_struct_new(k->g.m, name, 3);
    for (uint32_t i = 0; i < 3; i++) s->fields[i].type = types[i];
    ir_struct_natural_layout(k->g.m, s);
    struct ir_value *var = variable(k, ir_struct_type(k->g.m, s)), *fields[3];
    for (uint32_t i = 0; i < 3; i++) {
        struct ir_inst *field = ir_build(&k->g.b, IR_OP_FIELD, ir_struct_type(k->g.m, s), &var, 1);
        field->attrs.index = i;
        fields[i] = field->results[0];
        ir_build_store(&k->g.b, types[i], fields[i], NULL, steps_value(k, types[i]));
    }
    uint32_t i = below(k, 3);
    gen_define(&k->g, ir_build_load(&k->g.b, types[i], fields[i], NULL));
}

/* Results that may differ go where only a comparison sees them. */
static void inexact_step(struct steps *k)
{
    enum ir_op op = ONE_OF(k, inexact_ops);
    struct ir_value *operands[3];
    uint32_t n = (uint32_t)strlen(ir_op_info(op)->operands);
    for (uint32_t i = 0; i < n; i++) operands[i] = steps_value(k, IR_F32);
    struct ir_value *r = ir_build(&k->g.b, op, IR_F32, operands, n)->results[0];
    ir_build_store(&k->g.b, IR_F32, own_element(k, k->inexact), NULL, r);
}

/* ---- choice ---- */

static void step(struct steps *k, uint32_t depth)
{
    if (k->extra && chance(k, 15)) {
        k->extra(k);
        return;
    }
    uint32_t choice = below(k, 100);
    bool control = !k->options.no_control && depth < k->options.depth;
    if (choice < 22) {
        int_step(k);
    } else if (choice < 44) {
        float_step(k);
    } else if (choice < 50) {
        bool_step(k);
    } else if (choice < 55) {
        select_step(k);
    } else if (choice < 61) {
        convert_step(k);
    } else if (choice < 67) {
        if (!k->options.no_vectors) vector_step(k);
    } else if (choice < 75) {
        if (k->id) memory_step(k);
    } else if (choice < 78) {
        if (!k->options.no_private) private_array(k);
    } else if (choice < 80) {
        if (!k->options.no_private) private_struct(k);
    } else if (choice < 83) {
        if (k->id && k->options.inexact) inexact_step(k);
    } else if (control) {
        control_step(k, depth);
    }
}

void steps_fill(struct steps *k, uint32_t depth)
{
    uint32_t share = depth > 1 ? k->left / 3 : k->left, end = k->left - share;
    for (uint32_t tries = 0; tries < share + 1 && k->left > end; tries++) step(k, depth);
}
