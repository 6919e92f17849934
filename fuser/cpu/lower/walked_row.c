/*
 * Lanes that each walk along a row of their own, as work-items do that each have a row of a matrix. Every so many
 * rounds the next numbers of each lane's row are loaded by registers, and turned in registers into as many numbers of
 * all lanes (simd/tile.h), from where rounds take them. Near its end a loop has fewer rounds than that, and what lies
 * behind the rows may not be memory: there each number is loaded by itself.
 */
#include "fuser/cpu/lower/walked_row.h"

#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/spill.h"
#include "fuser/cpu/simd/tile.h"

/* A scalar as 64 bits. */
static rval wide(struct emit *e, const struct lanes *v, bool is_unsigned)
{
    if (kind_bytes(v->kind) == 8) return v->scalar;
    if (is_unsigned) return jit_cast(e, v->scalar, jit_type(e, IR_KIND_I64));
    rval number = jit_cast(e, jit_cast(e, v->scalar, jit_signed(e, v->kind)), jit_signed(e, IR_KIND_I64));
    return jit_cast(e, number, jit_type(e, IR_KIND_I64));
}

/* How many rounds there are from this one on, this one too: at least one, but of more than a tile has, as many as
 * those. */
static rval rounds_left(struct emit *e, const struct walked_row *r)
{
    const struct row_walk *w = r->walk;
    bool is_unsigned = w->less.is_unsigned;
    rval left = jit_sub(e, wide(e, r->bound, is_unsigned), wide(e, r->counter, is_unsigned));
    left = jit_add(e, left, jit_u64(e, (uint64_t)w->less.up_to + w->tests_before));
    rval number = jit_read(jit_keep(e, jit_cast(e, left, jit_signed(e, IR_KIND_I64))));
    rval one = jit_cast(e, jit_u64(e, 1), jit_signed(e, IR_KIND_I64));
    rval some = jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_LT, number, one), one, number);
    return jit_read(jit_keep(e, jit_min(e, jit_cast(e, some, jit_type(e, IR_KIND_I64)), jit_u64(e, tile_rows(e)))));
}

/* The numbers of `rounds` rounds, one by one. */
static void load_one_by_one(struct emit *e, const struct walked_row *r, const struct tile *tile, rval rounds)
{
    unsigned bytes = kind_bytes(r->kind);
    lval addresses = spill_lanes(e, &r->address);
    struct lane_loop lanes;
    lane_loop_begin(e, &lanes);
    rval from = jit_read(jit_keep(e, spilled_lane(e, addresses, lanes.lane)));
    rval to = jit_add(e, jit_address(e, tile->memory), jit_mul(e, lanes.lane, jit_u64(e, bytes)));
    to = jit_read(jit_keep(e, to));
    struct counted k = counted_begin(e, jit_u64(e, 0), rounds, jit_u64(e, 1));
    rval there = jit_add(e, from, jit_mul(e, jit_read(k.v), jit_u64(e, bytes)));
    rval here = jit_add(e, to, jit_mul(e, jit_read(k.v), jit_u64(e, (uint64_t)e->width * bytes)));
    gcc_jit_type *type = jit_type(e, r->kind);
    jit_set(e, jit_memory(e, type, here, bytes), jit_read(jit_memory(e, type, there, r->align)));
    counted_end(e, &k);
    lane_loop_end(e, &lanes);
}

static void load_rows(struct emit *e, const struct walked_row *r, const struct tile *tile)
{
    gcc_jit_block *whole = jit_block(e), *part = jit_block(e), *done = jit_block(e);
    rval rounds = rounds_left(e, r);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, rounds, jit_u64(e, tile_rows(e))), whole, part);
    jit_begin(e, whole);
    tile_load(e, tile, &r->address, r->align);
    jit_jump(e, done);
    jit_begin(e, part);
    load_one_by_one(e, r, tile, rounds);
    jit_jump(e, done);
    jit_begin(e, done);
}

bool walked_row_can_load(const struct emit *e, enum ir_kind kind)
{
    return !e->exec.chunk && !e->compact && e->width > 1 && tile_can_hold(e, kind);
}

struct lanes walked_row_load(struct emit *e, const struct walked_row *r)
{
    struct tile tile = tile_new(e, r->kind, 1);
    rval round = jit_sub(e, wide(e, r->counter, false), wide(e, r->first, false));
    round = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, round, jit_u64(e, tile_rows(e) - 1));
    round = jit_read(jit_keep(e, round));
    gcc_jit_block *next_rows = jit_block(e), *there = jit_block(e);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, round, jit_u64(e, 0)), next_rows, there);
    jit_begin(e, next_rows);
    load_rows(e, r, &tile);
    jit_jump(e, there);
    jit_begin(e, there);
    return tile_get(e, &tile, round, 0);
}
