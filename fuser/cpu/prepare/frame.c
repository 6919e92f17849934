/*
 * Where in each so many elements of an array one lies that lanes access at even distances. Ids may be anything, but
 * what they are multiplied with is left of them: 2 * l + 1 is odd. In a local array all that lies between index 0 and
 * an element is there, so that lanes may read from the beginning of the frame on, and accesses of one frame share
 * loads.
 */
#include "fuser/cpu/prepare/frame.h"

#include "ir/core/facts.h"

enum { DEEPEST = 12 };

struct place {
    const struct uniformity *u;
    const struct assumed *products;
    unsigned depth;
};

static bool residue_of(struct place *p, const struct ir_value *v, uint64_t modulus, uint64_t *r);

/* v times a constant. */
static bool residue_of_multiple(struct place *p, const struct ir_value *v, uint64_t factor, uint64_t modulus,
                                uint64_t *r)
{
    uint64_t part = factor & (0 - factor); /* what a power of two in the factor leaves to know */
    if (!residue_of(p, v, !part || part >= modulus ? 1 : modulus / part, r)) return false;
    *r = *r * factor & (modulus - 1);
    return true;
}

static bool residue_of_product(struct place *p, const struct ir_inst *inst, uint64_t modulus, uint64_t *r)
{
    const struct ir_value *a = inst->operands[0], *b = inst->operands[1];
    bool shifts = inst->op == IR_OP_SHL;
    uint64_t n;
    if (p->products && p->products[inst->scratch].factor) {
        bool first = shifts || (a->kind >= IR_VALUE_PARAM && p->u->values[a->scratch].kind == SHAPE_LINEAR);
        return residue_of_multiple(p, first ? a : b, p->products[inst->scratch].factor, modulus, r);
    }
    if (ir_value_uint(b, &n))
        return residue_of_multiple(p, a, shifts ? 1ull << (n & (ir_type_bits(inst->type) - 1)) : n, modulus, r);
    return !shifts && ir_value_uint(a, &n) && residue_of_multiple(p, b, n, modulus, r);
}

static bool residue_of_sum(struct place *p, const struct ir_inst *inst, uint64_t modulus, uint64_t *r)
{
    uint64_t a, b;
    if (!residue_of(p, inst->operands[0], modulus, &a) || !residue_of(p, inst->operands[1], modulus, &b)) return false;
    *r = (inst->op == IR_OP_ADD ? a + b : a - b) & (modulus - 1);
    return true;
}

static bool residue_of(struct place *p, const struct ir_value *v, uint64_t modulus, uint64_t *r)
{
    *r = 0;
    if (modulus == 1) return true;
    if (ir_value_uint(v, r)) {
        *r &= modulus - 1;
        return true;
    }
    if (v->kind != IR_VALUE_RESULT || p->depth == DEEPEST) return false;
    p->depth++;
    const struct ir_inst *inst = v->of.inst;
    bool known = false;
    switch (inst->op) {
    case IR_OP_ADD:
    case IR_OP_SUB: known = residue_of_sum(p, inst, modulus, r); break;
    case IR_OP_MUL:
    case IR_OP_SHL: known = residue_of_product(p, inst, modulus, r); break;
    case IR_OP_SEXT:
    case IR_OP_ZEXT:
    case IR_OP_ITRUNC: known = residue_of(p, inst->operands[0], modulus, r); break;
    default: break;
    }
    p->depth--;
    return known;
}

static bool is_local_array(const struct ir_value *v)
{
    if (ir_type_space(v->type) != IR_SPACE_LOCAL) return false;
    return v->kind == IR_VALUE_PARAM || (v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_GLOBAL);
}

/* The elements of words that a frame has; 0: it has no number of them that is a power of two. */
static uint64_t elements_in(const struct ir_inst *access, const struct ir_inst *elem, uint64_t stride)
{
    uint64_t bytes = ir_type_size(access->parent->function->module, access->type);
    if (ir_type_lanes(access->type) > 1 || bytes < 4 || stride % bytes) return 0;
    if (ir_type_size(access->parent->function->module, elem->type) != bytes) return 0;
    uint64_t n = stride / bytes;
    return n & (n - 1) ? 0 : n;
}

int frame_place(const struct uniformity *u, const struct assumed *products, const struct ir_inst *access,
                uint64_t stride)
{
    const struct ir_value *pointer = access->operands[0];
    const struct ir_inst *elem = pointer->kind == IR_VALUE_RESULT ? pointer->of.inst : NULL;
    if (!elem || elem->op != IR_OP_ELEM || !is_local_array(elem->operands[0])) return -1;
    struct place p = {u, products, 0};
    uint64_t n = elements_in(access, elem, stride), r;
    return n && residue_of(&p, elem->operands[1], n, &r) ? (int)r : -1;
}
