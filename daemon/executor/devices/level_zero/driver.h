/* The driver of this process: the device that was chosen, what it is, a context and queues. */
#pragma once

#include <stddef.h>

#include "daemon/executor/devices/gpu/strands.h"
#include "daemon/executor/devices/level_zero/loader.h"
#include "daemon/gpu/description.h"
#include "ir/base/error.h"

struct level_zero_driver {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queues[GPU_MOST_QUEUES]; /* that compute */
    uint32_t n_queues, ordinal;                        /* of their group */
    ze_command_queue_handle_t copies;                  /* that copies only, or the first of those */
    uint32_t copy_ordinal;
    size_t max_pattern_bytes; /* of its fills */
    struct gpu_description description;
};

/* Of this process; set by level_zero_open(). */
extern struct level_zero_driver level_zero;

/* Loads the driver, once, before anything is given up. 0, or -1: there is no device; why is the error's reason. */
int level_zero_open(struct error *e);
/* FUSION_EXECUTOR, FUSION_OUT_OF_MEMORY ... for what a call of the driver gave. Always -1. */
int level_zero_fail(struct error *e, const char *object, const char *what, ze_result_t result);
