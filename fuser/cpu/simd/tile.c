/* Tiles. A square of registers is turned by log2(registers) rounds of shuffles. */
#include "fuser/cpu/simd/tile.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/x86_interleave.h"
#include "fuser/cpu/target/isa.h"

unsigned tile_rows(const struct emit *e)
{
    return lanes_per_chunk(e, IR_KIND_I32);
}

bool tile_can_hold(const struct emit *e, enum ir_kind kind)
{
    bool shuffles = e->isa->id != CPU_ISA_GENERIC && (kind_bytes(kind) == 4 || kind_bytes(kind) == 8);
    return shuffles && kind != IR_KIND_PTR && e->width >= lanes_per_chunk(e, IR_KIND_I32);
}

static uint64_t bytes_of_row(const struct emit *e, enum ir_kind kind)
{
    return (uint64_t)e->width * kind_bytes(kind);
}

struct tile tile_new(struct emit *e, enum ir_kind kind, unsigned n)
{
    struct tile t = {.kind = kind, .n = n};
    int bytes = (int)(tile_rows(e) * n * bytes_of_row(e, kind));
    t.memory = jit_local(e, gcc_jit_context_new_array_type(e->gcc, NULL, jit_type(e, IR_KIND_I8), bytes));
    gcc_jit_lvalue_set_alignment(t.memory, 64);
    return t;
}

static lval register_at(struct emit *e, enum ir_kind kind, rval address, unsigned align)
{
    return jit_memory(e, jit_vector(e, kind, lanes_per_chunk(e, kind)), address, align);
}

/* Chunk c of a row: of one number of the work-items of a row. */
static lval part_of_row(struct emit *e, const struct tile *t, rval row, unsigned c)
{
    unsigned bytes = lanes_per_chunk(e, t->kind) * kind_bytes(t->kind);
    rval start = jit_add(e, jit_address(e, t->memory), jit_mul(e, row, jit_u64(e, bytes_of_row(e, t->kind))));
    return register_at(e, t->kind, jit_add(e, start, jit_u64(e, (uint64_t)c * bytes)), bytes);
}

static rval row_of_number(struct emit *e, const struct tile *t, rval row, unsigned which)
{
    return jit_add(e, jit_mul(e, row, jit_u64(e, t->n)), jit_u64(e, which));
}

struct lanes tile_get(struct emit *e, const struct tile *t, rval row, unsigned which)
{
    struct lanes r = lanes_varying(e, t->kind);
    for (unsigned c = 0; c < lanes_chunks(e, t->kind); c++)
        r.chunk[c] = jit_keep(e, jit_read(part_of_row(e, t, row_of_number(e, t, row, which), c)));
    return r;
}

void tile_set(struct emit *e, const struct tile *t, rval row, unsigned which, const struct lanes *v)
{
    lval *chunk = lanes_vectors(e, v);
    for (unsigned c = 0; c < lanes_chunks(e, t->kind); c++)
        jit_set(e, part_of_row(e, t, row_of_number(e, t, row, which), c), jit_read(chunk[c]));
}

/* Number i of register k becomes number k of register i. */
static void turn(struct emit *e, enum ir_kind kind, lval *v, unsigned n)
{
    if (n == 1) return;
    lval half[2][MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) half[i % 2][i / 2] = v[i];
    turn(e, kind, half[0], n / 2);
    turn(e, kind, half[1], n / 2);
    for (unsigned i = 0; i < n / 2; i++) x86_zip(e, kind, half[0][i], half[1][i], v + 2 * i);
}

/* A square of a tile: the lanes of chunk c, and as many rows from `row` on. */
struct square {
    unsigned c, row;
};

static rval column_address(struct emit *e, enum ir_kind kind, const struct lanes *address, struct square s, unsigned i)
{
    rval first = lanes_get(e, address, s.c * lanes_per_chunk(e, kind) + i);
    return jit_read(jit_keep(e, jit_add(e, first, jit_u64(e, (uint64_t)s.row * kind_bytes(kind)))));
}

void tile_load(struct emit *e, const struct tile *t, const struct lanes *address, unsigned align)
{
    unsigned n = lanes_per_chunk(e, t->kind);
    struct lanes at = lanes_made(e, *address);
    for (struct square s = {0}; s.c < lanes_chunks(e, t->kind); s.c++)
        for (s.row = 0; s.row < tile_rows(e) * t->n; s.row += n) {
            lval v[MAX_WIDTH];
            for (unsigned i = 0; i < n; i++)
                v[i] = jit_keep(e, jit_read(register_at(e, t->kind, column_address(e, t->kind, &at, s, i), align)));
            turn(e, t->kind, v, n);
            for (unsigned i = 0; i < n; i++) jit_set(e, part_of_row(e, t, jit_u64(e, s.row + i), s.c), jit_read(v[i]));
        }
}

void tile_flush(struct emit *e, const struct tile *t, const struct lanes *address, const struct tile_store *to)
{
    unsigned n = lanes_per_chunk(e, t->kind);
    struct lanes at = lanes_made(e, *address);
    for (struct square s = {0}; s.c < lanes_chunks(e, t->kind); s.c++)
        for (s.row = 0; s.row < tile_rows(e) * t->n; s.row += n) {
            lval v[MAX_WIDTH];
            for (unsigned i = 0; i < n; i++)
                v[i] = jit_keep(e, jit_read(part_of_row(e, t, jit_u64(e, s.row + i), s.c)));
            turn(e, t->kind, v, n);
            for (unsigned i = 0; i < n; i++)
                to->store(e, to->data, column_address(e, t->kind, &at, s, i), jit_read(v[i]));
        }
}
