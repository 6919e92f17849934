/* Device reference: kernels come with the program and run in the interpreter, with all its checks; programs for
 * debugging too. */
#pragma once

#include "daemon/executor/program/device.h"

extern const struct device reference_device;
