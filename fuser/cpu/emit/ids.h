/* Ids and sizes of the ND-range where the code being emitted runs. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* Uniform values of the entry function. */
struct work_item_ids {
    rval global_size[3], global_offset[3], local_size[3], num_groups[3], dims; /* of the launch */
    rval group[3];                                                             /* the work-group */
    rval start[3];            /* its first work-item, offset not included */
    rval extent[3];           /* its work-items */
    uint32_t known_extent[3]; /* the same where it is known, else 0 */
    rval item[3];             /* lane 0 in the work-group */
    rval items;               /* of the work-group; of kernels with sub-groups only */
    unsigned along;           /* the dimension in which lanes follow one another */
    lval flat; /* lane 0's linear id where lanes go on from row to row (item is not set then); NULL: they do not */
};

void emit_id(struct emit *e, const struct ir_inst *inst, struct lanes *result);
rval ids_local_linear(struct emit *e); /* lane 0's */
rval ids_items_left(struct emit *e);   /* from lane 0 on in its row, or where rows do not matter its group */
