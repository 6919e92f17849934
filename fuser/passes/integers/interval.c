/* Intervals of integers. Where a result may wrap, or the operation is not known, it may be any number of its width. */
#include "fuser/passes/integers/interval.h"

struct interval interval_all(unsigned bits)
{
    int64_t low = bits ? INT64_MIN >> (64 - bits) : INT64_MIN; /* 0: no number */
    return (struct interval){low, ~low};
}

static bool fits(__int128 low, __int128 high, unsigned bits)
{
    struct interval all = interval_all(bits);
    return low >= all.low && high <= all.high;
}

struct interval interval_of(__int128 low, __int128 high, unsigned bits)
{
    return fits(low, high, bits) ? (struct interval){(int64_t)low, (int64_t)high} : interval_all(bits);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct interval interval_union(struct interval a, struct interval b)
{
    return (struct interval){least(a.low, b.low), most(a.high, b.high)};
}

/* All bits up to the highest one that either number may have. */
static int64_t with_lower_bits(int64_t a, int64_t b)
{
    uint64_t bits = (uint64_t)a | (uint64_t)b;
    for (unsigned shift = 1; shift < 64; shift *= 2) bits |= bits >> shift;
    return (int64_t)bits;
}

struct wide {
    __int128 low, high;
};

static struct wide product(struct interval a, struct interval b)
{
    __int128 p[4] = {(__int128)a.low * b.low, (__int128)a.low * b.high, (__int128)a.high * b.low,
                     (__int128)a.high * b.high};
    struct wide w = {p[0], p[0]};
    for (int i = 1; i < 4; i++) {
        if (p[i] < w.low) w.low = p[i];
        if (p[i] > w.high) w.high = p[i];
    }
    return w;
}

/* A shift's amount where it is a constant, taken modulo the width. */
static bool shift_of(const struct ir_inst *inst, unsigned *amount)
{
    uint64_t bits;
    if (!ir_value_uint(inst->operands[1], &bits)) return false;
    *amount = (unsigned)(bits % ir_type_bits(inst->type));
    return true;
}

/* Of an operation that can wrap: the result as if it did not. False: it is none. */
static bool unwrapped(const struct ir_inst *inst, const struct interval *o, struct wide *w)
{
    unsigned amount;
    switch (inst->op) {
    case IR_OP_ADD: *w = (struct wide){(__int128)o[0].low + o[1].low, (__int128)o[0].high + o[1].high}; return true;
    case IR_OP_SUB: *w = (struct wide){(__int128)o[0].low - o[1].high, (__int128)o[0].high - o[1].low}; return true;
    case IR_OP_NEG: *w = (struct wide){-(__int128)o[0].high, -(__int128)o[0].low}; return true;
    case IR_OP_MUL: *w = product(o[0], o[1]); return true;
    case IR_OP_SHL:
        if (!shift_of(inst, &amount) || amount > 62) return false;
        *w = product(o[0], (struct interval){(int64_t)1 << amount, (int64_t)1 << amount});
        return true;
    default: return false;
    }
}

bool interval_is_exact(const struct ir_inst *inst, const struct interval *operands)
{
    struct wide w;
    return unwrapped(inst, operands, &w) && fits(w.low, w.high, ir_type_bits(inst->type));
}

static struct interval bitwise(enum ir_op op, struct interval a, struct interval b, unsigned bits)
{
    bool natural = a.low >= 0 && b.low >= 0;
    if (op == IR_OP_AND && natural) return (struct interval){0, least(a.high, b.high)};
    if (op == IR_OP_AND && a.low >= 0) return (struct interval){0, a.high};
    if (op == IR_OP_AND && b.low >= 0) return (struct interval){0, b.high};
    if (op != IR_OP_AND && natural) return (struct interval){0, with_lower_bits(a.high, b.high)};
    return interval_all(bits);
}

/* Divided by a positive number; unsigned, both are natural. */
static struct interval divided(const struct ir_inst *inst, struct interval a, struct interval b)
{
    bool natural = a.low >= 0, is_signed = inst->op == IR_OP_SDIV || inst->op == IR_OP_SREM;
    unsigned bits = ir_type_bits(inst->type);
    if (b.low <= 0) return interval_all(bits);
    if (inst->op == IR_OP_UREM && !natural) return (struct interval){0, b.high - 1};
    if (!natural && !is_signed) return interval_all(bits);
    if (inst->op == IR_OP_UDIV || inst->op == IR_OP_SDIV)
        return (struct interval){natural ? a.low / b.high : a.low / b.low, a.high >= 0 ? a.high / b.low : 0};
    return (struct interval){natural ? 0 : most(a.low, 1 - b.high), most(least(a.high, b.high - 1), 0)};
}

static struct interval shifted_right(const struct ir_inst *inst, struct interval a)
{
    unsigned amount, bits = ir_type_bits(inst->type);
    if (!shift_of(inst, &amount)) return interval_all(bits);
    if (inst->op == IR_OP_ASHR || a.low >= 0) return (struct interval){a.low >> amount, a.high >> amount};
    return amount ? (struct interval){0, (int64_t)(UINT64_MAX >> (64 - bits + amount))} : a;
}

static struct interval extended(const struct ir_inst *inst, struct interval a)
{
    unsigned from = ir_type_bits(inst->operands[0]->type);
    if (ir_type_is_bool(inst->operands[0]->type))
        return inst->op == IR_OP_ZEXT ? (struct interval){0, 1} : (struct interval){-1, 0};
    if (inst->op == IR_OP_SEXT || a.low >= 0) return a;
    return (struct interval){0, (int64_t)(UINT64_MAX >> (64 - from))};
}

static struct interval extreme(enum ir_op op, struct interval a, struct interval b, unsigned bits)
{
    bool natural = a.low >= 0 && b.low >= 0;
    switch (op) {
    case IR_OP_SMIN: return (struct interval){least(a.low, b.low), least(a.high, b.high)};
    case IR_OP_SMAX: return (struct interval){most(a.low, b.low), most(a.high, b.high)};
    case IR_OP_UMIN:
        if (natural) return (struct interval){least(a.low, b.low), least(a.high, b.high)};
        if (a.low >= 0) return (struct interval){0, a.high}; /* the smaller one is no larger than that */
        return b.low >= 0 ? (struct interval){0, b.high} : interval_all(bits);
    default: return natural ? (struct interval){most(a.low, b.low), most(a.high, b.high)} : interval_all(bits);
    }
}

struct interval interval_of_inst(const struct ir_inst *inst, const struct interval *o)
{
    struct wide w;
    unsigned bits = ir_type_bits(inst->results[0]->type);
    switch (inst->op) {
    case IR_OP_AND:
    case IR_OP_OR:
    case IR_OP_XOR: return bitwise(inst->op, o[0], o[1], bits);
    case IR_OP_UDIV:
    case IR_OP_SDIV:
    case IR_OP_UREM:
    case IR_OP_SREM: return divided(inst, o[0], o[1]);
    case IR_OP_LSHR:
    case IR_OP_ASHR: return shifted_right(inst, o[0]);
    case IR_OP_SEXT:
    case IR_OP_ZEXT: return extended(inst, o[0]);
    case IR_OP_ITRUNC: return interval_of(o[0].low, o[0].high, bits);
    case IR_OP_SMIN:
    case IR_OP_SMAX:
    case IR_OP_UMIN:
    case IR_OP_UMAX: return extreme(inst->op, o[0], o[1], bits);
    case IR_OP_SCLAMP: return extreme(IR_OP_SMIN, extreme(IR_OP_SMAX, o[0], o[1], bits), o[2], bits);
    case IR_OP_UCLAMP: return extreme(IR_OP_UMIN, extreme(IR_OP_UMAX, o[0], o[1], bits), o[2], bits);
    case IR_OP_SELECT: return interval_union(o[1], o[2]);
    case IR_OP_CLZ:
    case IR_OP_CTZ:
    case IR_OP_POPCOUNT: return (struct interval){0, bits};
    default: return unwrapped(inst, o, &w) ? interval_of(w.low, w.high, bits) : interval_all(bits);
    }
}

static int less(struct interval a, struct interval b)
{
    if (a.high < b.low) return 1;
    return a.low >= b.high ? 0 : -1;
}

static int not(int outcome)
{
    return outcome < 0 ? -1 : !outcome;
}

static int equal(struct interval a, struct interval b)
{
    if (a.high < b.low || b.high < a.low) return 0;
    return a.low == a.high && b.low == b.high ? 1 : -1;
}

int interval_compare(enum ir_op op, struct interval a, struct interval b)
{
    bool is_unsigned = ir_op_info(op)->flags & IR_FLAG_UNSIGNED;
    if (is_unsigned && (a.low < 0 || b.low < 0)) return -1;
    switch (op) {
    case IR_OP_IEQ: return equal(a, b);
    case IR_OP_INE: return not(equal(a, b));
    case IR_OP_SLT:
    case IR_OP_ULT: return less(a, b);
    case IR_OP_SGE:
    case IR_OP_UGE: return not(less(a, b));
    case IR_OP_SGT:
    case IR_OP_UGT: return less(b, a);
    case IR_OP_SLE:
    case IR_OP_ULE: return not(less(b, a));
    default: return -1;
    }
}
