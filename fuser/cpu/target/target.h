/* The processor that code is made for, and what it offers kernels: registers and sub-group sizes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fuser/cpu/target/isa.h"

/* Part of the cache key through `text`. */
struct cpu_target {
    enum cpu_isa isa;
    bool gathers_slowly; /* a gather takes longer than a load for each lane */
    char text[160];      /* "x86-64-v4 gcc-12 abi-1 ..." : everything that changes the code */
};

/* The machine we run on, from cpuid; lowered to `limit` where that is less. */
struct cpu_target cpu_target_host(enum cpu_isa limit);
const char *cpu_isa_name(enum cpu_isa isa);
/* Of the vector registers, for each work-item of a sub-group of the primary size. */
unsigned cpu_register_bytes(enum cpu_isa isa);

/* The sub-group sizes there is code for, ascending, a 0 behind the last. They and the primary one are the same with
   every instruction set: a sub-group is one vector or several, or part of one, so that what a kernel computes does
   not depend on the machine. 16 lanes of f32 fill one AVX-512 register, two of AVX2, four of SSE. */
enum { CPU_PRIMARY_SUB_GROUP_SIZE = 16 };
const uint32_t *cpu_sub_group_sizes(void);
