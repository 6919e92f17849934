/* A kernel while it is made of its parts. */
#pragma once

#include "fuser/access/affine.h"
#include "fuser/merge/request.h"
#include "fuser/passes/rename.h"

/* What a buffer becomes that is neither a parameter nor one variable. */
struct fuse_remap {
    struct ir_value **variables; /* PRIVATE: addresses, by slice */
    struct ir_global *array;     /* LOCAL */
    struct affine *leader;       /* the index of its first access; all others have the same factors of what they must */
};

enum { FUSE_MOST_PACKETS = 16 };

/* Packets of a pipe that each work-item puts, in that order. */
struct fuse_packets {
    uint32_t n;
    struct ir_value *variables[FUSE_MOST_PACKETS]; /* addresses */
};

struct fuse {
    const struct fuse_request *request;
    struct ir_module *module; /* of the fused kernel */
    struct ir_function *kernel;
    struct ir_value **targets;    /* by parameter of the request: the kernel's parameter or private variable */
    struct fuse_remap *remaps;    /* by parameter of the request */
    struct fuse_packets *packets; /* by parameter of the request */
    struct ir_inst **ends;        /* by part: the last instruction of the kernel's body when it was added; NULL: none */
    uint32_t n_extra;
    struct ir_value **extra; /* what the part's parameters get that were added to it */
    struct rename names;     /* of the kernel's values */
    bool linear;             /* some parts get their ids from the linear id, or have other work-groups */
    const char *part;        /* name of the kernel that is being added */
    bool has_part;           /* one is already there */
    bool declares;           /* a part declares its aspects */
    uint64_t declared;
    char *why;
    size_t why_size;
};

/* Writes the reason; returns false. */
bool fuse_refuse(struct fuse *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
