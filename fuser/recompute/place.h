/* The place of an access as ids of the work-item that writes there. */
#pragma once

#include "ir/core/ir.h"

/* Where a work-item writes: constant + the sum of factor * its global id, in bytes from where the parameter points. */
struct written_place {
    int64_t constant, factor[3];
};

/* The ids, in 64 bits and made before the builder's place, of the work-item that would write at `offset`, a number of
   bytes: NULL in a dimension without a factor. What is put together may be outside of any range. numbers: by parameter
   of the function that reads, what a factor is taken to be; 0: nothing. ids_are_small: ids fit into 31 bits. False: no
   such ids can be told. */
bool written_place_ids(struct ir_builder *b, const struct written_place *w, struct ir_value *offset,
                       const int64_t *numbers, bool ids_are_small, struct ir_value *ids[3]);
