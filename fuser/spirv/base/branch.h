/* Blocks of SPIR-V, and those that operations need. */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_label(struct spw *w, uint32_t label); /* begins a block */
void spw_jump(struct spw *w, uint32_t to);     /* ends one */

/* An if inside of an operation: spw_if_begin(), the first way, spw_if_else(), the other way, spw_if_end(), which gives
   the id of what each way yields (type 0: nothing). */
struct spw_if {
    uint32_t other, merge, labels[2], yielded[2];
};
struct spw_if spw_if_begin(struct spw *w, uint32_t condition);
void spw_if_else(struct spw *w, struct spw_if *i, uint32_t yielded);
uint32_t spw_if_end(struct spw *w, struct spw_if *i, uint32_t type, uint32_t yielded);

/* Makes the block that is being written the header of a loop. */
void spw_loop_merge(struct spw *w, uint32_t merge, uint32_t again);
/* Where the kernel ends: tells the launch if the driver has ended a loop before the kernel did. Nothing where drivers
   do not, or there is no loop. */
void spw_expect_whole_loops(struct spw *w);

/* A loop of so many rounds (an id; an integer of that type) inside of an operation: gives the round's number. */
struct spw_rounds {
    uint32_t header, merge, again, type, number, next;
};
struct spw_rounds spw_rounds_begin(struct spw *w, uint32_t type, uint32_t n);
void spw_rounds_end(struct spw *w, const struct spw_rounds *r);

/* One that goes on until a condition holds at its end. */
struct spw_retry {
    uint32_t header, merge, again;
};
struct spw_retry spw_retry_begin(struct spw *w);
void spw_retry_until(struct spw *w, const struct spw_retry *r, uint32_t done);
