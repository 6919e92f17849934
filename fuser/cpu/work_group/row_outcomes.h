/* What the comparisons of a row come to. */
#pragma once

#include "fuser/cpu/work_group/row_tests.h"

/* Computes them for the work-item at e->ids. Returns for how many of the `left` next ones in the row they are the same,
   or fewer. */
rval row_outcomes(struct emit *e, const struct row_tests *t, rval left);
/* Whether a quotient is known to change within nearly each vector, so that none of this is worth computing; NULL: there
   is none of which that could be said. */
rval row_outcomes_never_last(struct emit *e, const struct row_tests *t);
