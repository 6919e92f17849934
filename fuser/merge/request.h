/* What is to become one kernel: kernels in order, what their parameters become, where buffers without memory live. */
#pragma once

#include "fuser/graph/storage.h"
#include "ir/base/nd_range.h"
#include "ir/core/ir.h"

struct fuse_part {
    const struct ir_function *kernel;
    struct nd_range range;  /* local filled in or all 0 */
    const uint32_t *params; /* for each parameter of kernel, the index of the fused kernel's parameter it becomes */
    const int64_t *numbers; /* by parameter: what it is known to be, as for access_analyse(); NULL: nothing is */
    bool barrier;           /* of the work-group, between the parts before and this one */
    bool last;              /* runs in the last work-group of the fused kernel, and no other part but such */
};

/* A part of what belongs to one work-item of a PRIVATE buffer: becomes one variable, an array where count is above 1.
   first: where it starts, counted from where the ids of the work-item (from 0 on, without the offset) and the scalars
   put it; stride: bytes from an element to the next one. */
struct fuse_slice {
    int64_t first;
    ir_type type;
    uint64_t stride, count;
};

/* How packets go from one part to another, which nobody else takes or puts. */
enum fuse_flow {
    FUSE_FLOW_NONE,      /* through the pipe */
    FUSE_FLOW_PULLED,    /* a loop of the producer goes on where the consumer takes one: merge/pull.c */
    FUSE_FLOW_REGISTERS, /* both do it equally often, under the same conditions: merge/packets.c */
};

struct fuse_param {
    const char *name;
    enum fuser_storage storage; /* not MEMORY: it becomes no parameter.
                             PRIVATE without slices: every part touches it at one element per work-item, the same in
                             all parts. With slices: each access is inside one of them, and all accesses have the same
                             factors of ids. LOCAL: all have the same factors of group ids, and what each work-group
                             touches are the bytes from local_first on. All that proved or asserted. */
    ir_type elem;               /* element type of a PRIVATE or LOCAL one */
    uint32_t n_slices;
    const struct fuse_slice *slices;
    int64_t local_first; /* LOCAL: counted from where the work-group's id (from 0 on) and the scalars put it */
    uint64_t local_bytes;
    ir_type type; /* type of the parameter */
    enum ir_access access;
    int64_t number;              /* of a scalar that is known to be one; 0: it is not */
    enum fuse_flow flow;         /* of a pipe */
    uint32_t producer, consumer; /* parts, the consumer being the later one */
    bool unseen; /* MEMORY: nobody but the kernel ever reads it, so it becomes no parameter if the kernel does not
                    either */
};

struct fuse_request {
    const char *name;
    struct nd_range range; /* of the fused kernel */
    uint32_t n_parts, n_params;
    const struct fuse_part *parts;
    const struct fuse_param *params;
    uint32_t assumes;        /* IR_ASSUME_...: what holds of the launch */
    uint32_t sub_group_size; /* of the fused kernel, where it is decided already; 0: what the parts say together */
};

static inline bool fuse_has_last_group(const struct fuse_request *r)
{
    return r->n_parts && r->parts[r->n_parts - 1].last;
}
