/* A device as the compiler sees it. */
#pragma once

#include "fuser/cpu/compile.h"
#include "fuser/graph/graph.h"
#include "proto/writer.h"

struct device {
    struct fuser_device properties; /* what the fuser must know */
    const char *description;
    char target[1024];
    uint32_t compute_units;
    /* Whether there can be code for the kernel; false: with findings. NULL: its programs carry kernels, not objects. */
    bool (*check)(const struct ir_function *kernel, struct diag_list *findings);
    bool independent_forward_progress; /* of sub-groups */
    const struct gpu_description *gpu; /* NULL: it is none */
    const char *runs_as;               /* name of the executor's device */
};
