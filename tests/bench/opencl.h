/* The peer that is an OpenCL device (PoCL): one kernel over the same data. */
#pragma once

#include <stdbool.h>

#include "tests/bench/peers.h"

struct opencl;

struct opencl_work {
    const char *source, *kernel; /* the kernel takes the inputs, then the outputs */
    unsigned n_in, n_out, dims;
    size_t global[2], local[2]; /* local 0: the device chooses */
    size_t in_bytes[3], out_bytes[2];
};

/* NULL, with the reason: there is no such device, or it refuses the kernel. */
struct opencl *opencl_open(const struct opencl_work *work, const struct peer_data *data, const char **why);
bool opencl_run(void *opencl, unsigned repeat, double *ms);
void opencl_close(struct opencl *o);
