/* What is known of integers: from the operations that make them, from ids, and from conditions. */
#include "fuser/passes/integers/known_ranges.h"

#include "ir/base/arena.h"

bool known_range_is_int(ir_type t)
{
    return ir_type_is_int(t) && !ir_type_is_vector(t);
}

struct interval known_range(const struct known_ranges *k, const struct ir_value *v)
{
    uint64_t n;
    if (!known_range_is_int(v->type)) return (struct interval){0, 1}; /* a bool; of others nobody asks */
    unsigned bits = ir_type_bits(v->type), above = 64 - bits;
    if (ir_value_uint(v, &n)) {
        int64_t number = (int64_t)(n << above) >> above;
        return (struct interval){number, number};
    }
    return v->scratch ? k->of[v->scratch] : interval_all(bits);
}

/* ---- ids ---- */

static struct interval up_to(uint64_t most)
{
    return (struct interval){0, most < INT64_MAX ? (int64_t)most : INT64_MAX};
}

/* What is in a work-group: at most `size`, or one less; and at most what all sizes are. */
static struct interval in_group(const struct ir_function *f, unsigned d, bool is_id, struct interval usual)
{
    if (!f->work_group_size[d]) return usual;
    return up_to(f->work_group_size[d] - (is_id ? 1 : 0));
}

static struct interval of_id(const struct ir_inst *inst)
{
    const struct ir_function *f = inst->parent->function;
    bool is_small = f->assumes & IR_ASSUME_SMALL_IDS;
    struct interval size = is_small ? up_to(INT32_MAX) : interval_all(64), id = is_small ? up_to(INT32_MAX - 1) : size;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID:
    case IR_OP_GROUP_ID:
    case IR_OP_GLOBAL_OFFSET: return id;
    case IR_OP_GLOBAL_SIZE:
    case IR_OP_NUM_GROUPS: return size;
    case IR_OP_LOCAL_ID: return in_group(f, inst->attrs.dim, true, id);
    case IR_OP_LOCAL_SIZE:
    case IR_OP_ENQUEUED_LOCAL_SIZE: return in_group(f, inst->attrs.dim, false, size);
    case IR_OP_LOCAL_LINEAR_ID: return id;
    case IR_OP_WORK_DIM: return (struct interval){1, 3};
    default: return interval_all(ir_type_bits(inst->results[0]->type));
    }
}

struct interval known_range_of_inst(const struct known_ranges *k, const struct ir_inst *inst)
{
    struct interval operands[3];
    unsigned bits = ir_type_bits(inst->results[0]->type);
    if (ir_op_class(inst->op) == IR_CLASS_ND_RANGE) return of_id(inst);
    if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE) || inst->n_operands > 3) return interval_all(bits);
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        ir_type t = inst->operands[i]->type;
        if (!known_range_is_int(t) && t != IR_BOOL) return interval_all(bits);
        operands[i] = known_range(k, inst->operands[i]);
    }
    return interval_of_inst(inst, operands);
}

/* ---- conditions ---- */

static void narrow(struct known_ranges *k, const struct ir_value *v, struct interval to)
{
    struct interval now = known_range(k, v);
    if (to.low < now.low) to.low = now.low;
    if (to.high > now.high) to.high = now.high;
    if (!v->scratch || to.low > to.high || (to.low == now.low && to.high == now.high)) return;
    if (k->n_changes == k->capacity) {
        k->capacity = k->capacity ? 2 * k->capacity : 64;
        k->changes = arena_realloc(k->changes, k->capacity * sizeof *k->changes);
    }
    k->changes[k->n_changes++] = (struct known_range_change){v->scratch, now};
    k->of[v->scratch] = to;
    if (v->kind != IR_VALUE_RESULT) return;
    const struct ir_inst *inst = v->of.inst;
    bool same = inst->op == IR_OP_SEXT || (inst->op == IR_OP_ZEXT && to.low >= 0);
    if (inst->op == IR_OP_ITRUNC) { /* the same number where nothing was cut off */
        struct interval wide = known_range(k, inst->operands[0]), all = interval_all(ir_type_bits(v->type));
        same = wide.low >= all.low && wide.high <= all.high;
    }
    if (same && known_range_is_int(inst->operands[0]->type)) narrow(k, inst->operands[0], to);
}

static enum ir_op opposite(enum ir_op op)
{
    static const enum ir_op pairs[][2] = {{IR_OP_IEQ, IR_OP_INE},
                                          {IR_OP_SLT, IR_OP_SGE},
                                          {IR_OP_SGT, IR_OP_SLE},
                                          {IR_OP_ULT, IR_OP_UGE},
                                          {IR_OP_UGT, IR_OP_ULE}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++)
            if (pairs[i][side] == op) return pairs[i][!side];
    return IR_OP_COUNT;
}

static int64_t before(int64_t n)
{
    return n > INT64_MIN ? n - 1 : n;
}

static int64_t after(int64_t n)
{
    return n < INT64_MAX ? n + 1 : n;
}

/* x < y, or x <= y. */
static void assume_order(struct known_ranges *k, const struct ir_value *x, const struct ir_value *y, bool is_less)
{
    struct interval a = known_range(k, x), b = known_range(k, y);
    narrow(k, x, (struct interval){INT64_MIN, is_less ? before(b.high) : b.high});
    narrow(k, y, (struct interval){is_less ? after(a.low) : a.low, INT64_MAX});
}

/* The same of unsigned numbers: x is natural where y is, and then it is the order of signed ones. */
static void assume_unsigned(struct known_ranges *k, const struct ir_value *x, const struct ir_value *y, bool is_less)
{
    struct interval a = known_range(k, x), b = known_range(k, y);
    if (b.low >= 0) {
        narrow(k, x, (struct interval){0, is_less ? before(b.high) : b.high});
        if (a.low >= 0) narrow(k, y, (struct interval){is_less ? after(a.low) : a.low, INT64_MAX});
    }
}

/* x is not y: known where y is the first or last number that x might be. */
static void assume_other(struct known_ranges *k, const struct ir_value *x, const struct ir_value *y)
{
    struct interval a = known_range(k, x), b = known_range(k, y);
    if (b.low != b.high || a.low == a.high) return;
    if (b.low == a.low) narrow(k, x, (struct interval){after(a.low), a.high});
    if (b.low == a.high) narrow(k, x, (struct interval){a.low, before(a.high)});
}

static void assume_comparison(struct known_ranges *k, enum ir_op op, const struct ir_value *x, const struct ir_value *y)
{
    switch (op) {
    case IR_OP_IEQ:
        narrow(k, x, known_range(k, y));
        narrow(k, y, known_range(k, x));
        break;
    case IR_OP_INE:
        assume_other(k, x, y);
        assume_other(k, y, x);
        break;
    case IR_OP_SLT:
    case IR_OP_SLE: assume_order(k, x, y, op == IR_OP_SLT); break;
    case IR_OP_SGT:
    case IR_OP_SGE: assume_order(k, y, x, op == IR_OP_SGT); break;
    case IR_OP_ULT:
    case IR_OP_ULE: assume_unsigned(k, x, y, op == IR_OP_ULT); break;
    case IR_OP_UGT:
    case IR_OP_UGE: assume_unsigned(k, y, x, op == IR_OP_UGT); break;
    default: break;
    }
}

void known_ranges_assume(struct known_ranges *k, const struct ir_value *condition, bool holds)
{
    if (condition->kind != IR_VALUE_RESULT) return;
    const struct ir_inst *inst = condition->of.inst;
    switch (inst->op) {
    case IR_OP_NOT: known_ranges_assume(k, inst->operands[0], !holds); return;
    case IR_OP_AND:
    case IR_OP_OR:
        for (int i = 0; i < 2 && holds == (inst->op == IR_OP_AND); i++)
            known_ranges_assume(k, inst->operands[i], holds);
        return;
    default: break;
    }
    if (ir_op_class(inst->op) != IR_CLASS_COMPARISON || !known_range_is_int(inst->operands[0]->type)) return;
    assume_comparison(k, holds ? inst->op : opposite(inst->op), inst->operands[0], inst->operands[1]);
}

void known_ranges_undo(struct known_ranges *k, uint32_t n)
{
    while (k->n_changes > n) {
        const struct known_range_change *c = &k->changes[--k->n_changes];
        k->of[c->number] = c->before;
    }
}
