/*
 * Kernels as the service launches them: planned alone, over an ND-range as users have, so that what is made of them
 * ahead of time is the code of most launches. A launch of which something else is known (sizes beyond 2^31, another
 * local size where work-items wait for each other, a fused kernel) is another kernel, whose code is made where it runs.
 */
#pragma once

#include "fuser/graph/graph.h"
#include "ir/base/error.h"

struct ahead_launch {
    uint8_t *bytes; /* the kernel, anonymous, in the msgpack form */
    size_t size;
};

enum { AHEAD_MAX_LAUNCHES = 16 };

struct ahead_launches {
    uint32_t n;
    struct ahead_launch items[AHEAD_MAX_LAUNCHES]; /* none twice */
};

/* A size of work-groups; all zeros: the service chooses. */
struct ahead_local_size {
    uint64_t size[3];
};

/* Launches of the kernel on the device, with each of the local sizes that it may have. False, with the error, where
   there is none. */
bool ahead_launches_find(struct ahead_launches *l, const struct ir_function *kernel, const struct fuser_device *device,
                         const struct ahead_local_size *sizes, uint32_t n_sizes, struct error *e);
void ahead_launches_clear(struct ahead_launches *l);
