/*
 * Blocks. The kernel's control flow is structured, and so is that of SPIR-V for Vulkan: an if is a selection with a
 * merge block; of a loop, break is a branch to its merge block and continue one to its continue target, from any depth.
 * Values that come there along several ways are phis. The kernel dialect does not ask for merges and does not mind
 * them.
 */
#include "fuser/spirv/flow/control.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>

#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/flow/instruction.h"
#include "ir/base/arena.h"

/* ---- where several ways meet ---- */

/* The ways to a block, each a row: its label, then the parts of all values. */
struct join {
    struct spw_words rows;
    unsigned n_rows, n_parts;
};

static void join_add(struct spw *w, struct join *j, uint32_t label, struct ir_value *const *values, uint32_t n)
{
    spw_append(&j->rows, &label, 1);
    j->n_parts = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *parts = spw_value(w, values[i]);
        spw_append(&j->rows, parts, spw_parts(w, values[i]->type));
        j->n_parts += spw_parts(w, values[i]->type);
    }
    j->n_rows++;
}

static void put_phi(struct spw *w, const struct join *j, unsigned part, uint32_t type, uint32_t id)
{
    struct spw_words operands = {0};
    spw_append(&operands, (uint32_t[]){type, id}, 2);
    for (unsigned r = 0; r < j->n_rows; r++) {
        const uint32_t *row = j->rows.words + (size_t)r * (1 + j->n_parts);
        spw_append(&operands, (uint32_t[]){row[1 + part], row[0]}, 2);
    }
    spw_put(&w->m.sections[w->at], SpvOpPhi, operands.words, operands.n);
    free(operands.words);
}

/* The values where the ways meet. */
static void join_results(struct spw *w, const struct join *j, struct ir_value *const *values, uint32_t n)
{
    unsigned part = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t ids[IR_MAX_LANES], type = spw_part_type(w, values[i]->type);
        for (unsigned p = 0; p < spw_parts(w, values[i]->type); p++) {
            ids[p] = spw_id(&w->m);
            put_phi(w, j, part++, type, ids[p]);
        }
        spw_set(w, values[i], ids);
    }
}

/* Begins the block where they meet; where no way leads there nothing behind it is written. */
static void join_end(struct spw *w, struct join *j, uint32_t merge, const struct ir_inst *inst)
{
    spw_label(w, merge);
    if (j->n_rows) {
        join_results(w, j, inst->results, inst->n_results);
    } else {
        spw_do_n(w, SpvOpUnreachable, NULL, 0);
        w->label = 0;
    }
    free(j->rows.words);
}

/* ---- if ---- */

struct spw_flow {
    const struct ir_inst *inst; /* an if or a loop */
    uint32_t merge, again;
    struct join merged, repeated;
    struct spw_flow *outer;
};

static bool is_empty(const struct ir_block *block)
{
    return block->first->op == IR_OP_YIELD;
}

static void put_if(struct spw *w, const struct ir_inst *inst)
{
    struct spw_flow flow = {.inst = inst, .merge = spw_id(&w->m), .outer = w->flow};
    uint32_t labels[2], condition = spw_value1(w, inst->operands[0]);
    for (int b = 0; b < 2; b++) {
        const struct ir_block *block = inst->blocks[b];
        labels[b] = is_empty(block) ? flow.merge : spw_id(&w->m);
        if (is_empty(block) && !(b == 1 && labels[0] == flow.merge))
            join_add(w, &flow.merged, w->label, block->first->operands, block->first->n_operands);
    }
    if (labels[0] == flow.merge && labels[1] == flow.merge) { /* both are empty: one has a block all the same */
        labels[1] = spw_id(&w->m);
    }
    w->flow = &flow;
    SPW_DO(w, SpvOpSelectionMerge, flow.merge, SpvSelectionControlMaskNone);
    SPW_DO(w, SpvOpBranchConditional, condition, labels[0], labels[1]);
    for (int b = 0; b < 2; b++) {
        if (labels[b] == flow.merge) continue;
        spw_label(w, labels[b]);
        spw_block(w, inst->blocks[b]);
    }
    w->flow = flow.outer;
    w->inst = inst;
    join_end(w, &flow.merged, flow.merge, inst);
}

/* ---- loop ---- */

/* The header's phis are of the operands and of what comes from the continue target, whose ids are known before. */
static void put_loop_phis(struct spw *w, const struct ir_inst *loop, uint32_t from, uint32_t again, uint32_t *repeated)
{
    const struct ir_block *body = loop->blocks[0];
    for (uint32_t i = 0, part = 0; i < body->n_args; i++) {
        ir_type t = body->args[i]->type;
        const uint32_t *first = spw_value(w, loop->operands[i]);
        uint32_t ids[IR_MAX_LANES], type = spw_part_type(w, t);
        for (unsigned p = 0; p < spw_parts(w, t); p++, part++) {
            repeated[part] = spw_id(&w->m);
            ids[p] = SPW_EMIT(w, SpvOpPhi, type, first[p], from, repeated[part], again);
        }
        spw_set(w, body->args[i], ids);
    }
}

/* The continue target, where the values of all continues meet. */
static void put_continue(struct spw *w, const struct spw_flow *flow, uint32_t header, const uint32_t *repeated)
{
    const struct ir_block *body = flow->inst->blocks[0];
    spw_label(w, flow->again);
    for (uint32_t i = 0, part = 0; i < body->n_args; i++) {
        uint32_t type = spw_part_type(w, body->args[i]->type);
        for (unsigned p = 0; p < spw_parts(w, body->args[i]->type); p++, part++)
            if (flow->repeated.n_rows)
                put_phi(w, &flow->repeated, part, type, repeated[part]);
            else
                SPW_DO(w, SpvOpUndef, type, repeated[part]);
    }
    spw_jump(w, header);
}

static void put_loop(struct spw *w, const struct ir_inst *inst)
{
    struct spw_flow flow = {.inst = inst, .merge = spw_id(&w->m), .again = spw_id(&w->m), .outer = w->flow};
    uint32_t header = spw_id(&w->m), body = spw_id(&w->m), from = w->label, n = 0;
    for (uint32_t i = 0; i < inst->n_operands; i++) n += spw_parts(w, inst->operands[i]->type);
    uint32_t *repeated = arena_alloc(w->arena, (n + 1) * sizeof *repeated);
    for (uint32_t i = 0; i < inst->n_operands; i++) spw_value(w, inst->operands[i]);
    spw_jump(w, header);
    spw_label(w, header);
    put_loop_phis(w, inst, from, flow.again, repeated);
    spw_loop_merge(w, flow.merge, flow.again);
    spw_jump(w, body);
    spw_label(w, body);
    w->flow = &flow;
    spw_block(w, inst->blocks[0]);
    w->flow = flow.outer;
    w->inst = inst;
    put_continue(w, &flow, header, repeated);
    free(flow.repeated.rows.words);
    join_end(w, &flow.merged, flow.merge, inst);
}

/* ---- terminators ---- */

static void put_exit(struct spw *w, const struct ir_inst *inst, enum ir_op of, bool again)
{
    struct spw_flow *flow = w->flow;
    while (flow->inst->op != of) flow = flow->outer;
    join_add(w, again ? &flow->repeated : &flow->merged, w->label, inst->operands, inst->n_operands);
    spw_jump(w, again ? flow->again : flow->merge);
}

static bool put_control(struct spw *w, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_IF: put_if(w, inst); return true;
    case IR_OP_LOOP: put_loop(w, inst); return true;
    case IR_OP_YIELD: put_exit(w, inst, IR_OP_IF, false); return true;
    case IR_OP_BREAK: put_exit(w, inst, IR_OP_LOOP, false); return true;
    case IR_OP_CONTINUE: put_exit(w, inst, IR_OP_LOOP, true); return true;
    case IR_OP_RETURN: spw_expect_whole_loops(w); /* fallthrough */
    case IR_OP_UNREACHABLE:
        spw_do_n(w, inst->op == IR_OP_RETURN ? SpvOpReturn : SpvOpUnreachable, NULL, 0);
        w->label = 0;
        return true;
    default: return false;
    }
}

void spw_block(struct spw *w, const struct ir_block *block)
{
    for (const struct ir_inst *inst = block->first; inst && w->label && !w->failed; inst = inst->next) {
        w->inst = inst;
        if (!put_control(w, inst)) spw_instruction(w, inst);
    }
}
