/*
 * Private variables become values.
 *
 * A variable qualifies when it holds one number, vector or pointer and its address only serves whole loads
 * and stores (of a type of its size), or, for a vector, those of one lane. The walk keeps what each variable
 * holds; where an if or a loop stores to it, the value leaves it as a result, and rounds of the loop pass it
 * on as a parameter. What was never stored is undef.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"

/* The variables a loop passes on, by number; innermost loop first. */
struct carrier {
    const uint32_t *vars;
    uint32_t n;
    struct carrier *outer;
};

struct promote {
    struct ir_module *module;
    struct pass_map map;
    uint32_t *var_of; /* by number of a value: the variable whose address it is, from 1; 0: none */
    struct ir_inst **vars;
    uint32_t n_vars;
    struct ir_value **held; /* by variable: what it holds here; NULL: nothing */
    bool *alive;            /* by variable: its instruction has been passed */
};

/* ---- which variables ---- */

static bool holds_value(const struct ir_inst *var)
{
    return ir_type_is_number(var->type) || ir_type_is_ptr(var->type);
}

/* The load's or store's address is operand 0, and only that. */
static bool is_plain_access(const struct ir_inst *inst, const struct ir_value *address, ir_type t)
{
    if (inst->op != IR_OP_LOAD && inst->op != IR_OP_STORE) return false;
    if (inst->attrs.is_volatile || !pass_same_bits(t, inst->type)) return false;
    return inst->op == IR_OP_LOAD || inst->operands[1] != address;
}

static bool is_lane(const struct ir_inst *elem, ir_type vector)
{
    uint64_t lane;
    if (!ir_type_is_vector(vector) || elem->type != ir_type_element(vector) || ir_type_is_bool(vector)) return false;
    return ir_value_uint(elem->operands[1], &lane) && lane < ir_type_lanes(vector);
}

struct candidates {
    struct ir_inst **var; /* by number of a value: the variable it is the address of, or of a lane of */
    bool *refused;        /* by number of the variable's address */
};

static void find_var(struct ir_inst *inst, void *data)
{
    struct candidates *c = data;
    if (inst->op == IR_OP_VAR && holds_value(inst)) c->var[inst->results[0]->scratch] = inst;
    if (inst->op != IR_OP_ELEM) return;
    struct ir_inst *var = c->var[inst->operands[0]->scratch];
    if (var && inst->operands[0] == var->results[0] && is_lane(inst, var->type))
        c->var[inst->results[0]->scratch] = var;
}

static void check_use(struct ir_inst *inst, void *data)
{
    struct candidates *c = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *address = inst->operands[i];
        struct ir_inst *var = c->var[address->scratch];
        if (!var) continue;
        bool whole = address == var->results[0];
        ir_type t = whole ? var->type : ir_type_element(var->type);
        bool fine = is_plain_access(inst, address, t);
        if (whole && inst->op == IR_OP_ELEM) fine = c->var[inst->results[0]->scratch] == var;
        if (!fine) c->refused[var->results[0]->scratch] = true;
    }
}

static void *zeroed(size_t n, size_t size)
{
    return memset(arena_realloc(NULL, n * size), 0, n * size);
}

/* Numbers the variables that qualify and their lanes' addresses. */
static void choose(struct promote *p, struct ir_function *f)
{
    uint32_t n = pass_number(f);
    struct candidates c = {zeroed(n, sizeof *c.var), zeroed(n, sizeof *c.refused)};
    ir_walk(f->body, find_var, &c);
    ir_walk(f->body, check_use, &c);
    p->var_of = zeroed(n, sizeof *p->var_of);
    p->vars = zeroed(n, sizeof *p->vars);
    for (uint32_t i = 1; i < n; i++)
        if (c.var[i] && c.var[i]->results[0]->scratch == i && !c.refused[i]) {
            p->vars[p->n_vars++] = c.var[i];
            p->var_of[i] = p->n_vars;
        }
    for (uint32_t i = 1; i < n; i++)
        if (c.var[i]) p->var_of[i] = p->var_of[c.var[i]->results[0]->scratch];
    free(c.var);
    free(c.refused);
}

/* ---- what a variable holds ---- */

static struct ir_value *held(struct promote *p, uint32_t var)
{
    if (!p->held[var]) p->held[var] = ir_undef(p->module, p->vars[var]->type);
    return p->held[var];
}

static struct ir_value *cast(struct ir_inst *at, struct ir_value *v, ir_type t)
{
    struct ir_builder b = ir_builder_before(at);
    return v->type == t ? v : ir_build1(&b, IR_OP_BITCAST, t, v);
}

/* The lane that an address of a variable points at; NULL: at all of it. */
static struct ir_value *lane_of(const struct promote *p, uint32_t var, const struct ir_value *address)
{
    return address == p->vars[var]->results[0] ? NULL : address->of.inst->operands[1];
}

static void promote_load(struct promote *p, struct ir_inst *load, uint32_t var)
{
    struct ir_value *lane = lane_of(p, var, load->operands[0]), *v = held(p, var);
    struct ir_builder b = ir_builder_before(load);
    if (lane) v = ir_build2(&b, IR_OP_EXTRACT, p->vars[var]->type, v, lane);
    pass_map_set(&p->map, load->results[0], cast(load, v, load->type));
    ir_inst_remove(load);
}

static void promote_store(struct promote *p, struct ir_inst *store, uint32_t var)
{
    struct ir_value *lane = lane_of(p, var, store->operands[0]), *v = store->operands[1];
    ir_type t = p->vars[var]->type;
    struct ir_builder b = ir_builder_before(store);
    v = cast(store, v, lane ? ir_type_element(t) : t);
    if (lane) v = ir_build3(&b, IR_OP_INSERT, t, held(p, var), v, lane);
    p->held[var] = v;
    ir_inst_remove(store);
}

/* ---- control flow ---- */

static void note_stores(const struct promote *p, const struct ir_block *block, bool *stored)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_STORE && p->var_of[inst->operands[0]->scratch])
            stored[p->var_of[inst->operands[0]->scratch] - 1] = true;
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) note_stores(p, inst->blocks[b], stored);
    }
}

/* The living variables that the instruction's blocks store to; to be freed. */
static uint32_t *stored_inside(const struct promote *p, const struct ir_inst *inst, uint32_t *n)
{
    bool *stored = zeroed(p->n_vars, sizeof *stored);
    uint32_t *vars = zeroed(p->n_vars, sizeof *vars);
    *n = 0;
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]) note_stores(p, inst->blocks[b], stored);
    for (uint32_t i = 0; i < p->n_vars; i++)
        if (stored[i] && p->alive[i]) vars[(*n)++] = i;
    free(stored);
    return vars;
}

static void pass_on(struct promote *p, struct ir_inst *terminator, const uint32_t *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) pass_operand_add(terminator, held(p, vars[i]));
}

static void take_results(struct promote *p, struct ir_inst *inst, const uint32_t *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) p->held[vars[i]] = pass_result_add(inst, p->vars[vars[i]]->type);
}

static void promote_block(struct promote *p, struct ir_block *block, struct carrier *loop);

static void promote_if(struct promote *p, struct ir_inst *branch, struct carrier *loop)
{
    uint32_t n;
    uint32_t *vars = stored_inside(p, branch, &n);
    size_t size = p->n_vars * sizeof(struct ir_value *);
    struct ir_value **before = memcpy(arena_realloc(NULL, size), p->held, size);
    for (int b = 0; b < 2; b++) {
        memcpy(p->held, before, size);
        promote_block(p, branch->blocks[b], loop);
        struct ir_inst *end = branch->blocks[b]->last;
        if (end->op == IR_OP_YIELD) pass_on(p, end, vars, n);
    }
    memcpy(p->held, before, size);
    take_results(p, branch, vars, n);
    free(before);
    free(vars);
}

static void promote_loop(struct promote *p, struct ir_inst *loop, struct carrier *outer)
{
    struct carrier carrier = {.outer = outer};
    uint32_t *vars = stored_inside(p, loop, &carrier.n);
    carrier.vars = vars;
    pass_on(p, loop, vars, carrier.n);
    for (uint32_t i = 0; i < carrier.n; i++) p->held[vars[i]] = pass_arg_add(loop->blocks[0], p->vars[vars[i]]->type);
    size_t size = p->n_vars * sizeof(struct ir_value *);
    struct ir_value **before = memcpy(arena_realloc(NULL, size), p->held, size);
    promote_block(p, loop->blocks[0], &carrier);
    memcpy(p->held, before, size);
    take_results(p, loop, vars, carrier.n);
    free(before);
    free(vars);
}

static void promote_inst(struct promote *p, struct ir_inst *inst, struct carrier *loop)
{
    uint32_t var = 0;
    if (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE || inst->op == IR_OP_ELEM)
        var = p->var_of[inst->operands[0]->scratch];
    pass_map_operands(&p->map, inst);
    if (inst->op == IR_OP_VAR && p->var_of[inst->results[0]->scratch]) {
        var = p->var_of[inst->results[0]->scratch] - 1;
        p->alive[var] = true;
        p->held[var] = NULL;
    } else if (inst->op == IR_OP_LOAD && var) {
        promote_load(p, inst, var - 1);
    } else if (inst->op == IR_OP_STORE && var) {
        promote_store(p, inst, var - 1);
    } else if (inst->op == IR_OP_IF) {
        promote_if(p, inst, loop);
    } else if (inst->op == IR_OP_LOOP) {
        promote_loop(p, inst, loop);
    } else if (loop && (inst->op == IR_OP_BREAK || inst->op == IR_OP_CONTINUE)) {
        pass_on(p, inst, loop->vars, loop->n);
    }
}

static void promote_block(struct promote *p, struct ir_block *block, struct carrier *loop)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        promote_inst(p, inst, loop);
    }
}

/* The addresses have no uses left. */
static void remove_addresses(struct ir_inst *inst, void *data)
{
    const struct promote *p = data;
    if ((inst->op == IR_OP_ELEM || inst->op == IR_OP_VAR) && p->var_of[inst->results[0]->scratch]) ir_inst_remove(inst);
}

static bool run_mem2reg(struct ir_function *f)
{
    struct promote p = {.module = f->module};
    choose(&p, f);
    if (p.n_vars) {
        pass_map_init(&p.map, f); /* the same numbers again */
        p.held = zeroed(p.n_vars, sizeof *p.held);
        p.alive = zeroed(p.n_vars, sizeof *p.alive);
        promote_block(&p, f->body, NULL);
        ir_walk(f->body, remove_addresses, &p);
        pass_map_clear(&p.map);
        free(p.held);
        free(p.alive);
    }
    free(p.var_of);
    free(p.vars);
    return p.n_vars > 0;
}

const struct pass pass_mem2reg = {"mem2reg", "private variables become values", run_mem2reg};
