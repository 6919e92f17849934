/* Counters in the group's memory that are there several times, for a kernel that is checked. */
#pragma once

#include "ir/core/ir.h"

/* Copies of each counter; lane i of a vector counts in number i modulo so many. */
enum { BIN_COPIES = 4 };

/* Makes copies of the counters of a kernel that no pass sees any more: the index among the attributes of an atomic that
   counts in copies becomes how many bytes they are apart. */
void copied_bins_make(struct ir_function *kernel);
