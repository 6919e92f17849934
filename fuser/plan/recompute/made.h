/* Kernels of a reader and a writer, each made once however many nodes want it, and what work kernels are. */
#pragma once

#include "fuser/plan/recompute/state.h"
#include "fuser/recompute/compose.h"

struct recompute_made {
    struct recompute_request request;
    struct ir_module *module; /* NULL: it cannot be, as `why` says */
    char why[400];
    const int64_t *taken;           /* by argument: what numbers were taken to be */
    struct access_analysis *access; /* owned */
    uint64_t work;                  /* of a work-item */
    struct recompute_made *next;
};

/* Finds c->made for each reader. The first of them without a module, or NULL: all have one. */
const struct recompute_made *recompute_make(struct recomputing *r, struct recompute_candidate *c);
/* Of a work-item of the node's kernel, as fuser/cost counts. */
uint64_t recompute_work_of(struct recomputing *r, const struct recompute_state *s);
/* What only looking at them needed. */
void recompute_made_free(struct recomputing *r);
