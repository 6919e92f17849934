/* Which memory an instruction touches, and whether two places in memory can be the same one. */
#include "fuser/passes/alias.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/passes/util.h"
#include "ir/base/arena.h"

/* ---- addresses ---- */

static struct ir_inst *maker(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

const struct ir_value *alias_root(const struct ir_value *v)
{
    for (;;) {
        const struct ir_inst *inst = maker(v);
        if (v->kind == IR_VALUE_PARAM) return v;
        if (!inst) return NULL;
        if (inst->op == IR_OP_VAR || inst->op == IR_OP_GLOBAL) return v;
        if (inst->op != IR_OP_ELEM && inst->op != IR_OP_FIELD && inst->op != IR_OP_SPACECAST) return NULL;
        v = inst->operands[0];
    }
}

static bool constant_index(const struct ir_value *v, uint64_t *index)
{
    unsigned bits = ir_type_bits(v->type);
    if (!ir_value_uint(v, index)) return false;
    if (bits < 64) *index = (uint64_t)((int64_t)(*index << (64 - bits)) >> (64 - bits));
    return true;
}

/* x of an index x + constant, whose multiple is added to the offset. */
static const struct ir_value *strip_sum(const struct ir_value *index, uint64_t scale, uint64_t *offset)
{
    const struct ir_inst *add = maker(index);
    uint64_t n;
    if (!add || add->op != IR_OP_ADD) return index;
    for (int i = 0; i < 2; i++)
        if (constant_index(add->operands[i], &n)) {
            *offset += n * scale;
            return add->operands[!i];
        }
    return index;
}

/* Variables and work-group memory always are. */
static bool is_in_small_memory(const struct alias *a, const struct alias_place *p)
{
    if (!p->root) return false;
    return a->is_small || p->root->kind != IR_VALUE_PARAM || p->space == IR_SPACE_LOCAL;
}

/* A sum of 32 bits may wrap before it is extended. But in small memory two places whose numbers are so far apart as to
   differ in what wrapped are never both there: of those that are, the low halves of the numbers tell the distance. */
static void see_index(const struct alias *a, struct alias_place *p, const struct ir_value *index)
{
    const struct ir_inst *extension;
    if (index->type == IR_I64) index = strip_sum(index, p->scale, &p->offset);
    p->index = index;
    extension = maker(index);
    if (!extension || (extension->op != IR_OP_SEXT && extension->op != IR_OP_ZEXT)) return;
    if (extension->operands[0]->type != IR_I32 || !is_in_small_memory(a, p)) return;
    p->extends = extension->op;
    p->index = strip_sum(extension->operands[0], p->scale, &p->offset);
}

struct alias_place alias_place(const struct alias *a, const struct ir_value *address, uint64_t size)
{
    struct alias_place p = {.root = alias_root(address), .size = size, .space = ir_type_space(address->type)};
    for (;;) {
        const struct ir_inst *inst = maker(address);
        uint64_t n;
        p.base = address;
        if (inst && inst->op == IR_OP_FIELD) {
            p.offset += ir_type_struct(a->module, inst->type)->fields[inst->attrs.index].offset;
        } else if (inst && inst->op == IR_OP_ELEM && constant_index(inst->operands[1], &n)) {
            p.offset += n * ir_type_size(a->module, inst->type);
        } else if (inst && inst->op == IR_OP_ELEM && !p.index) {
            p.scale = ir_type_size(a->module, inst->type);
            see_index(a, &p, inst->operands[1]);
        } else {
            return p;
        }
        address = inst->operands[0];
    }
}

/* ---- comparison ---- */

bool alias_same_base(const struct alias_place *x, const struct alias_place *y)
{
    if (!ir_value_same(x->base, y->base) || x->scale != y->scale || x->extends != y->extends) return false;
    return x->index == y->index || (x->index && y->index && ir_value_same(x->index, y->index));
}

static bool is_op(const struct ir_value *v, enum ir_op op)
{
    return maker(v) && maker(v)->op == op;
}

/* Parameters may overlap each other, but in a kernel; a global may lie where a parameter points. */
static bool roots_differ(const struct alias *a, const struct ir_value *x, const struct ir_value *y)
{
    if (x == y ||
        (is_op(x, IR_OP_GLOBAL) && is_op(y, IR_OP_GLOBAL) && maker(x)->attrs.global == maker(y)->attrs.global))
        return false;
    if (is_op(x, IR_OP_VAR) || is_op(y, IR_OP_VAR)) return true;
    if (x->kind == IR_VALUE_PARAM && y->kind == IR_VALUE_PARAM) return a->kernel;
    return is_op(x, IR_OP_GLOBAL) && is_op(y, IR_OP_GLOBAL);
}

static bool is_hidden(const struct alias *a, const struct alias_place *x)
{
    return x->root && is_op(x->root, IR_OP_VAR) && !a->escapes[x->root->scratch];
}

bool alias_may(const struct alias *a, const struct alias_place *x, const struct alias_place *y)
{
    if (x->space != y->space && x->space != IR_SPACE_GENERIC && y->space != IR_SPACE_GENERIC) return false;
    if (x->root && y->root && roots_differ(a, x->root, y->root)) return false;
    if ((!x->root && is_hidden(a, y)) || (!y->root && is_hidden(a, x))) return false;
    if (!alias_same_base(x, y) || x->size == UINT64_MAX || y->size == UINT64_MAX) return true;
    /* Circular distances: apart when each starts behind the other's end. */
    return y->offset - x->offset < x->size || x->offset - y->offset < y->size;
}

bool alias_touches(const struct alias *a, const struct alias_access *access, const struct alias_place *place)
{
    return (access->reads && alias_may(a, place, &access->read)) ||
           (access->writes && alias_may(a, place, &access->write));
}

bool alias_must(const struct alias_place *x, const struct alias_place *y)
{
    return alias_same_base(x, y) && x->offset == y->offset && x->size == y->size && x->size != UINT64_MAX;
}

bool alias_is_stable(const struct alias *a, const struct alias_place *x)
{
    if (x->space == IR_SPACE_CONSTANT || is_hidden(a, x)) return true;
    return a->kernel && !a->any_written && x->root && x->root->kind == IR_VALUE_PARAM && !a->written[x->root->scratch];
}

/* ---- instructions ---- */

static uint64_t copied_bytes(const struct alias *a, const struct ir_inst *copy)
{
    uint64_t n, size = ir_type_size(a->module, copy->type);
    if (!ir_value_uint(copy->operands[2], &n) || (size && n > INT64_MAX / size)) return UINT64_MAX;
    return n * size;
}

static struct alias_access access(bool reads, bool writes, struct alias_place place)
{
    return (struct alias_access){ALIAS_ACCESS, reads, writes, place, place};
}

struct alias_access alias_access(const struct alias *a, const struct ir_inst *inst)
{
    unsigned flags = ir_op_info(inst->op)->flags;
    bool reads = flags & IR_FLAG_READS, writes = flags & IR_FLAG_WRITES;
    struct alias_access none = {.effect = ALIAS_NONE};
    if (!reads && !writes) return none;
    switch (inst->op) {
    case IR_OP_LOAD:
    case IR_OP_STORE:
        return access(reads, writes, alias_place(a, inst->operands[0], ir_type_size(a->module, inst->type)));
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: return access(reads, writes, alias_place(a, inst->operands[0], UINT64_MAX));
    case IR_OP_COPY: {
        uint64_t bytes = copied_bytes(a, inst);
        return (struct alias_access){ALIAS_ACCESS, true, true, alias_place(a, inst->operands[1], bytes),
                                     alias_place(a, inst->operands[0], bytes)};
    }
    case IR_OP_PIPE_READ ... IR_OP_PIPE_WRITE_AT: {
        bool takes = inst->op <= IR_OP_PIPE_READ_AT;
        return access(!takes, takes, alias_place(a, inst->operands[1], ir_type_size(a->module, inst->type)));
    }
    case IR_OP_PIPE_RESERVE_READ ... IR_OP_PIPE_NUM_PACKETS:
    case IR_OP_IMAGE_READ:
    case IR_OP_IMAGE_WRITE:
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE:
    case IR_OP_FINDING: return none; /* of a constant of its own */
    case IR_OP_PRINTF:               /* strings may lie anywhere */
    case IR_OP_CALL: return (struct alias_access){.effect = ALIAS_CALL};
    default: return (struct alias_access){.effect = ALIAS_SYNC}; /* barrier, fence, atomics */
    }
}

/* ---- facts about a function ---- */

static bool only_addresses(const struct ir_inst *inst, uint32_t operand)
{
    switch (inst->op) {
    case IR_OP_STORE: return operand == 0;
    case IR_OP_LOAD:
    case IR_OP_COPY:
    case IR_OP_PREFETCH:
    case IR_OP_PIPE_READ ... IR_OP_PIPE_WRITE_AT: return true;
    default: return false;
    }
}

static void note_escape(struct ir_inst *inst, void *data)
{
    const struct alias *a = data;
    if (inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD) return; /* what they give is followed instead */
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (!ir_type_is_ptr(inst->operands[i]->type) || only_addresses(inst, i)) continue;
        const struct ir_value *root = alias_root(inst->operands[i]);
        if (root && is_op(root, IR_OP_VAR)) a->escapes[root->scratch] = true;
    }
}

static void note_written(struct alias *a, const struct ir_value *root)
{
    if (root) {
        a->written[root->scratch] = true;
    } else {
        a->any_written = true;
    }
}

static void note_write(struct ir_inst *inst, void *data)
{
    struct alias *a = data;
    struct alias_access access = alias_access(a, inst);
    if (access.effect == ALIAS_CALL) a->any_written = true;
    if (access.effect == ALIAS_ACCESS && access.writes) note_written(a, access.write.root);
    if (access.effect == ALIAS_SYNC && inst->n_operands) note_written(a, alias_root(inst->operands[0]));
}

void alias_init(struct alias *a, struct ir_function *f, uint32_t n)
{
    *a = (struct alias){.module = f->module, .kernel = f->linkage == IR_LINKAGE_KERNEL};
    a->is_small = a->kernel && f->assumes & IR_ASSUME_SMALL_MEMORY;
    a->escapes = memset(arena_realloc(NULL, n), 0, n);
    a->written = memset(arena_realloc(NULL, n), 0, n);
    ir_walk(f->body, note_escape, a);
    ir_walk(f->body, note_write, a);
}

void alias_clear(struct alias *a)
{
    free(a->escapes);
    free(a->written);
}
