/*
 * Device cpu: objects are machine code, which is loaded into this process and called on its threads, or, where there is
 * none, the kernel itself, which runs in batches in the same way. The contract with the code is
 * fuser/cpu/abi/kernel_abi.h.
 */
#pragma once

#include <stddef.h>

#include "daemon/executor/program/device.h"

extern const struct device cpu_device;
void cpu_device_init(unsigned threads);
int cpu_device_start(void);                                         /* its threads: -1 with errno */
void cpu_device_explain(struct running *r, char *out, size_t room); /* what its kernels wait for, as watchdog_explain */
