/* Makes code that is quick to interpret: each value of a function gets its slot in the frame. */
#include "ir/interp/internal.h"

static const uint64_t undefined[IR_MAX_LANES];

static struct code_function *function_code(struct code *code, const struct ir_function *ir)
{
    struct code_function **end = &code->functions;
    for (; *end; end = &(*end)->next)
        if ((*end)->ir == ir) return *end;
    *end = arena_alloc(code->arena, sizeof **end);
    (*end)->ir = ir;
    return *end;
}

static uint32_t new_slot(struct code_function *f, struct ir_value *v)
{
    v->scratch = f->n_slots;
    f->n_slots += ir_type_lanes(v->type);
    return v->scratch;
}

static uint32_t *new_slots(struct code *code, struct code_function *f, struct ir_value *const *values, uint32_t n)
{
    uint32_t *slots = arena_alloc(code->arena, n * sizeof *slots);
    for (uint32_t i = 0; i < n; i++) slots[i] = new_slot(f, values[i]);
    return slots;
}

static struct operand operand_of(const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST) return (struct operand){v->of.lanes, 0};
    if (v->kind == IR_VALUE_UNDEF) return (struct operand){undefined, 0};
    return (struct operand){NULL, v->scratch};
}

static uint32_t add_var(struct code *code, struct code_function *f, const char *name, ir_type type, uint32_t param)
{
    uint64_t size = ir_type_size(f->ir->module, type);
    f->vars = arena_grow(code->arena, f->vars, f->n_vars, sizeof *f->vars);
    f->vars[f->n_vars] =
        (struct code_var){.name = name, .size = size, .offset = f->private_bytes, .slot = f->n_slots++, .param = param};
    /* Always a byte more than needed, so that variables of size 0 have a place too; sums that do not fit
       stay too large. */
    if (__builtin_add_overflow(f->private_bytes, size, &f->private_bytes) || f->private_bytes > UINT64_MAX - 8)
        f->private_bytes = UINT64_MAX - 15;
    f->private_bytes = (f->private_bytes / 8 + 1) * 8;
    return f->n_vars++;
}

static struct code_inst *loop_around(const struct code_block *block)
{
    while (block->owner && block->owner->ir->op != IR_OP_LOOP) block = block->owner->block;
    return block->owner;
}

static struct code_block *build_block(struct code *code, struct code_function *f, const struct ir_block *ir,
                                      struct code_inst *owner);

static void build_inst(struct code *code, struct code_block *block, struct code_inst *inst, const struct ir_inst *ir)
{
    struct code_function *f = block->function;
    inst->ir = ir;
    inst->block = block;
    inst->id = code->n_insts;
    code->insts = arena_grow(code->arena, code->insts, code->n_insts, sizeof *code->insts);
    code->insts[code->n_insts++] = inst;

    uint32_t words = 0;
    inst->operands = arena_alloc(code->arena, ir->n_operands * sizeof *inst->operands);
    for (uint32_t i = 0; i < ir->n_operands; i++) {
        inst->operands[i] = operand_of(ir->operands[i]);
        words += ir_type_lanes(ir->operands[i]->type);
    }
    if (words > code->most_words) code->most_words = words;
    inst->results = new_slots(code, f, ir->results, ir->n_results);

    switch (ir->op) {
    case IR_OP_LOOP: inst->round = f->n_slots++; break;
    case IR_OP_VAR: inst->var = add_var(code, f, ir->results[0]->name, ir->type, UINT32_MAX); break;
    case IR_OP_CALL: inst->callee = function_code(code, ir->attrs.callee); break;
    case IR_OP_YIELD: inst->target = block->owner; break;
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: inst->target = loop_around(block); break;
    default: break;
    }
    for (int i = 0; i < 2; i++)
        if (ir->blocks[i]) inst->blocks[i] = build_block(code, f, ir->blocks[i], inst);
}

static struct code_block *build_block(struct code *code, struct code_function *f, const struct ir_block *ir,
                                      struct code_inst *owner)
{
    struct code_block *block = arena_alloc(code->arena, sizeof *block);
    block->function = f;
    block->owner = owner;
    block->depth = owner ? owner->block->depth + 1 : 0;
    block->args = new_slots(code, f, ir->args, ir->n_args);
    for (const struct ir_inst *i = ir->first; i; i = i->next) block->n_insts++;
    block->insts = arena_alloc(code->arena, block->n_insts * sizeof *block->insts);
    struct code_inst *inst = block->insts;
    for (const struct ir_inst *i = ir->first; i; i = i->next) build_inst(code, block, inst++, i);
    return block;
}

static void build_function(struct code *code, struct code_function *f)
{
    f->params = arena_alloc(code->arena, f->ir->n_params * sizeof *f->params);
    for (uint32_t i = 0; i < f->ir->n_params; i++) {
        const struct ir_param *p = &f->ir->params[i];
        f->params[i] = new_slot(f, p->value);
        if (p->by_value) add_var(code, f, p->value->name, p->elem, i);
    }
    if (f->ir->body) f->body = build_block(code, f, f->ir->body, NULL);
}

struct code_function *interp_code_build(struct code *code, const struct ir_function *kernel)
{
    struct code_function *entry = function_code(code, kernel);
    for (struct code_function *f = entry; f; f = f->next) build_function(code, f);
    return entry;
}
