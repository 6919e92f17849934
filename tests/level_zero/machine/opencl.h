/*
 * The machine under the device: the first OpenCL device there is, which is PoCL on this processor. Its kernels take
 * plain addresses, so memory of the device is memory of the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/level_zero/machine/channel.h"

struct opencl_program;
struct opencl_kernel;

/* Once. False: there is none. */
bool opencl_start(struct machine_facts *facts);

/* NULL: it cannot be built, and *log (to be freed) says why. *log may be set where it can, too. */
struct opencl_program *opencl_build(const uint8_t *spirv, size_t size, char **log);
void opencl_free_program(struct opencl_program *p);

struct opencl_kernel *opencl_kernel(struct opencl_program *p, const char *name); /* NULL: there is none */
void opencl_free_kernel(struct opencl_kernel *k);
uint64_t opencl_local_memory(const struct opencl_kernel *k); /* bytes of a work-group, but for arguments */

/* Runs it to its end. Several threads may, also the same kernel. */
bool opencl_run(struct opencl_kernel *k, const struct machine_channel *launch);
