/*
 * Blocks, ifs and loops. Where a condition is uniform, jumps; where lanes may diverge, both branches of an if run one
 * after the other under masks, and a loop runs until no lane is left in it.
 */
#include "fuser/cpu/emit/control.h"

#include <string.h>

#include "fuser/cpu/emit/instruction.h"
#include "fuser/cpu/emit/lane_by_lane.h"
#include "fuser/cpu/emit/lane_test.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/prepare/loop_test.h"
#include "fuser/cpu/prepare/side_effects.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/lanes.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/op.h"
#include "fuser/cpu/simd/x86_compare.h"
#include "ir/core/facts.h"

/* An if or a loop that is being emitted. */
struct control_frame {
    struct control_frame *outer;
    const struct ir_inst *inst;
    bool divergent;
    struct lanes **results; /* variables, by result and component */
    bool second;            /* if: the results may hold values of lanes that do not run here */
    /* loops */
    struct lanes **args, **next; /* variables of the block's parameters; next NULL: only one way comes back */
    gcc_jit_block *head, *exit;
    struct mask live, left;     /* divergent: lanes that go on with the next round; those that broke out */
    const struct ir_inst *test; /* while no lane has left it: the if that decides which do; NULL: any may */
    gcc_jit_block *parting;     /* where control goes when some do */
};

enum { CHEAP = 12, ANY_COST = 1 << 30 };

/* ---- if ---- */

static bool in_divergent(const struct emit *e)
{
    for (const struct control_frame *f = e->control->frame; f; f = f->outer)
        if (f->divergent) return true;
    return false;
}

static void emit_from(struct emit *e, const struct ir_inst *inst);

/* Where a branch ends: its last block and the lanes that came there. */
struct end {
    gcc_jit_block *block;
    struct mask exec;
    bool empty;
};

static struct end run_branch(struct emit *e, const struct ir_block *block)
{
    emit_from(e, block->first);
    return (struct end){e->block, e->exec, e->control->empty};
}

static void continue_at(struct emit *e, struct end end)
{
    e->block = end.block;
    e->exec = end.exec;
    e->control->empty = end.empty;
}

static void clear_mask(struct emit *e, struct mask *variable)
{
    rval nothing = jit_read(jit_keep(e, mask_splat(e, jit_int(e, IR_KIND_BOOL, 0))));
    for (unsigned c = 0; c < mask_chunks(e); c++) jit_set(e, variable->chunk[c], nothing);
}

/* Two ends join; control comes from one of them. */
static void join_ends(struct emit *e, struct end a, struct end b, struct mask before)
{
    if (!a.block && !b.block) {
        e->block = NULL;
        return;
    }
    if (!a.block || !b.block) {
        continue_at(e, a.block ? a : b);
        return;
    }
    gcc_jit_block *join = jit_block(e);
    bool same = !a.empty && !b.empty && a.exec.chunk == before.chunk && b.exec.chunk == before.chunk;
    struct mask exec = before;
    if (!same && !(a.empty && b.empty)) exec = mask_uninitialized(e);
    const struct end *ends[2] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        continue_at(e, *ends[i]);
        if (exec.chunk != before.chunk) {
            if (e->control->empty)
                clear_mask(e, &exec);
            else
                mask_set(e, &exec, e->exec);
        }
        jit_jump(e, join);
    }
    jit_begin(e, join);
    e->exec = exec;
    e->control->empty = a.empty && b.empty;
}

static struct end joined_ends(struct emit *e, struct end a, struct end b, struct mask before)
{
    join_ends(e, a, b, before);
    return (struct end){e->block, e->exec, e->control->empty};
}

static bool does_nothing(const struct ir_block *block)
{
    return block->first->op == IR_OP_YIELD && !block->first->n_operands;
}

/* Where a branch begins; the end of a work-item that does nothing in it is told at once for all that do like it. */
static gcc_jit_block *branch_begin(struct emit *e, const struct ir_block *block)
{
    bool skips = e->control->skip && !e->control->frame->outer && does_nothing(block);
    return skips ? e->control->skip : jit_block(e);
}

static void uniform_if(struct emit *e, const struct ir_inst *inst, rval condition)
{
    int is = known_outcome(&e->control->known, inst->operands[0]);
    if (is) {
        struct end end = run_branch(e, inst->blocks[is < 0]);
        join_ends(e, end, (struct end){NULL, e->exec, false}, e->exec);
        return;
    }
    struct mask before = e->exec;
    gcc_jit_block *begin[2];
    struct end ends[2];
    for (int b = 0; b < 2; b++) begin[b] = branch_begin(e, inst->blocks[b]);
    jit_branch(e, condition, begin[0], begin[1]);
    for (int b = 0; b < 2; b++) {
        ends[b] = (struct end){NULL, before, false};
        if (begin[b] == e->control->skip) continue;
        continue_at(e, (struct end){begin[b], before, false});
        ends[b] = run_branch(e, inst->blocks[b]);
    }
    join_ends(e, ends[0], ends[1], before);
}

/* One branch of a divergent if; jumped over when no lane takes it and that may pay or matter. */
static struct end masked_branch(struct emit *e, const struct ir_block *block, struct mask mask)
{
    e->exec = mask;
    e->control->empty = false;
    if (side_effects_none(block->first, e->control->end, CHEAP)) return run_branch(e, block);
    gcc_jit_block *run = jit_block(e), *skip = jit_block(e);
    jit_branch(e, mask_any(e, mask), run, skip);
    jit_begin(e, run);
    struct end ran = run_branch(e, block), skipped = {skip, mask, false};
    join_ends(e, ran, skipped, mask);
    if (ran.empty) e->control->empty = true;
    return (struct end){e->block, e->exec, e->control->empty};
}

/* Those of the active lanes where the condition of an if holds or (inverted) does not. */
static struct mask lanes_where(struct emit *e, const struct ir_inst *inst, const struct lanes *condition, bool inverted)
{
    const struct ir_value *v = inst->operands[0];
    const struct ir_inst *test = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    struct mask r;
    if (test && test->parent == inst->parent && op_is_comparison(test->op) && test->n_operands == 2) {
        struct lanes args[2] = {*emit_value(e, test->operands[0]), *emit_value(e, test->operands[1])};
        if (x86_compare_under(e, test->op, args, inverted, e->exec, &r)) return r;
    }
    struct mask holds = mask_of(e, condition);
    return inverted ? mask_and_not(e, e->exec, holds) : mask_and(e, e->exec, holds);
}

static struct control_frame *innermost_loop(const struct emit *e)
{
    struct control_frame *f = e->control->frame;
    while (f && f->inst->op != IR_OP_LOOP) f = f->outer;
    return f;
}

static bool just_breaks(const struct emit *e, const struct ir_block *block)
{
    if (block->first->op != IR_OP_BREAK) return false;
    const struct control_frame *loop = innermost_loop(e);
    return loop->divergent && !loop->left.chunk;
}

/* One branch just leaves the loop: no mask of its lanes is needed. The loop's results are assigned in all active lanes,
   for in those that stay they will be assigned again when they leave. */
static void break_if(struct emit *e, const struct ir_inst *inst, struct control_frame *frame,
                     const struct lanes *condition, unsigned which)
{
    struct mask stay = lanes_where(e, inst, condition, which == 0);
    value_assign_operands(e, inst->blocks[which]->first, innermost_loop(e)->results, &e->exec);
    frame->second = true;
    struct end other = masked_branch(e, inst->blocks[1 - which], stay);
    e->exec = other.exec;
    e->control->empty = other.empty;
}

static void divergent_if(struct emit *e, const struct ir_inst *inst, struct control_frame *frame,
                         const struct lanes *condition)
{
    for (unsigned b = 0; b < 2; b++) {
        if (!just_breaks(e, inst->blocks[b])) continue;
        break_if(e, inst, frame, condition, b);
        return;
    }
    struct mask before = e->exec, taken = mask_of(e, condition);
    struct mask yes = mask_and(e, before, taken), no = mask_and_not(e, before, taken);
    struct end a = masked_branch(e, inst->blocks[0], yes);
    frame->second = true;
    struct end b = masked_branch(e, inst->blocks[1], no);
    bool unchanged = !a.empty && !b.empty && a.exec.chunk == yes.chunk && b.exec.chunk == no.chunk;
    e->control->empty = a.empty && b.empty;
    if (unchanged)
        e->exec = before;
    else if (a.empty || b.empty)
        e->exec = a.empty ? b.exec : a.exec;
    else
        e->exec = mask_or(e, a.exec, b.exec);
}

/* An if whose first branch is mostly taken by all lanes: its code once without masks for that, and once with. */
static void mostly_taken_if(struct emit *e, const struct ir_inst *inst, struct control_frame *frame,
                            const struct lanes *condition)
{
    gcc_jit_block *all = jit_block(e), *some = jit_block(e);
    struct mask before = e->exec;
    bool by_scalars = lane_test_applies(e, inst->operands[0]);
    struct lane_test test = {0};
    if (by_scalars) test = lane_test(e, inst->operands[0]);
    jit_branch(e, by_scalars ? test.all : jit_not(e, mask_any(e, mask_and_not(e, before, mask_of(e, condition)))), all,
               some);
    jit_begin(e, all);
    frame->divergent = false;
    struct end usual = run_branch(e, inst->blocks[0]);
    continue_at(e, (struct end){some, before, false});
    if (by_scalars && does_nothing(inst->blocks[1])) {
        gcc_jit_block *none = jit_block(e), *mixed = jit_block(e);
        jit_branch(e, test.none, none, mixed);
        struct end nothing = {none, before, false};
        usual = joined_ends(e, usual, nothing, before);
        continue_at(e, (struct end){mixed, before, false});
    }
    frame->divergent = true;
    struct lane_masks masks = by_scalars ? lane_test_make_masks(e, inst->operands[0]) : (struct lane_masks){0};
    divergent_if(e, inst, frame, emit_value(e, inst->operands[0]));
    lane_test_forget_masks(e, &masks);
    join_ends(e, usual, (struct end){e->block, e->exec, e->control->empty}, before);
}

/* A loop's test while all lanes are in it: as long as all go the same way, jumps. Where they part, the loop goes on
   under masks. */
static void even_if(struct emit *e, const struct ir_inst *inst, struct control_frame *frame)
{
    struct control_frame *loop = frame->outer;
    gcc_jit_block *begin[2] = {jit_block(e), jit_block(e)}, *not_all = jit_block(e);
    struct mask before = e->exec;
    struct lane_test test = lane_test(e, inst->operands[0]);
    struct end ends[2];
    loop->parting = jit_block(e);
    frame->divergent = false;
    jit_branch(e, test.all, begin[0], not_all);
    jit_begin(e, not_all);
    jit_branch(e, test.none, begin[1], loop->parting);
    for (int b = 0; b < 2; b++) {
        continue_at(e, (struct end){begin[b], before, false});
        ends[b] = run_branch(e, inst->blocks[b]);
    }
    join_ends(e, ends[0], ends[1], before);
}

static void emit_if(struct emit *e, const struct ir_inst *inst)
{
    const struct lanes *condition = emit_value(e, inst->operands[0]);
    struct control_frame frame = {
        .outer = e->control->frame, .inst = inst, .divergent = e->values->uniformity.divergent[inst->scratch]};
    frame.results = value_variables(e, inst->results, inst->n_results);
    bool everywhere = !e->exec.chunk && !in_divergent(e);
    e->control->frame = &frame;
    if (!frame.divergent)
        uniform_if(e, inst, condition->scalar);
    else if (everywhere && frame.outer && frame.outer->test == inst)
        even_if(e, inst, &frame);
    else if (everywhere && lane_test_is_of_ids(e, inst->operands[0]))
        mostly_taken_if(e, inst, &frame, condition);
    else
        divergent_if(e, inst, &frame, condition);
    e->control->frame = frame.outer;
    value_define(e, inst->results, inst->n_results, frame.results);
}

/* ---- loop ---- */

static void start_args(struct emit *e, const struct ir_inst *inst, struct control_frame *frame)
{
    const struct ir_block *body = inst->blocks[0];
    frame->args = value_variables(e, body->args, body->n_args);
    value_assign_operands(e, inst, frame->args, NULL); /* the loop's operands */
    value_define(e, body->args, body->n_args, frame->args);
}

static void uniform_loop(struct emit *e, const struct ir_inst *inst, struct control_frame *frame)
{
    struct mask before = e->exec;
    frame->head = jit_block(e);
    jit_jump(e, frame->head);
    jit_begin(e, frame->head);
    emit_from(e, inst->blocks[0]->first);
    /* Under masks the body may end without a jump: in a place for no lane, where control goes on for others. */
    struct end broke = {frame->exit, before, false}, fell = {e->block, e->exec, e->control->empty};
    join_ends(e, broke, fell, before);
}

static void copy_next(struct emit *e, const struct ir_block *body, struct control_frame *frame)
{
    for (uint32_t i = 0; frame->next && i < body->n_args; i++)
        for (unsigned c = 0; c < ir_type_lanes(body->args[i]->type); c++)
            lanes_assign(e, &frame->args[i][c], &frame->next[i][c]);
}

/* Lanes that go on do so; where none does, the loop ends. */
static void end_masked_round(struct emit *e, const struct ir_block *body, struct control_frame *frame,
                             struct mask *running)
{
    if (!e->block) return;
    copy_next(e, body, frame);
    mask_set(e, running, frame->live);
    jit_branch(e, mask_any(e, frame->live), frame->head, frame->exit);
}

/* The rounds of a loop under masks, from where `running` are the lanes that begin one. */
static void masked_rounds(struct emit *e, const struct ir_block *body, struct control_frame *frame,
                          struct mask *running)
{
    jit_begin(e, frame->head);
    clear_mask(e, &frame->live);
    e->exec = *running;
    e->control->empty = false;
    emit_from(e, body->first);
    end_masked_round(e, body, frame, running);
}

static bool is_last(const struct ir_inst *inst)
{
    return inst->next && !inst->next->next;
}

/* Whether a loop has one test in which lanes part: its first thing that matters, or its last. Tests that come to the
   same for all lanes are jumps, under masks too, and there may be any number of them. */
static const struct ir_inst *only_test(const struct emit *e, const struct ir_inst *loop)
{
    const struct ir_block *body = loop->blocks[0];
    struct loop_exits all = loop_exits_of(loop), in_tests = {.loop = loop};
    const struct ir_inst *test = NULL;
    for (const struct ir_inst *i = body->first; i; i = i->next) {
        unsigned before = in_tests.breaks + in_tests.ways_back;
        for (int b = 0; b < 2 && i->op == IR_OP_IF; b++) loop_exits_add(&in_tests, i->blocks[b]->last);
        if (in_tests.breaks + in_tests.ways_back == before) continue;
        if (!e->values->uniformity.divergent[i->scratch]) continue;
        if (test) return NULL;
        test = i;
    }
    if (!test || all.returns || !lane_test_applies(e, test->operands[0])) return NULL;
    loop_exits_add(&in_tests, body->last);
    if (in_tests.breaks != all.breaks || in_tests.ways_back != all.ways_back) return NULL;
    return is_last(test) || side_effects_none_but_loads(body->first, test) ? test : NULL;
}

/* The rounds of a loop while all lanes stay in it, without masks. Where some leave, `running` are those that begin the
   next round; or the round begins anew, if nothing was done in it before. */
static void even_rounds(struct emit *e, const struct ir_block *body, struct control_frame *frame, struct mask *running)
{
    const struct ir_inst *test = frame->test;
    gcc_jit_block *masked = frame->head;
    frame->head = jit_block(e);
    frame->divergent = false;
    jit_jump(e, frame->head);
    jit_begin(e, frame->head);
    emit_from(e, body->first);
    frame->head = masked;
    frame->divergent = true;
    frame->test = NULL;
    continue_at(e, (struct end){frame->parting, (struct mask){NULL}, false});
    if (is_last(test)) {
        clear_mask(e, &frame->live);
        lane_test_make_masks(e, test->operands[0]);
        emit_from(e, test);
        end_masked_round(e, body, frame, running);
    } else {
        mask_set(e, running, e->exec);
        jit_jump(e, masked);
    }
}

static void divergent_loop(struct emit *e, const struct ir_inst *inst, struct control_frame *frame)
{
    const struct ir_block *body = inst->blocks[0];
    struct loop_exits count = loop_exits_of(inst);
    /* What is assigned in the middle of an iteration must not be seen by the lanes still in it. */
    if (count.ways_back > 1 || body->last->op != IR_OP_CONTINUE)
        frame->next = value_variables(e, body->args, body->n_args);
    struct mask before = e->exec, running = mask_uninitialized(e);
    frame->live = mask_uninitialized(e);
    if (count.returns) frame->left = mask_variable(e, NULL);
    frame->head = jit_block(e);
    frame->exit = jit_block(e);
    if (frame->test) {
        even_rounds(e, body, frame, &running);
    } else {
        mask_set(e, &running, before);
        jit_jump(e, frame->head);
    }
    masked_rounds(e, body, frame, &running);
    jit_begin(e, frame->exit);
    e->exec = count.returns ? frame->left : before;
    e->control->empty = false;
}

static void run_loop(struct emit *e, const struct ir_inst *inst)
{
    struct control_frame frame = {
        .outer = e->control->frame, .inst = inst, .divergent = e->values->uniformity.divergent[inst->scratch]};
    frame.results = value_variables(e, inst->results, inst->n_results);
    start_args(e, inst, &frame);
    if (frame.divergent && !e->exec.chunk && !in_divergent(e)) frame.test = only_test(e, inst);
    e->control->frame = &frame;
    e->memory->loops++;
    if (frame.divergent)
        divergent_loop(e, inst, &frame);
    else
        uniform_loop(e, inst, &frame);
    e->memory->loops--;
    e->control->frame = frame.outer;
    value_define(e, inst->results, inst->n_results, frame.results);
}

static void emit_loop(struct emit *e, const struct ir_inst *inst)
{
    struct control around = *e->control;
    struct lane_by_lane each;
    if (!lane_by_lane_pays(e, inst)) {
        run_loop(e, inst);
        return;
    }
    lane_by_lane_begin(e, &each, inst);
    e->control->frame = NULL;
    e->control->skip = NULL;
    run_loop(e, inst);
    lane_by_lane_end(e, &each);
    *e->control = around;
}

/* ---- terminators ---- */

static void emit_break(struct emit *e, const struct ir_inst *inst)
{
    struct control_frame *loop = innermost_loop(e);
    if (!loop->divergent) {
        value_assign_operands(e, inst, loop->results, NULL);
        if (!loop->exit) loop->exit = jit_block(e);
        jit_jump(e, loop->exit);
        return;
    }
    value_assign_operands(e, inst, loop->results, &e->exec);
    if (loop->left.chunk) mask_set(e, &loop->left, mask_or(e, loop->left, e->exec));
    e->control->empty = true;
}

static void emit_continue(struct emit *e, const struct ir_inst *inst)
{
    struct control_frame *loop = innermost_loop(e);
    if (!loop->divergent) {
        value_assign_operands(e, inst, loop->args, NULL);
        jit_jump(e, loop->head);
        return;
    }
    /* The lanes that are not active here have left the loop, unless there is another continue. */
    if (loop->next)
        value_assign_operands(e, inst, loop->next, &e->exec);
    else
        value_assign_operands(e, inst, loop->args, NULL);
    mask_set(e, &loop->live, loop->next ? mask_or(e, loop->live, e->exec) : e->exec);
    e->control->empty = true;
}

static void trap(struct emit *e)
{
    gcc_jit_block_add_eval(e->block, NULL, jit_builtin(e, "__builtin_trap", 0, NULL));
}

static void emit_terminator(struct emit *e, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_YIELD: {
        bool blend = e->control->frame->divergent && e->control->frame->second;
        value_assign_operands(e, inst, e->control->frame->results, blend ? &e->exec : NULL);
        break;
    }
    case IR_OP_BREAK: emit_break(e, inst); break;
    case IR_OP_CONTINUE: emit_continue(e, inst); break;
    default: /* return, or a place that control never comes to */
        if (inst->op == IR_OP_UNREACHABLE && !in_divergent(e) && !e->exec.chunk) trap(e); /* else perhaps for no lane */
        if (in_divergent(e))
            e->control->empty = true;
        else
            jit_jump(e, e->control->leave);
    }
}

/* ---- blocks ---- */

static void emit_inst(struct emit *e, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_IF: emit_if(e, inst); break;
    case IR_OP_LOOP: emit_loop(e, inst); break;
    default:
        if (!value_define_known(e, &e->control->known, inst)) emit_instruction(e, inst);
    }
}

/* The rest of a block after some lanes may have left it, perhaps all. */
static void emit_rest(struct emit *e, const struct ir_inst *inst)
{
    if (side_effects_none(inst, e->control->end, ANY_COST)) {
        emit_from(e, inst);
        return;
    }
    gcc_jit_block *run = jit_block(e), *skip = jit_block(e);
    struct mask before = e->exec;
    jit_branch(e, mask_any(e, before), run, skip);
    jit_begin(e, run);
    emit_from(e, inst);
    struct end ran = {e->block, e->exec, e->control->empty}, skipped = {skip, before, false};
    join_ends(e, ran, skipped, before);
    if (ran.empty) e->control->empty = true;
}

/* Values that are the same for the whole work-group go to its variables, for the regions that follow. */
static void keep_shared(struct emit *e, const struct ir_inst *inst)
{
    for (uint32_t i = 0; e->block && i < inst->n_results; i++) {
        const struct ir_value *v = inst->results[i];
        struct lanes *to = e->values->shared[v->scratch];
        if (!to || !to->variable) continue; /* computed of another one */
        for (unsigned c = 0; e->values->lanes[v->scratch] != to && c < ir_type_lanes(v->type); c++)
            lanes_assign(e, &to[c], &e->values->lanes[v->scratch][c]);
    }
}

static void emit_until_end(struct emit *e, const struct ir_inst *inst)
{
    for (; inst && inst != e->control->end && e->block && !e->control->empty; inst = inst->next) {
        if (value_is_at_distance(e, inst)) continue;
        if (ir_op_info(inst->op)->flags & IR_FLAG_TERMINATOR) {
            emit_terminator(e, inst);
            return;
        }
        struct mask before = e->exec;
        emit_inst(e, inst);
        keep_shared(e, inst);
        bool diverged = e->block && !e->control->empty && e->exec.chunk != before.chunk;
        if (diverged && inst->next && inst->next != e->control->end) {
            emit_rest(e, inst->next);
            return;
        }
    }
}

static void emit_from(struct emit *e, const struct ir_inst *inst)
{
    uint32_t before = e->computed.n;
    emit_until_end(e, inst);
    e->computed.n = before;
}

void emit_insts(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    e->control->end = end;
    emit_from(e, first);
}

void emit_reset(struct emit *e)
{
    uint32_t n_params = e->kernel->n_params;
    memcpy(e->values->lanes + n_params, e->values->shared + n_params,
           (e->values->uniformity.n_values - n_params) * sizeof *e->values->lanes);
    memset(e->private->on_stack, 0, e->values->uniformity.n_insts * sizeof *e->private->on_stack);
    e->control->frame = NULL;
    e->control->empty = false;
    e->exec.chunk = NULL;
}
