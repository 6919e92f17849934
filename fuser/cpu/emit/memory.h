/* Loads, stores and copies. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* Where an access of a row of work-items is: that of the one at 0, and how far behind a neighbour's. */
struct row_place {
    lval first; /* NULL: not known */
    uint64_t offset;
    lval ahead;   /* of a load: how many bytes ahead of it memory is fetched; NULL: nothing is */
    lval streams; /* of a store: bool, whether all of the row goes past the cache; NULL: each asks for itself */
};

struct memory_state {
    const struct row_place *places; /* by instruction number, where all lanes run; NULL: none is known */
    rval *globals;                  /* addresses of module-scope variables, by scratch */
    const bool *tiled;              /* by instruction number: accesses of a tile (simd/tile.h); NULL: there are none */
    rval tile_row;                  /* the row of the tile that runs */
    const struct assumed *products; /* by instruction number: what ids are multiplied with here; NULL: not known */
    unsigned loops;                 /* around what is being emitted, those of the work-group not counted */
    unsigned walked;                /* loads so far that have rows of lanes by registers */
    bool streams;                   /* stores go past the cache where the launch asks for it */
    bool streamed;                  /* some that may were emitted */
    rval keeps_cached;              /* 0: stores past the cache are asked for; all bits: they are not; NULL: never */
};

void emit_memory(struct emit *e, const struct ir_inst *inst, struct lanes *result);
/* Number `component` of those at an address, which may be any for each lane. */
struct lanes memory_load(struct emit *e, enum ir_kind kind, const struct lanes *address, unsigned component);
void memory_store(struct emit *e, const struct lanes *address, unsigned component, const struct lanes *v);
void memory_prefetch(struct emit *e, rval address, uint64_t bytes); /* the lines that so many bytes begin in */
