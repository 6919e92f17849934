/* The peer that is an OpenCL device (PoCL): kernels from source, one after another, over the caller's memory. */
#pragma once

#include <stdbool.h>

#include "tests/bench/launch.h"

struct opencl;

struct opencl_memory {
    void *host; /* NULL: the device's own */
    size_t bytes;
    bool read_back; /* after runs, host has what the kernels wrote */
};

struct opencl_work {
    const char *source;
    const struct launch *launches;
    unsigned n_launches;
    const struct opencl_memory *memory;
    unsigned n_memory;
};

/* NULL, with the reason: there is no such device, or it refuses the kernels. The work must outlive it. */
struct opencl *opencl_open(const struct opencl_work *work, const char **why);
bool opencl_run(void *opencl, unsigned repeat, double *ms);
void opencl_close(struct opencl *o);
