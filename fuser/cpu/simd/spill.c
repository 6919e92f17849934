/* Values over the lanes in memory: an array with one element per lane. */
#include "fuser/cpu/simd/spill.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"

rval spilled_lane(struct emit *e, lval memory, rval lane)
{
    return jit_read(gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(memory), lane));
}

lval lane_array(struct emit *e, enum ir_kind kind, unsigned n)
{
    return jit_local(e, gcc_jit_context_new_array_type(e->gcc, NULL, jit_type(e, kind), (int)(n * e->width)));
}

static rval plus(struct emit *e, rval address, uint64_t offset)
{
    return offset ? jit_add(e, address, jit_int(e, IR_KIND_I64, offset)) : address;
}

void spill_into(struct emit *e, lval memory, unsigned at, const struct lanes *v)
{
    if (v->shape == SHAPE_UNIFORM || v->kind == IR_KIND_BOOL) {
        for (unsigned lane = 0; lane < e->width; lane++) {
            rval index = jit_int(e, IR_KIND_I64, at + lane);
            jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(memory), index), lanes_get(e, v, lane));
        }
        return;
    }
    unsigned per_chunk = lanes_per_chunk(e, v->kind), bytes = kind_bytes(v->kind);
    lval *chunk = lanes_vectors(e, v);
    for (unsigned c = 0; c < lanes_chunks(e, v->kind); c++) {
        rval address = plus(e, jit_address(e, memory), (at + c * per_chunk) * bytes);
        jit_set(e, jit_memory(e, jit_vector(e, v->kind, per_chunk), address, bytes), jit_read(chunk[c]));
    }
}

lval spill_lanes(struct emit *e, const struct lanes *v)
{
    lval memory = lane_array(e, v->kind, 1);
    spill_into(e, memory, 0, v);
    return memory;
}

struct lanes unspill_from(struct emit *e, enum ir_kind kind, lval memory, unsigned at)
{
    if (e->width == 1)
        return lanes_uniform(kind, jit_read(jit_keep(e, spilled_lane(e, memory, jit_int(e, IR_KIND_I64, at)))));
    struct lanes v = lanes_varying(e, kind);
    unsigned per_chunk = lanes_per_chunk(e, kind), bytes = kind_bytes(kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        rval address = plus(e, jit_address(e, memory), (at + c * per_chunk) * bytes);
        v.chunk[c] = jit_keep(e, jit_read(jit_memory(e, jit_vector(e, kind, per_chunk), address, bytes)));
    }
    return v;
}

struct lanes unspill_lanes(struct emit *e, enum ir_kind kind, lval memory)
{
    return unspill_from(e, kind, memory, 0);
}
