/* The lists of passes that planning uses. */
#include <stddef.h>

#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"

static const struct pass *const only_inline[] = {&pass_inline, NULL};

static const struct pass *const cleanup[] = {
    &pass_fold,         &pass_global_ids,  &pass_overlaps, &pass_cse,
    &pass_mem2reg,      &pass_ranges,      &pass_forward,  &pass_merge_ifs,
    &pass_sink_stores,  &pass_dse,         &pass_dce,      &pass_licm,
    &pass_store_motion, &pass_merge_loops, &pass_one_loop, &pass_one_way,
    &pass_unroll,       &pass_sroa,        NULL,
};
const struct pipeline pipeline_cleanup = {"cleanup", .first = only_inline, .repeat = cleanup};

static const struct pass *const analysis[] = {
    &pass_inline, &pass_mem2reg, &pass_fold, &pass_unroll_accesses, &pass_fold, &pass_licm, NULL,
};
const struct pipeline pipeline_analysis = {"analysis", .first = analysis};

/* Cleaned up only as far as the kernel's own operations say: what its pointers get is not yet known, and must not
   decide what is contracted. */
static const struct pass *const before_contract[] = {&pass_fold, &pass_cse, &pass_mem2reg, &pass_dce, NULL};
static const struct pass *const contract[] = {&pass_contract, &pass_dce, NULL};
const struct pipeline pipeline_contract = {"contract", .first = only_inline, .repeat = before_contract,
                                           .last = contract};
