/* What is fetched for the vectors at both ends of rows, which run under masks. */
#pragma once

#include "fuser/cpu/work_group/row_places.h"

/* For the instructions from `first` up to `last`; the row's whole vectors are from work-item `from` up to `to`. */
void row_ends_fetch(struct emit *e, const struct row_places *row, const struct ir_inst *first,
                    const struct ir_inst *last, rval from, rval to);
