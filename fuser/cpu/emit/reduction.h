/* Reductions and scans over the lanes of a vector. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

enum ir_op reduction_op(const struct ir_inst *inst); /* what a reduction or scan combines values with */
/* What changes no value it is combined with. Of floats for the value that is first: -0 + x is x, and the
   minimum of NaN and x is x; a scan shows the specified identity instead (shown). */
struct lanes reduction_identity(struct emit *e, const struct ir_inst *inst, bool shown);
struct lanes reduction_of_lanes(struct emit *e, const struct ir_inst *inst, struct lanes v); /* that run */
/* Onto a sum of what came before, a variable, which is then that of these lanes too. is_first: nothing came. */
struct lanes reduction_scan(struct emit *e, const struct ir_inst *inst, struct lanes v, struct lanes *sum,
                            rval is_first);
