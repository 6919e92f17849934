/* Puts the checks into a kernel. */
#include "fuser/bounds/checks.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/access/access.h"
#include "fuser/bounds/findings.h"
#include "fuser/bounds/places.h"
#include "fuser/bounds/proofs.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"

struct list {
    uint32_t n;
    struct ir_inst **insts;
};

static void add(struct list *l, struct ir_inst *inst)
{
    l->insts = arena_realloc(l->insts, (l->n + 1) * sizeof(struct ir_inst *));
    l->insts[l->n++] = inst;
}

/* Through how many of its first operands it accesses memory. Pipes and printf are not looked at. */
static unsigned n_pointers(const struct ir_inst *inst)
{
    if (ir_op_class(inst->op) == IR_CLASS_ATOMIC) return 1;
    switch (inst->op) {
    case IR_OP_LOAD:
    case IR_OP_STORE:
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: return 1;
    case IR_OP_COPY: return 2;
    default: return 0;
    }
}

/* ---- what is known of a kernel ---- */

struct checking {
    struct ir_function *kernel;
    const struct bounds_launch *launch;
    struct places places;
    struct proofs proofs;
    struct list open; /* accesses that are not proved */
    struct bounds_count count;
};

static bool is_proved(struct checking *c, const struct ir_inst *inst)
{
    for (unsigned i = 0; i < n_pointers(inst); i++)
        if (!proofs_has(&c->proofs, inst, i)) return false;
    return true;
}

static bool is_unknown(struct checking *c, const struct ir_inst *inst)
{
    for (unsigned i = 0; i < n_pointers(inst); i++) {
        int32_t root = places_root(&c->places, inst->operands[i]);
        if (root == PLACE_UNKNOWN || root == PLACE_NONE) return true;
    }
    return false;
}

static void see_access(struct ir_inst *inst, void *data)
{
    struct checking *c = data;
    if (!n_pointers(inst)) return;
    if (is_proved(c, inst)) {
        c->count.proved++;
    } else if (is_unknown(c, inst)) {
        if (!c->count.unknown++) c->count.unknown_line = inst->loc.line;
    } else {
        add(&c->open, inst);
    }
}

static void look(struct checking *c)
{
    const struct bounds_launch *l = c->launch;
    struct access_analysis *a = access_analyse_inlined(c->kernel, &l->range, l->sub_group_size, false, NULL);
    places_find(&c->places, c->kernel, l);
    proofs_find(&c->proofs, c->kernel, a, &l->range, &c->places);
    access_analysis_free(a);
    c->open.n = 0;
    c->count = (struct bounds_count){0};
    ir_walk(c->kernel->body, see_access, c);
}

static void forget(struct checking *c)
{
    proofs_clear(&c->proofs);
    places_clear(&c->places);
}

/* ---- blocks of sub-groups ---- */

/* Component k is p[k * size + id]: what a work-item has of it, by itself. */
static void split_block(struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst);
    b.loc = inst->loc;
    bool reads = inst->op == IR_OP_BLOCK_READ;
    ir_type t = inst->type, element = ir_type_element(t);
    uint32_t n = ir_type_lanes(t);
    struct ir_value *size = ir_build0(&b, IR_OP_SUB_GROUP_MAX_SIZE, IR_VOID), *all = NULL;
    struct ir_value *index = ir_build0(&b, IR_OP_SUB_GROUP_LOCAL_ID, IR_VOID);
    if (reads && n > 1) all = ir_undef(b.module, t);
    for (uint32_t k = 0; k < n; k++) {
        struct ir_value *lane = ir_const_int(b.module, IR_I32, k), *one;
        if (k) index = ir_build2(&b, IR_OP_ADD, IR_I32, index, size);
        if (reads) {
            one = ir_build_load(&b, element, inst->operands[0], index);
            all = n > 1 ? ir_build3(&b, IR_OP_INSERT, t, all, one, lane) : one;
        } else {
            one = inst->operands[1];
            if (n > 1) one = ir_build2(&b, IR_OP_EXTRACT, t, one, lane);
            ir_build_store(&b, element, inst->operands[0], index, one);
        }
    }
    if (reads) ir_replace_uses(inst->parent->function->body, inst->results[0], all);
    ir_inst_remove(inst);
}

/* All work-items of a sub-group come to a block, and each may be outside or not: those become loads and stores. */
static bool split_blocks(struct checking *c)
{
    bool changed = false;
    for (uint32_t i = 0; i < c->open.n; i++) {
        struct ir_inst *inst = c->open.insts[i];
        if (inst->op != IR_OP_BLOCK_READ && inst->op != IR_OP_BLOCK_WRITE) continue;
        split_block(inst);
        changed = true;
    }
    return changed;
}

/* ---- checks ---- */

/* So many bytes from the offset on are inside of memory of that size. */
static struct ir_value *fits(struct ir_builder *b, struct ir_value *offset, struct ir_value *bytes, uint64_t size)
{
    uint64_t known;
    struct ir_module *m = b->module;
    struct ir_value *whole = ir_const_int(m, IR_I64, size);
    if (ir_value_uint(bytes, &known)) {
        if (known > size) return ir_const_bool(m, false);
        return ir_build2(b, IR_OP_ULE, IR_I64, offset, ir_const_int(m, IR_I64, size - known));
    }
    struct ir_value *begins = ir_build2(b, IR_OP_ULE, IR_I64, offset, whole);
    struct ir_value *left = ir_build2(b, IR_OP_SUB, IR_I64, whole, offset);
    struct ir_value *ends = ir_build2(b, IR_OP_ULE, IR_I64, bytes, left);
    struct ir_value *none = ir_build2(b, IR_OP_IEQ, IR_I64, bytes, ir_const_int(m, IR_I64, 0));
    return ir_build2(b, IR_OP_OR, IR_BOOL, none, ir_build2(b, IR_OP_AND, IR_BOOL, begins, ends));
}

static struct ir_value *bytes_of(struct ir_builder *b, const struct ir_inst *inst)
{
    struct ir_value *one = ir_const_int(b->module, IR_I64, findings_bytes(inst));
    if (inst->op != IR_OP_COPY) return one;
    struct ir_value *count = inst->operands[2];
    uint64_t known;
    if (ir_value_uint(count, &known)) return ir_const_int(b->module, IR_I64, known * findings_bytes(inst));
    if (count->type != IR_I64) count = ir_build1(b, IR_OP_SEXT, IR_I64, count);
    return ir_build2(b, IR_OP_MUL, IR_I64, count, one);
}

static struct ir_value *condition(struct checking *c, struct ir_builder *b, const struct ir_inst *inst,
                                  unsigned operand)
{
    struct places *p = &c->places;
    struct ir_value *pointer = inst->operands[operand], *offset = places_offset(p, pointer), *bytes = bytes_of(b, inst);
    int32_t root = places_root(p, pointer);
    if (root > 0) return fits(b, offset, bytes, p->roots[root].bytes);
    struct ir_value *memory = places_memory(p, pointer), *good = NULL;
    for (uint32_t i = 1; i < p->n_roots; i++) {
        struct ir_value *is = ir_build2(b, IR_OP_IEQ, IR_I32, memory, ir_const_int(b->module, IR_I32, i));
        is = ir_build2(b, IR_OP_AND, IR_BOOL, is, fits(b, offset, bytes, p->roots[i].bytes));
        good = good ? ir_build2(b, IR_OP_OR, IR_BOOL, good, is) : is;
    }
    return good;
}

/* The instruction, and what follows from it, under the condition; else the finding and a result of zeros. */
static void guard(struct checking *c, struct ir_inst *inst, unsigned operand)
{
    static const uint64_t zeros[IR_MAX_LANES];
    struct ir_builder b = ir_builder_before(inst);
    b.loc = inst->loc;
    uint32_t n = inst->n_results;
    ir_type type = n ? inst->results[0]->type : IR_VOID;
    struct ir_inst *is = ir_build_if(&b, condition(c, &b, inst, operand), &type, n);
    struct ir_builder inside = ir_builder_at_end(is->blocks[0]), outside = ir_builder_at_end(is->blocks[1]);
    inside.loc = outside.loc = inst->loc;
    if (n) ir_replace_uses(c->kernel->body, inst->results[0], is->results[0]);
    struct ir_value *zero = n ? ir_const(b.module, type, zeros) : NULL;
    ir_inst_move_before(inst, ir_build(&inside, IR_OP_YIELD, IR_VOID, inst->results, n));
    findings_tell(&outside, &c->places, c->launch, inst, operand);
    ir_build(&outside, IR_OP_YIELD, IR_VOID, &zero, n);
}

static void check_all(struct checking *c)
{
    places_carry(&c->places);
    for (uint32_t i = 0; i < c->open.n; i++) {
        struct ir_inst *inst = c->open.insts[i];
        c->count.checked++;
        for (unsigned k = 0; k < n_pointers(inst); k++) /* of a copy what it reads comes first: outermost */
            if (!proofs_has(&c->proofs, inst, n_pointers(inst) - 1 - k)) guard(c, inst, n_pointers(inst) - 1 - k);
    }
}

struct bounds_count bounds_add_checks(struct ir_function *kernel, const struct bounds_launch *launch)
{
    struct checking c = {.kernel = kernel, .launch = launch};
    pipeline_run(&pipeline_analysis, kernel);
    look(&c);
    if (split_blocks(&c)) {
        forget(&c);
        look(&c);
    }
    check_all(&c);
    forget(&c);
    free(c.open.insts);
    return c.count;
}
