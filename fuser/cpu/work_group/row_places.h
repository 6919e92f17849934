/* What a row of work-items computes once, before its vectors: where their accesses begin, conditions, and functions. */
#pragma once

#include "fuser/cpu/jit/emit.h"

struct row_places {
    struct row_place *places; /* by instruction number, of loads and stores */
    lval *scalars;            /* by instruction number: results that are computed already; NULL: none */
};

/* Where rows began before: an access of the last one, and how far it fetched ahead. Both 0 at first. */
struct rows_before {
    lval place, distance;
};

/* For the instructions from `first` up to `end`, as they run for whole vectors from the work-item at e->ids on, for
   whom all that is known in e->control comes to the same. Emits what computes it. */
struct row_places row_places_make(struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                                  const struct rows_before *rows);
