/* Values of the IR in registers. */
#include "fuser/cpu/batch/values.h"

#include <string.h>

/* ---- registers of values ---- */

batch_reg values_reg(struct translation *t, const struct ir_value *v, unsigned component)
{
    if (v->kind == IR_VALUE_CONST) return build_constant(&t->build, ir_type_kind(v->type), v->of.lanes[component]);
    if (v->kind == IR_VALUE_UNDEF) return build_constant(&t->build, ir_type_kind(v->type), 0);
    const struct value *value = &t->values[v->scratch];
    return value->regs ? value->regs[component] : values_of_address(t, *value->address);
}

batch_reg values_column(struct translation *t, const struct ir_value *v, unsigned component)
{
    return build_column(&t->build, values_reg(t, v, component));
}

void values_set(struct translation *t, const struct ir_value *v, const batch_reg *regs)
{
    size_t bytes = ir_type_lanes(v->type) * sizeof *regs;
    t->values[v->scratch].regs = memcpy(arena_alloc(t->arena, bytes), regs, bytes);
}

batch_reg *values_define(struct translation *t, const struct ir_value *v)
{
    batch_reg regs[IR_MAX_LANES];
    for (unsigned c = 0; c < ir_type_lanes(v->type); c++)
        regs[c] = build_reg(&t->build, ir_type_kind(v->type), uniform_is(&t->uniform, v));
    values_set(t, v, regs);
    return t->values[v->scratch].regs;
}

/* ---- addresses ---- */

struct address values_address(struct translation *t, const struct ir_value *v)
{
    if (v->kind != IR_VALUE_CONST && v->kind != IR_VALUE_UNDEF && t->values[v->scratch].address)
        return *t->values[v->scratch].address;
    batch_reg r = values_reg(t, v, 0);
    if (build_is_uniform(&t->build, r)) return (struct address){.base = r, .index = NO_REG};
    return (struct address){.base = NO_REG, .index = r, .scale = 1};
}

void values_set_address(struct translation *t, const struct ir_value *v, struct address a)
{
    struct address *own = arena_alloc(t->arena, sizeof *own);
    *own = a;
    t->values[v->scratch].address = own;
}

batch_reg values_of_address(struct translation *t, struct address a)
{
    if (a.index == NO_REG && a.offset == 0) return a.base;
    unsigned size = a.index == NO_REG ? 3 : t->build.regs[a.index].size;
    if (a.base == NO_REG && a.scale == 1 && a.offset == 0 && size == 3) return a.index;
    batch_reg r = build_reg(&t->build, IR_KIND_I64, a.index == NO_REG || build_is_uniform(&t->build, a.index));
    struct step *s = build_step(&t->build, STEP_ADDRESS);
    s->r = r;
    s->in[0] = a.base;
    s->in[1] = a.index;
    s->in_size[1] = (uint8_t)size;
    s->scale = a.scale;
    s->offset = a.offset;
    s->size = 3;
    return r;
}

/* ---- private memory ---- */

uint32_t values_add_var(struct translation *t, uint64_t bytes)
{
    struct batch *b = t->b;
    b->vars = arena_grow(b->arena, b->vars, b->n_vars, sizeof *b->vars);
    bytes = bytes ? (bytes + 15) / 16 * 16 : 16;
    b->vars[b->n_vars] = (struct batch_var){b->private_bytes, bytes, build_fixed_reg(&t->build, IR_KIND_I64, false)};
    b->private_bytes += bytes;
    return b->n_vars++;
}

/* ---- steps over columns ---- */

void values_make_room(struct translation *t, struct step_details *d)
{
    d->more = arena_alloc(t->b->arena, (d->n_results + d->n_operands) * sizeof *d->more);
    d->sizes = arena_alloc(t->b->arena, d->n_results + d->n_operands);
}

struct step *values_end_step(struct translation *t, enum step_kind kind, enum ir_op op, struct step_details *d)
{
    struct step *s = build_step(&t->build, kind);
    for (uint32_t i = 0; i < d->n_results + d->n_operands; i++) d->sizes[i] = t->build.regs[d->more[i]].size;
    s->op = (uint16_t)op;
    s->details = d;
    return s;
}

struct step *values_step(struct translation *t, enum step_kind kind, const struct ir_inst *inst,
                         const batch_reg *results, uint32_t n_results)
{
    struct step_details *d = arena_alloc(t->b->arena, sizeof *d);
    ir_type element = ir_type_element(inst->type);
    *d = (struct step_details){.attrs = inst->attrs,
                               .kind = ir_type_kind(element),
                               .lanes = ir_type_lanes(inst->type),
                               .n_results = n_results};
    if (inst->type != IR_VOID) d->bytes = ir_type_size(t->module, inst->type);
    for (uint32_t i = 0; i < inst->n_operands; i++) d->n_operands += ir_type_lanes(inst->operands[i]->type);
    values_make_room(t, d);
    batch_reg *more = d->more;
    for (uint32_t i = 0; i < n_results; i++) *more++ = results[i];
    for (uint32_t i = 0; i < inst->n_operands; i++)
        for (unsigned c = 0; c < ir_type_lanes(inst->operands[i]->type); c++)
            *more++ = values_column(t, inst->operands[i], c);
    return values_end_step(t, kind, inst->op, d);
}
