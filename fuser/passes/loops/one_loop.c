/*
 * A loop with two ways on becomes two loops in compilers, the inner one for those who go the first way and the outer
 * one for the others:
 *
 *     for (d = 1; d < n; d *= 2) {                 loop { store s[l];
 *         barrier;                                     loop { barrier; if (d >= n) break out;
 *         if (l % (2 * d) == 0) s[l] += s[l + d];           d *= 2; if (l % d == 0) break; continue }
 *     }                                                if (out) break; ... continue }
 *
 * With a barrier in it, work-items leave the inner loop when others stay, and yet all come to each barrier. Here it
 * becomes one loop again. What came before the inner loop is done where the outer one began and where it went on.
 */
#include "fuser/passes/lower_returns.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

enum { MOST_BEFORE = 16 };

struct nest {
    struct ir_inst *outer, *inner;
    struct ir_inst *before[MOST_BEFORE]; /* what the outer body begins with */
    unsigned n_before;
    uint32_t n_args, n_inner; /* parameters of both as they were */
};

/* ---- which ---- */

static void see_collective(struct ir_inst *inst, void *data)
{
    if (ir_is_work_group_collective(inst) || inst->op == IR_OP_RETURN) *(bool *)data = true;
}

static bool holds_collective(struct ir_inst *inst)
{
    bool found = ir_is_work_group_collective(inst);
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]) ir_walk(inst->blocks[b], see_collective, &found);
    return found;
}

struct leaving {
    const struct ir_inst *loop;
    bool differs;
};

/* Whether some may leave a round so when others do not. */
static void see_exit(struct ir_inst *inst, void *data)
{
    struct leaving *l = data;
    for (const struct ir_inst *i = inst->parent->parent; i != l->loop; i = i->parent->parent)
        if (pass_is_of_id(i->operands[0])) l->differs = true;
}

static bool find_nest(struct ir_inst *inner, struct nest *n)
{
    struct ir_inst *outer = inner->parent->parent;
    if (!outer || outer->op != IR_OP_LOOP || pass_contains(inner, IR_OP_RETURN)) return false;
    *n = (struct nest){outer, inner, .n_args = outer->n_operands, .n_inner = inner->n_operands};
    for (struct ir_inst *i = outer->blocks[0]->first; i != inner; i = i->next) {
        if (i->blocks[0] || ir_is_work_group_collective(i) || n->n_before == MOST_BEFORE) return false;
        if (i->op == IR_OP_VAR || i->n_results > 1) return false;
        n->before[n->n_before++] = i;
    }
    for (struct ir_inst *i = inner->next; i; i = i->next)
        if (holds_collective(i)) return false;
    return true;
}

/* ---- what comes before the inner loop ---- */

/* What a value of the beginning is in a copy of it; args: the outer loop's parameters there. */
static struct ir_value *in_copy(const struct nest *n, struct ir_value *const *args, struct ir_inst *const *copies,
                                struct ir_value *v)
{
    for (uint32_t i = 0; i < n->n_args; i++)
        if (v == n->outer->blocks[0]->args[i]) return args[i];
    for (unsigned i = 0; i < n->n_before && copies[i]; i++)
        if (n->before[i]->n_results && v == n->before[i]->results[0]) return copies[i]->results[0];
    return v;
}

/* Copies it before an instruction that begins a round, and adds what then is known to that one's operands. */
static void copy_before(const struct nest *n, struct ir_inst *at)
{
    struct ir_inst *copies[MOST_BEFORE] = {NULL};
    struct ir_builder b = ir_builder_before(at);
    for (unsigned k = 0; k < n->n_before; k++) {
        const struct ir_inst *inst = n->before[k];
        struct ir_value **operands = ir_alloc(b.module, (inst->n_operands + 1) * sizeof *operands);
        for (uint32_t i = 0; i < inst->n_operands; i++)
            operands[i] = in_copy(n, at->operands, copies, inst->operands[i]);
        b.loc = inst->loc;
        copies[k] =
            ir_build_ptr(&b, inst->op, inst->type, (enum ir_space)inst->attrs.space, operands, inst->n_operands);
        copies[k]->attrs = inst->attrs;
    }
    for (uint32_t i = 0; i < n->n_inner; i++)
        pass_operand_add(at, in_copy(n, at->operands, copies, n->inner->operands[i]));
    for (unsigned k = 0; k < n->n_before; k++)
        if (copies[k]->n_results) pass_operand_add(at, copies[k]->results[0]);
}

static void see_way_on(struct ir_inst *inst, void *data)
{
    const struct nest *n = data;
    if (inst->op == IR_OP_CONTINUE) copy_before(n, inst);
}

/* The outer loop carries what its beginning made and what the inner one began with. */
static void carry_beginning(const struct nest *n)
{
    struct ir_block *body = n->outer->blocks[0];
    pass_walk_exits(body, see_way_on, (void *)n);
    copy_before(n, n->outer);
    for (uint32_t i = 0; i < n->n_inner; i++) {
        struct ir_value *old = n->inner->blocks[0]->args[i], *arg = pass_arg_add(body, old->type);
        ir_replace_uses(n->inner->blocks[0], old, arg);
    }
    for (unsigned k = 0; k < n->n_before; k++) {
        if (!n->before[k]->n_results) continue;
        struct ir_value *old = n->before[k]->results[0];
        ir_replace_uses(body, old, pass_arg_add(body, old->type));
    }
    for (unsigned k = n->n_before; k-- > 0;) ir_inst_remove(n->before[k]);
}

/* ---- the inner loop ---- */

/* Its exits all leave it: with its results, or with what its next round was to begin with. */
static void leave_inner(struct ir_inst *inst, void *data)
{
    const struct nest *n = data;
    struct ir_module *m = inst->parent->function->module;
    bool leaves = inst->op == IR_OP_BREAK;
    struct ir_value **old = inst->operands;
    pass_operands_set(inst, NULL, 0);
    for (uint32_t i = 0; i < n->inner->n_results; i++)
        pass_operand_add(inst, leaves ? old[i] : ir_undef(m, n->inner->results[i]->type));
    pass_operand_add(inst, ir_const_bool(m, leaves));
    for (uint32_t i = 0; i < n->n_inner; i++)
        pass_operand_add(inst, leaves ? ir_undef(m, n->inner->blocks[0]->args[i]->type) : old[i]);
    inst->op = IR_OP_BREAK;
}

/* Its body in its place, which runs once a round of the outer one. */
static void dissolve_inner(const struct nest *n, struct ir_value **ways)
{
    struct ir_inst *inner = n->inner;
    struct ir_block *body = inner->blocks[0], *outer = n->outer->blocks[0];
    pass_walk_exits(body, leave_inner, (void *)n);
    uint32_t first = inner->n_results;
    pass_result_add(inner, IR_BOOL);
    for (uint32_t i = 0; i < n->n_inner; i++) pass_result_add(inner, body->args[i]->type);
    while (inner->n_operands) {
        pass_operand_remove(inner, inner->n_operands - 1);
        pass_arg_remove(body, body->n_args - 1);
    }
    lower_loop_exits(inner, IR_OP_BREAK);
    for (uint32_t i = 0; i < first; i++) ir_replace_uses(outer, inner->results[i], body->last->operands[i]);
    for (uint32_t i = 0; i <= n->n_inner; i++) ways[i] = body->last->operands[first + i];
    pass_move_body(body->first, inner);
}

/* Who did not leave the inner loop goes on to the next round at once. */
static void go_on(const struct nest *n, struct ir_value *const *ways)
{
    struct ir_block *body = n->outer->blocks[0];
    struct ir_builder b = ir_builder_before(n->inner);
    struct ir_inst *branch = ir_build_if(&b, ways[0], NULL, 0);
    struct ir_builder left = ir_builder_at_end(branch->blocks[0]), stays = ir_builder_at_end(branch->blocks[1]);
    ir_build(&left, IR_OP_YIELD, IR_VOID, NULL, 0);
    struct ir_inst *next = ir_build(&stays, IR_OP_CONTINUE, IR_VOID, body->args, body->n_args);
    for (uint32_t i = 0; i < n->n_inner; i++) next->operands[n->n_args + i] = ways[1 + i];
}

static bool make_one(struct ir_inst *inner)
{
    struct nest n;
    struct leaving l = {.loop = inner};
    if (!holds_collective(inner) || !find_nest(inner, &n)) return false;
    pass_walk_exits(inner->blocks[0], see_exit, &l);
    if (!l.differs) return false;
    struct ir_value **ways = ir_alloc(inner->parent->function->module, (n.n_inner + 1) * sizeof *ways);
    carry_beginning(&n);
    dissolve_inner(&n, ways);
    go_on(&n, ways);
    ir_inst_remove(inner);
    return true;
}

static bool visit_block(struct ir_block *block)
{
    bool changed = false;
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) changed |= visit_block(inst->blocks[b]);
        if (inst->op == IR_OP_LOOP) changed |= make_one(inst);
    }
    return changed;
}

static bool run_one_loop(struct ir_function *f)
{
    return visit_block(f->body);
}

const struct pass pass_one_loop = {"one_loop", "loops with two ways on that became two, with barriers in the inner one",
                                   run_one_loop};
