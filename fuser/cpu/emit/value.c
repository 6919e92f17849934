/* The values of the kernel: what has been emitted for each, and the variables that joins of control flow assign to. */
#include "fuser/cpu/emit/value.h"

#include <string.h>

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/chunk.h"

static struct lanes *constant(struct emit *e, const struct ir_value *v)
{
    unsigned n = ir_type_lanes(v->type);
    enum ir_kind kind = ir_type_kind(v->type);
    struct lanes *r = arena_alloc(e->arena, n * sizeof *r);
    for (unsigned c = 0; c < n; c++)
        r[c] = lanes_uniform(kind, jit_number(e, kind, v->kind == IR_VALUE_CONST ? v->of.lanes[c] : 0));
    return r;
}

struct lanes *emit_value(struct emit *e, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) return constant(e, v);
    return e->values->lanes[v->scratch];
}

struct shape value_shape(const struct emit *e, const struct ir_value *v)
{
    return e->values->uniformity.values[v->scratch];
}

struct lanes **value_variables(struct emit *e, struct ir_value **values, uint32_t n)
{
    struct lanes **r = arena_alloc(e->arena, (n + 1) * sizeof *r);
    for (uint32_t i = 0; i < n; i++) {
        unsigned lanes = ir_type_lanes(values[i]->type);
        r[i] = arena_alloc(e->arena, lanes * sizeof **r);
        for (unsigned c = 0; c < lanes; c++)
            r[i][c] = lanes_variable(e, ir_type_kind(values[i]->type), value_shape(e, values[i]));
    }
    return r;
}

void value_define(struct emit *e, struct ir_value **values, uint32_t n, struct lanes **as)
{
    for (uint32_t i = 0; i < n; i++) e->values->lanes[values[i]->scratch] = as[i];
}

static void define_uniform(struct emit *e, const struct ir_value *value, rval is)
{
    struct lanes *v = arena_alloc(e->arena, sizeof *v);
    *v = lanes_uniform(ir_type_kind(value->type), is);
    e->values->lanes[value->scratch] = v;
}

bool value_is_at_distance(const struct emit *e, const struct ir_inst *inst)
{
    if (inst->n_results != 1) return false;
    const struct lanes *to = e->values->shared[inst->results[0]->scratch];
    return to && !to->variable && e->values->lanes[inst->results[0]->scratch] == to;
}

int known_outcome(const struct known *known, const struct ir_value *condition)
{
    bool made = condition->kind == IR_VALUE_RESULT && known->decided;
    return made ? known->decided[condition->of.inst->scratch] : 0;
}

bool value_define_known(struct emit *e, const struct known *known, const struct ir_inst *inst)
{
    uint32_t n = inst->scratch;
    if (known->decided && known->decided[n])
        define_uniform(e, inst->results[0], jit_int(e, IR_KIND_BOOL, known->decided[n] > 0));
    else if (known->scalars && known->scalars[n])
        define_uniform(e, inst->results[0], jit_read(known->scalars[n]));
    else if (known->assumed && known->assumed[n].same)
        e->values->lanes[inst->results[0]->scratch] = emit_value(e, known->assumed[n].same);
    else
        return false;
    return true;
}

/* A copy that a later assignment to a variable does not change. */
static struct lanes *frozen(struct emit *e, const struct ir_value *v)
{
    unsigned n = ir_type_lanes(v->type);
    struct lanes *r = arena_alloc(e->arena, n * sizeof *r);
    memcpy(r, emit_value(e, v), n * sizeof *r);
    for (unsigned c = 0; c < n; c++) {
        if (!r[c].origin && r[c].shape != SHAPE_VARYING) {
            r[c].scalar = jit_read(jit_keep(e, r[c].scalar));
            continue;
        }
        lval *from = lanes_vectors(e, &r[c]);
        r[c] = lanes_varying(e, r[c].kind);
        for (unsigned k = 0; k < lanes_chunks(e, r[c].kind); k++) r[c].chunk[k] = jit_keep(e, jit_read(from[k]));
    }
    return r;
}

/* Assigns all operands at once: one may be a variable that another one is assigned to. */
void value_assign_operands(struct emit *e, const struct ir_inst *terminator, struct lanes **to, const struct mask *mask)
{
    struct lanes *from[64];
    uint32_t n = terminator->n_operands;
    struct lanes **copies = n <= 64 ? from : arena_alloc(e->arena, n * sizeof *copies);
    for (uint32_t i = 0; i < n; i++) copies[i] = frozen(e, terminator->operands[i]);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned c = 0; c < ir_type_lanes(terminator->operands[i]->type); c++)
            op_assign_where(e, &to[i][c], &copies[i][c], mask);
}
