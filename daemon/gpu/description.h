/*
 * What a GPU is and can do, as an executor found it out from the driver: told to the broker once, which gives it to
 * compilers with each job for that device. So it is part of the keys of plans and objects.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuser/spirv/abi/target.h"

enum { GPU_UUID_BYTES = 16, GPU_TEXT_BYTES = 256 };

struct gpu_description {
    char device[16];             /* our name of it: "vulkan" */
    char name[GPU_TEXT_BYTES];   /* the driver's */
    char driver[GPU_TEXT_BYTES]; /* its name and version */
    uint8_t uuid[GPU_UUID_BYTES];
    bool is_cpu;         /* a driver that computes on the processor */
    bool shares_memory;  /* kernels reach the session's memory where it is; else it is copied */
    bool same_addresses; /* and by the addresses that the session has: pointers in memory mean the same */
    bool flushes_denormals32, flushes_denormals64; /* as far as it was tried out */
    uint64_t max_work_group_size, max_group_sides[3];
    uint64_t max_groups[3]; /* of a dispatch */
    uint64_t max_local_bytes, max_buffer_bytes;
    uint32_t compute_units; /* 0: not told */
    uint32_t
        architecture; /* of Intel's: the version of its graphics, major << 22 | minor << 14 | revision; 0: not told */
    struct spirv_target target;
};

/* Is what was tried out of one device true of another? What is told of it is, then, and `known` says what was tried. */
bool gpu_description_learn(struct gpu_description *d, const struct gpu_description *known);

/* msgpack, to be freed. */
uint8_t *gpu_description_encode(const struct gpu_description *d, size_t *size);
/* Trusts nothing. False: it is none. */
bool gpu_description_decode(struct gpu_description *d, const void *bytes, size_t size);
