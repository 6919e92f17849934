/* Constants, and what is known of values. */
#include "ir/core/value.h"

#include <string.h>

#include "ir/core/float.h"
#include "ir/core/module.h"

static struct ir_value *value_new(struct ir_module *m, enum ir_value_kind kind, ir_type t)
{
    struct ir_value *v = ir_alloc(m, sizeof *v);
    v->kind = kind;
    v->type = t;
    return v;
}

struct ir_value *ir_const(struct ir_module *m, ir_type t, const uint64_t *lanes)
{
    size_t bytes = ir_type_lanes(t) * sizeof *lanes;
    uint64_t *copy = ir_alloc(m, bytes);
    memcpy(copy, lanes, bytes);
    struct ir_value *v = value_new(m, IR_VALUE_CONST, t);
    v->of.lanes = copy;
    return v;
}

static struct ir_value *splat(struct ir_module *m, ir_type t, uint64_t bits)
{
    uint64_t lanes[IR_MAX_LANES];
    for (unsigned i = 0; i < IR_MAX_LANES; i++) lanes[i] = bits;
    return ir_const(m, t, lanes);
}

struct ir_value *ir_const_int(struct ir_module *m, ir_type t, uint64_t v)
{
    unsigned bits = ir_type_bits(t);
    return splat(m, t, bits < 64 ? v & ((1ull << bits) - 1) : v);
}

struct ir_value *ir_const_float(struct ir_module *m, ir_type t, double v)
{
    return splat(m, t, ir_float_bits(ir_type_kind(t), v));
}

struct ir_value *ir_const_bool(struct ir_module *m, bool v)
{
    return splat(m, IR_BOOL, v);
}

struct ir_value *ir_undef(struct ir_module *m, ir_type t)
{
    return value_new(m, IR_VALUE_UNDEF, t);
}

bool ir_value_uint(const struct ir_value *v, uint64_t *out)
{
    if (v->kind != IR_VALUE_CONST || ir_type_lanes(v->type) != 1) return false;
    if (!ir_type_is_int(v->type) && !ir_type_is_bool(v->type)) return false;
    *out = v->of.lanes[0];
    return true;
}

bool ir_value_same(const struct ir_value *a, const struct ir_value *b)
{
    if (a == b) return true;
    if (a->kind != IR_VALUE_CONST || b->kind != IR_VALUE_CONST || a->type != b->type) return false;
    return memcmp(a->of.lanes, b->of.lanes, ir_type_lanes(a->type) * sizeof *a->of.lanes) == 0;
}
