/* What compiled kernels call: one table, which whoever runs them puts in the launch. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"

extern const struct kernel_functions kernel_runtime;
