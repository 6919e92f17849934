/* Devices that code may be fixed to, as the device configuration file has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir_target {
    const char *name;
    uint32_t n_aspects, n_sub_group_sizes;
    const uint32_t *aspects; /* numbers */
    const uint32_t *sub_group_sizes;
    uint64_t max_work_group_size; /* work-items; 0: not told, so any */
};

struct ir_targets {
    const struct ir_target *items;
    size_t n;
};
