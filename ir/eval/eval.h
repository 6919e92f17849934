/* Evaluates pure operations on known values: the arithmetic of the reference interpreter, and what a
   constant folder needs. */
#pragma once

#include "ir/core/ir.h"

/* The result of inst for these operands: one array of lanes per operand, one word per lane, its bits
   zero-extended, as in constants; result_lanes has room for IR_MAX_LANES words. False when the result
   does not follow from the operands alone (memory, ids, calls ...); result_lanes is then unspecified.

   Where the table leaves a result open, this is what comes out: a lane picked out of range or by mask
   entry -1 is 0; an unsaturated conversion to an integer saturates, and NaN gives 0; a NaN that comes
   out of arithmetic is the positive quiet one without payload; of two zeros fmin takes -0, fmax +0. */
bool ir_eval(const struct ir_inst *inst, const uint64_t *const *operand_lanes, uint64_t *result_lanes);
