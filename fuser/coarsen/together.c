/*
 * The work of several work-items by one, instruction after instruction: what is the same for all of them once, else
 * once for each, and joined accesses as one of a vector. Work-items are in no order, so that theirs may be mixed; each
 * keeps its own.
 */
#include "fuser/coarsen/together.h"

#include "fuser/coarsen/copy.h"
#include "fuser/coarsen/joined.h"
#include "ir/core/facts.h"

/* ---- what is tested ahead ---- */

struct tests {
    struct coarse *c;
    struct ir_builder *b;
    struct ir_value *all;
};

static void visit_all(const struct ir_inst *first, void (*visit)(struct ir_inst *inst, void *data), void *data)
{
    for (struct ir_inst *inst = (struct ir_inst *)first; inst; inst = inst->next) {
        visit(inst, data);
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i]) ir_walk(inst->blocks[i], visit, data);
    }
}

/* The bits of an address that are not 0 where a vector cannot be. */
static void see_address(struct ir_inst *inst, void *data)
{
    struct tests *t = data;
    if (!t->c->joined[inst->scratch]) return;
    struct ir_value *address = copy_ahead(t->c, t->b, inst->operands[0], 0);
    uint64_t bytes = ir_type_size(t->c->kernel->module, inst->type) * t->c->items;
    struct ir_value *number = ir_build1(t->b, IR_OP_PTRTOINT, IR_I64, address);
    struct ir_value *low = ir_build2(t->b, IR_OP_AND, IR_I64, number, ir_const_int(t->b->module, IR_I64, bytes - 1));
    t->all = t->all ? ir_build2(t->b, IR_OP_OR, IR_I64, t->all, low) : low;
}

struct ir_value *together_aligned(struct coarse *c, struct ir_builder *b, const struct ir_inst *first)
{
    struct tests t = {c, b, NULL};
    visit_all(first, see_address, &t);
    return ir_build2(b, IR_OP_IEQ, IR_I64, t.all, ir_const_int(b->module, IR_I64, 0));
}

static void see_agreed(struct ir_inst *inst, void *data)
{
    struct tests *t = data;
    struct coarse *c = t->c;
    if (!c->assumed[inst->scratch].uniform) return;
    struct ir_value *v = inst->results[0], *first = NULL;
    copy_set_all(c, v, NULL); /* it may be known already as what all agree on */
    for (unsigned k = 0; k < c->items; k++) {
        for (uint32_t i = 0; i < inst->n_operands; i++) copy_ahead(c, t->b, inst->operands[i], k);
        copy_inst(c, t->b, inst, k);
        struct ir_value *own = c->to[k][v->scratch];
        if (!first) {
            first = own;
            continue;
        }
        struct ir_value *same = ir_build2(t->b, IR_OP_IEQ, IR_BOOL, first, own);
        t->all = t->all ? ir_build2(t->b, IR_OP_AND, IR_BOOL, t->all, same) : same;
    }
    copy_set_all(c, v, first);
}

struct ir_value *together_agreed(struct coarse *c, struct ir_builder *b, const struct ir_inst *first)
{
    struct tests t = {c, b, NULL};
    visit_all(first, see_agreed, &t);
    return t.all ? t.all : ir_const_bool(b->module, true);
}

/* ---- instructions ---- */

static void put_block(struct coarse *c, const struct ir_block *from, struct ir_block *to);

/* The values of a join, each once or once for each work-item, as it is where they meet. */
struct spread {
    struct ir_value **values;
    uint32_t n;
};

static struct spread spread(struct coarse *c, struct ir_value *const *values, struct ir_value *const *meet, uint32_t n)
{
    struct spread s = {arena_alloc(c->arena, (n * c->items + 1) * sizeof *s.values), 0};
    for (uint32_t i = 0; i < n; i++)
        for (unsigned k = 0; k < (coarse_is_uniform(c, meet[i]) ? 1 : c->items); k++)
            s.values[s.n++] = copy_now(c, values[i], k);
    return s;
}

static void take(struct coarse *c, struct ir_value *const *meet, uint32_t n, struct ir_value *const *values)
{
    for (uint32_t i = 0; i < n; i++) {
        if (coarse_is_uniform(c, meet[i])) {
            copy_set_all(c, meet[i], *values++);
            continue;
        }
        for (unsigned k = 0; k < c->items; k++) c->to[k][meet[i]->scratch] = *values++;
    }
}

static ir_type *types_of(struct coarse *c, struct ir_value *const *meet, uint32_t n, uint32_t *many)
{
    ir_type *types = arena_alloc(c->arena, (n * c->items + 1) * sizeof *types);
    *many = 0;
    for (uint32_t i = 0; i < n; i++)
        for (unsigned k = 0; k < (coarse_is_uniform(c, meet[i]) ? 1 : c->items); k++) types[(*many)++] = meet[i]->type;
    return types;
}

static void put_control(struct coarse *c, struct ir_builder *b, const struct ir_inst *inst)
{
    uint32_t n;
    ir_type *types = types_of(c, inst->results, inst->n_results, &n);
    struct ir_inst *copy;
    b->loc = inst->loc;
    if (inst->op == IR_OP_IF) {
        copy = ir_build_if(b, copy_now(c, inst->operands[0], 0), types, n);
    } else {
        struct ir_block *body = inst->blocks[0];
        struct spread s = spread(c, inst->operands, body->args, body->n_args);
        copy = ir_build_loop(b, s.values, s.n, types, n);
        take(c, body->args, body->n_args, copy->blocks[0]->args);
    }
    for (int i = 0; i < 2; i++)
        if (inst->blocks[i]) put_block(c, inst->blocks[i], copy->blocks[i]);
    take(c, inst->results, inst->n_results, copy->results);
}

static void put_terminator(struct coarse *c, struct ir_builder *b, const struct ir_inst *inst)
{
    const struct ir_inst *target = ir_terminator_target(inst);
    bool again = inst->op == IR_OP_CONTINUE;
    struct ir_value **meet = again ? target->blocks[0]->args : target->results;
    struct spread s = spread(c, inst->operands, meet, inst->n_operands);
    b->loc = inst->loc;
    ir_build(b, inst->op, IR_VOID, s.values, s.n);
}

/* Once for each; what stands in an if that they do not take together no other one may use. */
static void put_each(struct coarse *c, struct ir_builder *b, const struct ir_inst *inst)
{
    for (unsigned k = 0; k < c->items; k++) copy_inst(c, b, inst, k);
}

static void put_plain(struct coarse *c, struct ir_builder *b, const struct ir_inst *inst)
{
    const struct ir_value *r = inst->n_results ? inst->results[0] : NULL;
    bool once = r && coarse_is_uniform(c, r);
    for (unsigned k = 0; k < (once ? 1 : c->items); k++)
        if (!r || !c->to[k][r->scratch]) copy_inst(c, b, inst, k); /* else it was computed ahead */
    if (once) copy_set_all(c, r, c->to[0][r->scratch]);
}

static void put_inst(struct coarse *c, struct ir_builder *b, const struct ir_inst *inst)
{
    if (ir_op_info(inst->op)->flags & IR_FLAG_TERMINATOR) {
        put_terminator(c, b, inst);
    } else if (inst->blocks[0]) {
        if (c->u.divergent[inst->scratch])
            put_each(c, b, inst);
        else
            put_control(c, b, inst);
        joined_forget(c);
    } else if (inst->op == IR_OP_LOAD && joined_load(c, b, inst)) {
    } else if (inst->op == IR_OP_STORE && c->joined[inst->scratch]) {
        joined_store(c, b, inst);
    } else {
        put_plain(c, b, inst);
        if (ir_op_info(inst->op)->flags & IR_FLAG_WRITES) joined_forget(c);
    }
}

static void put_block(struct coarse *c, const struct ir_block *from, struct ir_block *to)
{
    struct ir_builder b = ir_builder_at_end(to);
    joined_forget(c);
    for (const struct ir_inst *inst = from->first; inst; inst = inst->next) put_inst(c, &b, inst);
}

void together_all(struct coarse *c, struct ir_builder *b, const struct ir_inst *first)
{
    for (const struct ir_inst *inst = first; inst->op != IR_OP_RETURN; inst = inst->next) put_inst(c, b, inst);
}
