/* The host's model of sub-group functions. Floats are chosen so that no sum or product of them is rounded. */
#include "tests/support/sub_group_model.h"

#include <math.h>
#include <stddef.h>

#include "ir/core/float.h"

enum { OP_ADD, OP_MIN, OP_MAX, OP_MUL, OP_AND, OP_OR, OP_XOR, N_OPS };

struct sg_place sg_place(const struct sg_launch *l, uint32_t item)
{
    uint32_t group = item / l->local, in_group = item % l->local, left = l->global - group * l->local;
    uint32_t items = left < l->local ? left : l->local, number = in_group / l->size;
    struct sg_place p = {group * l->local + number * l->size, items - number * l->size, in_group % l->size, number};
    if (p.n > l->size) p.n = l->size;
    return p;
}

static uint64_t x_of(const struct sg_launch *l, uint32_t item, unsigned lane)
{
    return l->x[item * l->lanes + lane];
}

static uint64_t y_of(const struct sg_launch *l, uint32_t item, unsigned lane)
{
    return l->y[item * l->lanes + lane];
}

/* ---- arithmetic ---- */

const char *sg_group_op(const struct sg_type *t, unsigned op)
{
    static const char *const names[2][N_OPS] = {{"add", "umin", "umax", "mul", "and", "or", "xor"},
                                                {"add", "smin", "smax", "mul", "and", "or", "xor"}};
    if (op >= (ir_type_is_float(t->type) ? OP_AND : N_OPS)) return NULL;
    return names[t->is_signed][op];
}

static uint64_t mask_of(const struct sg_type *t)
{
    return UINT64_MAX >> (64 - ir_type_bits(t->type));
}

static int64_t signed_value(const struct sg_type *t, uint64_t v)
{
    unsigned unused = 64 - ir_type_bits(t->type);
    return (int64_t)(v << unused) >> unused;
}

static bool is_less(const struct sg_type *t, uint64_t a, uint64_t b)
{
    return t->is_signed ? signed_value(t, a) < signed_value(t, b) : a < b;
}

static uint64_t combine_ints(const struct sg_type *t, unsigned op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_ADD: return (a + b) & mask_of(t);
    case OP_MIN: return is_less(t, b, a) ? b : a;
    case OP_MAX: return is_less(t, a, b) ? b : a;
    case OP_MUL: return (a * b) & mask_of(t);
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    default: return a ^ b;
    }
}

static uint64_t combine(const struct sg_type *t, unsigned op, uint64_t a, uint64_t b)
{
    if (!ir_type_is_float(t->type)) return combine_ints(t, op, a, b);
    enum ir_kind kind = ir_type_kind(t->type);
    double x = ir_float_value(kind, a), y = ir_float_value(kind, b);
    return ir_float_bits(kind, op == OP_ADD ? x + y : op == OP_MUL ? x * y : op == OP_MIN ? fmin(x, y) : fmax(x, y));
}

static uint64_t identity(const struct sg_type *t, unsigned op)
{
    uint64_t all = mask_of(t), top = all ^ (all >> 1);
    if (ir_type_is_float(t->type)) {
        static const double values[] = {[OP_ADD] = 0, [OP_MIN] = INFINITY, [OP_MAX] = -INFINITY, [OP_MUL] = 1};
        return ir_float_bits(ir_type_kind(t->type), values[op]);
    }
    switch (op) {
    case OP_MIN: return t->is_signed ? all ^ top : all;
    case OP_MAX: return t->is_signed ? top : 0;
    case OP_MUL: return 1;
    case OP_AND: return all;
    default: return 0;
    }
}

/* ---- functions ---- */

static uint64_t sum_of(const struct sg_launch *l, unsigned op, uint32_t first, uint32_t n, unsigned lane)
{
    uint64_t sum = n ? x_of(l, first, lane) : identity(&l->type, op);
    for (uint32_t i = 1; i < n; i++) sum = combine(&l->type, op, sum, x_of(l, first + i, lane));
    return sum;
}

bool sg_reduce(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value)
{
    struct sg_place p = sg_place(l, item);
    *value = sum_of(l, op, p.first, p.n, lane);
    return true;
}

bool sg_scan_inclusive(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value)
{
    struct sg_place p = sg_place(l, item);
    *value = sum_of(l, op, p.first, p.id + 1, lane);
    return true;
}

bool sg_scan_exclusive(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value)
{
    struct sg_place p = sg_place(l, item);
    *value = sum_of(l, op, p.first, p.id, lane);
    return true;
}

/* From id 5, and from the one that has the sub-group's number; both modulo the size. */
bool sg_broadcast(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value)
{
    struct sg_place p = sg_place(l, item);
    *value = x_of(l, p.first + (op ? p.number : 5) % p.n, lane);
    return true;
}

/* By any id, then by xor with 1, with half of a complete sub-group, and with the sub-group's number and one. */
bool sg_shuffle(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value)
{
    struct sg_place p = sg_place(l, item);
    uint32_t masks[] = {0, 1, l->size / 2, (p.number + 1) % l->size};
    uint32_t from = op == 0 ? (p.id * 3 + 1) % p.n : p.id ^ masks[op];
    if (from >= p.n) return false;
    *value = x_of(l, p.first + from, lane);
    return true;
}

static uint32_t distance(const struct sg_launch *l, const struct sg_place *p, unsigned op)
{
    uint32_t distances[] = {1, 3, l->size, p->id * 5 % l->size, p->number + 1};
    return distances[op];
}

/* previous is x, current y. */
bool sg_shuffle_up(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value)
{
    struct sg_place p = sg_place(l, item);
    int64_t from = (int64_t)p.id - distance(l, &p, op);
    bool current = from >= 0;
    if (!current) from += l->size;
    if (from < 0 || from >= p.n) return false;
    *value = current ? y_of(l, p.first + (uint32_t)from, lane) : x_of(l, p.first + (uint32_t)from, lane);
    return true;
}

/* current is x, next y. */
bool sg_shuffle_down(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value)
{
    struct sg_place p = sg_place(l, item);
    uint32_t from = p.id + distance(l, &p, op);
    bool current = from < l->size;
    if (!current) from -= l->size;
    if (from >= p.n) return false;
    *value = current ? x_of(l, p.first + from, lane) : y_of(l, p.first + from, lane);
    return true;
}

bool sg_rotate(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value)
{
    struct sg_place p = sg_place(l, item);
    *value = x_of(l, p.first + (p.id + (op ? 5 : 1)) % p.n, lane);
    return true;
}
