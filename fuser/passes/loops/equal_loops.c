/* Loops of one test, and whether two of them have equally many rounds. */
#include "fuser/passes/loops/equal_loops.h"

#include "fuser/passes/util.h"

/* ---- one loop ---- */

struct exits {
    struct ir_inst *next, *out;
    unsigned n;
};

static void note_exit(struct ir_inst *inst, void *data)
{
    struct exits *e = data;
    e->n++;
    if (inst->op == IR_OP_CONTINUE) e->next = inst;
    if (inst->op == IR_OP_BREAK) e->out = inst;
}

static bool is_just(const struct ir_block *block, const struct ir_inst *inst)
{
    return block->first == inst && block->last == inst;
}

static bool is_nothing(const struct ir_block *block)
{
    return block->first == block->last && block->first->op == IR_OP_YIELD;
}

bool tested_loop_read(struct ir_inst *loop, struct tested_loop *l)
{
    struct exits e = {0};
    struct ir_block *body = loop->blocks[0];
    if (pass_contains(loop, IR_OP_RETURN)) return false;
    pass_walk_exits(body, note_exit, &e);
    if (e.n != 2 || !e.next || !e.out || (body->last != e.next && body->last != e.out)) return false;
    struct ir_inst *inner = body->last == e.out ? e.next : e.out, *test = inner->parent->parent;
    if (test->parent != body || test->op != IR_OP_IF || test->n_results) return false;
    unsigned leaves = test->blocks[1] == inner->parent;
    if (!is_just(test->blocks[leaves], inner) || !is_nothing(test->blocks[1 - leaves])) return false;
    *l = (struct tested_loop){.loop = loop,
                              .body = body,
                              .test = test,
                              .next = e.next,
                              .out = e.out,
                              .goes_on = (leaves == 0) == (inner == e.next),
                              .tests_last = body->last == e.out};
    return true;
}

/* ---- two ---- */

static const struct ir_inst *maker(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

/* What is taken to be so while it is looked at: both begin the same, and from the same the next round makes the same.
 */
static bool same_counters(struct equal_loops *e, uint32_t a, uint32_t b)
{
    for (unsigned i = 0; i < e->n; i++) {
        if (e->counters[i][0] == a && e->counters[i][1] == b) return true;
        if (e->counters[i][0] == a || e->counters[i][1] == b) return false;
    }
    if (e->n == MAX_COUNTERS || !ir_value_same(e->a->loop->operands[a], e->b->loop->operands[b])) return false;
    unsigned before = e->n;
    e->counters[e->n][0] = a;
    e->counters[e->n++][1] = b;
    if (equal_loops_same(e, e->a->next->operands[a], e->b->next->operands[b])) return true;
    e->n = before;
    return false;
}

bool equal_loops_same(struct equal_loops *e, const struct ir_value *v, const struct ir_value *u)
{
    if (ir_value_same(v, u)) return true;
    if (v->kind != u->kind || v->type != u->type) return false;
    if (v->kind == IR_VALUE_BLOCK_ARG)
        return v->of.block == e->a->body && u->of.block == e->b->body && same_counters(e, v->index, u->index);
    const struct ir_inst *x = maker(v), *y = maker(u);
    if (!x || !y || !pass_is_inside(v, e->a->loop) || !pass_is_inside(u, e->b->loop)) return false;
    if (x->op != y->op || x->type != y->type || x->n_operands != y->n_operands || !pass_is_pure(x) ||
        !pass_same_attrs(&x->attrs, &y->attrs))
        return false;
    unsigned before = e->n;
    for (uint32_t i = 0; i < x->n_operands; i++)
        if (!equal_loops_same(e, x->operands[i], y->operands[i])) {
            e->n = before;
            return false;
        }
    return true;
}

bool equal_loops_find(const struct tested_loop *a, const struct tested_loop *b, struct equal_loops *e)
{
    *e = (struct equal_loops){.a = a, .b = b};
    return a->tests_last == b->tests_last && a->goes_on == b->goes_on &&
           equal_loops_same(e, a->test->operands[0], b->test->operands[0]);
}
