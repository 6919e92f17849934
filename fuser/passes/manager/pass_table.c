/* The passes by name. */
#include <stddef.h>
#include <string.h>

#include "fuser/passes/passes.h"

static const struct pass *const table[] = {
    &pass_inline,
    &pass_byval_copy,
    &pass_lower_returns,
    &pass_fold,
    &pass_cse,
    &pass_mem2reg,
    &pass_forward,
    &pass_merge_ifs,
    &pass_loop_ends,
    &pass_merge_loops,
    &pass_dse,
    &pass_dce,
    &pass_sroa,
    &pass_unroll,
    &pass_unroll_accesses,
    &pass_unroll_rows,
    &pass_unroll_steps,
    &pass_licm,
    &pass_combine,
    &pass_ranges,
    &pass_contract,
    &pass_global_ids,
    &pass_overlaps,
    &pass_byte_sums,
    &pass_one_way,
    &pass_one_loop,
    &pass_sink_stores,
    &pass_store_motion,
    NULL,
};

const struct pass *const *pass_all(void)
{
    return table;
}

const struct pass *pass_by_name(const char *name)
{
    for (const struct pass *const *p = table; *p; p++)
        if (strcmp((*p)->name, name) == 0) return *p;
    return NULL;
}
