/*
 * The machine under the device: the first OpenCL device there is, which is PoCL on this processor. Its kernels take
 * plain addresses, so memory of the device is memory of the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/level_zero/machine/spirv.h"

struct opencl_program;
struct opencl_kernel;

/* What the machine can do; asked once. */
struct opencl_facts {
    bool present;
    bool reads_spirv; /* others take bitcode */
    bool fp16, fp64, int64_atomics, sub_groups, work_group_functions;
    uint64_t memory, largest_allocation;
    uint32_t compute_units, clock, local_memory, largest_group;
    uint64_t cache;
};
const struct opencl_facts *opencl_facts(void);

/* NULL: it cannot be built, and *log (to be freed) says why. *log may be set where it can, too. */
struct opencl_program *opencl_build(const uint8_t *spirv, size_t size, char **log);
void opencl_free_program(struct opencl_program *p);

struct opencl_kernel *opencl_kernel(struct opencl_program *p, const char *name); /* NULL: there is none */
void opencl_free_kernel(struct opencl_kernel *k);
uint64_t opencl_local_memory(const struct opencl_kernel *k); /* bytes of a work-group, but for arguments */

struct opencl_argument {
    void *bytes; /* a value's; a pointer's, which is an address; NULL of local memory */
    size_t size;
};

struct opencl_range {
    uint32_t groups[3], group_size[3], offset[3];
};

/* Runs it to its end. Several threads may, also the same kernel. */
bool opencl_run(struct opencl_kernel *k, const struct spirv_kernel *facts, const struct opencl_argument *arguments,
                const struct opencl_range *range);
