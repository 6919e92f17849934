/*
 * What GPUs there are: asked of an executor process of its own, once, by the first request that needs to know. Drivers
 * are loaded there and in executors, and nowhere else.
 */
#pragma once

#include "daemon/broker/core/blob.h"
#include "daemon/broker/core/broker.h"

struct gpus;

struct gpu {
    char *name;               /* "vulkan" */
    struct blob *device;      /* a map as in device.list */
    struct blob *description; /* for compilers: daemon/gpu/description.h; NULL: there is none, */
    char *absent;             /* for this reason */
};

/* settled: is told when gpus_settled() begins to hold. NULL: out of memory. */
struct gpus *gpus_new(struct broker *broker, void (*settled)(struct broker *broker));
void gpus_free(struct gpus *gpus);
/* Is it known? If not, it will be. */
bool gpus_settled(struct gpus *gpus);
/* Number `index` of those that were looked for. NULL: there are no more. */
const struct gpu *gpus_get(const struct gpus *gpus, uint32_t index);
const struct gpu *gpus_find(const struct gpus *gpus, const char *name);
