/*
 * Where a guard leaves out a row's first and last work-items, as a stencil's does, the vectors there run under masks
 * and store into the cache, whatever those between them do. Each such line has to come from memory first. Stores leave
 * in order, and among those past the cache no processor expects one that does not: all of them wait for that line,
 * twice a row. So a row's last line, and the next row's first one, which lies behind it where rows follow each other,
 * are fetched when the row's whole vectors begin; of what they load, those lines that whole vectors would fetch ahead.
 */
#include "fuser/cpu/work_group/row_ends.h"

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/prepare/uniformity.h"

struct ends {
    struct emit *e;
    const struct row_place *places;
    rval to;
    rval next; /* work-items from there to the next row's first one: those of a vector, or none where it is whole */
};

/* The lines of a vector from work-item `to` on, so many bytes ahead, and that of the next row. */
static void fetch(const struct ends *s, const struct ir_inst *access, rval ahead)
{
    struct emit *e = s->e;
    const struct row_place *place = &s->places[access->scratch];
    rval stride = jit_int(e, IR_KIND_I64, (uint64_t)value_shape(e, access->operands[0]).stride);
    rval there = jit_add(e, jit_add(e, jit_read(place->first), jit_u64(e, place->offset)), ahead);
    there = jit_read(jit_keep(e, jit_add(e, there, jit_mul(e, s->to, stride))));
    memory_prefetch(e, there, (uint64_t)e->width * ir_type_size(e->module, access->type));
    memory_prefetch(e, jit_add(e, there, jit_mul(e, s->next, stride)), 1);
}

static void fetch_stored(const struct ends *s, const struct ir_inst *store)
{
    struct emit *e = s->e;
    gcc_jit_block *streams = jit_block(e), *done = jit_block(e);
    jit_branch(e, jit_read(s->places[store->scratch].streams), streams, done);
    jit_begin(e, streams);
    fetch(s, store, jit_u64(e, 0));
    jit_jump(e, done);
    jit_begin(e, done);
}

static void fetch_each(const struct ends *s, const struct ir_inst *first, const struct ir_inst *last)
{
    for (const struct ir_inst *i = first; i && i != last; i = i->next) {
        const struct row_place *place = &s->places[i->scratch];
        if (place->streams) fetch_stored(s, i);
        if (place->ahead) fetch(s, i, jit_read(place->ahead));
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) fetch_each(s, i->blocks[b]->first, NULL);
    }
}

static bool needs_any(const struct row_place *places, const struct ir_inst *first, const struct ir_inst *last)
{
    bool needs = false;
    for (const struct ir_inst *i = first; i && i != last && !needs; i = i->next) {
        needs = places[i->scratch].streams || places[i->scratch].ahead;
        for (int b = 0; b < 2; b++) needs = needs || (i->blocks[b] && needs_any(places, i->blocks[b]->first, NULL));
    }
    return needs;
}

void row_ends_fetch(struct emit *e, const struct row_places *row, const struct ir_inst *first,
                    const struct ir_inst *last, rval from, rval to)
{
    if (!needs_any(row->places, first, last)) return;
    gcc_jit_block *some = jit_block(e), *done = jit_block(e);
    rval starts_whole = jit_compare(e, GCC_JIT_COMPARISON_EQ, from, jit_u64(e, 0));
    rval ends_whole = jit_compare(e, GCC_JIT_COMPARISON_EQ, to, e->ids->extent[0]);
    rval next = jit_select(e, starts_whole, jit_u64(e, 0), jit_u64(e, e->width));
    struct ends s = {.e = e, .places = row->places, .to = to, .next = jit_read(jit_keep(e, next))};
    jit_branch(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, starts_whole, ends_whole), done, some);
    jit_begin(e, some);
    fetch_each(&s, first, last);
    jit_jump(e, done);
    jit_begin(e, done);
}
