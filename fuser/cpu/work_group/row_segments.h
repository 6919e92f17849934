/* Rows whose tests follow from local ids alone, as in `if (local_id < 64)`: what each comes to is known beforehand. */
#pragma once

#include "fuser/cpu/work_group/row_tests.h"

enum { MOST_SEGMENTS = 4 };

/* Work-items of a row for whom each comparison comes to the same. */
struct row_segment {
    uint32_t from, to;
    int8_t *decided; /* by instruction number: 1 true, -1 false, 0 no comparison */
};

struct row_segments {
    unsigned n; /* 0: they are not known */
    struct row_segment of[MOST_SEGMENTS];
};

/* Of the rows of the group. */
struct row_segments row_segments_find(struct emit *e, const struct row_tests *tests);
/* Of its columns, whose work-items come one after the other, in the instructions up to `end`. */
struct row_segments column_segments_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end);
/* Whether the i-th runs: not for nothing, or for what is the work-group's, which any computes; ran: another did. */
bool row_segment_is_needed(const struct ir_inst *first, const struct ir_inst *end, const struct row_segments *s,
                           unsigned i, bool ran);
