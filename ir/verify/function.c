/* The verifier's part for functions: their attributes, and the blocks with their links, terminators and values in
 * sight. */
#include "ir/verify/function.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/base/arena.h"
#include "ir/core/module_aspects.h"
#include "ir/verify/inst.h"
#include "ir/verify/known_types.h"
#include "ir/verify/limits.h"
#include "ir/verify/names.h"
#include "ir/verify/report.h"

static void check_linkage(struct verifier *v, const struct ir_function *f)
{
    if (f->linkage >= IR_LINKAGE_COUNT) verify_report(v, "has no linkage number %u", f->linkage);
    if (f->linkage == IR_LINKAGE_IMPORT && f->body) verify_report(v, "is imported and has a body");
    if (f->linkage != IR_LINKAGE_IMPORT && !f->body) verify_report(v, "is not imported and has no body");
    if (f->refused && f->linkage == IR_LINKAGE_IMPORT) verify_report(v, "is imported and refused");
    if (f->linkage == IR_LINKAGE_KERNEL && f->result != IR_VOID)
        verify_report(v, "is a kernel and returns %s", verify_type_text(v, f->result));
    if (f->result != IR_VOID && (!verify_type_ok(v, f->result) || !ir_type_is_value(f->result)))
        verify_report(v, "returns %s, which is no type of a value", verify_type_text(v, f->result));
}

static void check_sizes(struct verifier *v, const char *what, const uint32_t size[3])
{
    if (!size[0] && !size[1] && !size[2]) return;
    if (!size[0] || !size[1] || !size[2]) {
        verify_report(v, "has %s %u x %u x %u; give all three or none", what, size[0], size[1], size[2]);
    } else if ((uint64_t)size[0] * size[1] > UINT32_MAX || (uint64_t)size[0] * size[1] * size[2] > UINT32_MAX) {
        verify_report(v, "has %s %u x %u x %u, more than 2^32 - 1 work-items", what, size[0], size[1], size[2]);
    }
}

static void check_target_names(struct verifier *v, const char *const *names, uint32_t n)
{
    if (n && !names) verify_report(v, "has no list of targets");
    for (uint32_t i = 0; names && i < n; i++)
        if (!names[i] || !*names[i]) verify_report(v, "has a target without a name");
}

static void check_attributes(struct verifier *v, const struct ir_function *f)
{
    check_sizes(v, "work_group_size", f->work_group_size);
    check_sizes(v, "work_group_size_hint", f->work_group_size_hint);
    uint32_t s = f->sub_group_size;
    if ((s & (s - 1)) && s != IR_SUB_GROUP_AUTOMATIC && s != IR_SUB_GROUP_PRIMARY)
        verify_report(v, "has sub_group_size %u, which is neither a power of two, nor automatic, nor primary", s);
    uint64_t aspects = ir_module_aspects(v->m);
    if (f->aspects_declared & ~aspects)
        verify_report(v, "declares aspects that do not exist (bits %#llx)",
                      (unsigned long long)(f->aspects_declared & ~aspects));
    if (f->aspects_used & ~aspects)
        verify_report(v, "uses aspects that do not exist (bits %#llx)",
                      (unsigned long long)(f->aspects_used & ~aspects));
    if (f->aspects_declared && !f->has_declared) verify_report(v, "has a set of aspects but does not declare it");
    if (f->assumes >> IR_ASSUME_COUNT)
        verify_report(v, "assumes what does not exist (bits %#x)", f->assumes >> IR_ASSUME_COUNT << IR_ASSUME_COUNT);
    else if (f->assumes && f->linkage != IR_LINKAGE_KERNEL)
        verify_report(v, "is no kernel, and assumes something of its launches");
    if (f->n_targets && !f->has_targets) verify_report(v, "has a list of targets but does not fix them");
    check_target_names(v, f->targets, f->n_targets);
    if (f->n_compiled && !f->has_compiled) verify_report(v, "has a list of targets but is not compiled for any");
    if (f->has_compiled && f->linkage != IR_LINKAGE_KERNEL) verify_report(v, "is no kernel, and compiled for targets");
    check_target_names(v, f->compiled, f->n_compiled);
}

static void check_by_value(struct verifier *v, const struct ir_param *p, uint32_t i)
{
    enum ir_kind kind = ir_type_kind(p->elem);
    if (p->value->type != IR_PTR(IR_SPACE_PRIVATE))
        verify_report(v, "parameter %u is passed by value but is of type %s, not ptr.private", i,
                      verify_type_text(v, p->value->type));
    if (kind != IR_KIND_STRUCT && kind != IR_KIND_ARRAY)
        verify_report(v, "parameter %u is passed by value and is neither a struct nor an array", i);
}

static void check_param(struct verifier *v, const struct ir_function *f, uint32_t i)
{
    const struct ir_param *p = &f->params[i];
    const struct ir_value *value = p->value;
    if (!value || value->kind != IR_VALUE_PARAM || value->of.function != f || value->index != i) {
        verify_report(v, "parameter %u is not linked to its function", i);
        v->broken = true;
        return;
    }
    ir_type t = value->type;
    if (!verify_type_ok(v, t) || !ir_type_is_value(t)) {
        verify_report(v, "parameter %u is of type %s, which is no type of a value", i, verify_type_text(v, t));
        return;
    }
    if (p->access >= IR_ACCESS_COUNT) verify_report(v, "parameter %u has no access number %u", i, p->access);
    if (!ir_type_is_ptr(t) && (p->access != IR_ACCESS_UNKNOWN || p->elem != IR_VOID))
        verify_report(v, "parameter %u is no pointer and has an access or an element type", i);
    if (p->elem != IR_VOID && !verify_type_memory(v, p->elem))
        verify_report(v, "parameter %u points at %s, which cannot lie in memory", i, verify_type_text(v, p->elem));
    if (p->by_value) check_by_value(v, p, i);
    if (f->linkage == IR_LINKAGE_KERNEL && ir_type_is_ptr(t) && !p->by_value && ir_type_space(t) != IR_SPACE_GLOBAL &&
        ir_type_space(t) != IR_SPACE_CONSTANT && ir_type_space(t) != IR_SPACE_LOCAL)
        verify_report(v, "parameter %u of a kernel is of type %s; pointers are global, constant, local or by value", i,
                      verify_type_text(v, t));
}

/* Makes a value one that can be used from here on. */
static void push_visible(struct verifier *v, struct ir_value *value)
{
    if (v->n_visible == v->visible_capacity) {
        v->visible_capacity = v->visible_capacity ? 2 * v->visible_capacity : 64;
        v->visible = arena_realloc(v->visible, v->visible_capacity * sizeof(*v->visible));
    }
    value->scratch = (uint32_t)v->n_visible;
    v->visible[v->n_visible++] = value;
    if (!value->name) return;
    if (!verify_name_ok(value->name))
        verify_report(v, "a value has a name that cannot be written: \"%s\"", value->name);
    if (v->n_named == v->named_capacity) {
        v->named_capacity = v->named_capacity ? 2 * v->named_capacity : 64;
        v->named = arena_realloc(v->named, v->named_capacity * sizeof(*v->named));
    }
    v->named[v->n_named++] = value->name;
}

static void check_results(struct verifier *v, const struct ir_inst *inst)
{
    if (inst->n_results && !inst->results) {
        verify_report(v, "has no list of results");
        v->broken = true;
        return;
    }
    for (uint32_t i = 0; i < inst->n_results; i++) {
        struct ir_value *r = inst->results[i];
        if (!r || r->kind != IR_VALUE_RESULT || r->of.inst != inst || r->index != i) {
            verify_report(v, "result %u is not linked to its instruction", i);
            v->broken = true;
            continue;
        }
        if (!verify_type_ok(v, r->type) || !ir_type_is_value(r->type))
            verify_report(v, "result %u is of type %s, which is no type of a value", i, verify_type_text(v, r->type));
        push_visible(v, r);
    }
}

static void verify_block(struct verifier *v, const struct ir_block *block, const struct ir_inst *parent,
                         unsigned depth);

/* The block number i of inst is there and belongs to it. */
static void verify_inner(struct verifier *v, const struct ir_inst *inst, unsigned i, unsigned depth)
{
    const struct ir_block *block = inst->blocks[i];
    if (!block || block->parent != inst || block->function != v->f || (i == 1 && block == inst->blocks[0])) {
        verify_report(v, "block %u is missing or not linked to its instruction", i);
        v->broken = true;
        return;
    }
    verify_block(v, block, inst, depth + 1);
}

static void verify_blocks(struct verifier *v, const struct ir_inst *inst, unsigned depth)
{
    unsigned n = inst->op == IR_OP_IF ? 2 : inst->op == IR_OP_LOOP ? 1 : 0;
    for (unsigned i = n; i < 2; i++) {
        if (inst->blocks[i]) {
            verify_report(v, "has a block %u, which this operation has not", i);
            v->broken = true;
        }
    }
    if (n && depth >= IR_MAX_BLOCK_DEPTH) {
        verify_report(v, "blocks are more than %d deep inside each other", IR_MAX_BLOCK_DEPTH);
        v->broken = true;
        return;
    }
    for (unsigned i = 0; i < n; i++) verify_inner(v, inst, i, depth);
}

static void check_args(struct verifier *v, const struct ir_block *block)
{
    if (block->n_args && (!block->parent || block->parent->op != IR_OP_LOOP))
        verify_report(v, "a block that is not a loop's has %u parameters", block->n_args);
    if (block->n_args && !block->args) {
        verify_report(v, "a block has no list of parameters");
        v->broken = true;
        return;
    }
    for (uint32_t i = 0; i < block->n_args; i++) {
        struct ir_value *a = block->args[i];
        if (!a || a->kind != IR_VALUE_BLOCK_ARG || a->of.block != block || a->index != i) {
            verify_report(v, "block parameter %u is not linked to its block", i);
            v->broken = true;
            continue;
        }
        push_visible(v, a);
    }
}

static void check_place(struct verifier *v, const struct ir_inst *inst)
{
    bool terminator = inst->op < IR_OP_COUNT && ir_op_info(inst->op)->flags & IR_FLAG_TERMINATOR;
    if (terminator && inst->next) verify_report(v, "stands before the end of its block");
    if (!terminator && !inst->next) verify_report(v, "ends the block and is no terminator");
    if (inst->loc.file > v->m->n_files) verify_report(v, "is from source file %u of %u", inst->loc.file, v->m->n_files);
}

/* Its links prove that the list ends and that blocks form a tree, so the walk does not go round. */
static void verify_block(struct verifier *v, const struct ir_block *block, const struct ir_inst *parent, unsigned depth)
{
    const struct ir_block *outer_block = v->block;
    const struct ir_inst *outer_inst = v->inst, *prev = NULL;
    size_t n_visible = v->n_visible;
    v->block = block;
    v->inst = parent;
    check_args(v, block);
    if (!block->first) verify_report(v, "a block is empty; it needs a terminator");
    for (const struct ir_inst *inst = block->first; inst; prev = inst, inst = inst->next) {
        v->inst = inst;
        if (inst->parent != block || inst->prev != prev) {
            verify_report(v, "is not linked to its block or to the instruction before it");
            v->broken = true;
            break;
        }
        check_place(v, inst);
        verify_inst(v, inst);
        verify_blocks(v, inst, depth);
        check_results(v, inst);
    }
    v->inst = parent;
    if (prev != block->last && !v->broken) {
        verify_report(v, "a block's last instruction is not the one it names");
        v->broken = true;
    }
    v->n_visible = n_visible;
    v->block = outer_block;
    v->inst = outer_inst;
}

static void verify_body(struct verifier *v, const struct ir_function *f)
{
    if (f->body->parent || f->body->function != f) {
        verify_report(v, "has a body that belongs elsewhere");
        v->broken = true;
        return;
    }
    verify_block(v, f->body, NULL, 1);
}

void verify_function(struct verifier *v, const struct ir_function *f)
{
    v->n_visible = v->n_named = 0;
    if (!f->name || !verify_name_ok(f->name)) verify_report(v, "has no name that can be written");
    if (f->module != v->m) {
        verify_report(v, "is not linked to its module");
        v->broken = true;
    }
    if (f->loc.file > v->m->n_files) verify_report(v, "is from source file %u of %u", f->loc.file, v->m->n_files);
    check_linkage(v, f);
    check_attributes(v, f);
    if (f->n_params && !f->params) {
        verify_report(v, "has no list of parameters");
        v->broken = true;
        return;
    }
    for (uint32_t i = 0; i < f->n_params; i++) {
        check_param(v, f, i);
        struct ir_value *value = f->params[i].value;
        if (value) push_visible(v, value);
    }
    if (f->body) verify_body(v, f);
    verify_unique(v, v->named, v->n_named, "values");
}
