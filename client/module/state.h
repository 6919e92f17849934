/* The state of a module: kernels that the service has read. */
#pragma once

#include <fusiond/pipe.h>

#include "client/base/pool.h"
#include "client/session/objects.h"

/* What is known of a kernel beyond its fusion_kernel_info, device by device. */
struct kernel_devices {
    uint32_t n;
    struct kernel_device {
        const char *name;
        fusion_kernel_device_info info;
        uint32_t max_sub_group_size; /* 0: the device lacks the size */
    } * devices;
};

struct module_pipe {
    fusion_pipe_info info;
    uint32_t variable; /* its place in the module */
};

struct fusion_module {
    struct client_object object;
    fusion_session *session;
    uint64_t id;
    char *name;
    struct client_pool pool;
    uint32_t n_kernels, n_warnings;
    const char **warnings;
    fusion_kernel_info *kernels;
    struct kernel_devices *devices; /* by kernel */
    uint32_t n_pipes;
    struct module_pipe *pipes;
    struct fusion_pipe *opened;     /* pipe.c; this and the next under the session's pipe_lock */
    fusion_module *next_with_pipes; /* of the session */
};
