/* What of a bundle is for this machine (docs/bundles.md). Nothing in one is trusted: it is a client's. */
#pragma once

#include "ir/base/error.h"
#include "ir/core/ir.h"

/* What a saved executable's version says: AHEAD_FORM, KERNEL_ABI_VERSION. */
#define AHEAD_VERSION "executable %u\nkernels %u\n"
enum { AHEAD_FORM = 1 };

/* Code of a launch. Bytes are the bundle's. */
struct ahead_code {
    const char *target;
    const void *launch, *object;
    size_t launch_size, object_size;
    uint64_t lanes;
    const char *effort;
};

/* A saved executable's other parts. Bytes are the bundle's. */
struct ahead_executable {
    const void *graph, *options; /* NULL: the bundle is none */
    size_t graph_size, options_size;
    uint32_t n_modules;
};

struct ahead_load {
    uint32_t part;      /* of an executable's modules, which to read */
    uint32_t n_targets; /* what the processor is: of several the better one later */
    const char *const *targets;
    uint32_t n_objects; /* for the processor: of each launch the best */
    struct ahead_code *objects;
    uint32_t n_binaries; /* of GPUs, in their drivers' forms */
    struct ahead_code *binaries;
    struct ahead_executable executable;
    bool other_version; /* the error is that another version saved it */
    struct arena *arena;
};

/* The name of an executable's module in the bundle. */
void ahead_module_name(uint32_t part, char name[static 32]);
/* The module, whose kernels say what they are compiled for; object is what errors are about. NULL with the error. l has
   the processor's targets, and is to be cleared either way; its code points into the bytes. */
struct ir_module *ahead_load(struct ahead_load *b, const void *bytes, size_t size, const char *object, struct error *e);
void ahead_load_clear(struct ahead_load *b); /* all zeros is fine */
