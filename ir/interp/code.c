/* Makes code that is quick to interpret: each value of a function gets its slot in the frame. */
#include "ir/interp/code.h"

#include "ir/interp/slots.h"

/* Of the function that is made. */
struct maker {
    struct code *code;
    struct code_function *f;
    struct slots slots;
};

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

static uint32_t *define_values(struct maker *m, struct ir_value *const *values, uint32_t n, struct slot_life **ended)
{
    uint32_t *slots = arena_alloc(m->code->arena, n * sizeof *slots);
    for (uint32_t i = 0; i < n; i++) slots[i] = slots_define(&m->slots, values[i], ended);
    return slots;
}

static struct operand operand_of(struct maker *m, const struct ir_value *v, uint32_t inst)
{
    if (v->kind == IR_VALUE_CONST) return (struct operand){v->of.lanes, 0};
    if (v->kind == IR_VALUE_UNDEF) return (struct operand){undefined, 0};
    return (struct operand){NULL, slots_use(&m->slots, v, inst)};
}

static uint32_t add_var(struct maker *m, const char *name, ir_type type, uint32_t param)
{
    struct code_function *f = m->f;
    uint64_t size = ir_type_size(f->ir->module, type);
    f->vars = arena_grow(m->code->arena, f->vars, f->n_vars, sizeof *f->vars);
    f->vars[f->n_vars] = (struct code_var){
        .name = name, .size = size, .offset = f->private_bytes, .slot = slots_reserve(&m->slots), .param = param};
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

static struct code_block *build_block(struct maker *m, const struct ir_block *ir, struct code_inst *owner);

/* Results lie in other slots than operands: of work-items that go on together, one may have its result before another's
   operand is read. */
static void build_inst(struct maker *m, struct code_block *block, struct code_inst *inst, const struct ir_inst *ir,
                       struct slot_life **ended)
{
    struct code *code = m->code;
    inst->ir = ir;
    inst->block = block;
    inst->id = code->n_insts;
    code->insts = arena_grow(code->arena, code->insts, code->n_insts, sizeof *code->insts);
    code->insts[code->n_insts++] = inst;

    uint32_t words = 0;
    inst->operands = arena_alloc(code->arena, ir->n_operands * sizeof *inst->operands);
    for (uint32_t i = 0; i < ir->n_operands; i++) {
        inst->operands[i] = operand_of(m, ir->operands[i], inst->id);
        words += ir_type_lanes(ir->operands[i]->type);
    }
    if (words > code->most_words) code->most_words = words;
    inst->results = define_values(m, ir->results, ir->n_results, ended);

    switch (ir->op) {
    case IR_OP_LOOP: inst->round = slots_reserve(&m->slots); break;
    case IR_OP_VAR: inst->var = add_var(m, ir->results[0]->name, ir->type, UINT32_MAX); break;
    case IR_OP_CALL: inst->callee = function_code(code, ir->attrs.callee); break;
    case IR_OP_YIELD: inst->target = block->owner; break;
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: inst->target = loop_around(block); break;
    default: break;
    }
    for (int i = 0; i < 2; i++)
        if (ir->blocks[i]) inst->blocks[i] = build_block(m, ir->blocks[i], inst);
}

static struct code_block *build_block(struct maker *m, const struct ir_block *ir, struct code_inst *owner)
{
    struct code_block *block = arena_alloc(m->code->arena, sizeof *block);
    struct slot_life *ended = NULL;
    block->function = m->f;
    block->owner = owner;
    block->depth = owner ? owner->block->depth + 1 : 0;
    block->args = define_values(m, ir->args, ir->n_args, &ended);
    for (const struct ir_inst *i = ir->first; i; i = i->next) block->n_insts++;
    block->insts = arena_alloc(m->code->arena, block->n_insts * sizeof *block->insts);
    struct code_inst *inst = block->insts;
    for (const struct ir_inst *i = ir->first; i; i = i->next) {
        build_inst(m, block, inst++, i, &ended);
        slots_free_ended(&m->slots, &ended);
    }
    return block;
}

static void build_function(struct code *code, struct code_function *f)
{
    struct maker m = {.code = code, .f = f};
    slots_begin(&m.slots, code->arena, f->ir, code->n_insts);
    f->params = arena_alloc(code->arena, f->ir->n_params * sizeof *f->params);
    for (uint32_t i = 0; i < f->ir->n_params; i++) {
        const struct ir_param *p = &f->ir->params[i];
        f->params[i] = slots_define(&m.slots, p->value, NULL);
        if (p->by_value) add_var(&m, p->value->name, p->elem, i);
    }
    if (f->ir->body) f->body = build_block(&m, f->ir->body, NULL);
    f->n_slots = m.slots.n;
}

struct code_function *interp_code_build(struct code *code, const struct ir_function *kernel)
{
    struct code_function *entry = function_code(code, kernel);
    for (struct code_function *f = entry; f; f = f->next) build_function(code, f);
    return entry;
}
