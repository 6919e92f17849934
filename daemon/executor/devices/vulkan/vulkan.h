/* Device vulkan: kernels as SPIR-V, through the driver of a GPU or one that computes on the processor. */
#pragma once

#include "daemon/executor/program/device.h"
#include "daemon/gpu/description.h"
#include "ir/base/error.h"

/* Loads the driver, in a process that may still open files, and tries it out where that is not known (NULL), or known
   of another driver. NULL with the error: there is no such device. */
const struct gpu_description *vulkan_device_init(const struct gpu_description *known, bool *tested, struct error *e);

extern const struct device vulkan_device;
