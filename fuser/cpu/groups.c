/*
 * Runs a kernel with barriers for one work-group: region by region, each for all work-items (regions.c cuts
 * them). Here are the ifs and loops between the regions, the values of the work-group, which are scalars, and
 * the memory of the private variables, of which each work-item has its own.
 */
#include "fuser/cpu/emit.h"

/* An if or a loop that the work-group is in. */
struct around {
    struct around *outer;
    const struct ir_inst *inst;
    gcc_jit_block *head, *exit; /* head: of a loop */
    bool comes_out;             /* there is a way to the exit */
};

struct groups {
    bool *grouped; /* by instruction number */
    struct uniformity uniformity;
    struct around *around;
    gcc_jit_block *leave;
    const struct ir_inst **variables;
    uint32_t n_variables;
    uint32_t *offset; /* by instruction number, of a variable: bytes per work-item that lie before it, plus 1 */
    rval memory, items, linear;
};

void groups_prepare(struct emit *e)
{
    struct groups *g = e->groups = arena_alloc(e->arena, sizeof *g);
    uniformity_find(&g->uniformity, e->arena, e->kernel, TOGETHER_GROUP);
    g->grouped = regions_mark(e->arena, e->kernel);
    g->offset = arena_alloc(e->arena, (g->uniformity.n_insts + 1) * sizeof *g->offset);
}

/* ---- values and variables ---- */

static void share(struct emit *e, struct ir_value **values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (e->groups->uniformity.values[values[i]->scratch].kind != SHAPE_UNIFORM) continue;
        unsigned lanes = ir_type_lanes(values[i]->type);
        struct lanes *v = arena_alloc(e->arena, lanes * sizeof *v);
        for (unsigned c = 0; c < lanes; c++)
            v[c] = lanes_variable(e, ir_type_kind(values[i]->type), (struct shape){.kind = SHAPE_UNIFORM});
        e->shared[values[i]->scratch] = v;
    }
}

static uint32_t place_variable(struct emit *e, const struct ir_inst *inst, uint32_t bytes)
{
    struct groups *g = e->groups;
    uint32_t align = ir_type_align(e->module, inst->type);
    bytes = (bytes + align - 1) / align * align;
    g->offset[inst->scratch] = bytes + 1;
    g->variables = arena_grow(e->arena, g->variables, g->n_variables, sizeof *g->variables);
    g->variables[g->n_variables++] = inst;
    return bytes + (uint32_t)ir_type_size(e->module, inst->type);
}

static uint32_t place_block(struct emit *e, const struct ir_block *block, uint32_t bytes)
{
    share(e, block->args, block->n_args);
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        share(e, inst->results, inst->n_results);
        bool reduced = inst->op == IR_OP_GROUP_REDUCE && is_collective(inst);
        if (inst->op == IR_OP_VAR || reduced) bytes = place_variable(e, inst, bytes);
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b] && e->groups->grouped[inst->scratch]) bytes = place_block(e, inst->blocks[b], bytes);
    }
    return bytes;
}

uint32_t groups_place(struct emit *e, rval memory)
{
    const struct place *p = &e->place;
    e->groups->memory = memory;
    rval items = jit_mul(e, jit_mul(e, p->local_size[0], p->local_size[1]), p->local_size[2]);
    e->groups->items = jit_read(jit_keep(e, items));
    return (place_block(e, e->kernel->body, 0) + 15) / 16 * 16;
}

rval groups_memory(struct emit *e, const struct ir_inst *inst)
{
    const struct groups *g = e->groups;
    rval before = jit_mul(e, g->items, jit_int(e, IR_KIND_I64, g->offset[inst->scratch] - 1));
    return jit_read(jit_keep(e, jit_add(e, g->memory, before)));
}

bool groups_variable(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    struct groups *g = e->groups;
    if (!g || !g->offset[inst->scratch]) return false;
    uint64_t size = ir_type_size(e->module, inst->type);
    rval own = jit_mul(e, g->linear, jit_int(e, IR_KIND_I64, size));
    rval address = jit_read(jit_keep(e, jit_add(e, groups_memory(e, inst), own)));
    *result = lanes_linear(IR_KIND_PTR, address, e->width > 1 ? (int64_t)size : 0, NULL);
    return true;
}

void groups_item(struct emit *e)
{
    struct groups *g = e->groups;
    if (!g) return;
    g->linear = jit_read(jit_keep(e, place_local_linear(e)));
    for (uint32_t i = 0; i < g->n_variables; i++) {
        if (g->variables[i]->op != IR_OP_VAR) continue;
        struct lanes *address = arena_alloc(e->arena, sizeof *address);
        groups_variable(e, g->variables[i], address);
        e->values[g->variables[i]->results[0]->scratch] = address;
    }
}

/* ---- control flow of the group ---- */

static void run_block(struct emit *e, const struct ir_block *block);

/* Assigns the operands that are the group's to its variables, all at once. */
static void assign_shared(struct emit *e, const struct ir_inst *inst, struct ir_value **to)
{
    struct lanes **copies = arena_alloc(e->arena, (inst->n_operands + 1) * sizeof *copies);
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (!e->shared[to[i]->scratch]) continue;
        unsigned n = ir_type_lanes(to[i]->type);
        const struct lanes *from = emit_value(e, inst->operands[i]);
        copies[i] = arena_alloc(e->arena, n * sizeof **copies);
        for (unsigned c = 0; c < n; c++)
            copies[i][c] = lanes_uniform(from[c].kind, jit_read(jit_keep(e, from[c].scalar)));
    }
    for (uint32_t i = 0; i < inst->n_operands; i++)
        for (unsigned c = 0; copies[i] && c < ir_type_lanes(to[i]->type); c++)
            lanes_assign(e, &e->shared[to[i]->scratch][c], &copies[i][c], NULL);
}

static void run_if(struct emit *e, const struct ir_inst *inst)
{
    struct around a = {.outer = e->groups->around, .inst = inst, .exit = jit_block(e)};
    gcc_jit_block *begin[2] = {jit_block(e), jit_block(e)};
    jit_branch(e, emit_value(e, inst->operands[0])->scalar, begin[0], begin[1]);
    e->groups->around = &a;
    for (int b = 0; b < 2; b++) {
        jit_begin(e, begin[b]);
        run_block(e, inst->blocks[b]);
    }
    e->groups->around = a.outer;
    e->block = a.comes_out ? a.exit : NULL;
}

static void run_loop(struct emit *e, const struct ir_inst *inst)
{
    struct around a = {.outer = e->groups->around, .inst = inst, .head = jit_block(e), .exit = jit_block(e)};
    assign_shared(e, inst, inst->blocks[0]->args);
    jit_jump(e, a.head);
    jit_begin(e, a.head);
    e->groups->around = &a;
    run_block(e, inst->blocks[0]);
    e->groups->around = a.outer;
    e->block = a.comes_out ? a.exit : NULL;
}

static void run_terminator(struct emit *e, const struct ir_inst *inst)
{
    struct around *a = e->groups->around;
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
    default: jit_jump(e, e->groups->leave); /* return, or a place that control never comes to */
    }
}

/* ---- regions ---- */

static bool is_between(const struct emit *e, const struct ir_inst *inst)
{
    return (ir_op_info(inst->op)->flags & IR_FLAG_TERMINATOR) || e->groups->grouped[inst->scratch];
}

/* Up to where the work-items run on their own. */
static const struct ir_inst *region_end(const struct emit *e, const struct ir_inst *inst)
{
    while (!is_between(e, inst)) {
        bool meet = is_meeting(inst);
        inst = inst->next;
        if (meet) break;
    }
    return inst;
}

/* Whether what runs up to `end` is the same for all work-items, so that one may run it for all. */
static bool is_of_group(const struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    for (const struct ir_inst *i = first; i != end; i = i->next) {
        if (i->op == IR_OP_BARRIER) continue;
        bool harmless = (ir_op_info(i->op)->flags & IR_FLAG_PURE) || (i->op == IR_OP_LOAD && !i->attrs.is_volatile);
        if (!harmless || !e->shared[i->results[0]->scratch]) return false;
    }
    return true;
}

static void run_region(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    if (is_of_group(e, first, end)) {
        emit_reset(e);
        emit_insts(e, first, end);
        emit_reset(e);
        return;
    }
    for (const struct ir_inst *i = first; i != end; i = i->next)
        if (is_collective(i)) collective_begin(e, i);
    items_run(e, first, end);
    emit_reset(e);
    for (const struct ir_inst *i = first; i != end; i = i->next)
        if (is_collective(i)) collective_end(e, i);
}

static void run_block(struct emit *e, const struct ir_block *block)
{
    const struct ir_inst *inst = block->first;
    while (inst && e->block) {
        const struct ir_inst *end = region_end(e, inst);
        if (end != inst) {
            run_region(e, inst, end);
            if (inst == e->kernel->body->first) ahead_fetch(e, inst, end);
            inst = end;
        } else if (inst->op == IR_OP_IF) {
            run_if(e, inst);
            inst = inst->next;
        } else if (inst->op == IR_OP_LOOP) {
            run_loop(e, inst);
            inst = inst->next;
        } else {
            run_terminator(e, inst);
            return;
        }
    }
}

void groups_run(struct emit *e)
{
    e->groups->leave = jit_block(e);
    e->groups->around = NULL;
    emit_reset(e);
    run_block(e, e->kernel->body);
    if (e->block) jit_jump(e, e->groups->leave);
    jit_begin(e, e->groups->leave);
}
