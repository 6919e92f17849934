/* Loads, stores and copies. An address that is the same for all lanes takes one scalar access, one that grows by the
   element's size a vector move (masked where not all lanes run), any other one access per lane. */
#include "fuser/cpu/emit/memory.h"

#include "fuser/cpu/emit/again.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/near.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/interleaved.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/lower/walked_row.h"
#include "fuser/cpu/prepare/frame.h"
#include "fuser/cpu/prepare/parallel_regions.h"
#include "fuser/cpu/prepare/walk.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/copy.h"
#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/spill.h"
#include "fuser/cpu/simd/stream.h"
#include "fuser/cpu/simd/tile.h"
#include "fuser/cpu/simd/x86_gather.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/simd/x86_window.h"
#include "fuser/cpu/target/isa.h"
#include "ir/core/facts.h"

/* A number in memory: bool is a byte there. */
static enum ir_kind stored_kind(enum ir_kind kind)
{
    return kind == IR_KIND_BOOL ? IR_KIND_I8 : kind;
}

static struct lanes from_memory(struct emit *e, enum ir_kind kind, struct lanes v)
{
    return kind == IR_KIND_BOOL ? op2(e, IR_OP_INE, IR_KIND_BOOL, v, lanes_int(e, IR_KIND_I8, 0)) : v;
}

static struct lanes to_memory(struct emit *e, struct lanes v)
{
    return v.kind == IR_KIND_BOOL ? op1(e, IR_OP_ZEXT, IR_KIND_I8, v) : v;
}

static rval offset_by(struct emit *e, rval address, uint64_t offset)
{
    return offset ? jit_add(e, address, jit_int(e, IR_KIND_I64, offset)) : address;
}

enum {
    MOST_UNROLLED = 128, /* numbers that are moved one by one by one instruction */
    LINE_BYTES = 64,     /* of the caches */
};

struct access {
    enum ir_kind kind; /* as stored */
    struct lanes address;
    uint64_t offset;
    unsigned align;
    bool is_volatile;
    bool may_stream; /* of a store: in global memory, and once, not in a loop */
    bool walks;      /* each lane goes on in memory of its own, from round to round of a loop */
    bool leaps;      /* of a load: it goes on further than the processor expects */
    lval streams;    /* of a store: as in struct row_place */
    rval ahead;      /* of a load: as many bytes further on is what will be loaded later; NULL: not known */
};

static lval scalar_place(struct emit *e, const struct access *a, rval address)
{
    return jit_memory(e, jit_type(e, a->kind), offset_by(e, address, a->offset), a->align);
}

/* ---- lane by lane, those that run ---- */

static rval lane_address(struct emit *e, const struct lanes *address, lval spilled, rval lane)
{
    if (spilled) return spilled_lane(e, spilled, lane);
    return jit_add(e, address->scalar, jit_mul(e, lane, jit_int(e, IR_KIND_I64, (uint64_t)address->stride)));
}

static bool is_contiguous(const struct access *a)
{
    return a->address.shape == SHAPE_LINEAR && a->address.stride == (int64_t)kind_bytes(a->kind) && !a->is_volatile;
}

/* All lanes one by one: faster than a loop, but of many lanes too long. */
static bool is_unrolled(const struct emit *e)
{
    return !e->exec.chunk && e->width <= 32 && !e->compact;
}

/* In a loop over the lanes that run, the n components of a vector together; a: one for each. */
static void gather_together(struct emit *e, const struct access *a, unsigned n, struct lanes *result)
{
    lval out[IR_MAX_LANES], addresses = a->address.shape != SHAPE_VARYING ? NULL : spill_lanes(e, &a->address);
    for (unsigned c = 0; c < n; c++) out[c] = lane_array(e, a->kind, 1);
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    rval address = jit_read(jit_keep(e, lane_address(e, &a->address, addresses, loop.lane)));
    for (unsigned c = 0; c < n; c++)
        jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(out[c]), loop.lane),
                jit_read(scalar_place(e, &a[c], address)));
    lane_loop_end(e, &loop);
    for (unsigned c = 0; c < n; c++) result[c] = unspill_lanes(e, a->kind, out[c]);
}

static void scatter_together(struct emit *e, const struct access *a, unsigned n, const struct lanes *v)
{
    lval values[IR_MAX_LANES], addresses = a->address.shape != SHAPE_VARYING ? NULL : spill_lanes(e, &a->address);
    for (unsigned c = 0; c < n; c++) values[c] = v[c].shape == SHAPE_UNIFORM ? NULL : spill_lanes(e, &v[c]);
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    rval address = jit_read(jit_keep(e, lane_address(e, &a->address, addresses, loop.lane)));
    for (unsigned c = 0; c < n; c++)
        jit_set(e, scalar_place(e, &a[c], address), values[c] ? spilled_lane(e, values[c], loop.lane) : v[c].scalar);
    lane_loop_end(e, &loop);
}

/* Whether one instruction accesses all lanes. Where each lane walks through memory, one for each lane is faster: the
   processor sees each lane's way, and fetches ahead. */
static bool is_at_once(const struct emit *e, const struct access *a, bool stores)
{
    bool can = stores ? x86_can_scatter(e, a->kind) : x86_can_gather(e, a->kind);
    return can && !a->is_volatile && (!a->walks || e->exec.chunk || e->compact);
}

static struct lanes gather_lanes(struct emit *e, const struct access *a)
{
    if (is_at_once(e, a, false)) {
        struct near_lanes p = near_places(e, &a->address, a->offset);
        if (p.of_ids && !e->compact && x86_can_gather_near(e, e->exec.chunk, a->kind))
            return x86_gather_near(e, e->exec.chunk, a->kind, p.base, &p.offset);
        return x86_gather(e, e->exec.chunk, a->kind, p.base, &p.offset);
    }
    if (is_unrolled(e)) {
        rval lane[MAX_WIDTH];
        struct lanes addresses = lanes_made(e, a->address);
        for (unsigned i = 0; i < e->width; i++) {
            rval address = jit_read(jit_keep(e, lanes_get(e, &addresses, i)));
            lane[i] = jit_read(jit_keep(e, jit_read(scalar_place(e, a, address))));
        }
        return lanes_build(e, a->kind, lane);
    }
    struct lanes result;
    gather_together(e, a, 1, &result);
    return result;
}

static void scatter_lanes(struct emit *e, const struct access *a, const struct lanes *v)
{
    if (is_at_once(e, a, true)) {
        struct near_lanes p = near_places(e, &a->address, a->offset);
        x86_scatter(e, e->exec.chunk, p.base, &p.offset, v);
        return;
    }
    if (is_unrolled(e)) {
        struct lanes addresses = lanes_made(e, a->address);
        for (unsigned i = 0; i < e->width; i++)
            jit_set(e, scalar_place(e, a, jit_read(jit_keep(e, lanes_get(e, &addresses, i)))), lanes_get(e, v, i));
        return;
    }
    scatter_together(e, a, 1, v);
}

/* Whether the components of a vector are moved together, in one loop over the lanes that run: a loop for each, or each
   number by itself, is code that grows with lanes times components. */
static bool is_together(const struct emit *e, const struct access *a, unsigned n, bool stores)
{
    if (is_at_once(e, a, stores) && e->width * n <= MOST_UNROLLED) return false;
    if (n == 1 || e->width == 1 || a->address.shape == SHAPE_UNIFORM || is_contiguous(a)) return false;
    return e->exec.chunk || e->compact || e->width * n > MOST_UNROLLED;
}

/* ---- vector moves ---- */

static rval chunk_address(struct emit *e, const struct access *a, unsigned c)
{
    return offset_by(e, a->address.scalar, a->offset + (uint64_t)c * lanes_per_chunk(e, a->kind) * kind_bytes(a->kind));
}

void memory_prefetch(struct emit *e, rval address, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += LINE_BYTES) {
        rval pointer = jit_bits(e, offset_by(e, address, at), jit_c(e, GCC_JIT_TYPE_CONST_CHAR_PTR));
        pointer = gcc_jit_context_new_cast(e->gcc, NULL, pointer, jit_c(e, GCC_JIT_TYPE_VOID_PTR));
        gcc_jit_block_add_eval(e->block, NULL, jit_builtin(e, "__builtin_prefetch", 1, &pointer));
    }
}

/* A loop down columns comes back to each row with the next vector of work-items. By then the processor has seen so many
   rows that it does not expect any. */
static void prefetch_neighbours(struct emit *e, const struct access *a)
{
    uint64_t bytes = (uint64_t)e->width * kind_bytes(a->kind);
    memory_prefetch(e, offset_by(e, a->address.scalar, a->offset + bytes), bytes);
}

/* Rounds of a group that go on by what only the launch knows begin in other pages each time; so do rows of stencils. */
static void prefetch_ahead(struct emit *e, const struct access *a, unsigned n)
{
    rval there = jit_add(e, offset_by(e, a->address.scalar, a->offset), a->ahead);
    memory_prefetch(e, jit_read(jit_keep(e, there)), (uint64_t)e->width * n * kind_bytes(a->kind));
}

static struct lanes contiguous_load(struct emit *e, const struct access *a)
{
    if (a->leaps) prefetch_neighbours(e, a);
    if (a->ahead) prefetch_ahead(e, a, 1);
    if (e->exec.chunk && !x86_can_mask(e, a->kind)) return gather_lanes(e, a);
    struct lanes r = lanes_varying(e, a->kind);
    gcc_jit_type *type = jit_vector(e, a->kind, lanes_per_chunk(e, a->kind));
    for (unsigned c = 0; c < lanes_chunks(e, a->kind); c++) {
        rval address = chunk_address(e, a, c);
        if (e->exec.chunk)
            r.chunk[c] = x86_masked_load(e, e->exec.chunk, a->kind, c, address);
        else
            r.chunk[c] = jit_keep(e, jit_read(jit_memory(e, type, address, a->align)));
    }
    return r;
}

/* streams: past the cache, where the launch asks for it and the address allows. */
static void store_register(struct emit *e, const struct access *a, bool streams, rval address, rval v)
{
    e->memory->streamed = e->memory->streamed || streams;
    if (streams) address = jit_read(jit_keep(e, address));
    lval place = jit_memory(e, jit_vector(e, a->kind, lanes_per_chunk(e, a->kind)), address, a->align);
    if (!streams)
        jit_set(e, place, v);
    else
        stream_store(e, a->streams ? a->streams : jit_keep(e, stream_may(e, e->memory->keeps_cached, address)), place,
                     v);
}

static void contiguous_store(struct emit *e, const struct access *a, const struct lanes *v)
{
    if (e->exec.chunk && !x86_can_mask(e, a->kind)) {
        scatter_lanes(e, a, v);
        return;
    }
    bool streams = a->may_stream && lanes_per_chunk(e, a->kind) * kind_bytes(a->kind) == e->isa->vector_bytes;
    lval *chunk = lanes_vectors(e, v);
    for (unsigned c = 0; c < lanes_chunks(e, a->kind); c++) {
        rval address = chunk_address(e, a, c), value = jit_read(chunk[c]);
        if (e->exec.chunk)
            x86_masked_store(e, e->exec.chunk, a->kind, c, address, value);
        else
            store_register(e, a, streams, address, value);
    }
}

/* ---- one component ---- */

static struct lanes load_component(struct emit *e, const struct access *a)
{
    if (a->address.shape == SHAPE_UNIFORM)
        return lanes_uniform(a->kind, jit_read(jit_keep(e, jit_read(scalar_place(e, a, a->address.scalar)))));
    return is_contiguous(a) ? contiguous_load(e, a) : gather_lanes(e, a);
}

static void store_component(struct emit *e, const struct access *a, const struct lanes *v)
{
    if (a->address.shape == SHAPE_UNIFORM && v->shape == SHAPE_UNIFORM)
        jit_set(e, scalar_place(e, a, a->address.scalar), v->scalar);
    else if (is_contiguous(a))
        contiguous_store(e, a, v);
    else
        scatter_lanes(e, a, v);
}

/* Whether the numbers of a small vector are a word, which is moved as one where registers full of them are not. */
static bool is_word(const struct emit *e, const struct access *a, unsigned n)
{
    bool fits = n > 1 && n * kind_bytes(a->kind) == 4 && !a->is_volatile;
    return fits && e->width > 1 && a->address.shape != SHAPE_UNIFORM;
}

static struct access as_number(const struct access *a, enum ir_kind kind)
{
    struct access number = *a;
    number.kind = kind;
    return number;
}

static void load_word(struct emit *e, const struct access *a, unsigned n, struct lanes *result)
{
    struct access all = as_number(a, IR_KIND_I32);
    struct lanes word = load_component(e, &all);
    for (unsigned c = 0; c < n; c++) result[c] = interleaved_number(e, a->kind, word, c);
}

static void store_word(struct emit *e, const struct access *a, const struct lanes *v)
{
    struct access all = as_number(a, IR_KIND_I32);
    struct lanes word = interleaved_word(e, a->kind, v);
    store_component(e, &all, &word);
}

/* Whether the numbers of a vector are moved two at a time, as numbers of 8 bytes, by instructions that take lanes from
   anywhere: these take as long for any size. */
static bool is_pairs(const struct emit *e, const struct access *a, unsigned n, bool stores)
{
    struct access pair = as_number(a, IR_KIND_I64);
    if (n % 2 || kind_bytes(a->kind) != 4 || a->address.shape == SHAPE_UNIFORM || is_contiguous(a)) return false;
    return is_at_once(e, &pair, stores) && e->width * n <= MOST_UNROLLED;
}

static void load_pairs(struct emit *e, const struct access *a, unsigned n, struct lanes *result)
{
    for (unsigned c = 0; c < n; c += 2) {
        struct access pair = as_number(&a[c], IR_KIND_I64);
        struct lanes both = gather_lanes(e, &pair);
        interleaved_split(e, a->kind, &both, result + c);
    }
}

static void store_pairs(struct emit *e, const struct access *a, unsigned n, const struct lanes *v)
{
    for (unsigned c = 0; c < n; c += 2) {
        struct access pair = as_number(&a[c], IR_KIND_I64);
        struct lanes both = interleaved_join(e, v + c);
        scatter_lanes(e, &pair, &both);
    }
}

static struct access plain_access(const struct lanes *address, enum ir_kind kind, unsigned component)
{
    return (struct access){
        .kind = kind, .address = *address, .offset = (uint64_t)component * kind_bytes(kind), .align = kind_bytes(kind)};
}

struct lanes memory_load(struct emit *e, enum ir_kind kind, const struct lanes *address, unsigned component)
{
    struct access a = plain_access(address, kind, component);
    return load_component(e, &a);
}

void memory_store(struct emit *e, const struct lanes *address, unsigned component, const struct lanes *v)
{
    struct access a = plain_access(address, v->kind, component);
    store_component(e, &a, v);
}

/* ---- addresses ---- */

static rval first_running_lane(struct emit *e)
{
    rval bits = jit_cast(e, mask_bits(e, e->exec), jit_c(e, GCC_JIT_TYPE_UNSIGNED_LONG));
    return jit_cast(e, jit_builtin(e, "__builtin_ctzl", 1, &bits), jit_type(e, IR_KIND_I64));
}

/* What is known of it where all lanes run; NULL: nothing. */
static const struct row_place *place_in_row(const struct emit *e, const struct ir_inst *access)
{
    const struct row_place *place = e->memory->places ? &e->memory->places[access->scratch] : NULL;
    return place && place->first && !e->exec.chunk ? place : NULL;
}

static struct lanes address_in_row(struct emit *e, const struct ir_inst *access, const struct row_place *place)
{
    int64_t stride = value_shape(e, access->operands[0]).stride;
    rval steps = jit_mul(e, e->ids->item[0], jit_int(e, IR_KIND_I64, (uint64_t)stride));
    rval address = offset_by(e, jit_add(e, jit_read(place->first), steps), place->offset);
    return lanes_linear(IR_KIND_PTR, jit_read(jit_keep(e, address)), stride);
}

/* Where the lanes that run access memory. An address that wraps on the way from one of them to another would leave the
   memory, which no kernel may do; on the way from or to one that does not run it may wrap. So it is linear, counted
   from the first one that runs. */
static struct lanes running_address(struct emit *e, const struct ir_inst *access)
{
    const struct row_place *place = place_in_row(e, access);
    if (place) return address_in_row(e, access, place);
    struct lanes a = *emit_value(e, access->operands[0]);
    if (!a.wraps) return a;
    if (!e->exec.chunk) return lanes_linear(a.kind, a.scalar, a.stride);
    rval lane = jit_read(jit_keep(e, first_running_lane(e))), there = lanes_at(e, &a, lane);
    rval steps = jit_mul(e, lane, jit_int(e, IR_KIND_I64, (uint64_t)a.stride));
    return lanes_linear(a.kind, jit_read(jit_keep(e, jit_sub(e, there, steps))), a.stride);
}

static rval bytes_ahead(struct emit *e, const struct ir_inst *inst)
{
    enum { ROUNDS = 4 }; /* as many take as long as memory does */
    int64_t times;
    if (e->memory->loops || !ir_enclosing_loop(inst)) return NULL;
    const struct ir_value *unit = walk_unit(e->module, inst, &times);
    if (!unit || unit->kind < IR_VALUE_PARAM || !e->values->lanes[unit->scratch]) return NULL;
    struct lanes step = *emit_value(e, unit);
    if (kind_bytes(step.kind) < 8) step = op1(e, IR_OP_SEXT, IR_KIND_I64, step);
    return step.shape == SHAPE_UNIFORM ? jit_mul(e, step.scalar, jit_u64(e, (uint64_t)times * ROUNDS)) : NULL;
}

/* One for each component. */
static void access_of(struct emit *e, const struct ir_inst *inst, unsigned n, struct access *a)
{
    enum ir_kind kind = stored_kind(ir_type_kind(inst->type));
    unsigned bytes = kind_bytes(kind), align = inst->attrs.align ? inst->attrs.align : bytes;
    bool global = ir_type_space(inst->operands[0]->type) == IR_SPACE_GLOBAL;
    struct lanes address = running_address(e, inst);
    bool in_loop = e->memory->loops, walks = in_loop && walk_is_regular(inst);
    bool is_global_load = global && inst->op == IR_OP_LOAD;
    /* What work-items that wait for each other read as well is to be in the cache when they do. */
    bool may_stream = global && e->memory->streams && e->memory->keeps_cached && !stream_was_just_read(inst) &&
                      !(e->regions && leads_into(inst->operands[0], IR_ACCESS_READ_WRITE));
    bool leaps = is_global_load && in_loop && walk_leaps(e->module, inst);
    const struct row_place *place = place_in_row(e, inst);
    rval ahead = is_global_load ? place && place->ahead ? jit_read(place->ahead) : bytes_ahead(e, inst) : NULL;
    for (unsigned c = 0; c < n; c++)
        a[c] = (struct access){.kind = kind,
                               .may_stream = may_stream && !in_loop,
                               .walks = walks,
                               .leaps = leaps,
                               .ahead = ahead,
                               .streams = place ? place->streams : NULL,
                               .address = address,
                               .offset = (uint64_t)c * bytes,
                               .align = align < bytes ? align : bytes,
                               .is_volatile = inst->attrs.is_volatile};
}

/* Whether the n components of all lanes lie one after the other. */
static bool is_interleaved(const struct emit *e, const struct ir_inst *inst, const struct access *a, unsigned n,
                           struct interleaved *all)
{
    bool linear = a->address.shape == SHAPE_LINEAR && a->address.stride > 0;
    if (!linear || is_contiguous(a) || a->is_volatile) return false;
    int before = frame_place(&e->values->uniformity, e->memory->products, inst, (uint64_t)a->address.stride);
    *all = (struct interleaved){.kind = a->kind,
                                .n = n,
                                .address = a->address.scalar,
                                .stride = (uint64_t)a->address.stride,
                                .align = a->align,
                                .before = before > 0 ? (unsigned)before : 0,
                                .is_frame = before >= 0,
                                .is_own = ir_type_space(inst->operands[0]->type) == IR_SPACE_LOCAL};
    return true;
}

/* ---- accesses of a tile ---- */

static bool is_tiled(const struct emit *e, const struct ir_inst *inst)
{
    return e->memory->tiled && e->memory->tiled[inst->scratch] && !e->exec.chunk;
}

/* What follows is done in one row of the tile only; the block where all go on. */
static gcc_jit_block *only_in_row(struct emit *e, unsigned row)
{
    gcc_jit_block *there = jit_block(e), *next = jit_block(e);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, e->memory->tile_row, jit_u64(e, row)), there, next);
    jit_begin(e, there);
    return next;
}

static void in_all_rows(struct emit *e, gcc_jit_block *next)
{
    jit_jump(e, next);
    jit_begin(e, next);
}

static void load_from_tile(struct emit *e, const struct access *a, unsigned n, struct lanes *result)
{
    struct tile tile = tile_new(e, a->kind, n);
    gcc_jit_block *next = only_in_row(e, 0);
    tile_load(e, &tile, &a->address, a->align);
    in_all_rows(e, next);
    for (unsigned c = 0; c < n; c++) result[c] = tile_get(e, &tile, e->memory->tile_row, c);
}

static void store_row(struct emit *e, const void *data, rval address, rval v)
{
    const struct access *a = data;
    store_register(e, a, a->may_stream && e->isa->vector_bytes == LINE_BYTES, address, v);
}

static void store_to_tile(struct emit *e, const struct access *a, unsigned n, const struct lanes *v)
{
    unsigned last = tile_rows(e) - 1;
    struct tile tile = tile_new(e, a->kind, n);
    for (unsigned c = 0; c < n; c++) tile_set(e, &tile, e->memory->tile_row, c, &v[c]);
    gcc_jit_block *next = only_in_row(e, last);
    struct lanes before = lanes_int(e, IR_KIND_I64, (uint64_t)last * n * kind_bytes(a->kind));
    struct lanes address = a->address;
    address.kind = IR_KIND_I64;
    address = op2(e, IR_OP_SUB, IR_KIND_I64, address, before);
    tile_flush(e, &tile, &address, &(struct tile_store){store_row, a});
    in_all_rows(e, next);
}

/* ---- instructions ---- */

/* Around a volatile access: the compiler may neither leave it out nor move another across it. (A type that is
   volatile would not do: libgccjit refuses assignments between it and the plain one.) */
static void volatile_fence(struct emit *e, const struct ir_inst *inst)
{
    static const struct jit_asm nothing = {.text = "", .is_volatile = true};
    if (inst->attrs.is_volatile) jit_asm(e, &nothing, NULL, 0, NULL);
}

/* Where each lane walks along a row of its own, in each round of a loop that all leave together. */
static bool load_walked_row(struct emit *e, const struct ir_inst *inst, const struct access *a, struct lanes *result)
{
    enum { MOST = 4 }; /* each is much code */
    struct row_walk w;
    if (!e->memory->loops || e->memory->walked == MOST || !walked_row_can_load(e, a->kind)) return false;
    if (!row_walk_find(&e->values->uniformity, inst, &w)) return false;
    const struct walked_row row = {.walk = &w,
                                   .counter = emit_value(e, w.exit.loop->blocks[0]->args[w.counter]),
                                   .first = emit_value(e, w.exit.loop->operands[w.counter]),
                                   .bound = emit_value(e, w.less.bound),
                                   .kind = a->kind,
                                   .address = a->address,
                                   .align = a->align};
    *result = walked_row_load(e, &row);
    e->memory->walked++;
    return true;
}

static void emit_load(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    unsigned n = ir_type_lanes(inst->type);
    struct access a[IR_MAX_LANES];
    volatile_fence(e, inst);
    access_of(e, inst, n, a);
    if (is_tiled(e, inst)) {
        load_from_tile(e, &a[0], n, result);
        return;
    }
    if (load_walked_row(e, inst, &a[0], result) || again_load(e, inst, result)) return;
    if (e->width == 1 && a[0].ahead) prefetch_ahead(e, a, n);
    struct interleaved all;
    bool neighbours = is_interleaved(e, inst, a, n, &all) && interleaved_can_load(e, &all);
    bool word = !neighbours && is_word(e, a, n), pairs = !neighbours && !word && is_pairs(e, a, n, false);
    bool together = !neighbours && !word && !pairs && is_together(e, a, n, false);
    if (word) load_word(e, a, n, result);
    if (pairs) load_pairs(e, a, n, result);
    if (neighbours) interleaved_load(e, &all, result);
    if (together) gather_together(e, a, n, result);
    for (unsigned c = 0; c < n; c++) {
        if (!neighbours && !word && !pairs && !together) result[c] = load_component(e, &a[c]);
        result[c] = from_memory(e, ir_type_kind(inst->type), result[c]);
        if (ir_type_is_ptr(inst->type)) result[c].kind = IR_KIND_PTR;
    }
    volatile_fence(e, inst);
}

static void emit_store(struct emit *e, const struct ir_inst *inst)
{
    const struct lanes *v = emit_value(e, inst->operands[1]);
    unsigned n = ir_type_lanes(inst->type);
    struct access a[IR_MAX_LANES];
    struct lanes stored[IR_MAX_LANES];
    volatile_fence(e, inst);
    access_of(e, inst, n, a);
    if (is_tiled(e, inst)) {
        store_to_tile(e, &a[0], n, v);
        return;
    }
    for (unsigned c = 0; c < n; c++) stored[c] = to_memory(e, v[c]);
    struct interleaved all;
    if (is_interleaved(e, inst, a, n, &all) && interleaved_can_store(e, &all))
        interleaved_store(e, &all, stored);
    else if (is_word(e, a, n))
        store_word(e, a, stored);
    else if (is_pairs(e, a, n, true))
        store_pairs(e, a, n, stored);
    else if (is_together(e, a, n, true))
        scatter_together(e, a, n, stored);
    else
        for (unsigned c = 0; c < n; c++) store_component(e, &a[c], &stored[c]);
    volatile_fence(e, inst);
}

static void emit_copy(struct emit *e, const struct ir_inst *inst)
{
    struct lanes count = *emit_value(e, inst->operands[2]);
    if (kind_bytes(count.kind) < 8) {
        struct lanes narrow = count;
        narrow.shape = count.shape == SHAPE_LINEAR ? SHAPE_VARYING : count.shape;
        if (count.shape == SHAPE_LINEAR) narrow.chunk = lanes_vectors(e, &count);
        count = op1(e, IR_OP_ZEXT, IR_KIND_I64, narrow);
    }
    copy_elements(e, emit_value(e, inst->operands[0]), emit_value(e, inst->operands[1]), &count,
                  ir_type_size(e->module, inst->type));
}

void emit_memory(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    switch (inst->op) {
    case IR_OP_LOAD: emit_load(e, inst, result); break;
    case IR_OP_STORE: emit_store(e, inst); break;
    case IR_OP_COPY: emit_copy(e, inst); break;
    case IR_OP_VAR: private_memory_variable(e, inst, result); break;
    case IR_OP_GLOBAL: *result = lanes_uniform(IR_KIND_PTR, e->memory->globals[inst->attrs.global->scratch]); break;
    default: break; /* prefetch */
    }
}
