/* Whether the work-items of a row are better run one by one. */
#pragma once

#include "fuser/cpu/jit/emit.h"
#include "fuser/cpu/prepare/uniformity.h"

/* Whether they can be, alone. */
bool can_run_one_by_one(const struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                        const struct uniformity *uniformity);
/* Of the instructions up to `end`; uniformity: of the row, where conditions are decided before. */
bool runs_one_by_one(const struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                     const struct uniformity *uniformity);
