/*
 * How much processor time compilers may spend on a user within an hour, where the administrator says so
 * (USER_COMPILING). Beyond it his jobs are refused: one that runs by then goes on, up to the limit of a single job.
 * What is in the cache, or was compiled for somebody else, costs nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/broker/core/user.h"
#include "ir/base/error.h"

/* Its jobs have used so much more. */
void quota_use(struct user *user, uint64_t used_ns, uint64_t now_ns);
/* What they used within the hour before, in ns. */
uint64_t quota_used(const struct user *user, uint64_t now_ns);
/* May another one begin? If not: FUSION_OUT_OF_MEMORY, with the numbers and when there is room again. */
bool quota_allows(const struct user *user, uint64_t now_ns, struct error *error);
