/* The kernel that writes the buffer, as a function of a work-item's ids. */
#pragma once

#include "fuser/access/sites.h"
#include "fuser/merge/merge_state.h"
#include "fuser/recompute/place.h"
#include "fuser/recompute/request.h"

struct recompute_producer {
    struct ir_function *at; /* of the kernel's parameters but the buffer, then its three ids: what is written */
    struct written_place place;
    struct access_items items; /* ids for which it is written, all of the box */
};

/* Makes the function in f's module. False: f says why not. */
bool recompute_producer_make(struct fuse *f, const struct recompute_request *r, struct recompute_producer *out);
