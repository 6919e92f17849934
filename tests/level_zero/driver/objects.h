/*
 * What the handles of the driver point to. The application owns them; where the specification says that a handle must
 * not be used any more, nobody here looks whether it is: that is the loader's validation layer.
 */
#pragma once

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/level_zero/machine/machine.h"
#include "tests/level_zero/machine/spirv.h"

struct _ze_driver_handle_t {
    const char *name;
};

struct _ze_device_handle_t {
    const char *name;
};

extern struct _ze_driver_handle_t the_driver;
extern struct _ze_device_handle_t the_device;

struct _ze_context_handle_t {
    ze_driver_handle_t driver;
};

struct _ze_event_pool_handle_t {
    ze_event_pool_flags_t flags;
    uint32_t count;
    struct _ze_event_handle_t *events; /* as many */
};

/* Under the lock of state.h, but for the pool. */
struct _ze_event_handle_t {
    ze_event_pool_handle_t pool;
    bool in_use, signaled;
    ze_kernel_timestamp_data_t time; /* of the command that signals it */
};

struct _ze_fence_handle_t {
    ze_command_queue_handle_t queue;
    bool signaled; /* under the lock of state.h */
};

struct _ze_module_handle_t {
    ze_device_handle_t device;
    struct spirv_module spirv;
    uint8_t *words; /* SPIR-V with constants specialized, and its size in bytes */
    size_t size;
    uint64_t program; /* the machine's; 0: it has imports, to be linked first */
};

struct _ze_module_build_log_handle_t {
    char *text;
};

struct _ze_kernel_handle_t {
    ze_module_handle_t module;
    const struct spirv_kernel *kernel;
    uint64_t code;        /* the machine's */
    uint64_t local_bytes; /* of a work-group, but for arguments */
    uint32_t group_size[3], offset[3];
    ze_kernel_indirect_access_flags_t indirect;
    struct machine_argument *arguments; /* as many as the kernel has */
};
