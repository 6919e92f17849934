/* Translates a kernel and what it calls: functions, blocks and control flow under masks. */
#include "fuser/cpu/batch/arithmetic.h"
#include "fuser/cpu/batch/batch.h"
#include "fuser/cpu/batch/memory.h"
#include "fuser/cpu/batch/uniform.h"
#include "fuser/cpu/batch/variables.h"
#include "fuser/cpu/target/target.h"
#include "ir/base/map.h"
#include "ir/core/facts.h"

static void translate_block(struct translation *t, const struct ir_block *block);

/* ---- leaving a context ---- */

/* The lanes that are here are gone from it; `to`: the mask they go to. */
static void leave(struct translation *t, uint32_t to)
{
    struct step *s = build_step(&t->build, STEP_LEAVE);
    s->mask[0] = t->context->mask;
    s->mask[1] = to;
    s->target = t->context->end;
    t->context->left = true;
}

static void mask_step(struct translation *t, enum step_kind kind, uint32_t a, uint32_t b, uint32_t c, uint32_t target)
{
    struct step *s = build_step(&t->build, kind);
    s->mask[0] = a;
    s->mask[1] = b;
    s->mask[2] = c;
    s->target = target;
}

/* Values go to registers, each read before one of these is written. */
static void move_all(struct translation *t, const batch_reg *to, batch_reg *from, uint32_t n)
{
    struct build *k = &t->build;
    for (uint32_t i = 0; i < n; i++) {
        if (!build_is_uniform(k, to[i])) from[i] = build_column(k, from[i]);
        for (uint32_t j = 0; j < i; j++) {
            if (from[i] != to[j] || from[j] == to[j]) continue;
            batch_reg kept = build_reg(k, build_kind(k, from[i]), build_is_uniform(k, from[i]));
            struct step *s = build_step(k, STEP_MOVE);
            s->r = kept;
            s->in[0] = from[i];
            s->size = k->regs[kept].size;
            from[i] = kept;
            break;
        }
    }
    for (uint32_t i = 0; i < n; i++) build_move(k, to[i], from[i]);
}

static uint32_t components(struct ir_value *const *values, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += ir_type_lanes(values[i]->type);
    return count;
}

static void move_operands(struct translation *t, const struct ir_inst *inst, const batch_reg *to)
{
    batch_reg *from = arena_alloc(t->arena, (components(inst->operands, inst->n_operands) + 1) * sizeof *from);
    uint32_t n = 0;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        for (unsigned c = 0; c < ir_type_lanes(inst->operands[i]->type); c++)
            from[n++] = values_reg(t, inst->operands[i], c);
    move_all(t, to, from, n);
}

/* Registers of values in a row, alive from here on. */
static batch_reg *define_all(struct translation *t, struct ir_value *const *values, uint32_t n)
{
    batch_reg *all = arena_alloc(t->arena, (components(values, n) + 1) * sizeof *all);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const batch_reg *regs = values_define(t, values[i]);
        for (unsigned c = 0; c < ir_type_lanes(values[i]->type); c++) {
            build_touch(&t->build, regs[c]);
            all[at++] = regs[c];
        }
    }
    return all;
}

/* ---- if ---- */

static const batch_reg *results_of(struct translation *t, const struct ir_inst *inst)
{
    batch_reg *all = arena_alloc(t->arena, (components(inst->results, inst->n_results) + 1) * sizeof *all);
    uint32_t at = 0;
    for (uint32_t i = 0; i < inst->n_results; i++)
        for (unsigned c = 0; c < ir_type_lanes(inst->results[i]->type); c++)
            all[at++] = t->values[inst->results[i]->scratch].regs[c];
    return all;
}

static void scoped_block(struct translation *t, const struct ir_block *block)
{
    struct columns_made *scope = build_scope_begin(&t->build);
    translate_block(t, block);
    build_scope_end(&t->build, scope);
}

static void uniform_if(struct translation *t, const struct ir_inst *inst, batch_reg condition)
{
    struct build *k = &t->build;
    uint32_t otherwise = build_label(k), end = build_label(k);
    struct step *s = build_step(k, STEP_JUMP_UNLESS);
    s->in[0] = condition;
    s->target = otherwise;
    scoped_block(t, inst->blocks[0]);
    build_step(k, STEP_JUMP)->target = end;
    build_place_label(k, otherwise);
    scoped_block(t, inst->blocks[1]);
    build_place_label(k, end);
}

static bool branch(struct translation *t, const struct ir_block *block, uint32_t mask)
{
    struct context own = {mask, build_label(&t->build), false}, *outer = t->context;
    t->context = &own;
    scoped_block(t, block);
    build_place_label(&t->build, own.end);
    t->context = outer;
    return own.left;
}

static void divergent_if(struct translation *t, const struct ir_inst *inst, batch_reg condition)
{
    struct build *k = &t->build;
    uint32_t otherwise = build_label(k), end = build_label(k), yes = build_mask(k), no = build_mask(k);
    condition = build_column(k, condition);
    struct step *s = build_step(k, STEP_SPLIT);
    s->in[0] = condition;
    s->mask[0] = yes;
    s->mask[1] = no;
    s->target = otherwise;
    bool left = branch(t, inst->blocks[0], yes);
    build_place_label(k, otherwise);
    mask_step(t, STEP_ELSE, no, NO_MASK, NO_MASK, end);
    left |= branch(t, inst->blocks[1], no);
    build_place_label(k, end);
    if (left) {
        mask_step(t, STEP_MERGE, t->context->mask, yes, no, t->context->end);
        t->context->left = true;
    } else {
        mask_step(t, STEP_RESTORE, t->context->mask, NO_MASK, NO_MASK, UINT32_MAX);
    }
}

static void translate_if(struct translation *t, const struct ir_inst *inst)
{
    batch_reg condition = values_reg(t, inst->operands[0], 0);
    define_all(t, inst->results, inst->n_results);
    if (t->uniform.divergent[inst->scratch])
        divergent_if(t, inst, condition);
    else
        uniform_if(t, inst, condition);
}

/* ---- loops ---- */

static void next_round(struct translation *t, const struct ir_inst *inst)
{
    struct loop_code *l = t->loop;
    if (!l->divergent) {
        move_operands(t, inst, l->args);
        build_step(&t->build, STEP_JUMP)->target = l->top;
        return;
    }
    move_operands(t, inst, l->next);
    leave(t, l->went_on);
}

static void leave_loop(struct translation *t, const struct ir_inst *inst)
{
    struct loop_code *l = t->loop;
    move_operands(t, inst, l->results);
    if (l->divergent)
        leave(t, NO_MASK);
    else
        build_step(&t->build, STEP_JUMP)->target = l->after;
}

/* What is the same for all waits for the end of the round, where others may still need the old one. */
static void make_next(struct translation *t, struct loop_code *l)
{
    l->next = arena_alloc(t->arena, (l->n_args + 1) * sizeof *l->next);
    for (uint32_t i = 0; i < l->n_args; i++) {
        l->next[i] = l->args[i];
        if (!build_is_uniform(&t->build, l->args[i])) continue;
        l->next[i] = build_reg(&t->build, build_kind(&t->build, l->args[i]), true);
        build_touch(&t->build, l->next[i]);
    }
}

static void divergent_body(struct translation *t, struct loop_code *l)
{
    struct build *k = &t->build;
    uint32_t mask = build_mask(k);
    l->went_on = build_mask(k);
    make_next(t, l);
    mask_step(t, STEP_ENTER, mask, l->went_on, NO_MASK, UINT32_MAX);
    uint32_t span = build_loop_begin(k);
    build_place_label(k, l->top);
    branch(t, l->inst->blocks[0], mask);
    mask_step(t, STEP_ROUND, mask, l->went_on, NO_MASK, l->after);
    for (uint32_t i = 0; i < l->n_args; i++) build_move(k, l->args[i], l->next[i]);
    for (uint32_t i = 0; i < l->n_args; i++) build_touch(k, l->next[i]);
    build_step(k, STEP_JUMP)->target = l->top;
    build_loop_end(k, span);
    build_place_label(k, l->after);
    if (t->uniform.returns[l->inst->scratch]) {
        mask_step(t, STEP_DROP, t->context->mask, t->function->gone, NO_MASK, t->context->end);
        t->context->left = true;
    } else {
        mask_step(t, STEP_RESTORE, t->context->mask, NO_MASK, NO_MASK, UINT32_MAX);
    }
    t->b->has_divergent_loops = true;
}

static void uniform_body(struct translation *t, struct loop_code *l)
{
    struct build *k = &t->build;
    uint32_t span = build_loop_begin(k);
    build_place_label(k, l->top);
    scoped_block(t, l->inst->blocks[0]);
    build_loop_end(k, span);
    build_place_label(k, l->after);
}

static void translate_loop(struct translation *t, const struct ir_inst *inst)
{
    struct build *k = &t->build;
    const struct ir_block *body = inst->blocks[0];
    struct loop_code l = {.inst = inst,
                          .divergent = t->uniform.divergent[inst->scratch],
                          .n_args = components(body->args, body->n_args),
                          .n_results = components(inst->results, inst->n_results),
                          .top = build_label(k),
                          .after = build_label(k),
                          .outer = t->loop};
    l.results = define_all(t, inst->results, inst->n_results);
    l.args = define_all(t, body->args, body->n_args);
    move_operands(t, inst, l.args);
    t->loop = &l;
    if (l.divergent)
        divergent_body(t, &l);
    else
        uniform_body(t, &l);
    for (uint32_t i = 0; i < l.n_args; i++) build_touch(k, l.args[i]);
    for (uint32_t i = 0; i < l.n_results; i++) build_touch(k, l.results[i]);
    t->loop = l.outer;
}

/* ---- functions ---- */

static struct function_code *code_of(struct translation *t, const struct ir_function *f)
{
    uint32_t i = 0;
    while (t->functions[i] != f) i++;
    return &t->codes[i];
}

static void copy_struct(struct translation *t, const struct ir_param *p, const struct batch_var *var, batch_reg from)
{
    struct step_details *d = arena_alloc(t->b->arena, sizeof *d);
    *d = (struct step_details){.bytes = ir_type_size(t->module, p->elem), .n_operands = 3};
    values_make_room(t, d);
    d->more[0] = var->reg;
    d->more[1] = build_column(&t->build, from);
    d->more[2] = build_column(&t->build, build_constant(&t->build, IR_KIND_I64, 1));
    values_end_step(t, STEP_COPY, IR_OP_COPY, d);
}

/* Of a function that has no body: nothing that a plan lets pass has it. */
static void translate_missing(struct translation *t, const struct ir_inst *inst)
{
    build_step(&t->build, STEP_TRAP);
    for (uint32_t i = 0; i < inst->n_results; i++) (void)values_define(t, inst->results[i]);
}

static void translate_function_call(struct translation *t, const struct ir_inst *inst)
{
    if (!inst->attrs.callee->body) {
        translate_missing(t, inst);
        return;
    }
    struct function_code *f = code_of(t, inst->attrs.callee);
    for (uint32_t i = 0; i < inst->n_operands; i++)
        for (unsigned c = 0; c < ir_type_lanes(inst->operands[i]->type); c++) {
            batch_reg from = values_reg(t, inst->operands[i], c);
            if (f->ir->params[i].by_value)
                copy_struct(t, &f->ir->params[i], &t->b->vars[f->copies[i]], from);
            else
                build_move(&t->build, f->params[i][c], from);
        }
    build_step(&t->build, STEP_CALL)->target = f->begin;
    /* The result is kept: another call would write over it. */
    for (uint32_t i = 0; i < inst->n_results; i++) {
        const batch_reg *r = values_define(t, inst->results[i]);
        for (unsigned c = 0; c < ir_type_lanes(inst->results[i]->type); c++) build_move(&t->build, r[c], f->result[c]);
    }
}

static void translate_return(struct translation *t, const struct ir_inst *inst)
{
    if (inst->n_operands) move_operands(t, inst, t->function->result);
    leave(t, t->function->gone);
}

/* ---- blocks ---- */

static void translate_inst(struct translation *t, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_IF: translate_if(t, inst); break;
    case IR_OP_LOOP: translate_loop(t, inst); break;
    case IR_OP_CALL: translate_function_call(t, inst); break;
    case IR_OP_YIELD: move_operands(t, inst, results_of(t, ir_terminator_target(inst))); break;
    case IR_OP_BREAK: leave_loop(t, inst); break;
    case IR_OP_CONTINUE: next_round(t, inst); break;
    case IR_OP_RETURN: translate_return(t, inst); break;
    case IR_OP_UNREACHABLE:
        build_step(&t->build, STEP_TRAP);
        leave(t, t->function->gone);
        break;
    default:
        if (!arithmetic_translate(t, inst) && !memory_translate(t, inst) && !memory_translate_place(t, inst))
            memory_translate_call(t, inst);
    }
}

static void translate_block(struct translation *t, const struct ir_block *block)
{
    for (const struct ir_inst *i = block->first; i; i = i->next) translate_inst(t, i);
}

static void translate_function(struct translation *t, struct function_code *f, enum step_kind end)
{
    struct context context = {build_mask(&t->build), build_label(&t->build), false};
    t->function = f;
    t->context = &context;
    f->gone = build_mask(&t->build);
    build_place_label(&t->build, f->begin);
    mask_step(t, STEP_BEGIN, context.mask, f->gone, NO_MASK, UINT32_MAX);
    struct columns_made *scope = build_scope_begin(&t->build);
    for (uint32_t i = 0; i < f->ir->n_params && f == t->codes; i++)
        if (uniform_by_value_copied(f->ir, i))
            copy_struct(t, &f->ir->params[i], &t->b->vars[f->copies[i]], f->params[i][0]);
    translate_block(t, f->ir->body);
    build_scope_end(&t->build, scope);
    build_place_label(&t->build, context.end);
    build_step(&t->build, end);
}

/* ---- parameters ---- */

static enum input_kind input_of(const struct ir_param *p)
{
    ir_type type = p->value->type;
    if (p->by_value) return INPUT_ARG_PLACE;
    return ir_type_is_ptr(type) && ir_type_space(type) == IR_SPACE_LOCAL ? INPUT_LOCAL_ARG : INPUT_ARG;
}

static void kernel_parameters(struct translation *t, struct function_code *f)
{
    uint32_t *offsets = arena_alloc(t->arena, (f->ir->n_params + 1) * sizeof *offsets);
    t->b->info.args_size = ir_param_layout(f->ir, offsets);
    for (uint32_t i = 0; i < f->ir->n_params; i++) {
        const struct ir_param *p = &f->ir->params[i];
        ir_type type = p->value->type;
        unsigned size = batch_size_of(ir_type_kind(type));
        for (unsigned c = 0; c < ir_type_lanes(type); c++)
            f->params[i][c] =
                build_input(&t->build, (struct input){.kind = input_of(p), .value = offsets[i] + ((uint64_t)c << size)},
                            ir_type_kind(type));
        bool copied = uniform_by_value_copied(f->ir, i);
        if (copied) f->copies[i] = values_add_var(t, ir_type_size(t->module, p->elem));
        values_set(t, p->value, copied ? &t->b->vars[f->copies[i]].reg : f->params[i]);
    }
}

static void function_parameters(struct translation *t, struct function_code *f)
{
    for (uint32_t i = 0; i < f->ir->n_params; i++) {
        const struct ir_param *p = &f->ir->params[i];
        for (unsigned c = 0; c < ir_type_lanes(p->value->type); c++)
            f->params[i][c] = build_fixed_reg(&t->build, ir_type_kind(p->value->type), false);
        if (p->by_value) f->copies[i] = values_add_var(t, ir_type_size(t->module, p->elem));
        values_set(t, p->value, p->by_value ? &t->b->vars[f->copies[i]].reg : f->params[i]);
    }
    for (unsigned c = 0; f->ir->result != IR_VOID && c < ir_type_lanes(f->ir->result); c++)
        f->result[c] = build_fixed_reg(&t->build, ir_type_kind(f->ir->result), false);
}

static void make_codes(struct translation *t)
{
    t->codes = arena_alloc(t->arena, t->n_functions * sizeof *t->codes);
    for (uint32_t i = 0; i < t->n_functions; i++) {
        struct function_code *f = &t->codes[i];
        uint32_t n = t->functions[i]->n_params;
        *f = (struct function_code){.ir = t->functions[i], .begin = build_label(&t->build)};
        f->params = arena_alloc(t->arena, (n + 1) * sizeof *f->params);
        f->copies = arena_alloc(t->arena, (n + 1) * sizeof *f->copies);
        f->result = arena_alloc(t->arena, IR_MAX_LANES * sizeof *f->result);
        for (uint32_t p = 0; p < n; p++) f->params[p] = arena_alloc(t->arena, IR_MAX_LANES * sizeof **f->params);
        if (i == 0)
            kernel_parameters(t, f);
        else
            function_parameters(t, f);
    }
}

/* ---- what the kernel is made of ---- */

static void collect(struct ir_inst *inst, void *data)
{
    struct translation *t = data;
    if (inst->op != IR_OP_CALL || !inst->attrs.callee->body) return;
    for (uint32_t i = 0; i < t->n_functions; i++)
        if (t->functions[i] == inst->attrs.callee) return;
    t->functions = arena_grow(t->arena, t->functions, t->n_functions, sizeof *t->functions);
    t->functions[t->n_functions++] = inst->attrs.callee;
}

/* What asks for work-items of one work-group, or for all of them. */
static void see_unit(struct ir_inst *inst, void *data)
{
    struct batch *b = data;
    bool local = inst->op == IR_OP_GLOBAL && inst->attrs.global->space == IR_SPACE_LOCAL;
    if (ir_is_work_group_collective(inst) || ir_sees_sub_group(inst)) b->unit = UNIT_GROUP;
    if (local && b->unit < UNIT_ITEMS) b->unit = UNIT_ITEMS;
}

static void find_unit(struct translation *t)
{
    for (uint32_t i = 0; i < t->n_functions; i++) ir_walk(t->functions[i]->body, see_unit, t->b);
    for (uint32_t i = 0; i < t->functions[0]->n_params; i++)
        if (input_of(&t->functions[0]->params[i]) == INPUT_LOCAL_ARG && t->b->unit < UNIT_ITEMS)
            t->b->unit = UNIT_ITEMS;
}

static void translate(struct translation *t)
{
    struct map constants[IR_KIND_COUNT] = {0};
    t->build = (struct build){.b = t->b, .arena = t->arena, .constants = constants, .n_masks = 1};
    for (uint32_t i = 0; i < t->n_functions; i++) ir_walk(t->functions[i]->body, collect, t);
    find_unit(t);
    t->uniform.unit = t->b->unit;
    uniform_find(&t->uniform, t->arena, t->functions, t->n_functions);
    t->values = arena_alloc(t->arena, (t->uniform.n_values + 1) * sizeof *t->values);
    variables_place(t->b, t->functions, t->n_functions);
    make_codes(t);
    for (uint32_t i = 0; i < t->n_functions; i++) translate_function(t, &t->codes[i], i == 0 ? STEP_END : STEP_RETURN);
    build_finish(&t->build);
    for (unsigned i = 0; i < IR_KIND_COUNT; i++) map_clear(&constants[i]);
}

static uint32_t sub_group_size_of(const struct ir_function *kernel)
{
    uint32_t size = kernel->sub_group_size;
    return size && size != IR_SUB_GROUP_AUTOMATIC && size != IR_SUB_GROUP_PRIMARY ? size : CPU_PRIMARY_SUB_GROUP_SIZE;
}

struct batch *batch_new(const struct ir_function *kernel, enum batch_loops loops)
{
    struct arena *arena = arena_new();
    struct batch *b = arena_alloc(arena, sizeof *b);
    const struct columns *tables[3];
    unsigned n = columns_usable(tables), from_end = (unsigned)BATCH_GENERIC - (unsigned)loops;
    b->arena = arena;
    b->columns = tables[n - 1 - (from_end < n ? from_end : n - 1)];
    b->sub_group_size = sub_group_size_of(kernel);
    b->info =
        (struct kernel_object_info){.abi_version = KERNEL_ABI_VERSION, .lanes = 1, .sub_group_size = b->sub_group_size};
    struct translation t = {.b = b, .arena = arena_new(), .module = kernel->module};
    t.functions = arena_grow(t.arena, NULL, 0, sizeof *t.functions);
    t.functions[t.n_functions++] = (struct ir_function *)kernel;
    translate(&t);
    arena_free(t.arena);
    return b;
}

void batch_free(struct batch *b)
{
    if (!b) return;
    variables_free(b);
    arena_free(b->arena);
}

const struct kernel_object_info *batch_info(const struct batch *b)
{
    return &b->info;
}
