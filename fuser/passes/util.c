/* What the passes share: numbers for values, replacement of values, and changes to the shape of if and loop. */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/util.h"
#include "ir/base/arena.h"

/* ---- numbers and replacement ---- */

static void clear_constants(struct ir_inst *inst, void *data)
{
    (void)data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct ir_value *v = inst->operands[i];
        if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) v->scratch = 0;
    }
}

static void number_args(const struct ir_inst *inst, uint32_t *next)
{
    for (int b = 0; b < 2; b++)
        for (uint32_t i = 0; inst->blocks[b] && i < inst->blocks[b]->n_args; i++)
            inst->blocks[b]->args[i]->scratch = (*next)++;
}

static void number_inst(struct ir_inst *inst, void *data)
{
    uint32_t *next = data;
    for (uint32_t i = 0; i < inst->n_results; i++) inst->results[i]->scratch = (*next)++;
    number_args(inst, next);
}

uint32_t pass_number(struct ir_function *f)
{
    uint32_t next = 1;
    for (uint32_t i = 0; i < f->n_params; i++) f->params[i].value->scratch = next++;
    ir_walk(f->body, clear_constants, NULL);
    ir_walk(f->body, number_inst, &next);
    return next;
}

uint32_t pass_number_inside(const struct ir_inst *inst, uint32_t next)
{
    number_args(inst, &next);
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]) ir_walk(inst->blocks[b], number_inst, &next);
    return next;
}

static void *zeroed(size_t n, size_t size)
{
    void *p = arena_realloc(NULL, n * size);
    memset(p, 0, n * size);
    return p;
}

void pass_map_init(struct pass_map *map, struct ir_function *f)
{
    map->to = zeroed(pass_number(f), sizeof(struct ir_value *));
}

void pass_map_clear(struct pass_map *map)
{
    free(map->to);
    map->to = NULL;
}

void pass_map_set(struct pass_map *map, const struct ir_value *from, struct ir_value *to)
{
    if (from->scratch && from != to) map->to[from->scratch] = to;
}

struct ir_value *pass_map_get(const struct pass_map *map, struct ir_value *v)
{
    while (v->scratch && map->to[v->scratch]) v = map->to[v->scratch];
    return v;
}

void pass_map_operands(const struct pass_map *map, struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) inst->operands[i] = pass_map_get(map, inst->operands[i]);
}

static void map_visit(struct ir_inst *inst, void *data)
{
    pass_map_operands(data, inst);
}

void pass_map_all(const struct pass_map *map, struct ir_function *f)
{
    ir_walk(f->body, map_visit, (void *)map);
}

static void count_visit(struct ir_inst *inst, void *data)
{
    uint32_t *uses = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) uses[inst->operands[i]->scratch]++;
}

uint32_t *pass_count_uses(struct ir_function *f)
{
    uint32_t *uses = zeroed(pass_number(f), sizeof *uses);
    ir_walk(f->body, count_visit, uses);
    return uses;
}

/* ---- facts ---- */

bool pass_is_pure(const struct ir_inst *inst)
{
    return ir_op_info(inst->op)->flags & IR_FLAG_PURE;
}

bool pass_is_by_itself(const struct ir_inst *inst)
{
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_ARITHMETIC:
    case IR_CLASS_COMPARISON:
    case IR_CLASS_CONVERSION:
    case IR_CLASS_VECTOR:
    case IR_CLASS_MATH: return true;
    case IR_CLASS_MEMORY: return inst->op != IR_OP_FENCE && !inst->attrs.is_volatile;
    case IR_CLASS_ND_RANGE:
        return inst->op == IR_OP_GLOBAL_ID || inst->op == IR_OP_GLOBAL_SIZE || inst->op == IR_OP_GLOBAL_OFFSET ||
               inst->op == IR_OP_WORK_DIM;
    case IR_CLASS_CONTROL: return inst->op != IR_OP_CALL && inst->op != IR_OP_UNREACHABLE;
    default: return false;
    }
}

static bool is_of_id(const struct ir_value *v, unsigned depth)
{
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT && depth ? v->of.inst : NULL;
    if (!inst) return false;
    if (inst->op == IR_OP_LOCAL_ID || inst->op == IR_OP_GLOBAL_ID || inst->op == IR_OP_LOCAL_LINEAR_ID) return true;
    if (!pass_is_pure(inst) && inst->op != IR_OP_LOAD) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (is_of_id(inst->operands[i], depth - 1)) return true;
    return false;
}

bool pass_is_of_id(const struct ir_value *v)
{
    enum { DEEPEST = 12 };
    return is_of_id(v, DEEPEST);
}

bool pass_is_terminator(const struct ir_inst *inst)
{
    return ir_op_info(inst->op)->flags & IR_FLAG_TERMINATOR;
}

static unsigned bits_of(ir_type t)
{
    return ir_type_bits(t) * ir_type_lanes(t);
}

bool pass_same_bits(ir_type t, ir_type u)
{
    if (t == u) return true;
    if (!ir_type_is_number(t) || !ir_type_is_number(u) || ir_type_is_bool(t) || ir_type_is_bool(u)) return false;
    return bits_of(t) == bits_of(u) && (ir_type_lanes(t) == 3) == (ir_type_lanes(u) == 3);
}

bool pass_same_attrs(const struct ir_attrs *a, const struct ir_attrs *b)
{
    return a->dim == b->dim && a->scope == b->scope && a->order == b->order && a->order_fail == b->order_fail &&
           a->rounding == b->rounding && a->saturate == b->saturate && a->is_volatile == b->is_volatile &&
           a->group_op == b->group_op && a->fp == b->fp && a->fence == b->fence && a->space == b->space &&
           a->align == b->align && a->index == b->index && memcmp(a->mask, b->mask, sizeof a->mask) == 0 &&
           a->callee == b->callee && a->global == b->global;
}

bool pass_contains(const struct ir_inst *inst, enum ir_op op)
{
    if (inst->op == op) return true;
    for (int b = 0; b < 2; b++)
        for (struct ir_inst *i = inst->blocks[b] ? inst->blocks[b]->first : NULL; i; i = i->next)
            if (pass_contains(i, op)) return true;
    return false;
}

static void note_exit(struct ir_inst *inst, void *data)
{
    (void)inst;
    *(bool *)data = true;
}

bool pass_leaves(const struct ir_inst *inst)
{
    bool leaves = pass_contains(inst, IR_OP_RETURN);
    for (int b = 0; b < 2 && inst->op == IR_OP_IF; b++) pass_walk_exits(inst->blocks[b], note_exit, &leaves);
    return leaves;
}

bool pass_is_inside(const struct ir_value *v, const struct ir_inst *inst)
{
    const struct ir_block *block = NULL;
    if (v->kind == IR_VALUE_BLOCK_ARG) block = v->of.block;
    if (v->kind == IR_VALUE_RESULT) block = v->of.inst->parent;
    for (; block; block = block->parent ? block->parent->parent : NULL)
        if (block->parent == inst) return true;
    return false;
}

void pass_walk_exits(struct ir_block *body, void (*visit)(struct ir_inst *inst, void *data), void *data)
{
    for (struct ir_inst *inst = body->first, *next; inst; inst = next) {
        next = inst->next;
        if (inst->op == IR_OP_BREAK || inst->op == IR_OP_CONTINUE || inst->op == IR_OP_RETURN) visit(inst, data);
        if (inst->op == IR_OP_IF)
            for (int b = 0; b < 2; b++) pass_walk_exits(inst->blocks[b], visit, data);
    }
}

/* ---- shape ---- */

static struct ir_module *module_of(const struct ir_inst *inst)
{
    return inst->parent->function->module;
}

void pass_operands_set(struct ir_inst *inst, struct ir_value *const *operands, uint32_t n)
{
    struct ir_value **copy = n ? ir_alloc(module_of(inst), n * sizeof(struct ir_value *)) : NULL;
    if (n) memcpy(copy, operands, n * sizeof(struct ir_value *));
    inst->operands = copy;
    inst->n_operands = n;
}

/* An array with one more value at its end. */
static struct ir_value **appended(struct ir_module *m, struct ir_value **values, uint32_t n, struct ir_value *v)
{
    struct ir_value **longer = ir_alloc(m, (n + 1) * sizeof(struct ir_value *));
    if (n) memcpy(longer, values, n * sizeof(struct ir_value *));
    longer[n] = v;
    return longer;
}

static void erase(struct ir_value **values, uint32_t *n, uint32_t i)
{
    (*n)--;
    memmove(values + i, values + i + 1, (*n - i) * sizeof(struct ir_value *));
}

void pass_operand_add(struct ir_inst *inst, struct ir_value *v)
{
    inst->operands = appended(module_of(inst), inst->operands, inst->n_operands, v);
    inst->n_operands++;
}

void pass_operand_remove(struct ir_inst *inst, uint32_t i)
{
    erase(inst->operands, &inst->n_operands, i);
}

static struct ir_value *value_new(struct ir_module *m, enum ir_value_kind kind, ir_type type, uint32_t index)
{
    struct ir_value *v = ir_alloc(m, sizeof *v);
    v->kind = kind;
    v->type = type;
    v->index = index;
    return v;
}

void pass_result_adopt(struct ir_inst *inst, struct ir_value *result)
{
    result->of.inst = inst;
    result->index = inst->n_results;
    inst->results = appended(module_of(inst), inst->results, inst->n_results, result);
    inst->n_results++;
}

struct ir_value *pass_result_add(struct ir_inst *inst, ir_type type)
{
    struct ir_value *v = value_new(module_of(inst), IR_VALUE_RESULT, type, 0);
    pass_result_adopt(inst, v);
    return v;
}

void pass_result_remove(struct ir_inst *inst, uint32_t i)
{
    erase(inst->results, &inst->n_results, i);
    for (; i < inst->n_results; i++) inst->results[i]->index = i;
}

struct ir_value *pass_arg_add(struct ir_block *block, ir_type type)
{
    struct ir_module *m = block->function->module;
    struct ir_value *v = value_new(m, IR_VALUE_BLOCK_ARG, type, block->n_args);
    v->of.block = block;
    block->args = appended(m, block->args, block->n_args, v);
    block->n_args++;
    return v;
}

void pass_arg_remove(struct ir_block *block, uint32_t i)
{
    erase(block->args, &block->n_args, i);
    for (; i < block->n_args; i++) block->args[i]->index = i;
}

static void append_inst(struct ir_block *to, struct ir_inst *inst)
{
    inst->parent = to;
    inst->prev = to->last;
    inst->next = NULL;
    *(to->last ? &to->last->next : &to->first) = inst;
    to->last = inst;
}

void pass_move_tail(struct ir_inst *first, struct ir_block *to)
{
    for (struct ir_inst *inst = first, *next; inst; inst = next) {
        next = inst->next;
        ir_inst_remove(inst);
        append_inst(to, inst);
    }
}

void pass_move_body(struct ir_inst *first, struct ir_inst *before)
{
    for (struct ir_inst *inst = first, *next; inst && !pass_is_terminator(inst); inst = next) {
        next = inst->next;
        ir_inst_move_before(inst, before);
    }
}

void pass_cut_tail(struct ir_inst *first)
{
    for (struct ir_inst *inst = first, *next; inst; inst = next) {
        next = inst->next;
        ir_inst_remove(inst);
    }
}
