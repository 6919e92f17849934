/* Where a buffer of a launch lives; for what it means see struct fuse_param. */
#pragma once

#include "fuser/graph/storage.h"
#include "fuser/merge/request.h"

struct plan_storage {
    enum fuser_storage storage;
    ir_type elem;
    uint32_t n_slices;
    const struct fuse_slice *slices;
    int64_t local_first;
    uint64_t local_bytes;
    const char *assertion; /* the property that says to whom its elements belong; NULL: proved */
};
