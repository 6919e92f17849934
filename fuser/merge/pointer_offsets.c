/*
 * Pointers into a buffer made numbers: each pointer that comes from a parameter becomes the count of bytes from
 * where the parameter points, in place. What is loaded and stored through them is left to the caller, who knows
 * where those bytes will be.
 */
#include "fuser/merge/pointer_offsets.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/passes/util.h"
#include "ir/base/arena.h"
#include "ir/core/facts.h"

struct offsets {
    struct fuse *f;
    struct ir_function *copy;
    const char *param;
    bool *is_offset; /* by number of a value */
    bool changed, failed;
    pointer_offsets_user *user;
    void *data;
};

static bool is_offset(const struct offsets *o, const struct ir_value *v)
{
    return v->scratch && o->is_offset[v->scratch];
}

/* ---- which pointers ---- */

static void mark(struct offsets *o, const struct ir_value *v)
{
    if (is_offset(o, v)) return;
    o->is_offset[v->scratch] = true;
    o->changed = true;
}

/* The value that a terminator's operand becomes. */
static struct ir_value *target_of(const struct ir_inst *terminator, uint32_t operand)
{
    const struct ir_inst *to = ir_terminator_target(terminator);
    return terminator->op == IR_OP_CONTINUE ? to->blocks[0]->args[operand] : to->results[operand];
}

static bool is_carrying(enum ir_op op)
{
    return op == IR_OP_YIELD || op == IR_OP_BREAK || op == IR_OP_CONTINUE;
}

static void see_flow(struct ir_inst *inst, void *data)
{
    struct offsets *o = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (!is_offset(o, inst->operands[i])) continue;
        if (inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD || inst->op == IR_OP_SPACECAST ||
            inst->op == IR_OP_SELECT)
            mark(o, inst->results[0]);
        if (inst->op == IR_OP_LOOP) mark(o, inst->blocks[0]->args[i]);
        if (is_carrying(inst->op)) mark(o, target_of(inst, i));
    }
}

static void find_all(struct offsets *o, const struct ir_value *pointer)
{
    mark(o, pointer);
    while (o->changed) {
        o->changed = false;
        ir_walk(o->copy->body, see_flow, o);
    }
}

/* ---- making them numbers ---- */

static void refuse(struct offsets *o, const struct ir_inst *inst, const char *what)
{
    if (!o->failed)
        fuse_refuse(o->f, "kernel %s, line %u: %s %s %s, which is to lose its memory", o->f->part, inst->loc.line,
                    ir_op_info(inst->op)->text, what, o->param);
    o->failed = true;
}

/* Operand i is an offset now, as all that it may be chosen with has to be. */
static void need_offset(struct offsets *o, struct ir_inst *inst, uint32_t i)
{
    struct ir_value *v = inst->operands[i];
    if (is_offset(o, v)) return;
    if (v->kind == IR_VALUE_UNDEF) {
        inst->operands[i] = ir_undef(o->copy->module, IR_I64);
        return;
    }
    refuse(o, inst, "mixes other pointers with those to");
}

static void become_sum(struct ir_inst *inst, struct ir_value *more)
{
    struct ir_value *operands[2] = {inst->operands[0], more};
    pass_operands_set(inst, operands, 2);
    inst->op = IR_OP_ADD;
    inst->type = inst->results[0]->type = IR_I64;
    memset(&inst->attrs, 0, sizeof inst->attrs);
}

static void make_element(struct ir_module *m, struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *index = inst->operands[1];
    if (index->type != IR_I64) index = ir_build1(&b, IR_OP_SEXT, IR_I64, index);
    struct ir_value *size = ir_const_int(m, IR_I64, ir_type_size(m, inst->type));
    become_sum(inst, ir_build2(&b, IR_OP_MUL, IR_I64, index, size));
}

static void make_field(struct ir_module *m, struct ir_inst *inst)
{
    const struct ir_struct *s = ir_type_struct(m, inst->type);
    become_sum(inst, ir_const_int(m, IR_I64, s->fields[inst->attrs.index].offset));
}

static bool uses_offset(const struct offsets *o, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (is_offset(o, inst->operands[i])) return true;
    return false;
}

static void make_carried(struct offsets *o, struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *to = inst->op == IR_OP_LOOP ? inst->blocks[0]->args[i] : target_of(inst, i);
        if (is_offset(o, to)) need_offset(o, inst, i);
    }
}

static void retype(struct offsets *o, struct ir_value *const *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_offset(o, values[i])) values[i]->type = IR_I64;
}

static void make_use(struct offsets *o, struct ir_inst *inst)
{
    struct ir_module *m = o->copy->module;
    switch (inst->op) {
    case IR_OP_ELEM: make_element(m, inst); break;
    case IR_OP_FIELD: make_field(m, inst); break;
    case IR_OP_SPACECAST: become_sum(inst, ir_const_int(m, IR_I64, 0)); break;
    case IR_OP_SELECT:
        need_offset(o, inst, 1);
        need_offset(o, inst, 2);
        inst->type = inst->results[0]->type = IR_I64;
        break;
    case IR_OP_IEQ:
    case IR_OP_INE:
        need_offset(o, inst, 0);
        need_offset(o, inst, 1);
        inst->type = IR_I64;
        break;
    case IR_OP_LOAD:
    case IR_OP_STORE:
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE:
        if (inst->op == IR_OP_STORE && is_offset(o, inst->operands[1])) {
            refuse(o, inst, "keeps the address of");
        } else if (!o->user(inst, o->data)) {
            o->failed = true;
        }
        break;
    case IR_OP_PREFETCH: ir_inst_remove(inst); break;
    default: refuse(o, inst, "is neither a load nor a store of");
    }
}

static void make_offset(struct ir_inst *inst, void *data)
{
    struct offsets *o = data;
    if (o->failed) return;
    if (inst->op == IR_OP_LOOP || is_carrying(inst->op)) {
        make_carried(o, inst);
    } else if (inst->op != IR_OP_IF && uses_offset(o, inst)) {
        make_use(o, inst);
        return;
    }
    if (inst->op == IR_OP_LOOP) retype(o, inst->blocks[0]->args, inst->blocks[0]->n_args);
    if (inst->op == IR_OP_LOOP || inst->op == IR_OP_IF) retype(o, inst->results, inst->n_results);
}

bool pointer_offsets_make(struct fuse *f, struct ir_function *copy, uint32_t i, pointer_offsets_user *user, void *data)
{
    struct ir_value *pointer = copy->params[i].value;
    struct offsets o = {.f = f, .copy = copy, .user = user, .data = data};
    uint32_t n = pass_number(copy);
    o.param = pointer->name ? pointer->name : "a parameter";
    o.is_offset = memset(arena_realloc(NULL, n), 0, n);
    find_all(&o, pointer);
    ir_walk(copy->body, make_offset, &o);
    ir_replace_uses(copy->body, pointer, ir_const_int(copy->module, IR_I64, 0));
    free(o.is_offset);
    return !o.failed;
}
