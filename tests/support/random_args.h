/* Arguments for a random kernel, as the interpreter takes them: made, and compared after runs. */
#pragma once

#include "ir/interp/interp.h"
#include "tests/support/random_kernel.h"

/* One for each parameter, filled from the seed. Aborts where there is no memory. */
struct interp_arg *random_args(const struct random_kernel *k, uint64_t seed);
void random_args_free(const struct random_kernel *k, struct interp_arg *args);
/* Where buffers differ, says `how` and where, prints the kernel, so that the case can be tried by hand, and is false.
 */
bool random_args_equal(const struct random_kernel *k, const struct interp_arg *want, const struct interp_arg *got,
                       const char *how, uint64_t seed);
