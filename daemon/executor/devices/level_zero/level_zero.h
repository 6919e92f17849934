/* Device level_zero: kernels as SPIR-V, through the driver of an Intel GPU. */
#pragma once

#include "daemon/executor/program/device.h"
#include "daemon/gpu/description.h"
#include "ir/base/error.h"

/* Loads the driver, in a process that may still open files; what it says is not tried out. NULL with the error: there
   is no such device. */
const struct gpu_description *level_zero_device_init(const struct gpu_description *known, bool *tested,
                                                     struct error *e);

extern const struct device level_zero_device;
