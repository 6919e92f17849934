/*
 * The machine under the device, as the driver sees it: a process of its own, which has memory in common with this one,
 * at the same addresses. So kernels reach what they were given and nothing else of this process, one that faults is a
 * lost device and no more, and calls need nothing of the system but that memory: a confined process can make them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/level_zero/machine/spirv.h"

/* What the machine can do. */
struct machine_facts {
    bool fp16, fp64, int64_atomics, sub_groups, work_group_functions;
    bool reads_spirv; /* itself; else bitcode */
    uint64_t memory, largest_allocation;
    uint32_t compute_units, clock, local_memory, largest_group;
    uint64_t cache;
};

/* An argument of a kernel: a value's bytes, a pointer's, which are an address, or NULL for local memory. */
struct machine_argument {
    void *bytes;
    size_t size;
};

struct machine_range {
    uint32_t groups[3], group_size[3], offset[3];
};

/* Starts it, once. False: there is none. All calls may be made by several threads. */
bool machine_start(void);
const struct machine_facts *machine_facts(void);

/* The addresses that both processes have for memory. */
uint8_t *machine_memory(size_t *size);
/* Makes a part of it, whole pages, memory for kernels: the common one, or a file's. False: it cannot. */
bool machine_show(void *at, size_t size, int file);
void machine_hide(void *at, size_t size);
/* Makes addresses of this process common memory again, which were a file's. */
void machine_restore(void *at, size_t size);

/* A program, or 0: it cannot be built, and *log (to be freed; may be NULL) says why. */
uint64_t machine_build(const uint8_t *spirv, size_t size, char **log);
void machine_free_program(uint64_t program);
/* 0: there is none. local_bytes: of a work-group, but for arguments. */
uint64_t machine_kernel(uint64_t program, const char *name, uint64_t *local_bytes);
void machine_free_kernel(uint64_t kernel);
/* To its end. False: it failed, or there is no machine any more. */
bool machine_run(uint64_t kernel, const struct spirv_kernel *facts, const struct machine_argument *arguments,
                 const struct machine_range *range);
