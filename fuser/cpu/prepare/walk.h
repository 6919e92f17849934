/* How an access goes on from round to round of the loop that it is in. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

/* Whether its address is computed of ids, parameters and counters of loops alone, not of what is in memory. */
bool walk_is_regular(const struct ir_inst *access);
/* Whether it goes on by more than the processor expects, or nobody knows how far, and for more than a few rounds. */
bool walk_leaps(const struct ir_module *module, const struct ir_inst *access);
/* By how many bytes it goes on in each round; false: that is not known. It is in a loop. */
bool walk_step(const struct ir_module *module, const struct ir_inst *access, int64_t *step);
/* Where it goes on by so many times a value that is known before the loop only: that value, of at least 32 bits and
   signed; or NULL. */
struct ir_value *walk_unit(const struct ir_module *module, const struct ir_inst *access, int64_t *times);
