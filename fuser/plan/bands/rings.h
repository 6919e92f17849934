/* Buffers of which only the part that is in use needs memory. */
#pragma once

#include "fuser/plan/launch/launching.h"

/* Launches of the plan that run band by band, and what the integers of each are taken to be. */
struct ring_request {
    const struct launching *l;
    const struct fuser_launch *const *launches;
    const int64_t *const *numbers; /* by launch, then parameter */
    uint32_t n;
};

/* The buffer is internal, all its users are among the launches, and what they read of it one of those before wrote. */
bool ring_is_possible(const struct ring_request *r, uint32_t buffer);
