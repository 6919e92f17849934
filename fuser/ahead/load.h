/* What of a bundle is for this machine (docs/bundles.md). Nothing in one is trusted: it is a client's. */
#pragma once

#include "ir/base/error.h"
#include "ir/core/ir.h"

/* Code of a launch. Bytes are the bundle's. */
struct ahead_code {
    const char *target;
    const void *launch, *object;
    size_t launch_size, object_size;
    uint64_t lanes;
    const char *effort;
};

struct ahead_load {
    uint32_t n_targets; /* what the processor is: of several the better one later */
    const char *const *targets;
    uint32_t n_objects; /* for the processor: of each launch the best */
    struct ahead_code *objects;
    uint32_t n_binaries; /* of GPUs, in their drivers' forms */
    struct ahead_code *binaries;
    struct arena *arena;
};

/* The module, whose kernels say what they are compiled for; object is what errors are about. NULL with the error. l has
   the processor's targets, and is to be cleared either way; its code points into the bytes. */
struct ir_module *ahead_load(struct ahead_load *b, const void *bytes, size_t size, const char *object, struct error *e);
void ahead_load_clear(struct ahead_load *b); /* all zeros is fine */
