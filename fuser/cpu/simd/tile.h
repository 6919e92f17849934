/*
 * Tiles: a vector of work-items in several rows, whose numbers are neighbours in memory from row to row and not along a
 * row. They are moved by whole registers along the columns, and turned in registers, by way of memory that has them row
 * by row.
 */
#pragma once

#include "fuser/cpu/simd/lanes.h"

unsigned tile_rows(const struct emit *e); /* in a tile */
bool tile_can_hold(const struct emit *e, enum ir_kind kind);

/* Each work-item has n numbers, one behind the other in memory. */
struct tile {
    enum ir_kind kind;
    unsigned n;
    lval memory;
};

struct tile tile_new(struct emit *e, enum ir_kind kind, unsigned n);

/* Number `which` of the work-items of a row. */
struct lanes tile_get(struct emit *e, const struct tile *t, rval row, unsigned which);
void tile_set(struct emit *e, const struct tile *t, rval row, unsigned which, const struct lanes *v);

/* How a register goes to memory. */
struct tile_store {
    void (*store)(struct emit *e, const void *data, rval address, rval v);
    const void *data;
};
/* The numbers of all rows, from memory and to it; address: of the lanes' first. */
void tile_load(struct emit *e, const struct tile *t, const struct lanes *address, unsigned align);
void tile_flush(struct emit *e, const struct tile *t, const struct lanes *address, const struct tile_store *to);
