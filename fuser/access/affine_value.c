/* Integers and pointers of a kernel as sums of ids, constants and scalar arguments.
   Sums are kept modulo the width, where addition and multiplication need no care; care is taken where a
   value is widened, divided or compared. */
#include "fuser/access/affine_value.h"

#include "fuser/access/sub_group_ids.h"
static const struct affine unknown;

static bool is_int(const struct ir_value *v)
{
    return ir_type_is_int(v->type) && !ir_type_is_vector(v->type);
}

struct affine affine_value(const struct access_walk *w, const struct ir_value *v)
{
    uint64_t bits;
    if (v->kind == IR_VALUE_CONST && is_int(v) && ir_value_uint(v, &bits)) {
        unsigned shift = 64 - ir_type_bits(v->type);
        return affine_constant((int64_t)(bits << shift) >> shift);
    }
    uint32_t n = access_value_number(v);
    return n ? w->sums[n] : unknown;
}

/* A sum of 32 bits, each scalar argument in it read as signed: that differs from it by multiples of 2^32 at most. */
static struct affine jumping(const struct access_walk *w, const struct affine *a)
{
    struct affine sum = *a;
    sum.n_symbols = 0;
    for (uint32_t i = 0; i < a->n_symbols; i++) {
        struct affine_symbol s = a->symbols[i];
        if (s.extension == AFFINE_RAW && ir_type_bits(w->kernel->params[s.param].value->type) != 32) return unknown;
        struct affine one = {.known = true, .n_symbols = 1, .symbols = {{s.param, AFFINE_SIGNED, s.factor}}};
        if (s.extension != AFFINE_RAW) one.symbols[0].extension = s.extension;
        sum = affine_add(&sum, &one);
    }
    return affine_jumping(&sum);
}

static bool has_ids_or_symbols(const struct affine *a)
{
    for (unsigned i = 0; i < AFFINE_IDS; i++)
        if (a->factor[i]) return true;
    return a->n_symbols > 0;
}

static struct affine extended(const struct access_walk *w, const struct affine *a, unsigned bits, bool is_signed)
{
    unsigned param_bits = 0;
    if (a->known && a->n_symbols) param_bits = ir_type_bits(w->kernel->params[a->symbols[0].param].value->type);
    struct affine wide = affine_extend(a, bits, is_signed, param_bits, &w->bounds);
    bool lost = a->known && has_ids_or_symbols(a) && !(wide.known && has_ids_or_symbols(&wide));
    return lost && bits == 32 && w->small_memory ? jumping(w, a) : wide;
}

struct affine affine_value_widened(const struct access_walk *w, const struct ir_value *v, bool is_signed)
{
    struct affine a = affine_value(w, v);
    return extended(w, &a, ir_type_bits(v->type), is_signed);
}

/* Bounds of a value that is not negative in its width; false where it may be. */
static bool natural(const struct access_walk *w, const struct ir_value *v, int64_t *low, int64_t *high)
{
    struct affine a = affine_value(w, v);
    return affine_range(&a, &w->bounds, low, high) && *low >= 0 &&
           *high <= (int64_t)(UINT64_MAX >> (65 - ir_type_bits(v->type)));
}

static struct affine product(const struct affine *a, const struct affine *b)
{
    if (affine_is_constant(b)) return affine_scale(a, b->constant);
    if (affine_is_constant(a)) return affine_scale(b, a->constant);
    return unknown;
}

/* An amount for a shift: a constant below the width. */
static bool shift_amount(const struct ir_inst *inst, unsigned *amount)
{
    uint64_t bits;
    if (!ir_value_uint(inst->operands[1], &bits)) return false;
    *amount = (unsigned)(bits % ir_type_bits(inst->type));
    return true;
}

static bool all_multiples(const struct affine *a, int64_t of)
{
    if (!affine_is_exact(a) || a->constant % of) return false;
    for (unsigned i = 0; i < AFFINE_IDS; i++)
        if (a->factor[i] % of) return false;
    for (uint32_t i = 0; i < a->n_symbols; i++)
        if (a->symbols[i].factor % of) return false;
    return true;
}

/* A value that is not negative, divided by a positive constant. */
static struct affine quotient(const struct access_walk *w, const struct ir_value *v, int64_t divisor)
{
    int64_t low, high;
    if (divisor <= 0 || !natural(w, v, &low, &high)) return unknown;
    struct affine a = affine_value(w, v);
    if (!all_multiples(&a, divisor)) return affine_between(low / divisor, high / divisor);
    a.constant /= divisor;
    for (unsigned i = 0; i < AFFINE_IDS; i++) a.factor[i] /= divisor;
    return a;
}

static struct affine remainder_of(const struct access_walk *w, const struct ir_value *v, int64_t divisor,
                                  bool is_signed)
{
    int64_t low, high;
    if (divisor <= 0) return unknown;
    bool is_natural = natural(w, v, &low, &high);
    if (is_natural && high < divisor) return affine_value(w, v);
    return is_natural || !is_signed ? affine_between(0, divisor - 1) : affine_between(1 - divisor, divisor - 1);
}

/* x & mask, mask constant and not negative. */
static struct affine masked(const struct access_walk *w, const struct ir_inst *inst)
{
    struct affine mask = affine_value(w, inst->operands[1]);
    const struct ir_value *x = inst->operands[0];
    if (!affine_is_constant(&mask)) {
        mask = affine_value(w, x);
        x = inst->operands[1];
    }
    if (!affine_is_constant(&mask) || mask.constant < 0) return unknown;
    bool is_low_bits = (mask.constant & (mask.constant + 1)) == 0 && mask.constant < INT64_MAX;
    if (mask.constant == UINT32_MAX && ir_type_bits(x->type) == 64) {
        struct affine low = affine_value(w, x);
        return extended(w, &low, 32, false);
    }
    if (is_low_bits) return remainder_of(w, x, mask.constant + 1, false);
    return affine_between(0, mask.constant);
}

/* x | c is a sum where x is a multiple of a power of two above c. */
static struct affine joined_bits(const struct access_walk *w, const struct ir_inst *inst)
{
    struct affine a = affine_value(w, inst->operands[0]), b = affine_value(w, inst->operands[1]);
    if (!affine_is_constant(&b) || b.constant < 0 || b.constant >= (int64_t)1 << 31) return unknown;
    int64_t power = 1;
    while (power <= b.constant) power <<= 1;
    return all_multiples(&a, power) ? affine_add(&a, &b) : unknown;
}

/* The smaller or larger of two numbers, both read with the same sign. */
static struct affine extreme(const struct access_walk *w, const struct ir_inst *inst, bool is_signed, bool larger)
{
    struct affine a = affine_value_widened(w, inst->operands[0], is_signed),
                  b = affine_value_widened(w, inst->operands[1], is_signed);
    int64_t low[2], high[2];
    if (!affine_range(&a, &w->bounds, &low[0], &high[0]) || !affine_range(&b, &w->bounds, &low[1], &high[1]))
        return unknown;
    if (high[0] <= low[1]) return larger ? b : a;
    if (high[1] <= low[0]) return larger ? a : b;
    if (affine_same_factors(&a, &b)) return affine_either(&a, &b, &w->bounds);
    unsigned l = larger ? low[1] > low[0] : low[1] < low[0];
    unsigned h = larger ? high[1] > high[0] : high[1] < high[0];
    return affine_between(low[l], high[h]);
}

static struct affine id(const struct access_walk *w, unsigned i)
{
    return w->bounds.low[i] == w->bounds.high[i] ? affine_constant(w->bounds.low[i]) : affine_id(i, 1);
}

static struct affine linear_id(const struct access_walk *w, enum affine_id kind, const uint64_t size[3])
{
    struct affine sum = affine_constant(0);
    int64_t stride = 1;
    for (unsigned d = 0; d < 3; d++) {
        struct affine x = id(w, kind + d);
        if (kind == AFFINE_GLOBAL) x.constant -= (int64_t)w->range.offset[d];
        x = affine_scale(&x, stride);
        sum = affine_add(&sum, &x);
        if (__builtin_mul_overflow(stride, (int64_t)size[d], &stride)) return unknown;
    }
    return sum;
}

static struct affine query(const struct access_walk *w, const struct ir_inst *inst)
{
    unsigned d = inst->attrs.dim;
    const struct nd_range *r = &w->range;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: return id(w, AFFINE_GLOBAL + d);
    case IR_OP_LOCAL_ID: return id(w, AFFINE_LOCAL + d);
    case IR_OP_GROUP_ID: return id(w, AFFINE_GROUP + d);
    case IR_OP_GLOBAL_SIZE: return affine_constant((int64_t)r->global[d]);
    case IR_OP_GLOBAL_OFFSET: return affine_constant((int64_t)r->offset[d]);
    case IR_OP_WORK_DIM: return affine_constant(r->dims);
    case IR_OP_GLOBAL_LINEAR_ID: return linear_id(w, AFFINE_GLOBAL, r->global);
    case IR_OP_LOCAL_LINEAR_ID: return w->even_groups ? linear_id(w, AFFINE_LOCAL, r->local) : unknown;
    case IR_OP_LOCAL_SIZE: return w->even_groups ? affine_constant((int64_t)r->local[d]) : unknown;
    case IR_OP_ENQUEUED_LOCAL_SIZE: return r->local[0] ? affine_constant((int64_t)r->local[d]) : unknown;
    case IR_OP_NUM_GROUPS: return w->even_groups ? affine_constant((int64_t)(r->global[d] / r->local[d])) : unknown;
    default: return sub_group_ids_value(w, inst);
    }
}

static struct affine element(const struct access_walk *w, const struct ir_inst *inst)
{
    uint64_t size = ir_type_size(w->kernel->module, inst->type);
    if (size > INT64_MAX) return unknown;
    struct affine base = affine_value(w, inst->operands[0]);
    struct affine index = affine_value_widened(w, inst->operands[1], true);
    index = affine_scale(&index, (int64_t)size);
    return affine_add(&base, &index);
}

static struct affine field(const struct access_walk *w, const struct ir_inst *inst)
{
    struct affine base = affine_value(w, inst->operands[0]);
    struct affine offset =
        affine_constant(ir_type_struct(w->kernel->module, inst->type)->fields[inst->attrs.index].offset);
    return affine_add(&base, &offset);
}

static struct affine difference(const struct access_walk *w, const struct ir_inst *inst)
{
    struct affine a = affine_value(w, inst->operands[0]), b = affine_value(w, inst->operands[1]);
    b = affine_scale(&b, -1);
    return affine_add(&a, &b);
}

/* x << 32 >> 32 is the low half of x as a number of its own, and so is what compilers put sums in between of. */
static bool low_half(const struct access_walk *w, const struct ir_inst *inst, unsigned amount, struct affine *low)
{
    const int64_t two_32 = (int64_t)1 << 32;
    struct affine a = affine_value(w, inst->operands[0]);
    if (ir_type_bits(inst->type) != 64 || amount > 32 || !all_multiples(&a, two_32)) return false;
    a.constant /= two_32;
    for (unsigned i = 0; i < AFFINE_IDS; i++) a.factor[i] /= two_32;
    for (uint32_t i = 0; i < a.n_symbols; i++) a.symbols[i].factor /= two_32;
    a = extended(w, &a, 32, inst->op == IR_OP_ASHR);
    *low = affine_scale(&a, (int64_t)1 << (32 - amount));
    return true;
}

static struct affine shifted_right(const struct access_walk *w, const struct ir_inst *inst)
{
    struct affine low;
    unsigned amount, bits = ir_type_bits(inst->type);
    if (!shift_amount(inst, &amount) || amount > 62) return unknown;
    if (low_half(w, inst, amount, &low)) return low;
    struct affine a = quotient(w, inst->operands[0], (int64_t)1 << amount);
    if (a.known || inst->op == IR_OP_ASHR || amount == 0) return a;
    return affine_between(0, (int64_t)(UINT64_MAX >> (64 - bits + amount)));
}

static struct affine divided(const struct access_walk *w, const struct ir_inst *inst)
{
    struct affine by = affine_value(w, inst->operands[1]);
    if (!affine_is_constant(&by)) return unknown;
    if (inst->op == IR_OP_UDIV || inst->op == IR_OP_SDIV) return quotient(w, inst->operands[0], by.constant);
    return remainder_of(w, inst->operands[0], by.constant, inst->op == IR_OP_SREM);
}

struct affine affine_value_of_inst(const struct access_walk *w, const struct ir_inst *inst)
{
    const struct ir_value *result = inst->results[0];
    if (!is_int(result) && !ir_type_is_ptr(result->type)) return unknown;
    uint64_t chosen;
    struct affine a = unknown, b = unknown;
    unsigned amount;
    switch (inst->op) {
    case IR_OP_ADD:
        a = affine_value(w, inst->operands[0]);
        b = affine_value(w, inst->operands[1]);
        return affine_add(&a, &b);
    case IR_OP_SUB: return difference(w, inst);
    case IR_OP_NEG: a = affine_value(w, inst->operands[0]); return affine_scale(&a, -1);
    case IR_OP_MUL:
        a = affine_value(w, inst->operands[0]);
        b = affine_value(w, inst->operands[1]);
        return product(&a, &b);
    case IR_OP_SHL:
        a = affine_value(w, inst->operands[0]);
        return shift_amount(inst, &amount) && amount < 63 ? affine_scale(&a, (int64_t)1 << amount) : unknown;
    case IR_OP_LSHR:
    case IR_OP_ASHR: return shifted_right(w, inst);
    case IR_OP_UDIV:
    case IR_OP_SDIV:
    case IR_OP_UREM:
    case IR_OP_SREM: return divided(w, inst);
    case IR_OP_AND: return masked(w, inst);
    case IR_OP_OR: return joined_bits(w, inst);
    case IR_OP_SMIN: return extreme(w, inst, true, false);
    case IR_OP_SMAX: return extreme(w, inst, true, true);
    case IR_OP_UMIN: return extreme(w, inst, false, false);
    case IR_OP_UMAX: return extreme(w, inst, false, true);
    case IR_OP_ITRUNC:
        a = affine_value(w, inst->operands[0]);
        if (a.jump % ((int64_t)1 << ir_type_bits(inst->type)) == 0) a.jump = 0;
        return a;
    case IR_OP_ZEXT:
    case IR_OP_SEXT: return affine_value_widened(w, inst->operands[0], inst->op == IR_OP_SEXT);
    case IR_OP_SELECT:
        /* Some translators ask for an id like this, in case its dimension were none. */
        if (inst->operands[0]->kind == IR_VALUE_CONST && ir_value_uint(inst->operands[0], &chosen))
            return affine_value(w, inst->operands[chosen ? 1 : 2]);
        a = affine_value(w, inst->operands[1]);
        b = affine_value(w, inst->operands[2]);
        return affine_either(&a, &b, &w->bounds);
    case IR_OP_ELEM: return element(w, inst);
    case IR_OP_FIELD: return field(w, inst);
    case IR_OP_SPACECAST: return affine_value(w, inst->operands[0]);
    case IR_OP_VAR:
    case IR_OP_GLOBAL: return affine_constant(0);
    default: return query(w, inst);
    }
}
