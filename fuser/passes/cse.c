/*
 * Equal pure operations become one: a later one takes the result of an earlier one that dominates it.
 * In structured control flow that is what stands before it in its own block or in a block around it.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"

enum { N_BUCKETS = 1024 };

struct entry {
    struct ir_inst *inst;
    uint32_t hash;
    int32_t next; /* in its bucket; -1: none */
};

struct cse {
    struct pass_map map;
    struct entry *entries; /* a stack: a block takes its own away when it ends */
    int32_t n, capacity;
    int32_t buckets[N_BUCKETS];
    bool changed;
};

static bool commutes(enum ir_op op)
{
    switch (op) {
    case IR_OP_ADD:
    case IR_OP_MUL:
    case IR_OP_AND:
    case IR_OP_OR:
    case IR_OP_XOR:
    case IR_OP_SMIN:
    case IR_OP_UMIN:
    case IR_OP_SMAX:
    case IR_OP_UMAX:
    case IR_OP_FADD:
    case IR_OP_FMUL:
    case IR_OP_IEQ:
    case IR_OP_INE:
    case IR_OP_FOEQ:
    case IR_OP_FUNE: return true;
    default: return false;
    }
}

/* ---- equality ---- */

static uint32_t mix(uint32_t hash, uint64_t v)
{
    hash = (hash ^ (uint32_t)v ^ (uint32_t)(v >> 32)) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

static uint32_t hash_value(const struct ir_value *v)
{
    if (v->kind != IR_VALUE_CONST) return mix(1, (uintptr_t)v >> 4);
    uint32_t hash = mix(2, v->type);
    for (unsigned i = 0; i < ir_type_lanes(v->type); i++) hash = mix(hash, v->of.lanes[i]);
    return hash;
}

static uint32_t hash_inst(const struct ir_inst *inst)
{
    uint32_t hash = mix(inst->op, inst->type);
    for (uint32_t i = 0; i < inst->n_operands; i++) hash = mix(hash, hash_value(inst->operands[i]));
    return mix(hash, inst->attrs.dim);
}

static bool same_inst(const struct ir_inst *a, const struct ir_inst *b)
{
    if (a->op != b->op || a->type != b->type || a->n_operands != b->n_operands) return false;
    for (uint32_t i = 0; i < a->n_operands; i++)
        if (!ir_value_same(a->operands[i], b->operands[i])) return false;
    return a->results[0]->type == b->results[0]->type && pass_same_attrs(&a->attrs, &b->attrs);
}

/* ---- the table ---- */

static struct ir_inst *find(const struct cse *c, const struct ir_inst *inst, uint32_t hash)
{
    for (int32_t i = c->buckets[hash % N_BUCKETS]; i >= 0; i = c->entries[i].next)
        if (c->entries[i].hash == hash && same_inst(c->entries[i].inst, inst)) return c->entries[i].inst;
    return NULL;
}

static void push(struct cse *c, struct ir_inst *inst, uint32_t hash)
{
    if (c->n == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 256;
        c->entries = arena_realloc(c->entries, (size_t)c->capacity * sizeof *c->entries);
    }
    int32_t *bucket = &c->buckets[hash % N_BUCKETS];
    c->entries[c->n] = (struct entry){inst, hash, *bucket};
    *bucket = c->n++;
}

static void pop_to(struct cse *c, int32_t n)
{
    while (c->n > n) {
        struct entry *e = &c->entries[--c->n];
        c->buckets[e->hash % N_BUCKETS] = e->next;
    }
}

/* ---- the walk ---- */

/* An order for operands that may change places: constants last, then by what comes first in the function. */
static uint64_t rank(const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF ? UINT64_MAX : v->scratch;
}

static void order_operands(struct cse *c, struct ir_inst *inst)
{
    struct ir_value **o = inst->operands;
    if (!commutes(inst->op) || rank(o[0]) <= rank(o[1])) return;
    struct ir_value *swap = o[0];
    o[0] = o[1];
    o[1] = swap;
    c->changed = true;
}

static void cse_block(struct cse *c, struct ir_block *block)
{
    int32_t n = c->n;
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        pass_map_operands(&c->map, inst);
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) cse_block(c, inst->blocks[b]);
        if (!pass_is_pure(inst) || inst->n_results != 1) continue;
        order_operands(c, inst);
        uint32_t hash = hash_inst(inst);
        struct ir_inst *same = find(c, inst, hash);
        if (!same) {
            push(c, inst, hash);
            continue;
        }
        pass_map_set(&c->map, inst->results[0], same->results[0]);
        ir_inst_remove(inst);
        c->changed = true;
    }
    pop_to(c, n);
}

static bool run_cse(struct ir_function *f)
{
    struct cse *c = arena_realloc(NULL, sizeof *c);
    *c = (struct cse){0};
    for (int i = 0; i < N_BUCKETS; i++) c->buckets[i] = -1;
    pass_map_init(&c->map, f);
    cse_block(c, f->body);
    pass_map_clear(&c->map);
    bool changed = c->changed;
    free(c->entries);
    free(c);
    return changed;
}

const struct pass pass_cse = {"cse", "equal pure operations", run_cse};
