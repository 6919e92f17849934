/*
 * An offset is taken apart into terms, each a factor times a value: (y + 1) * width * 4 + clamp(x - 1) * 4. A term
 * whose factor is a multiple of what a step in a dimension adds is part of the id there, the largest steps first;
 * constants are shared out last. Numbers of 32 bits count as if they did not wrap: an element that is really written
 * lies in its buffer, which is small, so what wraps on the way to it comes out the same.
 */
#include "fuser/recompute/place.h"

#include "fuser/passes/integers/low_bits.h"

enum { MAX_TERMS = 16, MAX_DEPTH = 64 };

struct term {
    int64_t factor;
    struct ir_value *value; /* of 64 bits */
};

struct terms {
    struct ir_builder *b;
    const int64_t *numbers;
    bool ids_are_small;
    uint32_t n;
    struct term terms[MAX_TERMS];
    int64_t constant;
};

/* How a number of fewer bits is read. */
enum reading { AS_IT_IS, AS_SIGNED, AS_UNSIGNED };

static bool is_whole(ir_type t)
{
    return t == IR_I32 || t == IR_I64;
}

static const struct ir_inst *inst_of(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

static bool constant_of(const struct ir_value *v, enum reading reading, int64_t *out)
{
    uint64_t bits;
    if (!ir_value_uint(v, &bits)) return false;
    *out = v->type == IR_I64 || reading == AS_UNSIGNED ? (int64_t)bits : (int32_t)bits;
    return true;
}

/* What something is multiplied with: a constant, or a parameter of a known number. */
static bool factor_of(const struct terms *t, const struct ir_value *v, enum reading reading, int64_t *out)
{
    if (constant_of(v, reading, out)) return true;
    const struct ir_inst *inst = inst_of(v);
    while (inst && (inst->op == IR_OP_SEXT || inst->op == IR_OP_ZEXT || inst->op == IR_OP_ITRUNC)) {
        v = inst->operands[0];
        inst = inst_of(v);
    }
    if (v->kind != IR_VALUE_PARAM || !is_whole(v->type) || !t->numbers) return false;
    *out = t->numbers[v->index];
    return *out > 0 && *out <= INT32_MAX; /* the same however it was extended */
}

static bool add_term(struct terms *t, int64_t factor, struct ir_value *v, enum reading reading)
{
    if (v->type != IR_I64) v = ir_build1(t->b, reading == AS_UNSIGNED ? IR_OP_ZEXT : IR_OP_SEXT, IR_I64, v);
    if (t->n == MAX_TERMS) return false;
    t->terms[t->n++] = (struct term){factor, v};
    return true;
}

static bool add_constant(struct terms *t, int64_t factor, int64_t number)
{
    int64_t product;
    return !__builtin_mul_overflow(factor, number, &product) &&
           !__builtin_add_overflow(t->constant, product, &t->constant);
}

static bool gather(struct terms *t, int64_t factor, struct ir_value *v, enum reading reading, unsigned depth);

static bool gather_product(struct terms *t, int64_t factor, struct ir_value *v, enum reading reading, unsigned depth)
{
    struct ir_value *const *x = inst_of(v)->operands;
    int64_t more;
    for (int i = 0; i < 2; i++)
        if (factor_of(t, x[i], reading, &more))
            return !__builtin_mul_overflow(factor, more, &factor) && gather(t, factor, x[1 - i], reading, depth);
    return add_term(t, factor, v, reading);
}

static bool gather_shift(struct terms *t, int64_t factor, struct ir_value *v, enum reading reading, unsigned depth)
{
    int64_t by;
    if (!constant_of(inst_of(v)->operands[1], AS_UNSIGNED, &by) || by < 0 || by > 30)
        return add_term(t, factor, v, reading);
    return !__builtin_mul_overflow(factor, (int64_t)1 << by, &factor) &&
           gather(t, factor, inst_of(v)->operands[0], reading, depth);
}

static bool gather_sum(struct terms *t, int64_t factor, const struct ir_inst *sum, enum reading reading, unsigned depth)
{
    if (!gather(t, factor, sum->operands[0], reading, depth)) return false;
    if (sum->op == IR_OP_SUB && __builtin_sub_overflow(0, factor, &factor)) return false;
    return gather(t, factor, sum->operands[1], reading, depth);
}

/* Where no bit is in both it is a sum. */
static bool gather_or(struct terms *t, int64_t factor, struct ir_value *v, enum reading reading, unsigned depth)
{
    struct ir_value *sum = low_bits_inst(v->of.inst);
    return sum ? gather(t, factor, sum, reading, depth) : add_term(t, factor, v, reading);
}

/* Of 32 bits cut off from an id, which has no more. */
static bool is_id(const struct ir_value *v)
{
    return inst_of(v) && inst_of(v)->op == IR_OP_GLOBAL_ID;
}

static bool gather(struct terms *t, int64_t factor, struct ir_value *v, enum reading reading, unsigned depth)
{
    const struct ir_inst *inst = inst_of(v);
    int64_t number;
    if (ir_type_is_ptr(v->type)) return true; /* where the buffer begins */
    if (constant_of(v, reading, &number)) return add_constant(t, factor, number);
    if (v->kind == IR_VALUE_PARAM && factor_of(t, v, reading, &number)) return add_constant(t, factor, number);
    if (!is_whole(v->type)) return add_term(t, factor, v, reading);
    if (!inst || depth == MAX_DEPTH) return add_term(t, factor, v, reading);
    depth++;
    switch (inst->op) {
    case IR_OP_ADD:
    case IR_OP_SUB: return gather_sum(t, factor, inst, reading, depth);
    case IR_OP_MUL: return gather_product(t, factor, v, reading, depth);
    case IR_OP_SHL: return gather_shift(t, factor, v, reading, depth);
    case IR_OP_OR: return gather_or(t, factor, v, reading, depth);
    case IR_OP_SEXT:
    case IR_OP_ZEXT:
        if (inst->operands[0]->type != IR_I32) return add_term(t, factor, v, reading);
        return gather(t, factor, inst->operands[0], inst->op == IR_OP_SEXT ? AS_SIGNED : AS_UNSIGNED, depth);
    case IR_OP_ITRUNC:
        if (!t->ids_are_small || !is_id(inst->operands[0])) return add_term(t, factor, v, reading);
        return add_term(t, factor, inst->operands[0], AS_IT_IS);
    default: return add_term(t, factor, v, reading);
    }
}

/* ---- shared out among the dimensions ---- */

static uint64_t size_of(int64_t factor)
{
    return factor < 0 ? 0 - (uint64_t)factor : (uint64_t)factor;
}

/* Dimensions that have a factor, the largest first. */
static unsigned by_factor(const struct written_place *w, unsigned *dims)
{
    unsigned n = 0;
    for (unsigned d = 0; d < 3; d++) {
        if (!w->factor[d]) continue;
        unsigned at = n++;
        for (; at && size_of(w->factor[dims[at - 1]]) < size_of(w->factor[d]); at--) dims[at] = dims[at - 1];
        dims[at] = d;
    }
    return n;
}

static struct ir_value *number(struct ir_builder *b, int64_t v)
{
    return ir_const_int(b->module, IR_I64, (uint64_t)v);
}

static void add_to(struct ir_builder *b, struct ir_value **id, struct ir_value *value, int64_t times)
{
    if (times != 1) value = ir_build2(b, IR_OP_MUL, IR_I64, value, number(b, times));
    *id = *id ? ir_build2(b, IR_OP_ADD, IR_I64, *id, value) : value;
}

static bool share_terms(const struct terms *t, const struct written_place *w, const unsigned *dims, unsigned n,
                        struct ir_value *ids[3])
{
    for (uint32_t i = 0; i < t->n; i++) {
        unsigned at = 0;
        while (at < n && t->terms[i].factor % w->factor[dims[at]] != 0) at++;
        if (at == n) return false;
        add_to(t->b, &ids[dims[at]], t->terms[i].value, t->terms[i].factor / w->factor[dims[at]]);
    }
    return true;
}

/* How many steps are nearest to the distance. */
static int64_t nearest(int64_t distance, int64_t step)
{
    int64_t n = distance / step, rest = distance % step;
    if (size_of(rest) * 2 <= size_of(step)) return n;
    return (rest < 0) == (step < 0) ? n + 1 : n - 1;
}

static bool share_constant(struct ir_builder *b, int64_t left, const struct written_place *w, const unsigned *dims,
                           unsigned n, struct ir_value *ids[3])
{
    for (unsigned i = 0; i < n; i++) {
        int64_t steps = nearest(left, w->factor[dims[i]]);
        left -= steps * w->factor[dims[i]];
        if (steps || !ids[dims[i]]) add_to(b, &ids[dims[i]], number(b, steps), 1);
    }
    return left == 0;
}

bool written_place_ids(struct ir_builder *b, const struct written_place *w, struct ir_value *offset,
                       const int64_t *numbers, bool ids_are_small, struct ir_value *ids[3])
{
    struct terms t = {.b = b, .numbers = numbers, .ids_are_small = ids_are_small};
    unsigned dims[3], n = by_factor(w, dims);
    int64_t left;
    for (unsigned d = 0; d < 3; d++) ids[d] = NULL;
    if (!gather(&t, 1, offset, AS_IT_IS, 0)) return false;
    if (__builtin_sub_overflow(t.constant, w->constant, &left) || size_of(left) > INT64_MAX / 4) return false;
    return share_terms(&t, w, dims, n, ids) && share_constant(b, left, w, dims, n, ids);
}
