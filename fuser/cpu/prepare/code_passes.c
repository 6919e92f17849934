/* The lists of passes before code generation. */
#include "fuser/cpu/prepare/code_passes.h"

#include <stddef.h>

#include "fuser/passes/passes.h"

static const struct pass *const code[] = {&pass_inline,    &pass_byval_copy, &pass_address_spaces, &pass_combine,
                                          &pass_byte_sums, &pass_dce,        &pass_loop_ends,      NULL};
const struct pipeline pipeline_code = {"code", .first = code};

static const struct pass *const regions[] = {
    &pass_group_rounds, &pass_barrier_uniformity, &pass_even_steps, &pass_parallel_regions, &pass_dce, NULL};
const struct pipeline pipeline_regions = {"regions", .first = regions};
