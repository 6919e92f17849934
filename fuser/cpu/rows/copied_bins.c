/*
 * Bins of a work-group, as those of a histogram. Neighbours mostly have the same bin or one of a few, and a processor
 * that has just stored a number takes as long as several additions until it can load it again. So a small array in
 * which a loop counts is there several times, and neighbours count in different copies. What a bin has is the sum of
 * its copies, at any time: one thread runs the group, a number that is put into it goes into the first copy, and zeros
 * into the others.
 */
#include "fuser/cpu/rows/copied_bins.h"

#include <stdlib.h>

#include "fuser/passes/util.h"
#include "ir/core/facts.h"
#include "ir/core/layout.h"

enum { MOST_BYTES = 4096 }; /* of an array: all of its copies are to stay in the nearest cache */

/* What is done with an array. */
struct bins {
    struct ir_global *array;
    ir_type number;        /* all accesses are of it */
    bool counts, is_other; /* in a loop; in a way that is not known here */
};

struct finder {
    struct bins *bins;
    uint32_t n_bins;
    uint32_t *of;         /* by value: one more than the number of the array that it points into; 0: none */
    const uint32_t *uses; /* by value */
};

/* ---- which arrays ---- */

static void see_array(struct finder *f, const struct ir_inst *inst)
{
    struct ir_global *g = inst->attrs.global;
    if (g->space != IR_SPACE_LOCAL || ir_type_kind(g->type) == IR_KIND_PIPE) return;
    uint32_t i = 0;
    while (i < f->n_bins && f->bins[i].array != g) i++;
    if (i == f->n_bins) {
        f->bins = realloc(f->bins, ++f->n_bins * sizeof *f->bins);
        bool is_large = ir_type_size(inst->parent->function->module, g->type) > MOST_BYTES;
        f->bins[i] = (struct bins){.array = g, .number = IR_VOID, .is_other = is_large};
    }
    f->of[inst->results[0]->scratch] = i + 1;
}

static bool are_copied(const struct bins *b)
{
    return b->counts && !b->is_other;
}

static bool has_number(struct bins *b, ir_type type)
{
    if (type != IR_I32 && type != IR_I64) return false;
    if (b->number == IR_VOID) b->number = type;
    return b->number == type;
}

/* Numbers that are not known are what scans and trees put in: these load and store more often than counters count. */
static bool is_known_access(const struct finder *f, struct bins *b, const struct ir_inst *inst)
{
    if (inst->attrs.is_volatile || !has_number(b, inst->type)) return false;
    switch (inst->op) {
    case IR_OP_LOAD: return true;
    case IR_OP_STORE: return inst->operands[1]->kind == IR_VALUE_CONST;
    case IR_OP_ATOMIC_ADD:
    case IR_OP_ATOMIC_SUB: return !f->uses[inst->results[0]->scratch];
    default: return false;
    }
}

static void see(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    if (inst->op == IR_OP_GLOBAL) see_array(f, inst);
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        uint32_t of = f->of[inst->operands[i]->scratch];
        if (!of) continue;
        struct bins *b = &f->bins[of - 1];
        if (i == 0 && (inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD))
            f->of[inst->results[0]->scratch] = of;
        else if (i > 0 || !is_known_access(f, b, inst))
            b->is_other = true;
        else if (inst->op != IR_OP_LOAD && inst->op != IR_OP_STORE && ir_enclosing_loop(inst))
            b->counts = true;
    }
}

/* ---- copies ---- */

static struct ir_value *copy_of(struct ir_builder *b, const struct ir_inst *access, uint64_t elements)
{
    struct ir_value *operands[] = {access->operands[0], ir_const_int(b->module, IR_I64, elements)};
    return ir_build_ptr(b, IR_OP_ELEM, access->type, IR_SPACE_LOCAL, operands, 2)->results[0];
}

static void load_sum(struct ir_builder *b, struct ir_inst *load, uint64_t elements)
{
    struct ir_value *others = NULL;
    for (unsigned c = 1; c < BIN_COPIES; c++) {
        struct ir_value *v = ir_build_load(b, load->type, copy_of(b, load, c * elements), NULL);
        others = others ? ir_build2(b, IR_OP_ADD, load->type, others, v) : v;
    }
    struct ir_value *sum = ir_build2(b, IR_OP_ADD, load->type, others, others);
    ir_replace_uses(load->parent, load->results[0], sum);
    sum->of.inst->operands[0] = load->results[0];
}

static void store_zeros(struct ir_builder *b, const struct ir_inst *store, uint64_t elements)
{
    for (unsigned c = 1; c < BIN_COPIES; c++)
        ir_build_store(b, store->type, copy_of(b, store, c * elements), NULL, ir_const_int(b->module, store->type, 0));
}

static void use_copies(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    uint32_t of = inst->n_operands ? f->of[inst->operands[0]->scratch] : 0;
    const struct bins *bins = of ? &f->bins[of - 1] : NULL;
    if (!bins || !are_copied(bins) || inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD) return;
    struct ir_builder b = ir_builder_before(inst->next);
    uint64_t bytes = ir_type_size(b.module, bins->array->type);
    if (inst->op == IR_OP_LOAD)
        load_sum(&b, inst, bytes / ir_type_size(b.module, inst->type));
    else if (inst->op == IR_OP_STORE)
        store_zeros(&b, inst, bytes / ir_type_size(b.module, inst->type));
    else
        inst->attrs.index = (uint32_t)bytes;
}

void copied_bins_make(struct ir_function *kernel)
{
    struct finder f = {.of = calloc(pass_number(kernel), sizeof *f.of), .uses = pass_count_uses(kernel)};
    ir_walk(kernel->body, see, &f);
    ir_walk(kernel->body, use_copies, &f);
    for (uint32_t i = 0; i < f.n_bins; i++)
        if (are_copied(&f.bins[i]))
            f.bins[i].array->type = ir_array_type(kernel->module, f.bins[i].array->type, BIN_COPIES);
    free(f.bins);
    free(f.of);
    free((void *)f.uses);
}
