/* Dot products of integers, of vectors and of four bytes in a word, with and without an accumulator. */
#include <string.h>

#include "ir/spirv/translate/values/body.h"

struct form {
    enum ir_op first, second; /* how the components of either vector become as wide as the result */
    enum ir_op accumulate;    /* IR_OP_COUNT: there is no accumulator */
};

static bool find(unsigned op, struct form *f)
{
    switch (op) {
    case SpvOpSDot: *f = (struct form){IR_OP_SEXT, IR_OP_SEXT, IR_OP_COUNT}; return true;
    case SpvOpUDot: *f = (struct form){IR_OP_ZEXT, IR_OP_ZEXT, IR_OP_COUNT}; return true;
    case SpvOpSUDot: *f = (struct form){IR_OP_SEXT, IR_OP_ZEXT, IR_OP_COUNT}; return true;
    case SpvOpSDotAccSat: *f = (struct form){IR_OP_SEXT, IR_OP_SEXT, IR_OP_SADD_SAT}; return true;
    case SpvOpUDotAccSat: *f = (struct form){IR_OP_ZEXT, IR_OP_ZEXT, IR_OP_UADD_SAT}; return true;
    case SpvOpSUDotAccSat: *f = (struct form){IR_OP_SEXT, IR_OP_ZEXT, IR_OP_SADD_SAT}; return true;
    default: return false;
    }
}

/* An operand's components, each as wide as t; a scalar is four bytes in a word. */
static struct ir_value *widened(struct spirv_body *s, const struct spirv_inst *i, uint32_t id, enum ir_op extend,
                                ir_type t)
{
    struct ir_value *v = spirv_value(s, i, id);
    if (s->r->failed_function) return v;
    if (v->type == IR_I32) v = ir_build1(&s->b, IR_OP_BITCAST, IR_TYPE(IR_KIND_I8, 4, 0), v);
    if (ir_type_bits(v->type) == ir_type_bits(t)) return v;
    return ir_build1(&s->b, extend, ir_type_with_lanes(t, ir_type_lanes(v->type)), v);
}

static struct ir_value *sum_of(struct spirv_body *s, struct ir_value *v)
{
    ir_type t = ir_type_element(v->type);
    struct ir_value *sum = NULL;
    for (unsigned k = 0; k < ir_type_lanes(v->type); k++) {
        struct ir_value *one = ir_build2(&s->b, IR_OP_EXTRACT, v->type, v, spirv_int(s, IR_I32, k));
        sum = sum ? ir_build2(&s->b, IR_OP_ADD, t, sum, one) : one;
    }
    return sum;
}

/* words: the ids of both vectors, and of the accumulator where there is one. */
static void emit(struct spirv_body *s, const struct spirv_inst *i, const struct form *f, const uint32_t *words)
{
    ir_type t = s->r->ids[i->type].type;
    struct ir_value *x = widened(s, i, words[0], f->first, t), *y = widened(s, i, words[1], f->second, t);
    if (s->r->failed_function) return;
    if (x->type != y->type) {
        spirv_fail(s->r, i, "has vectors of %u and %u components", ir_type_lanes(x->type), ir_type_lanes(y->type));
        return;
    }
    struct ir_value *sum = sum_of(s, ir_build2(&s->b, IR_OP_MUL, x->type, x, y));
    if (f->accumulate != IR_OP_COUNT) sum = ir_build2(&s->b, f->accumulate, t, sum, spirv_value(s, i, words[2]));
    if (!s->r->failed_function) spirv_set(s, i, sum);
}

bool spirv_emit_dot(struct spirv_body *s, const struct spirv_inst *i)
{
    struct form f;
    if (!find(i->op, &f)) return false;
    emit(s, i, &f, i->words + 3);
    return true;
}

/* ---- functions that a translator has left as calls: dot_4x8packed_su_int ---- */

static bool find_named(const struct spirv_reader *r, const struct spirv_function *function, struct form *f)
{
    static const char plain[] = "dot_4x8packed_", saturated[] = "dot_acc_sat_4x8packed_";
    const uint32_t *linkage = spirv_decoration(r, function->id, SpvDecorationLinkageAttributes, NULL);
    const char *name = linkage && !function->has_body ? spirv_string(linkage) : "";
    if (strncmp(name, "_Z", 2) != 0) return false;
    name += 2 + strspn(name + 2, "0123456789");
    bool accumulates = strncmp(name, saturated, strlen(saturated)) == 0;
    if (!accumulates && strncmp(name, plain, strlen(plain)) != 0) return false;
    name += strlen(accumulates ? saturated : plain);
    if ((name[0] != 's' && name[0] != 'u') || (name[1] != 's' && name[1] != 'u') || name[2] != '_') return false;
    bool is_signed = name[0] == 's' || name[1] == 's';
    *f = (struct form){name[0] == 's' ? IR_OP_SEXT : IR_OP_ZEXT, name[1] == 's' ? IR_OP_SEXT : IR_OP_ZEXT,
                       !accumulates ? IR_OP_COUNT
                       : is_signed  ? IR_OP_SADD_SAT
                                    : IR_OP_UADD_SAT};
    return true;
}

bool spirv_is_named_dot(const struct spirv_reader *r, const struct spirv_function *f)
{
    struct form form;
    return find_named(r, f, &form);
}

bool spirv_emit_named_dot(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_function *function)
{
    struct form f;
    if (!find_named(s->r, function, &f)) return false;
    if (i->n != (f.accumulate == IR_OP_COUNT ? 6 : 7) || s->r->ids[i->type].type != IR_I32)
        spirv_fail(s->r, i, "of a dot product with %u arguments", i->n - 4u);
    else
        emit(s, i, &f, i->words + 4);
    return true;
}
