/* What the files of fuse_kernels() share. */
#pragma once

#include "fuser/access/access.h"
#include "fuser/merge/merge.h"
#include "fuser/passes/rename.h"

/* What a buffer becomes that is neither a parameter nor one variable. */
struct fuse_window {
    struct ir_value **variables; /* PRIVATE: addresses, by piece */
    struct ir_global *array;     /* LOCAL */
    struct affine *leader;       /* the index of its first access; all others have the same factors of what they must */
};

struct fuse {
    const struct fuse_request *request;
    struct ir_module *module; /* of the fused kernel */
    struct ir_function *kernel;
    struct ir_value **targets;   /* by parameter of the request: the kernel's parameter or private variable */
    struct fuse_window *windows; /* by parameter of the request */
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

/* ---- attrs.c ---- */

/* Adds what a part requires of its surroundings to what the fused kernel requires. `part` is the part's
   kernel as copied into the module. False: they contradict each other. */
bool fuse_attrs_merge(struct fuse *f, const struct ir_function *part);
/* When all parts are merged. */
void fuse_attrs_finish(struct fuse *f);

/* ---- range.c ---- */

/* Whether the part, whose calls are inlined, can run in the range of the request. *guarded: not all
   work-items of the fused kernel may execute it. */
bool fuse_range_fit(struct fuse *f, const struct fuse_part *part, const struct ir_function *copy, bool *guarded);
/* What the part asks of its ids and sizes becomes what they are in its own range, where that is not the request's. */
bool fuse_range_apply(struct fuse *f, const struct fuse_part *part, struct ir_function *copy);
/* The range whose linear ids the request has in common with the part. */
const struct nd_range *fuse_range_base(const struct fuse *f, const struct fuse_part *part);
/* The condition under which a work-item belongs to a guarded part. */
struct ir_value *fuse_range_condition(const struct fuse *f, const struct fuse_part *part, struct ir_builder *b);

/* ---- private.c ---- */

/* Makes each access through parameter i, which is at one element per work-item, one at the parameter
   itself. False where something else is done with it. */
bool fuse_private_rewrite(struct fuse *f, struct ir_function *copy, uint32_t i, ir_type elem);

/* ---- offset.c ---- */

/* Called for each load, store, block read and block write through a pointer that is now a number, its operand 0; gives it
   a pointer again, or takes its place. */
typedef bool fuse_offset_user(struct ir_inst *inst, void *data);
/* Makes each pointer that comes from parameter i a number of bytes from there. False where one is kept, compared
   or mixed with others, or where the user gives up. */
bool fuse_offsets(struct fuse *f, struct ir_function *copy, uint32_t i, fuse_offset_user *user, void *data);

/* ---- window.c ---- */

static inline bool fuse_has_window(const struct fuse_param *p)
{
    return p->home == FUSER_HOME_LOCAL || (p->home == FUSER_HOME_PRIVATE && p->n_pieces);
}
/* Makes the variables or the array of a parameter of the request. */
void fuse_window_frame(struct fuse *f, struct ir_builder *b, uint32_t param);
/* Sends each access through parameter i of the part there. The variables become parameters of the copy, their
   addresses go to f->extra. summary: of the parameter, of the copy as it is. */
bool fuse_window_rewrite(struct fuse *f, const struct fuse_part *part, struct ir_function *copy, uint32_t i,
                         const struct access_summary *summary);
