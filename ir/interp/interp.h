/* The reference interpreter: slow, obvious, the oracle for everything else. Runs an ND-range and
   reports out-of-bounds accesses, reads of unwritten memory, data races and misplaced barriers by
   work-item. In come a kernel of a verified module, its range and its arguments (run.h); code.c numbers its values
   into slots, bind.c makes memory of the arguments, exec.c runs a work-item until it is done or waits at a barrier or
   an operation of its group, barrier.c says who goes on. All they know is in machine.h. Uses ir/eval for what
   operations compute, ir/image for texels, ir/printf for messages. */
#pragma once

#include "ir/interp/run.h"

/* Runs kernel over range. args as many as it has parameters. Returns 0, or -1 where the call itself is
   wrong (then findings[0] says how). Free the result with interp_result_clear(). options may be NULL.
   Uses ir_value.scratch: two runs on one module must not overlap.

   The order is fixed: groups by linear id, in a group work-items by linear id, each until it is done or
   waits for others. A finding is made once per instruction (a race once per pair); after most of them the
   run goes on: an access that cannot be is left out and reads as 0.

   Operations of a work-group, and barriers and group_... of a sub-group, need all work-items at the same
   place in the same rounds of the loops around it. sub_group_ballot, elect, all_equal, shuffle... and rotate
   take the work-items of the sub-group that are there when none of it can come to an earlier place any
   more: the two sides of an if are apart inside and together again behind it.

   A race is two accesses to a byte by different work-items, one of them a write, not both atomic in a scope that has
   both, with no barrier of a group of both between them that fences that space. Fences and the memory orders of atomics
   do not count: passing data by flags is reported.

   Pointers in global memory, and integers made of pointers, are addresses in this process: what a kernel or the host
   left there, another one can follow. */
int interp_run(const struct ir_function *kernel, const struct nd_range *range, const struct interp_arg *args,
               const struct interp_options *options, struct interp_result *result);
void interp_result_clear(struct interp_result *result);
