/* Trying an access on single work-items: its address and the conditions it stands behind, computed. */
#include "fuser/access/witness.h"

#include "ir/eval/eval.h"

enum { MAX_STEPS = 1024, MAX_OPERANDS = 4 };

/* One work-item at one access. */
struct trial {
    const struct ir_module *module;
    const struct launched_access *access; /* its scalar arguments are as they were recorded; NULL: they are not known */
    const struct nd_range *range;
    const uint64_t *local; /* NULL: unknown */
    const int64_t *item;   /* global ids */
    unsigned steps;
};

static bool compute(struct trial *p, const struct ir_value *v, uint64_t *bits);

/* ---- values ---- */

static bool compute_query(const struct trial *p, const struct ir_inst *inst, uint64_t *bits)
{
    unsigned d = inst->attrs.dim;
    uint64_t from_start = (uint64_t)p->item[d] - p->range->offset[d];
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: *bits = (uint64_t)p->item[d]; return true;
    case IR_OP_GLOBAL_SIZE: *bits = p->range->global[d]; return true;
    case IR_OP_GLOBAL_OFFSET: *bits = p->range->offset[d]; return true;
    case IR_OP_WORK_DIM: *bits = p->range->dims; return true;
    case IR_OP_GLOBAL_LINEAR_ID:
        *bits = 0;
        for (d = 3; d-- > 0;) *bits = *bits * p->range->global[d] + (uint64_t)p->item[d] - p->range->offset[d];
        return true;
    case IR_OP_LOCAL_ID: *bits = p->local ? from_start % p->local[d] : 0; return p->local != NULL;
    case IR_OP_GROUP_ID: *bits = p->local ? from_start / p->local[d] : 0; return p->local != NULL;
    case IR_OP_ENQUEUED_LOCAL_SIZE: *bits = p->local ? p->local[d] : 0; return p->local != NULL;
    default: return false;
    }
}

/* Offsets of pointers from the parameter they come from. */
static bool compute_pointer(struct trial *p, const struct ir_inst *inst, uint64_t *bits)
{
    uint64_t base, index;
    if (!compute(p, inst->operands[0], &base)) return false;
    if (inst->op == IR_OP_SPACECAST) {
        *bits = base;
    } else if (inst->op == IR_OP_FIELD) {
        *bits = base + ir_type_struct(p->module, inst->type)->fields[inst->attrs.index].offset;
    } else {
        if (!compute(p, inst->operands[1], &index)) return false;
        unsigned shift = 64 - ir_type_bits(inst->operands[1]->type);
        *bits = base + (uint64_t)((int64_t)(index << shift) >> shift) * ir_type_size(p->module, inst->type);
    }
    return true;
}

static bool compute_inst(struct trial *p, const struct ir_inst *inst, uint64_t *bits)
{
    uint64_t lanes[MAX_OPERANDS], result[IR_MAX_LANES];
    const uint64_t *operands[MAX_OPERANDS];
    if (inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD || inst->op == IR_OP_SPACECAST)
        return compute_pointer(p, inst, bits);
    if (inst->n_operands == 0) return compute_query(p, inst, bits);
    if (inst->n_operands > MAX_OPERANDS || !(ir_op_info(inst->op)->flags & IR_FLAG_PURE)) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        /* Pointers are offsets here: they can be chosen between, but are no addresses. */
        if (ir_type_is_ptr(inst->operands[i]->type) && inst->op != IR_OP_SELECT) return false;
        if (!compute(p, inst->operands[i], &lanes[i])) return false;
        operands[i] = &lanes[i];
    }
    if (!ir_eval(inst, operands, result)) return false;
    *bits = result[0];
    return true;
}

/* A scalar argument as it was recorded. */
static bool compute_argument(const struct trial *p, const struct ir_value *v, uint64_t *bits)
{
    if (!p->access || !p->access->args || !p->access->values || !ir_type_is_int(v->type)) return false;
    const struct fuser_arg *arg = &p->access->args[v->index];
    int64_t number = arg->kind == FUSER_ARG_VALUE ? p->access->values[arg->index].number : 0;
    unsigned width = ir_type_bits(v->type);
    *bits = (uint64_t)number & (width < 64 ? ((uint64_t)1 << width) - 1 : ~(uint64_t)0);
    return number != 0;
}

static bool compute(struct trial *p, const struct ir_value *v, uint64_t *bits)
{
    if (++p->steps > MAX_STEPS || ir_type_is_vector(v->type)) return false;
    if (ir_type_is_ptr(v->type)) {
        *bits = 0;
        return v->kind == IR_VALUE_PARAM || (v->kind == IR_VALUE_RESULT && compute_inst(p, v->of.inst, bits));
    }
    if (v->kind == IR_VALUE_CONST) return ir_value_uint(v, bits);
    if (v->kind == IR_VALUE_PARAM) return compute_argument(p, v, bits);
    return v->kind == IR_VALUE_RESULT && v->of.inst->n_results == 1 && compute_inst(p, v->of.inst, bits);
}

/* ---- conditions ---- */

static bool leaves(const struct ir_block *block)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_RETURN || inst->op == IR_OP_UNREACHABLE) return true;
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i] && leaves(inst->blocks[i])) return true;
    }
    return false;
}

/* Control gets past an if or loop that may leave the kernel. */
static bool passes(struct trial *p, const struct ir_inst *inst)
{
    uint64_t taken;
    bool may[2] = {leaves(inst->blocks[0]), inst->blocks[1] && leaves(inst->blocks[1])};
    if (!may[0] && !may[1]) return true;
    if (inst->op != IR_OP_IF || !compute(p, inst->operands[0], &taken)) return false;
    return !may[taken == 0];
}

/* The work-item gets to the instruction for sure. */
static bool arrives(struct trial *p, const struct ir_inst *at)
{
    for (;;) {
        for (const struct ir_inst *before = at->prev; before; before = before->prev)
            if (before->blocks[0] && !passes(p, before)) return false;
        const struct ir_inst *outer = at->parent->parent;
        uint64_t taken;
        if (!outer) return true;
        if (outer->op != IR_OP_IF || !compute(p, outer->operands[0], &taken)) return false;
        if (outer->blocks[taken == 0] != at->parent) return false;
        at = outer;
    }
}

static bool address_at(const struct launched_access *s, bool recorded, const uint64_t *local, const int64_t item[3],
                       int64_t *address)
{
    const struct ir_inst *inst = s->site->inst;
    struct trial p = {.module = inst->parent->function->module,
                      .access = recorded ? s : NULL,
                      .range = s->range,
                      .local = local,
                      .item = item};
    uint64_t bits;
    if (!arrives(&p, inst) || !compute(&p, inst->operands[0], &bits)) return false;
    *address = (int64_t)(bits + (uint64_t)s->offset);
    return true;
}

/* ---- pairs ---- */

static bool in_range(const struct nd_range *r, const int64_t item[3])
{
    for (unsigned d = 0; d < 3; d++)
        if (item[d] < (int64_t)r->offset[d] || item[d] >= (int64_t)(r->offset[d] + r->global[d])) return false;
    return true;
}

static bool differ(const struct dependence_witness *pair, const struct nd_range *r, enum dependence_between between,
                   const uint64_t *local)
{
    for (unsigned d = 0; d < 3; d++) {
        int64_t x = pair->first[d] - (int64_t)r->offset[d], y = pair->second[d] - (int64_t)r->offset[d];
        if (between == BETWEEN_GROUPS ? x / (int64_t)local[d] != y / (int64_t)local[d] : x != y) return true;
    }
    return false;
}

static bool meets(const struct witness_question *q, struct dependence_witness *pair)
{
    const struct launched_access *a = q->a, *b = q->b;
    int64_t x, y;
    if (!in_range(a->range, pair->first) || !in_range(b->range, pair->second)) return false;
    if (!differ(pair, a->range, q->between, q->local) || !address_at(a, q->recorded, q->local, pair->first, &x) ||
        !address_at(b, q->recorded, q->local, pair->second, &y))
        return false;
    __int128 distance = (__int128)y - x;
    pair->byte = x > y ? x : y;
    return distance < (__int128)a->site->bytes && -distance < (__int128)b->site->bytes;
}

static bool has_one_place(const struct launched_access *s)
{
    enum ir_op op = s->site->inst->op;
    return s->site->bytes && s->site->found_one && (op == IR_OP_LOAD || op == IR_OP_STORE);
}

/* ---- outside ---- */

struct bounds {
    const struct launched_access *access;
    const uint64_t *local;
    int64_t first, end;
};

static bool is_outside(const struct bounds *b, const int64_t item[3], int64_t *byte)
{
    return address_at(b->access, false, b->local, item, byte) &&
           (*byte < b->first || (__int128)*byte + b->access->site->bytes > b->end);
}

/* The least id in dimension d, from `low` on, of which it was seen that it is outside, too. */
static void go_to_first(const struct bounds *b, unsigned d, int64_t low, int64_t item[3], int64_t *byte)
{
    int64_t high = item[d], at[3] = {item[0], item[1], item[2]}, found;
    while (low < high) {
        at[d] = low + (high - low) / 2;
        if (is_outside(b, at, &found)) {
            high = item[d] = at[d];
            *byte = found;
        } else {
            low = at[d] + 1;
        }
    }
}

bool witness_outside(const struct launched_access *a, const uint64_t *local, int64_t first, int64_t end,
                     int64_t item[3], int64_t *byte)
{
    const struct access_items *items = &a->site->items;
    const struct bounds b = {a, local, first, end};
    if (!has_one_place(a)) return false;
    for (unsigned corner = 0; corner < 8; corner++) {
        for (unsigned d = 0; d < 3; d++) item[d] = corner & 1u << d ? items->last[d] : items->first[d];
        if (!in_range(a->range, item) || !is_outside(&b, item, byte)) continue;
        for (unsigned d = 3; d-- > 0;) go_to_first(&b, d, items->first[d], item, byte);
        return true;
    }
    return false;
}

bool witness_find(const struct witness_question *q, struct dependence_witness *pair)
{
    if (!has_one_place(q->a) || !has_one_place(q->b) || (q->between == BETWEEN_GROUPS && !q->local)) return false;
    const struct nd_range *r = q->a->range;
    for (unsigned corner = 0; corner < 4; corner++)
        for (unsigned d = 0; d < r->dims; d++)
            for (int64_t step = -1; step <= 1; step += 2) {
                for (unsigned k = 0; k < 3; k++) {
                    uint64_t size = r->global[k], at[4] = {0, size / 2, size - 1, q->local ? q->local[k] - 1 : 1};
                    pair->first[k] = (int64_t)(r->offset[k] + at[corner]);
                    pair->second[k] = pair->first[k] + (k == d ? step : 0);
                }
                if (meets(q, pair)) return true;
            }
    return false;
}
