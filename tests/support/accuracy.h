/* How far float functions are from the right result, on numbers of all exponents and next to where they overflow, with
   MPFR as the judge. FUSIOND_TEST_CASES sets how many numbers; with FUSIOND_PRINT_ERRORS set what was measured is
   printed. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

/* The operation of an f32 or f64; whole operands are numbers, too. */
typedef double accuracy_evaluate(enum ir_op op, ir_type t, double x, double y);

/* The columns of the table in docs/ir.md that hold f32's bounds, before those of f64. */
enum { ACCURACY_EVERYWHERE = 1, ACCURACY_WRITTEN_OUT = 3 };

bool accuracy_is_within_bounds(accuracy_evaluate *evaluate, unsigned column);
