/* The walk over a kernel: the form of each value, and each use of a parameter with the work-items that get there. */
#include "fuser/access/walk.h"

#include "fuser/access/affine_value.h"
#include "fuser/access/condition.h"
#include "fuser/access/loop_counters.h"
#include "fuser/access/loop_rounds.h"
#include "fuser/access/packets.h"
#include "fuser/access/pixels.h"
#include "fuser/access/provenance.h"
#include "fuser/access/sub_group_ids.h"
#include "ir/base/arena.h"
#include "ir/core/facts.h"

/* How control leaves a block besides reaching its end. */
struct leaving {
    bool always;  /* its end is not reached */
    bool perhaps; /* a block inside leaves the loop or the function */
    bool returns; /* ... the function */
};

static struct leaving walk_block(struct access_walk *w, const struct ir_block *block, struct access_state *state);

/* ---- sites ---- */

static void add_site(struct access_walk *w, struct access_summary *s, const struct access_site *site)
{
    s->sites = arena_grow(w->result->arena, s->sites, s->n_sites, sizeof *s->sites);
    s->sites[s->n_sites++] = *site;
    s->reads |= site->reads;
    s->writes |= site->writes;
    s->atomics |= site->atomic;
}

static bool executed_by_all(const struct access_walk *w, const struct access_site *site)
{
    for (unsigned d = 0; d < 3; d++)
        if (site->items.last[d] - site->items.first[d] + 1 != (int64_t)w->range.global[d]) return false;
    return !site->conditional;
}

static bool is_store(const struct ir_inst *inst)
{
    return inst->op == IR_OP_STORE || inst->op == IR_OP_BLOCK_WRITE;
}

/* A use of memory from `pointer` and `further` bytes on, by each parameter it may point into. */
static void add_sites_at(struct access_walk *w, struct access_site site, const struct ir_value *pointer,
                         const struct affine *further, const struct access_state *state)
{
    const struct ir_inst *inst = site.inst;
    bool is_unknown = provenance_is_unknown(w, pointer);
    if (is_unknown) {
        w->result->unknown_reads |= site.reads;
        w->result->unknown_writes |= site.writes;
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < w->kernel->n_params; i++) found += provenance_has(w, pointer, i);
    bool certain = found == 1 && !is_unknown, own = !found && !is_unknown;
    site.line = inst->loc.line;
    site.atomic = ir_op_class(inst->op) == IR_CLASS_ATOMIC;
    site.found_one = certain;
    site.conditional = state->conditional || !certain;
    site.unsure = state->unsure || !certain;
    site.guards = state->guards;
    site.items = state->items;
    site.sub_group_size = w->sub_group_size;
    if (certain || own) {
        struct affine index = affine_value(w, pointer);
        index = affine_add(&index, further);
        site.index = sub_group_ids_simplify(w, &index);
        if (site.index.jump && !affine_leads_into_small(&site.index, &w->bounds)) site.index.known = false;
        site.index.jump = 0;
    }
    if (own) add_site(w, &w->result->own, &site);
    for (uint32_t i = 0; i < w->kernel->n_params; i++) {
        if (!provenance_has(w, pointer, i)) continue;
        if (!w->result->params[i].n_sites)
            w->result->params[i].written_first = is_store(inst) && executed_by_all(w, &site);
        add_site(w, &w->result->params[i], &site);
    }
}

static void add_sites(struct access_walk *w, const struct ir_inst *inst, const struct ir_value *pointer, bool reads,
                      bool writes, uint64_t bytes, const struct access_state *state)
{
    const struct affine here = affine_constant(0);
    const struct access_site site = {
        .inst = inst, .reads = reads, .writes = writes, .type = inst->type, .bytes = bytes};
    add_sites_at(w, site, pointer, &here, state);
}

static void escape(struct access_walk *w, const struct ir_value *pointer)
{
    for (uint32_t i = 0; i < w->kernel->n_params; i++)
        if (provenance_has(w, pointer, i)) w->result->params[i].escapes = true;
}

static uint64_t size_of(const struct access_walk *w, ir_type type)
{
    return type == IR_VOID ? 0 : ir_type_size(w->kernel->module, type);
}

static void see_copy(struct access_walk *w, const struct ir_inst *inst, const struct access_state *state)
{
    struct affine count = affine_value(w, inst->operands[2]);
    uint64_t bytes = 0;
    if (affine_is_constant(&count) && count.constant >= 0 && count.constant < INT32_MAX)
        bytes = size_of(w, inst->type) * (uint64_t)count.constant;
    add_sites(w, inst, inst->operands[1], true, false, bytes, state);
    add_sites(w, inst, inst->operands[0], false, true, bytes, state);
}

/* Component k of a work-item is at p[k * size of the sub-group + its id there]: each a site of its own. */
static void see_block(struct access_walk *w, const struct ir_inst *inst, const struct access_state *state)
{
    ir_type element = ir_type_element(inst->type);
    uint32_t n = ir_type_lanes(inst->type);
    int64_t bytes = (int64_t)size_of(w, element);
    for (uint32_t k = 0; k < n; k++) {
        struct affine further = affine_id(AFFINE_LANE, bytes);
        bool known = k == 0 || w->sub_group_size;
        further.constant = (int64_t)k * w->sub_group_size * bytes;
        const struct access_site site = {.inst = inst,
                                         .reads = inst->op == IR_OP_BLOCK_READ,
                                         .writes = inst->op == IR_OP_BLOCK_WRITE,
                                         .type = element,
                                         .element = k,
                                         .bytes = known ? (uint64_t)bytes : 0};
        add_sites_at(w, site, inst->operands[0], &further, state);
    }
}

/* Memory of an instruction whose pointer is operand `i`. */
static void see_memory(struct access_walk *w, const struct ir_inst *inst, const struct access_state *state)
{
    unsigned flags = ir_op_info(inst->op)->flags;
    add_sites(w, inst, inst->operands[0], flags & IR_FLAG_READS, flags & IR_FLAG_WRITES, size_of(w, inst->type), state);
    for (uint32_t i = 1; i < inst->n_operands; i++) escape(w, inst->operands[i]);
}

static void see_global(struct access_walk *w, const struct ir_inst *inst)
{
    const struct ir_global *g = inst->attrs.global;
    if (g->space == IR_SPACE_GLOBAL || ir_type_kind(g->type) == IR_KIND_PIPE) w->result->shared_state = true;
}

/* Operations that read or write memory or hand a pointer on. */
static void see_effects(struct access_walk *w, const struct ir_inst *inst, const struct access_state *state)
{
    switch (inst->op) {
    case IR_OP_LOAD:
    case IR_OP_STORE:
    case IR_OP_ATOMIC_LOAD:
    case IR_OP_ATOMIC_STORE: see_memory(w, inst, state); return;
    case IR_OP_COPY: see_copy(w, inst, state); return;
    case IR_OP_GLOBAL: see_global(w, inst); return;
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: see_block(w, inst, state); return;
    case IR_OP_IMAGE_READ:
    case IR_OP_IMAGE_WRITE:
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: pixels_see(w, inst); return;
    case IR_OP_PIPE_READ ... IR_OP_PIPE_WRITE_AT: {
        bool takes = inst->op <= IR_OP_PIPE_READ_AT;
        add_sites(w, inst, inst->operands[1], !takes, takes, size_of(w, inst->type), state);
        w->result->shared_state = true;
        return;
    }
    case IR_OP_PIPE_RESERVE_READ ... IR_OP_PIPE_NUM_PACKETS: w->result->shared_state = true; return;
    case IR_OP_PRINTF:
        add_sites(w, inst, inst->operands[1], true, false, 0, state);
        add_sites(w, inst, inst->operands[2], true, false, size_of(w, inst->type), state);
        w->result->shared_state = w->result->prints = true;
        return;
    case IR_OP_FINDING: w->result->checks = true; return;
    case IR_OP_PIPE_MAX_PACKETS:
    case IR_OP_ELEM:
    case IR_OP_FIELD:
    case IR_OP_SPACECAST:
    case IR_OP_SELECT:
    case IR_OP_IEQ:
    case IR_OP_INE:
    case IR_OP_PREFETCH:
    case IR_OP_IF:
    case IR_OP_LOOP:
    case IR_OP_YIELD:
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: return;
    default: break;
    }
    if (ir_op_class(inst->op) == IR_CLASS_ATOMIC) {
        see_memory(w, inst, state);
        return;
    }
    if (inst->op == IR_OP_CALL) w->result->shared_state = true; /* what could not be inlined may do anything */
    for (uint32_t i = 0; i < inst->n_operands; i++) escape(w, inst->operands[i]);
}

static void see_facts(struct access_analysis *result, const struct ir_inst *inst)
{
    unsigned flags = ir_op_info(inst->op)->flags;
    bool of_sub_group = ir_sees_sub_group(inst);
    result->has_sub_groups |= of_sub_group;
    result->meets_groups |= flags & IR_FLAG_CONVERGENT && inst->op != IR_OP_CALL && !of_sub_group;
    if (inst->op == IR_OP_BARRIER) {
        result->has_barrier = true;
    } else if (flags & IR_FLAG_CONVERGENT && inst->op != IR_OP_CALL) {
        result->has_group_ops = true;
    }
    if (flags & IR_FLAG_GROUPS) {
        result->has_local_ids = true;
        result->sees_groups |= !of_sub_group;
    }
}

/* ---- control flow ---- */

/* From here on the ids are those of the work-items that get here: what is computed of them fits where it is used. */
static void narrow_bounds(struct access_walk *w, const struct access_state *state)
{
    for (unsigned d = 0; d < 3; d++) {
        if (state->items.first[d] > state->items.last[d]) return; /* nobody */
        w->bounds.low[AFFINE_GLOBAL + d] = state->items.first[d];
        w->bounds.high[AFFINE_GLOBAL + d] = state->items.last[d];
    }
}

/* Past the guard of a loop more is known of its counter. Returns what was known before. */
static struct affine enter_guard(struct access_walk *w, const struct loop_guard *guard)
{
    struct affine *sum = &w->sums[access_value_number(guard->counter)], before = *sum;
    *sum = guard->past;
    return before;
}

/* What an if gives: what its branches that reach their end do. Where one gives any bits, those of the other are any. */
static void leave_with(struct access_walk *w, const struct ir_inst *branch, const struct leaving leaving[2])
{
    for (uint32_t i = 0; i < branch->n_results; i++) {
        struct affine sum = {.known = false};
        bool first = true;
        for (unsigned side = 0; side < 2; side++) {
            if (leaving[side].always || branch->blocks[side]->last->operands[i]->kind == IR_VALUE_UNDEF) continue;
            struct affine value = affine_value(w, branch->blocks[side]->last->operands[i]);
            sum = first ? value : affine_either(&sum, &value, &w->bounds);
            first = false;
        }
        w->sums[access_value_number(branch->results[i])] = sum;
    }
}

static struct leaving walk_if(struct access_walk *w, const struct ir_inst *inst, struct access_state *state)
{
    const struct loop_guard *guard = w->guards;
    while (guard && guard->guard != inst) guard = guard->next;
    struct leaving leaving[2];
    struct access_state past[2] = {*state, *state};
    for (unsigned side = 0; side < 2; side++) {
        narrow_bounds(w, state);
        condition_assume(w, inst->operands[0], side == 0, &past[side]);
        const struct ir_inst *last = inst->blocks[side]->last;
        bool stays = last && last->op != IR_OP_BREAK && last->op != IR_OP_RETURN;
        struct affine before = {0};
        if (guard && stays) before = enter_guard(w, guard);
        leaving[side] = walk_block(w, inst->blocks[side], &past[side]);
        if (guard && stays) w->sums[access_value_number(guard->counter)] = before;
        narrow_bounds(w, state);
    }
    leave_with(w, inst, leaving);
    struct leaving both = {.always = leaving[0].always && leaving[1].always,
                           .perhaps = true,
                           .returns = leaving[0].returns || leaving[1].returns};
    if (leaving[0].always || leaving[1].always) {
        *state = past[leaving[0].always];
        /* What follows is only reached past the guard. */
        if (guard && !both.always) enter_guard(w, guard);
        return both;
    }
    both.perhaps = leaving[0].perhaps || leaving[1].perhaps;
    state->conditional |= both.perhaps;
    state->unsure |= both.perhaps;
    return both;
}

static struct leaving walk_loop(struct access_walk *w, const struct ir_inst *inst, struct access_state *state)
{
    loop_rounds_find(w, inst);
    loop_counters_bound(w, inst);
    struct access_state inside = *state;
    inside.loop = inst;
    struct leaving body = walk_block(w, inst->blocks[0], &inside);
    state->conditional |= body.returns;
    state->unsure |= body.returns;
    return (struct leaving){.perhaps = body.returns, .returns = body.returns};
}

static struct leaving walk_block(struct access_walk *w, const struct ir_block *block, struct access_state *state)
{
    struct leaving sum = {0};
    narrow_bounds(w, state);
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        see_facts(w->result, inst);
        see_effects(w, inst, state);
        if (w->result->has_pipes) packets_see(w, inst, state);
        if (inst->op == IR_OP_IF || inst->op == IR_OP_LOOP) {
            struct leaving l = inst->op == IR_OP_IF ? walk_if(w, inst, state) : walk_loop(w, inst, state);
            narrow_bounds(w, state);
            sum.perhaps |= l.perhaps;
            sum.returns |= l.returns;
        } else if (inst->n_results == 1) {
            w->sums[access_value_number(inst->results[0])] = affine_value_of_inst(w, inst);
        }
    }
    enum ir_op last = block->last ? block->last->op : IR_OP_UNREACHABLE;
    sum.always = last != IR_OP_YIELD;
    sum.perhaps |= sum.always && last != IR_OP_UNREACHABLE;
    sum.returns |= last == IR_OP_RETURN;
    return sum;
}

void walk_kernel(struct access_walk *w)
{
    struct access_state state = {0};
    for (unsigned d = 0; d < 3; d++) {
        state.items.first[d] = w->bounds.low[d];
        state.items.last[d] = w->bounds.high[d];
    }
    walk_block(w, w->kernel->body, &state);
}
