/* Loads whose lanes lie near each other, though not one after the other: as at x / 2, or kept within borders. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

bool x86_can_gather_near(const struct emit *e, const lval *mask, enum ir_kind kind);
/* As x86_gather() does of all lanes. Where they prove to lie within one register's reach, which is seen when the code
   runs, that is loaded and its numbers are put where they belong. Under a mask: of two registers, those that run. */
struct lanes x86_gather_near(struct emit *e, const lval *mask, enum ir_kind kind, rval base,
                             const struct lanes *offset);
