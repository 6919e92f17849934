/* Values over the lanes. */
#include "fuser/cpu/simd/lanes.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"

struct lanes lanes_uniform(enum ir_kind kind, rval v)
{
    return (struct lanes){.kind = kind, .shape = SHAPE_UNIFORM, .scalar = v};
}

struct lanes lanes_linear(enum ir_kind kind, rval first, int64_t stride)
{
    return (struct lanes){
        .kind = kind, .shape = stride ? SHAPE_LINEAR : SHAPE_UNIFORM, .scalar = first, .stride = stride};
}

struct lanes lanes_varying(struct emit *e, enum ir_kind kind)
{
    lval *chunk = arena_alloc(e->arena, lanes_chunks(e, kind) * sizeof *chunk);
    return (struct lanes){.kind = kind, .shape = SHAPE_VARYING, .chunk = chunk};
}

struct lanes lanes_int(struct emit *e, enum ir_kind kind, uint64_t bits)
{
    return lanes_uniform(kind, jit_int(e, kind, bits));
}

static rval linear_lane(struct emit *e, const struct lanes *v, unsigned lane)
{
    return jit_add(e, v->scalar, jit_int(e, v->kind, (uint64_t)v->stride * lane));
}

/* What wraps is computed again, on scalars. */
static rval exact_lane(struct emit *e, const struct lanes *v, rval lane)
{
    struct lanes args[3];
    const struct lane_origin *o = v->origin;
    for (unsigned i = 0; i < o->n; i++) args[i] = lanes_uniform(o->args[i].kind, lanes_at(e, &o->args[i], lane));
    return o->compute(e, o->op, o->kind, o->n, args).scalar;
}

rval lanes_at(struct emit *e, const struct lanes *v, rval lane)
{
    if (v->shape == SHAPE_UNIFORM) return v->scalar;
    if (v->wraps) return exact_lane(e, v, lane);
    rval steps = jit_mul(e, jit_cast(e, lane, jit_type(e, v->kind)), jit_int(e, v->kind, (uint64_t)v->stride));
    return jit_read(jit_keep(e, jit_add(e, v->scalar, steps)));
}

rval lanes_get(struct emit *e, const struct lanes *v, unsigned lane)
{
    if (v->shape == SHAPE_UNIFORM) return v->scalar;
    if (v->wraps) return exact_lane(e, v, jit_int(e, IR_KIND_I64, lane));
    if (v->shape == SHAPE_LINEAR) return linear_lane(e, v, lane);
    unsigned per_chunk = lanes_per_chunk(e, v->kind);
    lval chunk = lanes_vectors(e, v)[lane / per_chunk];
    if (v->kind == IR_KIND_BOOL) return mask_bit(e, chunk, lane % per_chunk);
    return lanes_pick(e, v->kind, chunk, lane % per_chunk);
}

struct lanes lanes_build(struct emit *e, enum ir_kind kind, rval *scalars)
{
    if (e->width == 1) return lanes_uniform(kind, jit_read(jit_keep(e, scalars[0])));
    struct lanes v = lanes_varying(e, kind);
    unsigned per_chunk = lanes_per_chunk(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        rval *part = scalars + c * per_chunk;
        if (kind == IR_KIND_BOOL)
            v.chunk[c] = jit_keep(e, mask_build(e, part));
        else
            v.chunk[c] = jit_keep(e, chunk_of(e, kind, per_chunk, part));
    }
    return v;
}

static void linear_vectors(struct emit *e, const struct lanes *v, lval *chunk)
{
    unsigned n = lanes_per_chunk(e, v->kind);
    lval first = chunk_splat(e, v->kind, v->scalar);
    for (unsigned c = 0; c < lanes_chunks(e, v->kind); c++) {
        rval steps[MAX_WIDTH];
        for (unsigned i = 0; i < n; i++) steps[i] = jit_int(e, v->kind, (uint64_t)v->stride * (c * n + i));
        chunk[c] = jit_keep(e, jit_add(e, jit_read(first), chunk_of(e, v->kind, n, steps)));
    }
}

/* Of what wraps, or was to be computed later: on vectors. */
static lval *exact_vectors(struct emit *e, const struct lanes *v)
{
    struct lanes args[3];
    const struct lane_origin *o = v->origin;
    for (unsigned i = 0; i < o->n; i++) {
        args[i] = o->args[i];
        if (args[i].shape != SHAPE_LINEAR) continue;
        args[i] = lanes_varying(e, args[i].kind);
        args[i].chunk = lanes_vectors(e, &o->args[i]);
    }
    struct lanes r = o->compute(e, o->op, o->kind, o->n, args);
    return lanes_vectors(e, &r); /* of uniform arguments it is uniform, too */
}

struct lanes lanes_made(struct emit *e, struct lanes v)
{
    if (v.shape == SHAPE_VARYING) v.chunk = lanes_vectors(e, &v);
    return v;
}

lval *lanes_vectors(struct emit *e, const struct lanes *v)
{
    if (v->chunk) return v->chunk;
    if (v->origin) return exact_vectors(e, v);
    unsigned n = lanes_chunks(e, v->kind);
    lval *chunk = arena_alloc(e->arena, n * sizeof *chunk);
    if (v->shape == SHAPE_LINEAR) {
        linear_vectors(e, v, chunk);
    } else {
        chunk[0] = v->kind == IR_KIND_BOOL ? jit_keep(e, mask_splat(e, v->scalar)) : chunk_splat(e, v->kind, v->scalar);
        for (unsigned c = 1; c < n; c++) chunk[c] = chunk[0];
    }
    return chunk;
}

struct lanes lanes_variable(struct emit *e, enum ir_kind kind, struct shape shape)
{
    if (shape.kind != SHAPE_VARYING) {
        lval variable = jit_local(e, jit_type(e, kind));
        struct lanes v = lanes_linear(kind, jit_read(variable), shape.stride);
        v.variable = variable;
        return v;
    }
    struct lanes v = lanes_varying(e, kind);
    gcc_jit_type *type = kind == IR_KIND_BOOL ? mask_type(e) : jit_vector(e, kind, lanes_per_chunk(e, kind));
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) v.chunk[c] = jit_local(e, type);
    /* Not left unset: what a blend keeps of an unset value would make gcc take the whole for undefined. */
    struct lanes zero = lanes_uniform(kind, jit_number(e, kind, 0));
    lanes_assign(e, &v, &zero);
    return v;
}

void lanes_assign(struct emit *e, struct lanes *variable, const struct lanes *v)
{
    if (variable->shape != SHAPE_VARYING) {
        jit_set(e, variable->variable, v->scalar);
        return;
    }
    lval *chunk = lanes_vectors(e, v);
    for (unsigned c = 0; c < lanes_chunks(e, variable->kind); c++) jit_set(e, variable->chunk[c], jit_read(chunk[c]));
}
