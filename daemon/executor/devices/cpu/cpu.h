/*
 * Device cpu: objects are machine code, which is loaded into this process and called on its threads, or, of a kernel
 * that is too large for code, the kernel itself, which is interpreted. The contract with the code is
 * fuser/cpu/abi/kernel_abi.h.
 */
#pragma once

#include "daemon/executor/program/device.h"

extern const struct device cpu_device;
void cpu_device_init(unsigned threads);
