/* Launch records, which name the functions that kernels call: pages of their own, read-only once they are complete. */
#pragma once

#include <stdint.h>

#include "fuser/cpu/abi/kernel_abi.h"

struct frozen {
    struct kernel_launch *launches;
    uint64_t bytes;
};

/* Room for n records, to be written. 0, or -1: out of memory. */
int frozen_make(struct frozen *f, uint32_t n);
/* Nothing in it changes from here on. 0, or -1 with errno. */
int frozen_protect(const struct frozen *f);
void frozen_free(struct frozen *f);
