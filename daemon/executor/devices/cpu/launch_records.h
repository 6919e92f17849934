/* Launch records, which name the functions that kernels call: pages of their own, read-only once they are complete. */
#pragma once

#include <stdint.h>

#include "fuser/cpu/abi/kernel_abi.h"

struct launch_records {
    struct kernel_launch *launches;
    uint64_t bytes;
};

/* Room for n records, to be written. 0, or -1: out of memory. */
int launch_records_make(struct launch_records *r, uint32_t n);
/* Nothing in them changes from here on. 0, or -1 with errno. */
int launch_records_protect(const struct launch_records *r);
void launch_records_free(struct launch_records *r); /* NULL, or none, is fine */
