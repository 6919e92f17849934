/* Intel's graphics by their versions, in the names that code is compiled for (seed 004,
 * sycl_ext_intel_device_architecture). */
#pragma once

#include <stdint.h>

enum { GPU_MAX_TARGETS = 4 };

/* The names of a version, "intel_gpu_12_0_0" and others; how many. Static storage. */
uint32_t gpu_architecture_names(uint32_t version, const char *names[static GPU_MAX_TARGETS]);
