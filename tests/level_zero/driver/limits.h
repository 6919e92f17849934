/* What the device can do at most. */
#pragma once

#include <stdint.h>

enum {
    LIMIT_GROUP_SIZE = 1024,
    LIMIT_SUB_GROUP_SIZE = 1,
    LIMIT_ARGUMENT_BYTES = 1024,
    LIMIT_LOCAL_BYTES = 64 * 1024,
    LIMIT_PATTERN_BYTES = 128,
    LIMIT_QUEUE_GROUPS = 2, /* of which the first computes */
    LIMIT_QUEUES = 4,
};

uint64_t limit_memory(void);
uint64_t limit_allocation(void);
uint32_t limit_group_size(void);
uint32_t limit_local_memory(void);
