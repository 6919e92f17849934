/* Identities of single operations: only those that hold for every bit pattern, NaN and -0 included. */
#include "fuser/passes/fold_ops.h"
#include "fuser/passes/util.h"
#include "ir/eval/eval.h"

static struct ir_module *module_of(const struct ir_inst *inst)
{
    return inst->parent->function->module;
}

/* The instruction that makes the value where that is an `op`, else NULL. */
static struct ir_inst *made_by(const struct ir_value *v, enum ir_op op)
{
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == op ? v->of.inst : NULL;
}

/* An integer or bool constant with the same bits in each lane. */
static bool is_splat(const struct ir_value *v, uint64_t *bits)
{
    if (v->kind != IR_VALUE_CONST || (!ir_type_is_int(v->type) && !ir_type_is_bool(v->type))) return false;
    for (unsigned i = 1; i < ir_type_lanes(v->type); i++)
        if (v->of.lanes[i] != v->of.lanes[0]) return false;
    *bits = v->of.lanes[0];
    return true;
}

static bool is_number(const struct ir_value *v, uint64_t number)
{
    uint64_t bits;
    return is_splat(v, &bits) && bits == number;
}

static uint64_t all_ones(ir_type t)
{
    unsigned bits = ir_type_bits(t);
    return bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
}

static bool is_zero(const struct ir_value *v)
{
    return is_number(v, 0);
}
static bool is_one(const struct ir_value *v)
{
    return is_number(v, 1);
}
static bool is_ones(const struct ir_value *v)
{
    return is_number(v, all_ones(v->type));
}

static struct ir_value *number(struct ir_inst *inst, uint64_t v)
{
    return ir_const_int(module_of(inst), inst->results[0]->type, v);
}

/* ---- constants ---- */

/* The interpreter reports divisions by zero; an instruction that makes one stays. */
static bool divides_by_zero(const struct ir_inst *inst)
{
    if (!(ir_op_info(inst->op)->flags & IR_FLAG_PARTIAL)) return false;
    const struct ir_value *divisor = inst->operands[1];
    for (unsigned i = 0; i < ir_type_lanes(divisor->type); i++)
        if (!divisor->of.lanes[i]) return true;
    return false;
}

static struct ir_value *constant(struct ir_inst *inst)
{
    const uint64_t *operands[IR_MAX_LANES];
    uint64_t lanes[IR_MAX_LANES] = {0};
    if (!ir_type_is_number(inst->results[0]->type) || !inst->n_operands || inst->n_operands > IR_MAX_LANES) return NULL;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (inst->operands[i]->kind != IR_VALUE_CONST) return NULL;
        operands[i] = inst->operands[i]->of.lanes;
    }
    if (divides_by_zero(inst) || !ir_eval(inst, operands, lanes)) return NULL;
    return ir_const(module_of(inst), inst->results[0]->type, lanes);
}

/* ---- integers and bools ---- */

/* a % c + a / c * c is a, unsigned: ids taken apart and put together again. */
static struct ir_value *whole_of(const struct ir_value *rest, const struct ir_value *multiple)
{
    const struct ir_inst *remainder = made_by(rest, IR_OP_UREM), *product = made_by(multiple, IR_OP_MUL);
    for (int i = 0; remainder && product && i < 2; i++) {
        const struct ir_inst *quotient = made_by(product->operands[i], IR_OP_UDIV);
        const struct ir_value *c = product->operands[!i];
        uint64_t bits;
        if (!quotient || !is_splat(c, &bits) || bits == 0) continue;
        if (ir_value_same(c, quotient->operands[1]) && ir_value_same(c, remainder->operands[1]) &&
            ir_value_same(remainder->operands[0], quotient->operands[0]))
            return remainder->operands[0];
    }
    return NULL;
}

static struct ir_value *add_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_value **o = inst->operands;
    uint64_t x, y;
    if (is_zero(o[1])) return o[0];
    if (is_zero(o[0])) return o[1];
    for (int i = 0; i < 2; i++) {
        struct ir_value *whole = whole_of(o[i], o[!i]);
        if (whole) return whole;
    }
    struct ir_inst *inner = made_by(o[0], IR_OP_ADD);
    if (inner && is_splat(o[1], &y) && is_splat(inner->operands[1], &x)) { /* (a + x) + y */
        o[0] = inner->operands[0];
        o[1] = number(inst, x + y);
        *changed = true;
    }
    return NULL;
}

/* Of places: (x + c) * k is x * k + c * k, and (x << c) * k is x * (k << c). So those that are a constant apart are
   seen to be. */
static void product_of_place(struct ir_inst *inst, bool *changed)
{
    struct ir_value **o = inst->operands;
    const struct ir_inst *sum = made_by(o[0], IR_OP_ADD), *shifted = made_by(o[0], IR_OP_SHL);
    const struct ir_inst *inner = sum ? sum : shifted;
    uint64_t c, k;
    if (inst->type != IR_I64 || !inner || !ir_value_uint(o[1], &k) || !ir_value_uint(inner->operands[1], &c)) return;
    if (inst->op == IR_OP_SHL) k = 1ull << (k & 63);
    if (sum) {
        struct ir_builder b = ir_builder_before(inst);
        o[0] = ir_build2(&b, inst->op, IR_I64, sum->operands[0], o[1]);
        inst->op = IR_OP_ADD;
        o[1] = number(inst, c * k);
    } else {
        o[0] = shifted->operands[0];
        inst->op = IR_OP_MUL;
        o[1] = number(inst, k << (c & 63));
    }
    *changed = true;
}

static struct ir_value *mul_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_value **o = inst->operands;
    for (int i = 0; i < 2; i++) {
        if (is_zero(o[i])) return o[i];
        if (is_one(o[i])) return o[!i];
    }
    product_of_place(inst, changed);
    return NULL;
}

static struct ir_value *bit_identity(struct ir_inst *inst)
{
    struct ir_value **o = inst->operands;
    bool same = ir_value_same(o[0], o[1]);
    for (int i = 0; i < 2; i++) {
        if (inst->op == IR_OP_AND && is_zero(o[i])) return o[i];
        if (inst->op == IR_OP_AND && is_ones(o[i])) return o[!i];
        if (inst->op == IR_OP_OR && is_ones(o[i])) return o[i];
        if (inst->op != IR_OP_AND && is_zero(o[i])) return o[!i];
    }
    if (same) return inst->op == IR_OP_XOR ? number(inst, 0) : o[0];
    return NULL;
}

static struct ir_value *shift_identity(struct ir_inst *inst, bool *changed)
{
    if (is_zero(inst->operands[1]) || is_zero(inst->operands[0])) return inst->operands[0];
    if (inst->op == IR_OP_SHL) product_of_place(inst, changed);
    return NULL;
}

static struct ir_value *compare_identity(struct ir_inst *inst)
{
    struct ir_value **o = inst->operands;
    bool same = ir_value_same(o[0], o[1]);
    switch (inst->op) {
    case IR_OP_IEQ:
    case IR_OP_SLE:
    case IR_OP_SGE:
    case IR_OP_ULE: return same ? number(inst, 1) : NULL;
    case IR_OP_UGE: return same || is_zero(o[1]) ? number(inst, 1) : NULL;
    case IR_OP_ULT: return same || is_zero(o[1]) ? number(inst, 0) : NULL;
    default: return same ? number(inst, 0) : NULL;
    }
}

/* x && y and x || y, which compilers write as a choice between y and a constant, become logic: bits are never poison
   here, so that y counts where it does not matter does no harm. */
static void select_to_logic(struct ir_inst *inst, bool *changed)
{
    struct ir_value **o = inst->operands;
    for (int i = 1; i <= 2; i++) {
        uint64_t bits;
        if (!is_splat(o[i], &bits)) continue;
        struct ir_builder b = ir_builder_before(inst);
        bool as_it_is = bits == (i == 1); /* select(x, true, y), select(x, y, false) */
        if (!as_it_is) o[0] = ir_build1(&b, IR_OP_NOT, inst->type, o[0]);
        inst->op = bits ? IR_OP_OR : IR_OP_AND;
        o[1] = o[3 - i];
        inst->n_operands = 2;
        *changed = true;
        return;
    }
}

static struct ir_value *select_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_value **o = inst->operands, *cond = o[0];
    if (ir_value_same(o[1], o[2])) return o[1];
    if (is_number(cond, 1)) return o[1];
    if (is_number(cond, 0)) return o[2];
    if (o[1]->kind == IR_VALUE_UNDEF) return o[2];
    if (o[2]->kind == IR_VALUE_UNDEF) return o[1];
    if (cond->type == inst->type && is_number(o[1], 1) && is_number(o[2], 0)) return cond;
    struct ir_inst *not = made_by(cond, IR_OP_NOT);
    if (not ) {
        struct ir_value *swap = o[1];
        o[0] = not ->operands[0];
        o[1] = o[2];
        o[2] = swap;
        *changed = true;
    }
    if (ir_type_is_bool(inst->type) && cond->type == inst->type) select_to_logic(inst, changed);
    return NULL;
}

/* Applied twice it gives what it was given. */
static struct ir_value *twice(const struct ir_inst *inst)
{
    struct ir_inst *inner = made_by(inst->operands[0], inst->op);
    return inner ? inner->operands[0] : NULL;
}

/* ---- conversions ---- */

static bool wider(ir_type a, ir_type b)
{
    return ir_type_bits(a) > ir_type_bits(b);
}

/* Takes the operand from behind an instruction that does not matter to this one. */
static struct ir_value *skip(struct ir_inst *inst, const struct ir_inst *inner, bool *changed)
{
    inst->operands[0] = inner->operands[0];
    *changed = true;
    return NULL;
}

/* x + -y is x - y to the last bit, and so x * y + -z a difference of what mad rounds twice. What may be contracted
   stays as it is, for that goes by sums. */
static void sum_of_negated(struct ir_inst *inst, bool *changed)
{
    struct ir_value **o = inst->operands;
    const struct ir_inst *negated = made_by(o[inst->n_operands - 1], IR_OP_FNEG);
    if (!negated || inst->attrs.fp & IR_FP_CONTRACT) return;
    if (inst->op == IR_OP_MAD) {
        struct ir_builder b = ir_builder_before(inst);
        o[0] = ir_build2(&b, IR_OP_FMUL, inst->type, o[0], o[1]);
        inst->n_operands = 2;
    }
    o[1] = negated->operands[0];
    inst->op = inst->op == IR_OP_FSUB ? IR_OP_FADD : IR_OP_FSUB;
    *changed = true;
}

static struct ir_value *trunc_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_inst *inner = made_by(inst->operands[0], IR_OP_ITRUNC);
    if (inner) return skip(inst, inner, changed);
    inner = made_by(inst->operands[0], IR_OP_ZEXT);
    if (!inner) inner = made_by(inst->operands[0], IR_OP_SEXT);
    if (!inner || ir_type_is_bool(inner->operands[0]->type)) return NULL;
    if (inner->operands[0]->type == inst->type) return inner->operands[0];
    if (wider(inner->operands[0]->type, inst->type)) return skip(inst, inner, changed);
    inst->op = inner->op; /* from a type narrower than what is left */
    return skip(inst, inner, changed);
}

static struct ir_value *extend_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_inst *zext = made_by(inst->operands[0], IR_OP_ZEXT);
    if (zext) { /* its top bit is 0 */
        inst->op = IR_OP_ZEXT;
        return skip(inst, zext, changed);
    }
    struct ir_inst *sext = inst->op == IR_OP_SEXT ? made_by(inst->operands[0], IR_OP_SEXT) : NULL;
    return sext ? skip(inst, sext, changed) : NULL;
}

/* The number is the same before and after the extension. */
static struct ir_value *int_to_float_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_inst *inner = made_by(inst->operands[0], inst->op == IR_OP_STOF ? IR_OP_SEXT : IR_OP_ZEXT);
    if (!inner || ir_type_is_bool(inner->operands[0]->type)) return NULL;
    return skip(inst, inner, changed);
}

/* Widening is exact: widening again can start from the narrow one, narrowing back undoes it. */
static struct ir_value *fpconv_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_inst *inner = made_by(inst->operands[0], IR_OP_FPCONV);
    if (!inner) return NULL;
    ir_type first = inner->operands[0]->type;
    if (!wider(inner->type, first)) return NULL;
    if (first == inst->type) return inner->operands[0];
    return wider(inst->type, inner->type) ? skip(inst, inner, changed) : NULL;
}

static struct ir_value *bitcast_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_value *x = inst->operands[0];
    if (x->type == inst->type) return x;
    struct ir_inst *inner = made_by(x, IR_OP_BITCAST);
    if (!inner) return NULL;
    if (inner->operands[0]->type == inst->type) return inner->operands[0];
    return skip(inst, inner, changed);
}

/* ---- vectors ---- */

/* The scalar in one lane of what a vec puts together; NULL: it lies in a vector. */
static struct ir_value *vec_lane(const struct ir_inst *vec, uint64_t lane)
{
    for (uint32_t i = 0; i < vec->n_operands; i++) {
        unsigned lanes = ir_type_lanes(vec->operands[i]->type);
        if (lane < lanes) return lanes == 1 ? vec->operands[i] : NULL;
        lane -= lanes;
    }
    return NULL;
}

static struct ir_value *extract_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_value *vector = inst->operands[0];
    struct ir_inst *splat = made_by(vector, IR_OP_SPLAT);
    uint64_t lane, other;
    if (!ir_value_uint(inst->operands[1], &lane) || lane >= ir_type_lanes(inst->type)) return NULL;
    if (splat) return splat->operands[0];
    if (vector->kind == IR_VALUE_UNDEF) return ir_undef(module_of(inst), inst->results[0]->type);
    struct ir_inst *vec = made_by(vector, IR_OP_VEC);
    if (vec) return vec_lane(vec, lane);
    struct ir_inst *insert = made_by(vector, IR_OP_INSERT);
    if (insert && ir_value_uint(insert->operands[2], &other)) {
        if (other == lane) return insert->operands[1];
        return skip(inst, insert, changed);
    }
    return NULL;
}

/* All lanes of one vector, in order. */
static struct ir_value *vec_identity(struct ir_inst *inst)
{
    struct ir_value *whole = NULL;
    if (inst->n_operands == 1) return inst->operands[0]->type == inst->type ? inst->operands[0] : NULL;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct ir_inst *extract = made_by(inst->operands[i], IR_OP_EXTRACT);
        uint64_t lane;
        if (!extract || !ir_value_uint(extract->operands[1], &lane) || lane != i) return NULL;
        if (whole && extract->operands[0] != whole) return NULL;
        whole = extract->operands[0];
    }
    return whole->type == inst->type ? whole : NULL;
}

/* ---- addresses ---- */

static struct ir_value *elem_identity(struct ir_inst *inst, bool *changed)
{
    struct ir_inst *inner = made_by(inst->operands[0], IR_OP_ELEM);
    uint64_t i, k;
    if (!ir_value_uint(inst->operands[1], &i)) return NULL;
    if (!i) return inst->operands[0];
    if (!inner || inner->type != inst->type || !ir_value_uint(inner->operands[1], &k)) return NULL;
    if (inst->operands[1]->type != IR_I64 || inner->operands[1]->type != IR_I64) return NULL;
    inst->operands[1] = ir_const_int(module_of(inst), IR_I64, i + k);
    return skip(inst, inner, changed);
}

static struct ir_value *identity(struct ir_inst *inst, bool *changed)
{
    struct ir_value **o = inst->operands;
    switch (inst->op) {
    case IR_OP_ADD: return add_identity(inst, changed);
    case IR_OP_SUB:
        if (is_zero(o[1])) return o[0];
        return ir_value_same(o[0], o[1]) ? number(inst, 0) : NULL;
    case IR_OP_MUL: return mul_identity(inst, changed);
    case IR_OP_UDIV:
    case IR_OP_SDIV: return is_one(o[1]) ? o[0] : NULL;
    case IR_OP_UREM:
    case IR_OP_SREM:
    case IR_OP_SMOD: return is_one(o[1]) ? number(inst, 0) : NULL;
    case IR_OP_AND:
    case IR_OP_OR:
    case IR_OP_XOR: return bit_identity(inst);
    case IR_OP_SHL:
    case IR_OP_LSHR:
    case IR_OP_ASHR:
    case IR_OP_ROTATE: return shift_identity(inst, changed);
    case IR_OP_SMIN:
    case IR_OP_UMIN:
    case IR_OP_SMAX:
    case IR_OP_UMAX: return ir_value_same(o[0], o[1]) ? o[0] : NULL;
    case IR_OP_NOT:
    case IR_OP_NEG:
    case IR_OP_FNEG: return twice(inst);
    case IR_OP_FADD:
    case IR_OP_FSUB:
    case IR_OP_MAD: sum_of_negated(inst, changed); return NULL;
    case IR_OP_IEQ:
    case IR_OP_INE:
    case IR_OP_SLT:
    case IR_OP_SLE:
    case IR_OP_SGT:
    case IR_OP_SGE:
    case IR_OP_ULT:
    case IR_OP_ULE:
    case IR_OP_UGT:
    case IR_OP_UGE: return compare_identity(inst);
    case IR_OP_SELECT: return select_identity(inst, changed);
    case IR_OP_ANY:
    case IR_OP_ALL: return o[0]->type == IR_BOOL ? o[0] : NULL;
    case IR_OP_ITRUNC: return trunc_identity(inst, changed);
    case IR_OP_ZEXT:
    case IR_OP_SEXT: return extend_identity(inst, changed);
    case IR_OP_STOF:
    case IR_OP_UTOF: return int_to_float_identity(inst, changed);
    case IR_OP_FPCONV: return fpconv_identity(inst, changed);
    case IR_OP_BITCAST: return bitcast_identity(inst, changed);
    case IR_OP_EXTRACT: return extract_identity(inst, changed);
    case IR_OP_VEC: return vec_identity(inst);
    case IR_OP_ELEM: return elem_identity(inst, changed);
    case IR_OP_SPACECAST: return o[0]->type == inst->results[0]->type ? o[0] : NULL;
    default: return NULL;
    }
}

struct ir_value *fold_inst(struct ir_inst *inst, bool *changed)
{
    struct ir_value *c = constant(inst);
    return c ? c : identity(inst, changed);
}
