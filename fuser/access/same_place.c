/* Are two accesses at the same place in each work-item: proved from their sums, or because the same expression
   of ids, constants and scalar arguments computes both. */
#include "fuser/access/same_place.h"

#include <string.h>

#include "fuser/graph/range.h"

enum { MAX_COMPARISONS = 512 };

struct comparison {
    const struct launched_access *a, *b;
    unsigned left; /* comparisons that may still be made */
};

/* Work-group memory is another one in each kernel. */
bool same_place_argument(const struct launched_access *a, uint32_t i, const struct launched_access *b, uint32_t k)
{
    if (!a->args || !b->args) return i == k;
    const struct fuser_arg *x = &a->args[i], *y = &b->args[k];
    if (x->kind != y->kind) return false;
    if (x->kind == FUSER_ARG_VALUE && x->index != y->index)
        return a->values && a->values[x->index].alike && a->values[x->index].alike == a->values[y->index].alike;
    return x->index == y->index && (x->kind != FUSER_ARG_BUFFER || x->offset == y->offset) &&
           x->kind != FUSER_ARG_LOCAL;
}

static bool same_symbols(const struct launched_access *a, const struct affine *x, const struct launched_access *b,
                         const struct affine *y)
{
    uint32_t matched = 0; /* a bit for each of y's */
    if (x->n_symbols != y->n_symbols) return false;
    for (uint32_t i = 0; i < x->n_symbols; i++) {
        uint32_t k = 0;
        while (k < y->n_symbols && (matched >> k & 1 || x->symbols[i].factor != y->symbols[k].factor ||
                                    x->symbols[i].extension != y->symbols[k].extension ||
                                    !same_place_argument(a, x->symbols[i].param, b, y->symbols[k].param)))
            k++;
        if (k == y->n_symbols) return false;
        matched |= (uint32_t)1 << k;
    }
    return true;
}

bool same_place_scalars(const struct launched_access *a, const struct launched_access *b)
{
    return same_symbols(a, &a->site->index, b, &b->site->index);
}

bool same_place_factors(const struct launched_access *a, const struct affine *x, const struct launched_access *b,
                        const struct affine *y)
{
    return same_symbols(a, x, b, y) && memcmp(x->factor, y->factor, sizeof x->factor) == 0;
}

static bool same_attributes(const struct ir_inst *x, const struct ir_inst *y)
{
    const struct ir_attrs *a = &x->attrs, *b = &y->attrs;
    return a->dim == b->dim && a->scope == b->scope && a->rounding == b->rounding && a->saturate == b->saturate &&
           a->group_op == b->group_op && a->fp == b->fp && a->space == b->space && a->global == b->global &&
           memcmp(a->mask, b->mask, sizeof a->mask) == 0;
}

/* What a work-item sees of its range is the same in both where the ranges are. Ids are where they mean the same in the
   launch, too. */
static bool sees_same(const struct comparison *c, enum ir_op op)
{
    const struct nd_range *a = c->a->own ? c->a->own : c->a->range, *b = c->b->own ? c->b->own : c->b->range;
    if (ir_op_class(op) != IR_CLASS_ND_RANGE && ir_op_class(op) != IR_CLASS_SUB_GROUP_QUERY) return true;
    if (range_same(a, b)) return !c->a->linear || memcmp(a->local, b->local, sizeof a->local) == 0;
    bool is_id = op == IR_OP_GLOBAL_ID || op == IR_OP_LOCAL_ID || op == IR_OP_GROUP_ID;
    if (!is_id || c->a->linear || c->b->linear) return false;
    return memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

static bool same_value(struct comparison *c, const struct ir_value *x, const struct ir_value *y);

static bool same_inst(struct comparison *c, const struct ir_inst *x, const struct ir_inst *y)
{
    if (x->op != y->op || x->n_operands != y->n_operands || !(ir_op_info(x->op)->flags & IR_FLAG_PURE)) return false;
    if (x->op == IR_OP_GLOBAL) return false; /* each kernel has its own, at another address */
    if (!same_attributes(x, y) || !sees_same(c, x->op)) return false;
    if (x->op == IR_OP_FIELD) {
        const struct ir_struct *s = ir_type_struct(x->parent->function->module, x->type);
        const struct ir_struct *t = ir_type_struct(y->parent->function->module, y->type);
        if (s->fields[x->attrs.index].offset != t->fields[y->attrs.index].offset) return false;
    } else if (x->op == IR_OP_ELEM) {
        if (ir_type_size(x->parent->function->module, x->type) != ir_type_size(y->parent->function->module, y->type))
            return false;
    } else if (x->type != y->type) {
        return false;
    }
    for (uint32_t i = 0; i < x->n_operands; i++)
        if (!same_value(c, x->operands[i], y->operands[i])) return false;
    return true;
}

static bool same_value(struct comparison *c, const struct ir_value *x, const struct ir_value *y)
{
    if (c->left == 0) return false;
    c->left--;
    if (x->type != y->type || x->kind != y->kind) return false;
    switch (x->kind) {
    case IR_VALUE_CONST: return ir_value_same(x, y);
    case IR_VALUE_PARAM:
        /* A struct passed by value is a copy at an address of its kernel's own. */
        if (ir_type_is_ptr(x->type) && ir_type_space(x->type) == IR_SPACE_PRIVATE) return false;
        return same_place_argument(c->a, x->index, c->b, y->index);
    case IR_VALUE_RESULT: return same_inst(c, x->of.inst, y->of.inst);
    default: return false;
    }
}

bool same_place_value(const struct launched_access *a, const struct ir_value *x, const struct launched_access *b,
                      const struct ir_value *y)
{
    struct comparison c = {.a = a, .b = b, .left = MAX_COMPARISONS};
    return same_value(&c, x, y);
}

static const struct ir_value *pointer_of(const struct access_site *s)
{
    switch (s->inst->op) {
    case IR_OP_COPY:
    case IR_OP_PIPE_READ ... IR_OP_PIPE_WRITE_AT:
    case IR_OP_PRINTF:
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: return NULL; /* more than one place, or another one per work-item */
    default: return s->inst->operands[0];
    }
}

static bool same_sum(const struct launched_access *a, const struct launched_access *b)
{
    const struct affine *x = &a->site->index, *y = &b->site->index;
    if (!affine_is_exact(x) || !affine_is_exact(y) || !same_place_factors(a, x, b, y)) return false;
    return (__int128)x->constant + a->offset == (__int128)y->constant + b->offset;
}

bool same_place(const struct launched_access *a, const struct launched_access *b)
{
    if (a->site->bytes == 0 || a->site->bytes != b->site->bytes) return false;
    if (same_sum(a, b)) return true;
    const struct ir_value *x = pointer_of(a->site), *y = pointer_of(b->site);
    return x && y && same_place_value(a, x, b, y);
}
