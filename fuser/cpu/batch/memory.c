/* Instructions that make addresses or use them, and where work-items are. */
#include "fuser/cpu/batch/memory.h"

#include "fuser/cpu/batch/arithmetic.h"
#include "ir/core/facts.h"
#include "ir/formula/types.h"

/* ---- addresses ---- */

static void add_index(struct translation *t, struct address *a, batch_reg index, int64_t size)
{
    struct build *k = &t->build;
    enum ir_kind kind = build_kind(k, index);
    if (batch_size_of(kind) < 2) {
        index = arithmetic_op(t, IR_OP_SEXT, IR_KIND_I64, kind, IR_ROUND_DEFAULT, 1, &index);
        kind = IR_KIND_I64;
    }
    if (build_is_uniform(k, index)) {
        a->base = values_of_address(t, (struct address){a->base, index, size, 0});
    } else if (a->index == NO_REG) {
        a->index = index;
        a->scale = size;
    } else {
        batch_reg sum[2] = {values_of_address(t, *a), values_of_address(t, (struct address){NO_REG, index, size, 0})};
        sum[0] = arithmetic_op(t, IR_OP_ADD, IR_KIND_I64, IR_KIND_I64, IR_ROUND_DEFAULT, 2, sum);
        *a = (struct address){NO_REG, sum[0], 1, 0};
    }
}

static void translate_element(struct translation *t, const struct ir_inst *inst)
{
    struct address a = values_address(t, inst->operands[0]);
    int64_t size = (int64_t)ir_type_size(t->module, inst->type);
    const struct ir_value *index = inst->operands[1];
    uint64_t known;
    unsigned unused = 64 - ir_type_bits(index->type);
    if (ir_value_uint(index, &known))
        a.offset = (int64_t)((uint64_t)a.offset + (uint64_t)((int64_t)(known << unused) >> unused) * (uint64_t)size);
    else
        add_index(t, &a, values_reg(t, index, 0), size);
    values_set_address(t, inst->results[0], a);
}

static void translate_field(struct translation *t, const struct ir_inst *inst)
{
    struct address a = values_address(t, inst->operands[0]);
    a.offset += ir_type_struct(t->module, inst->type)->fields[inst->attrs.index].offset;
    values_set_address(t, inst->results[0], a);
}

/* From generic to a space that the memory is not in: null. */
static void translate_space(struct translation *t, const struct ir_inst *inst)
{
    batch_reg r;
    if (inst->attrs.space == IR_SPACE_GENERIC) {
        values_set_address(t, inst->results[0], values_address(t, inst->operands[0]));
        return;
    }
    r = build_reg(&t->build, IR_KIND_PTR, false);
    values_step(t, STEP_SPACE, inst, &r, 1);
    values_set(t, inst->results[0], &r);
}

/* Between pointers and integers: of as many bits, or cut or filled with zeros. */
static void translate_pointer(struct translation *t, const struct ir_inst *inst)
{
    const struct ir_value *from = inst->operands[0];
    batch_reg r = values_reg(t, from, 0);
    enum ir_kind in = ir_type_is_ptr(from->type) ? IR_KIND_I64 : ir_type_kind(from->type);
    enum ir_kind out = inst->op == IR_OP_PTRTOINT ? ir_type_kind(inst->type) : IR_KIND_I64;
    if (in != out) r = arithmetic_op(t, in > out ? IR_OP_ITRUNC : IR_OP_ZEXT, out, in, IR_ROUND_DEFAULT, 1, &r);
    values_set(t, inst->results[0], &r);
}

static void translate_global(struct translation *t, const struct ir_inst *inst)
{
    const struct ir_global *g = inst->attrs.global;
    uint32_t i = 0;
    while (t->b->globals[i].global != g) i++;
    const struct batch_global *own = &t->b->globals[i];
    struct input in = {.kind = INPUT_CONSTANT, .value = (uintptr_t)own->memory};
    if (g->space == IR_SPACE_LOCAL && ir_type_kind(g->type) != IR_KIND_PIPE)
        in = (struct input){.kind = INPUT_LOCAL, .value = own->local_at};
    batch_reg r = build_input(&t->build, in, IR_KIND_PTR);
    values_set(t, inst->results[0], &r);
}

/* ---- loads and stores ---- */

static struct step *access_step(struct translation *t, enum step_kind kind, struct address a, unsigned size)
{
    struct step *s = build_step(&t->build, kind);
    s->in[0] = a.base;
    s->in[1] = a.index;
    s->in_size[1] = a.index == NO_REG ? 3 : t->build.regs[a.index].size;
    s->scale = a.scale;
    s->offset = a.offset;
    s->size = (uint8_t)size;
    return s;
}

static void translate_load(struct translation *t, const struct ir_inst *inst)
{
    struct address a = values_address(t, inst->operands[0]);
    enum ir_kind kind = ir_type_kind(inst->type);
    batch_reg r[IR_MAX_LANES];
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        r[c] = build_reg(&t->build, kind, a.index == NO_REG);
        access_step(t, STEP_LOAD, a, batch_size_of(kind))->r = r[c];
        /* Any byte but 0 is true. */
        if (kind == IR_KIND_BOOL) r[c] = arithmetic_op(t, IR_OP_ZEXT, IR_KIND_I8, kind, IR_ROUND_DEFAULT, 1, &r[c]);
        a.offset += 1 << batch_size_of(kind);
    }
    values_set(t, inst->results[0], r);
}

static void translate_store(struct translation *t, const struct ir_inst *inst)
{
    struct address a = values_address(t, inst->operands[0]);
    enum ir_kind kind = ir_type_kind(inst->type);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        batch_reg r = values_reg(t, inst->operands[1], c);
        if (a.index != NO_REG) r = build_column(&t->build, r);
        access_step(t, STEP_STORE, a, batch_size_of(kind))->in[2] = r;
        a.offset += 1 << batch_size_of(kind);
    }
}

static void translate_var(struct translation *t, const struct ir_inst *inst)
{
    uint32_t var = values_add_var(t, ir_type_size(t->module, inst->type));
    batch_reg r = t->b->vars[var].reg;
    values_set(t, inst->results[0], &r);
}

static void translate_by_item(struct translation *t, enum step_kind kind, const struct ir_inst *inst)
{
    batch_reg r[IR_MAX_LANES] = {0};
    uint32_t n = inst->n_results ? ir_type_lanes(inst->results[0]->type) : 0;
    for (uint32_t c = 0; c < n; c++) r[c] = build_reg(&t->build, ir_type_kind(inst->results[0]->type), false);
    values_step(t, kind, inst, r, n);
    if (n) values_set(t, inst->results[0], r);
}

bool memory_translate(struct translation *t, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_PTRTOINT:
    case IR_OP_INTTOPTR: translate_pointer(t, inst); return true;
    case IR_OP_SPACECAST: translate_space(t, inst); return true;
    case IR_OP_VAR: translate_var(t, inst); return true;
    case IR_OP_GLOBAL: translate_global(t, inst); return true;
    case IR_OP_ELEM: translate_element(t, inst); return true;
    case IR_OP_FIELD: translate_field(t, inst); return true;
    case IR_OP_LOAD: translate_load(t, inst); return true;
    case IR_OP_STORE: translate_store(t, inst); return true;
    case IR_OP_COPY: translate_by_item(t, STEP_COPY, inst); return true;
    case IR_OP_PREFETCH:
    case IR_OP_FENCE: return true;
    default:
        if (ir_op_class(inst->op) != IR_CLASS_ATOMIC) return false;
        translate_by_item(t, STEP_ATOMIC, inst);
        return true;
    }
}

/* ---- operations by calls, and of groups ---- */

static void translate_texels(struct translation *t, const struct ir_inst *inst)
{
    bool write = inst->op == IR_OP_IMAGE_WRITE;
    batch_reg r[4];
    for (unsigned c = 0; c < 4; c++) r[c] = build_reg(&t->build, ir_type_kind(inst->type), false);
    struct step *s = values_step(t, STEP_IMAGE, inst, r, write ? 0 : 4);
    struct step_details *d = (struct step_details *)s->details;
    enum ir_image_form form = ir_type_image_form(inst->operands[0]->type);
    d->lanes = ir_image_coordinates(form);
    d->mode = (uint32_t)form << KERNEL_TEXEL_FORM;
    if (ir_type_is_int(inst->type)) d->mode |= KERNEL_TEXEL_INTS;
    if (ir_type_is_float(inst->operands[1]->type)) d->mode |= KERNEL_TEXEL_FLOATS;
    if (!write && inst->n_operands > 2) d->mode |= KERNEL_TEXEL_SAMPLED;
    if (!write) values_set(t, inst->results[0], r);
}

/* All of a work-group get the same but from scans. */
static void translate_collective(struct translation *t, const struct ir_inst *inst)
{
    batch_reg r[IR_MAX_LANES];
    uint32_t n = inst->n_results ? ir_type_lanes(inst->results[0]->type) : 0;
    if (!ir_is_convergent(inst)) return; /* a barrier of one */
    for (uint32_t c = 0; c < n; c++)
        r[c] = build_reg(&t->build, ir_type_kind(inst->results[0]->type), uniform_is(&t->uniform, inst->results[0]));
    values_step(t, STEP_COLLECTIVE, inst, r, n);
    if (n) values_set(t, inst->results[0], r);
}

bool memory_translate_call(struct translation *t, const struct ir_inst *inst)
{
    batch_reg r;
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_COLLECTIVE: translate_collective(t, inst); return true;
    case IR_CLASS_SUB_GROUP: translate_by_item(t, STEP_SUB_GROUP, inst); return true;
    case IR_CLASS_BLOCK: translate_by_item(t, STEP_BLOCK, inst); return true;
    case IR_CLASS_PIPE: translate_by_item(t, STEP_PIPE, inst); return true;
    case IR_CLASS_PRINT: translate_by_item(t, STEP_PRINT, inst); return true;
    case IR_CLASS_IMAGE: break;
    default: return false;
    }
    switch (inst->op) {
    case IR_OP_MAKE_SAMPLER:
        r = values_reg(t, inst->operands[0], 0);
        r = arithmetic_op(t, IR_OP_ZEXT, IR_KIND_I64, IR_KIND_I32, IR_ROUND_DEFAULT, 1, &r);
        values_set(t, inst->results[0], &r);
        break;
    case IR_OP_IMAGE_READ:
    case IR_OP_IMAGE_WRITE: translate_texels(t, inst); break;
    default: translate_by_item(t, STEP_IMAGE_QUERY, inst);
    }
    return true;
}

/* ---- where work-items are ---- */

/* What differs from batch to batch, if not in one. */
static bool is_of_launch(enum ir_op op)
{
    switch (op) {
    case IR_OP_GLOBAL_SIZE:
    case IR_OP_ENQUEUED_LOCAL_SIZE:
    case IR_OP_NUM_GROUPS:
    case IR_OP_GLOBAL_OFFSET:
    case IR_OP_WORK_DIM:
    case IR_OP_SUB_GROUP_MAX_SIZE:
    case IR_OP_ENQUEUED_NUM_SUB_GROUPS: return true;
    default: return false;
    }
}

static batch_reg query_of_launch(struct translation *t, const struct ir_inst *inst, enum ir_kind kind)
{
    batch_reg *known = &t->queries[inst->op][inst->attrs.dim];
    struct input in = {.kind = INPUT_QUERY, .op = (uint16_t)inst->op, .dim = inst->attrs.dim};
    if (!*known) *known = build_input(&t->build, in, kind) + 1;
    return *known - 1;
}

static batch_reg query_of_batch(struct translation *t, const struct ir_inst *inst, enum ir_kind kind)
{
    struct batch *b = t->b;
    for (uint32_t i = 0; i < b->n_ids; i++)
        if (b->ids[i].op == inst->op && b->ids[i].dim == inst->attrs.dim) return b->ids[i].reg;
    batch_reg r = build_fixed_reg(&t->build, kind, uniform_is(&t->uniform, inst->results[0]));
    b->ids = arena_grow(b->arena, b->ids, b->n_ids, sizeof *b->ids);
    b->ids[b->n_ids++] = (struct id_column){inst->op, inst->attrs.dim, r};
    return r;
}

bool memory_translate_place(struct translation *t, const struct ir_inst *inst)
{
    enum ir_op_class class = ir_op_class(inst->op);
    if (class != IR_CLASS_ND_RANGE && class != IR_CLASS_SUB_GROUP_QUERY) return false;
    enum ir_kind kind = ir_type_kind(inst->results[0]->type);
    batch_reg r = is_of_launch(inst->op) ? query_of_launch(t, inst, kind) : query_of_batch(t, inst, kind);
    values_set(t, inst->results[0], &r);
    return true;
}
