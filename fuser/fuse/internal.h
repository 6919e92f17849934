/* What the files of fuse_kernels() share. */
#pragma once

#include "fuser/fuse.h"
#include "fuser/passes/rename.h"

struct fuse {
    const struct fuse_request *request;
    struct ir_module *module; /* of the fused kernel */
    struct ir_function *kernel;
    struct ir_value **targets; /* by parameter of the request: the kernel's parameter or private variable */
    struct rename names;       /* of the kernel's values */
    const char *part;          /* name of the kernel that is being added */
    bool has_part;             /* one is already there */
    bool declares;             /* a part declares its aspects */
    uint64_t declared;
    char *why;
    size_t why_size;
};

/* Writes the reason; returns false. */
bool fuse_refuse(struct fuse *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- attrs.c ---- */

/* Adds what a part requires of its surroundings to what the fused kernel requires. `part` is the part's
   kernel as copied into the module. False: they contradict each other. */
bool fuse_attrs_merge(struct fuse *f, const struct ir_function *part);
/* When all parts are merged. */
void fuse_attrs_finish(struct fuse *f);

/* ---- range.c ---- */

/* Whether the part, whose calls are inlined, can run in the range of the request. *guarded: not all
   work-items of the fused kernel may execute it. Its queries of sizes that differ get the part's values. */
bool fuse_range_fit(struct fuse *f, const struct fuse_part *part, struct ir_function *copy, bool *guarded);
/* The condition under which a work-item belongs to a guarded part. */
struct ir_value *fuse_range_condition(const struct fuse *f, const struct fuse_part *part, struct ir_builder *b);

/* ---- private.c ---- */

/* Makes each access through parameter i, which is at one element per work-item, one at the parameter
   itself. False where something else is done with it. */
bool fuse_private_rewrite(struct fuse *f, struct ir_function *copy, uint32_t i, ir_type elem);
