/* Makes instructions; results follow from the table of operations. */
#include <string.h>

#include "ir/core/builder.h"
#include "ir/core/layout.h"
#include "ir/core/module.h"
#include "ir/core/value.h"

struct ir_builder ir_builder_at_end(struct ir_block *block)
{
    return (struct ir_builder){.module = block->function->module, .block = block};
}

struct ir_builder ir_builder_before(struct ir_inst *inst)
{
    return (struct ir_builder){
        .module = inst->parent->function->module, .block = inst->parent, .before = inst, .loc = inst->loc};
}

static void link_inst(struct ir_builder *b, struct ir_inst *inst)
{
    inst->parent = b->block;
    inst->next = b->before;
    inst->prev = b->before ? b->before->prev : b->block->last;
    *(inst->prev ? &inst->prev->next : &b->block->first) = inst;
    *(inst->next ? &inst->next->prev : &b->block->last) = inst;
}

static struct ir_inst *inst_new(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *const *operands,
                                uint32_t n)
{
    struct ir_inst *inst = ir_alloc(b->module, sizeof *inst);
    inst->op = op;
    inst->type = type;
    inst->loc = b->loc;
    inst->n_operands = n;
    if (n) {
        inst->operands = ir_alloc(b->module, n * sizeof *inst->operands);
        memcpy(inst->operands, operands, n * sizeof *operands);
    }
    link_inst(b, inst);
    return inst;
}

static void add_results(struct ir_builder *b, struct ir_inst *inst, const ir_type *types, uint32_t n)
{
    if (!n) return;
    inst->n_results = n;
    inst->results = ir_alloc(b->module, n * sizeof *inst->results);
    for (uint32_t i = 0; i < n; i++) {
        struct ir_value *v = ir_alloc(b->module, sizeof *v);
        *v = (struct ir_value){.type = types[i], .kind = IR_VALUE_RESULT, .index = i, .of.inst = inst};
        inst->results[i] = v;
    }
}

/* The result's type for a letter of the table; IR_VOID: no result (by the letter alone). */
static ir_type result_type(char letter, ir_type t, enum ir_space space, struct ir_value *const *operands, uint32_t n)
{
    switch (letter) {
    case 'T': return t;
    case 'E': return ir_type_element(t);
    case 'B': return ir_type_with_lanes(IR_BOOL, ir_type_lanes(t));
    case 'b': return IR_BOOL;
    case 'I':
    case 'J': return ir_type_with_lanes(IR_I32, ir_type_lanes(t));
    case 'u': return IR_I32;
    case 'z': return IR_I64;
    case 'L': return ir_type_with_lanes(IR_I32, 4);
    case 'P': return n ? operands[0]->type : IR_PTR(IR_SPACE_PRIVATE);
    case 'A': return IR_PTR(space);
    case 'S': return IR_TYPE(IR_KIND_SAMPLER, 1, 0);
    default: return IR_VOID;
    }
}

struct ir_inst *ir_build_ptr(struct ir_builder *b, enum ir_op op, ir_type type, enum ir_space space,
                             struct ir_value *const *operands, uint32_t n)
{
    struct ir_inst *inst = inst_new(b, op, type, operands, n);
    char letter = ir_op_info(op)->result;
    if (letter == 'A') inst->attrs.space = (uint8_t)space;
    if (letter != '-' && letter != '*') {
        ir_type result = result_type(letter, type, space, operands, n);
        add_results(b, inst, &result, 1);
    }
    return inst;
}

struct ir_inst *ir_build(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *const *operands,
                         uint32_t n)
{
    return ir_build_ptr(b, op, type, IR_SPACE_PRIVATE, operands, n);
}

static struct ir_value *result_of(const struct ir_inst *inst)
{
    return inst->n_results ? inst->results[0] : NULL;
}

struct ir_value *ir_build0(struct ir_builder *b, enum ir_op op, ir_type type)
{
    return result_of(ir_build(b, op, type, NULL, 0));
}

struct ir_value *ir_build1(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x)
{
    return result_of(ir_build(b, op, type, &x, 1));
}

struct ir_value *ir_build2(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x, struct ir_value *y)
{
    return result_of(ir_build(b, op, type, (struct ir_value *[]){x, y}, 2));
}

struct ir_value *ir_build3(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x, struct ir_value *y,
                           struct ir_value *z)
{
    return result_of(ir_build(b, op, type, (struct ir_value *[]){x, y, z}, 3));
}

struct ir_value *ir_build_id(struct ir_builder *b, enum ir_op op, unsigned dim)
{
    struct ir_inst *inst = ir_build(b, op, IR_VOID, NULL, 0);
    inst->attrs.dim = (uint8_t)dim;
    return inst->results[0];
}

struct ir_value *ir_build_load(struct ir_builder *b, ir_type type, struct ir_value *base, struct ir_value *index)
{
    if (index) base = ir_build2(b, IR_OP_ELEM, type, base, index);
    return ir_build1(b, IR_OP_LOAD, type, base);
}

void ir_build_store(struct ir_builder *b, ir_type type, struct ir_value *base, struct ir_value *index,
                    struct ir_value *value)
{
    if (index) base = ir_build2(b, IR_OP_ELEM, type, base, index);
    ir_build2(b, IR_OP_STORE, type, base, value);
}

struct ir_value *ir_build_global(struct ir_builder *b, struct ir_global *g)
{
    struct ir_inst *inst = ir_build_ptr(b, IR_OP_GLOBAL, IR_VOID, g->space, NULL, 0);
    inst->attrs.global = g;
    if (ir_type_kind(g->type) == IR_KIND_PIPE) inst->results[0]->type = g->type;
    return inst->results[0];
}

struct ir_inst *ir_build_call(struct ir_builder *b, struct ir_function *callee, struct ir_value *const *operands,
                              uint32_t n)
{
    struct ir_inst *inst = inst_new(b, IR_OP_CALL, IR_VOID, operands, n);
    inst->attrs.callee = callee;
    if (callee->result != IR_VOID) add_results(b, inst, &callee->result, 1);
    return inst;
}

static struct ir_block *block_new(struct ir_builder *b, struct ir_inst *parent, uint32_t n_args)
{
    struct ir_block *block = ir_alloc(b->module, sizeof *block);
    block->function = b->block->function;
    block->parent = parent;
    block->n_args = n_args;
    if (n_args) block->args = ir_alloc(b->module, n_args * sizeof *block->args);
    for (uint32_t i = 0; i < n_args; i++) {
        struct ir_value *v = ir_alloc(b->module, sizeof *v);
        *v = (struct ir_value){
            .type = parent->operands[i]->type, .kind = IR_VALUE_BLOCK_ARG, .index = i, .of.block = block};
        block->args[i] = v;
    }
    return block;
}

struct ir_inst *ir_build_if(struct ir_builder *b, struct ir_value *cond, const ir_type *result_types,
                            uint32_t n_results)
{
    struct ir_inst *inst = inst_new(b, IR_OP_IF, IR_VOID, &cond, 1);
    add_results(b, inst, result_types, n_results);
    inst->blocks[0] = block_new(b, inst, 0);
    inst->blocks[1] = block_new(b, inst, 0);
    return inst;
}

struct ir_inst *ir_build_loop(struct ir_builder *b, struct ir_value *const *init, uint32_t n_init,
                              const ir_type *result_types, uint32_t n_results)
{
    struct ir_inst *inst = inst_new(b, IR_OP_LOOP, IR_VOID, init, n_init);
    add_results(b, inst, result_types, n_results);
    inst->blocks[0] = block_new(b, inst, n_init);
    return inst;
}
