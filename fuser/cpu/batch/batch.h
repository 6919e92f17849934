/*
 * Kernels run without code: translated to steps, each a loop over a number of each of some hundred work-items, so that
 * what a step costs is shared. Called as compiled kernels are (fuser/cpu/abi/kernel_abi.h), with the same bits.
 */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"
#include "ir/core/ir.h"

struct batch;

enum batch_loops { BATCH_BEST, BATCH_AVX2, BATCH_GENERIC }; /* instruction set; less where there is none */

/* Of a verified kernel that fuser/cpu's checks let pass, which is of no use to it afterwards. Uses ir_value.scratch. */
struct batch *batch_new(const struct ir_function *kernel, enum batch_loops loops);
void batch_free(struct batch *b); /* NULL is fine */
/* scratch_per_item is 0: what a thread needs besides is batch_frame_bytes(), the last part of its `local`. */
const struct kernel_object_info *batch_info(const struct batch *b);
/* For work-groups of so many work-items; a multiple of 64. */
uint64_t batch_frame_bytes(const struct batch *b, uint64_t group_items);
/* As kernel_entry; the frame is at the end of launch->local_bytes. */
void batch_run(const struct batch *b, const struct kernel_launch *launch, const void *args, uint64_t first,
               uint64_t end, void *local);
