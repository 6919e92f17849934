/* Loops that store a number until it stays. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

/* Whether a loop goes on only where another work-item stored to the same place after this one, as in
   `do { n = count[bin] + 1 | own; count[bin] = n; } while (count[bin] != n)`: who runs it alone has one round. */
bool loop_reads_back(const struct ir_inst *loop);
/* Whether an instruction is in such a loop, and in none within it. */
bool is_read_back(const struct ir_inst *inst);
/* What a load in such a loop gives where work-items run one after the other, in memory that is their work-group's: what
   was just stored there; NULL: that is not known. */
const struct ir_value *read_back_alone(const struct ir_inst *load);
