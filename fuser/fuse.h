/* Making one kernel of several: the parts' bodies in order, in one function, with merged parameters. */
#pragma once

#include "fuser/graph.h"
#include "fuser/plan.h"

struct fuse_part {
    const struct ir_function *kernel;
    struct fuser_range range; /* local filled in or all 0 */
    const uint32_t *params;   /* for each parameter of kernel, the index of the fused kernel's parameter it becomes */
};

struct fuse_param {
    const char *name;
    enum fuser_home home; /* PRIVATE: every part touches it at one element per work-item, the same in all
                             parts (proved or asserted): becomes a value, and no parameter */
    ir_type elem;         /* element type of a PRIVATE one */
    ir_type type;         /* type of the parameter */
    enum ir_access access;
};

struct fuse_request {
    const char *name;
    struct fuser_range range; /* of the fused kernel */
    uint32_t n_parts, n_params;
    const struct fuse_part *parts;
    const struct fuse_param *params;
    bool insert_barriers; /* a work-group barrier between parts */
};

/* A new module with the one kernel, cleaned up and verified. kept (n_params entries) tells which of the
   request's parameters the kernel still has, in order: an unused or PRIVATE one is gone. NULL with a
   reason in `why` where it cannot be done. */
struct ir_module *fuse_kernels(const struct fuse_request *request, bool *kept, char *why, size_t why_size);
