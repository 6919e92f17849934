/*
 * What a binary of a driver is for: it is made of an object, and begins with this. An executor that has no binary for a
 * launch names this to have one made; the broker, which keeps them, reads no more of it than that two are the same.
 */
#pragma once

#include <stdint.h>

#include "daemon/gpu/description.h"

enum { GPU_BINARY_MAGIC = 0x4e494246 /* "FBIN" */, GPU_PIECES = 8 };

/* What a driver's compiler is told of a launch besides its object. */
struct gpu_shape {
    uint32_t n; /* sizes of work-groups, each with code of its own; 0: it is told nothing */
    uint32_t sizes[GPU_PIECES][3];
    uint32_t local_bytes, surplus /* dimensions */, items; /* as fuser/spirv/abi/abi.h has them */
};

struct gpu_binary_key {
    uint32_t magic, dialect;
    uint8_t driver[GPU_UUID_BYTES]; /* as this driver tells its binaries from those of others */
    struct gpu_shape shape;
};
