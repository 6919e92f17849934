/*
 * A kernel with barriers for one work-group: parallel region by parallel region (prepare/parallel_regions.c cuts them),
 * each for all work-items. Here are the ifs and loops between the regions, and the values of the work-group, which are
 * scalars.
 */
#include "fuser/cpu/work_group/regions.h"

#include "fuser/cpu/emit/control.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/emit/work_group_operation.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/parallel_regions.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/lanes.h"
#include "fuser/cpu/work_group/prefetch.h"
#include "fuser/cpu/work_group/work_item_loop.h"
#include "ir/core/facts.h"

/* An if or a loop around the code being emitted that is control flow of the work-group. */
struct enclosing {
    struct enclosing *outer;
    const struct ir_inst *inst;
    gcc_jit_block *head, *exit; /* head: of a loop */
    bool comes_out;             /* something jumps to the exit */
};

struct regions {
    bool *grouped; /* by instruction number */
    struct uniformity uniformity;
    struct enclosing *enclosing;
    gcc_jit_block *leave;
};

void regions_prepare(struct emit *e)
{
    struct regions *g = e->regions = arena_alloc(e->arena, sizeof *g);
    uniformity_find(&g->uniformity, e->arena, e->kernel, TOGETHER_GROUP);
    g->grouped = parallel_regions_mark(e->arena, e->kernel);
    e->private->offset = arena_alloc(e->arena, (g->uniformity.n_insts + 1) * sizeof *e->private->offset);
}

/* ---- values and variables ---- */

static void make_variables_of_group(struct emit *e, struct ir_value **values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (e->regions->uniformity.values[values[i]->scratch].kind != SHAPE_UNIFORM) continue;
        unsigned lanes = ir_type_lanes(values[i]->type);
        struct lanes *v = arena_alloc(e->arena, lanes * sizeof *v);
        for (unsigned c = 0; c < lanes; c++)
            v[c] = lanes_variable(e, ir_type_kind(values[i]->type), (struct shape){.kind = SHAPE_UNIFORM});
        e->values->shared[values[i]->scratch] = v;
    }
}

/* The distance between a place and one that is the group's, where it is known: an access takes both together, which
   spares a variable. NULL: it is not. */
static const struct lanes *place_at_distance(const struct emit *e, const struct ir_inst *inst, uint64_t *bytes)
{
    uint64_t index;
    if (inst->op == IR_OP_FIELD)
        *bytes = ir_type_struct(e->module, inst->type)->fields[inst->attrs.index].offset;
    else if (inst->op == IR_OP_ELEM && ir_type_bits(inst->operands[1]->type) == 64 &&
             ir_value_uint(inst->operands[1], &index))
        *bytes = index * ir_type_size(e->module, inst->type);
    else
        return NULL;
    const struct ir_value *base = inst->operands[0];
    if (base->kind < IR_VALUE_PARAM) return NULL;
    return base->kind == IR_VALUE_PARAM ? e->values->lanes[base->scratch] : e->values->shared[base->scratch];
}

static void make_values_of_group(struct emit *e, const struct ir_inst *inst)
{
    uint64_t bytes;
    const struct lanes *base = place_at_distance(e, inst, &bytes);
    if (!base) {
        make_variables_of_group(e, inst->results, inst->n_results);
        return;
    }
    struct lanes *v = arena_alloc(e->arena, sizeof *v);
    *v = lanes_uniform(IR_KIND_PTR, jit_add(e, base->scalar, jit_u64(e, bytes)));
    e->values->shared[inst->results[0]->scratch] = v;
}

static uint32_t place_variables(struct emit *e, const struct ir_block *block, uint32_t bytes)
{
    make_variables_of_group(e, block->args, block->n_args);
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        make_values_of_group(e, inst);
        bool reduced = inst->op == IR_OP_GROUP_REDUCE && ir_is_work_group_collective(inst);
        if (inst->op == IR_OP_VAR || reduced) bytes = private_memory_add(e, inst, bytes);
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b] && e->regions->grouped[inst->scratch])
                bytes = place_variables(e, inst->blocks[b], bytes);
    }
    return bytes;
}

uint32_t regions_place(struct emit *e, rval memory)
{
    const struct work_item_ids *p = e->ids;
    e->private->base = memory;
    rval items = jit_mul(e, jit_mul(e, p->local_size[0], p->local_size[1]), p->local_size[2]);
    e->private->items = jit_read(jit_keep(e, items));
    return (place_variables(e, e->kernel->body, 0) + 15) / 16 * 16;
}

/* ---- control flow of the group ---- */

static void run_block(struct emit *e, const struct ir_block *block);

/* Assigns the operands that are the group's to its variables, all at once. */
static void assign_shared(struct emit *e, const struct ir_inst *inst, struct ir_value **to)
{
    struct lanes **copies = arena_alloc(e->arena, (inst->n_operands + 1) * sizeof *copies);
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (!e->values->shared[to[i]->scratch]) continue;
        unsigned n = ir_type_lanes(to[i]->type);
        const struct lanes *from = emit_value(e, inst->operands[i]);
        copies[i] = arena_alloc(e->arena, n * sizeof **copies);
        for (unsigned c = 0; c < n; c++)
            copies[i][c] = lanes_uniform(from[c].kind, jit_read(jit_keep(e, from[c].scalar)));
    }
    for (uint32_t i = 0; i < inst->n_operands; i++)
        for (unsigned c = 0; copies[i] && c < ir_type_lanes(to[i]->type); c++)
            lanes_assign(e, &e->values->shared[to[i]->scratch][c], &copies[i][c]);
}

static void run_if_of_group(struct emit *e, const struct ir_inst *inst)
{
    struct enclosing a = {.outer = e->regions->enclosing, .inst = inst, .exit = jit_block(e)};
    gcc_jit_block *begin[2] = {jit_block(e), jit_block(e)};
    jit_branch(e, emit_value(e, inst->operands[0])->scalar, begin[0], begin[1]);
    e->regions->enclosing = &a;
    for (int b = 0; b < 2; b++) {
        jit_begin(e, begin[b]);
        run_block(e, inst->blocks[b]);
    }
    e->regions->enclosing = a.outer;
    e->block = a.comes_out ? a.exit : NULL;
}

static void run_loop_of_group(struct emit *e, const struct ir_inst *inst)
{
    struct enclosing a = {.outer = e->regions->enclosing, .inst = inst, .head = jit_block(e), .exit = jit_block(e)};
    assign_shared(e, inst, inst->blocks[0]->args);
    jit_jump(e, a.head);
    jit_begin(e, a.head);
    e->regions->enclosing = &a;
    run_block(e, inst->blocks[0]);
    e->regions->enclosing = a.outer;
    e->block = a.comes_out ? a.exit : NULL;
}

static void run_exit_of_group(struct emit *e, const struct ir_inst *inst)
{
    struct enclosing *a = e->regions->enclosing;
    if (inst->op == IR_OP_BREAK || inst->op == IR_OP_CONTINUE)
        while (a->inst->op != IR_OP_LOOP) a = a->outer;
    switch (inst->op) {
    case IR_OP_YIELD:
    case IR_OP_BREAK:
        assign_shared(e, inst, a->inst->results);
        a->comes_out = true;
        jit_jump(e, a->exit);
        break;
    case IR_OP_CONTINUE:
        assign_shared(e, inst, a->inst->blocks[0]->args);
        jit_jump(e, a->head);
        break;
    default: jit_jump(e, e->regions->leave); /* return, or a place that control never comes to */
    }
}

/* ---- regions ---- */

static bool is_control_of_group(const struct emit *e, const struct ir_inst *inst)
{
    return (ir_op_info(inst->op)->flags & IR_FLAG_TERMINATOR) || e->regions->grouped[inst->scratch];
}

/* The end of the region that begins with an instruction. */
static const struct ir_inst *region_end(const struct emit *e, const struct ir_inst *inst)
{
    while (!is_control_of_group(e, inst)) {
        bool ends = synchronizes_work_group(inst);
        inst = inst->next;
        if (ends) break;
    }
    return inst;
}

/* Whether it is the same for all work-items, so that one may run it for all. */
static bool is_uniform(const struct emit *e, const struct ir_inst *inst)
{
    if (inst->op == IR_OP_BARRIER) return true;
    bool harmless =
        (ir_op_info(inst->op)->flags & IR_FLAG_PURE) || (inst->op == IR_OP_LOAD && !inst->attrs.is_volatile);
    return harmless && e->values->shared[inst->results[0]->scratch];
}

static void run_uniform(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    emit_reset(e);
    emit_insts(e, first, end);
    emit_reset(e);
}

static void run_for_each(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    for (const struct ir_inst *i = first; i != end; i = i->next)
        if (ir_is_work_group_collective(i)) work_group_operation_begin(e, i);
    work_item_loop_run(e, first, end);
    emit_reset(e);
    for (const struct ir_inst *i = first; i != end; i = i->next)
        if (ir_is_work_group_collective(i)) work_group_operation_end(e, i);
}

/* What is uniform at its beginning and at its end runs once, the rest for each work-item. */
static void run_region(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    const struct ir_inst *begin = first;
    while (begin != end && is_uniform(e, begin)) begin = begin->next;
    const struct ir_inst *rest = begin;
    for (const struct ir_inst *i = begin; i != end; i = i->next)
        if (!is_uniform(e, i)) rest = i->next;
    if (begin != first) run_uniform(e, first, begin);
    if (rest != begin) run_for_each(e, begin, rest);
    if (rest != end) run_uniform(e, rest, end);
}

static void run_block(struct emit *e, const struct ir_block *block)
{
    const struct ir_inst *inst = block->first;
    while (inst && e->block) {
        const struct ir_inst *end = region_end(e, inst);
        if (end != inst) {
            run_region(e, inst, end);
            if (inst == e->kernel->body->first) prefetch_next_group(e, inst, end);
            inst = end;
        } else if (inst->op == IR_OP_IF) {
            run_if_of_group(e, inst);
            inst = inst->next;
        } else if (inst->op == IR_OP_LOOP) {
            run_loop_of_group(e, inst);
            inst = inst->next;
        } else {
            run_exit_of_group(e, inst);
            return;
        }
    }
}

void regions_run(struct emit *e)
{
    e->regions->leave = jit_block(e);
    e->regions->enclosing = NULL;
    emit_reset(e);
    run_block(e, e->kernel->body);
    if (e->block) jit_jump(e, e->regions->leave);
    jit_begin(e, e->regions->leave);
}
