/* Parts whose ND-range is not that of the launch: guards around them, their own ids and sizes inside. */
#pragma once

#include "fuser/merge/merge_state.h"

/* Whether the part, whose calls are inlined, can run in the range of the request. *guarded: not all
   work-items of the fused kernel may execute it. */
bool part_range_fits(struct fuse *f, const struct fuse_part *part, const struct ir_function *copy, bool *guarded);
/* What the part asks of its ids and sizes becomes what they are in its own range, where that is not the request's. */
bool part_range_apply(struct fuse *f, const struct fuse_part *part, struct ir_function *copy);
/* The range whose linear ids the request has in common with the part. */
const struct nd_range *part_range_base(const struct fuse *f, const struct fuse_part *part);
/* The condition under which a work-item belongs to a guarded part. */
struct ir_value *part_range_guard(const struct fuse *f, const struct fuse_part *part, struct ir_builder *b);
