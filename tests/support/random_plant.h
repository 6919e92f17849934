/* Two kernels planted in a random graph: the second touches what the first does at places that a buffer of indices
   says, so that nothing can be proved. Whether the work-items keep apart is up to what that buffer holds. */
#pragma once

#include "tests/support/graph_make.h"
#include "tests/support/plan_run.h"

enum plant_kind {
    PLANT_READ_AFTER_WRITE,
    PLANT_WRITE_AFTER_READ,
    PLANT_WRITE_AFTER_WRITE,
    PLANT_ITEM_SCOPE,  /* access_scope_work_item on the buffer */
    PLANT_GROUP_SCOPE, /* access_scope_work_group, with inserted barriers and work-groups of PLANT_GROUP */
    PLANT_NO_INIT,     /* no_init on the buffer */
    PLANT_KINDS
};

enum { PLANT_ITEMS = 64, PLANT_GROUP = 16 };

struct plant {
    enum plant_kind kind;
    uint32_t first, second; /* nodes */
    uint32_t buffer;        /* that both touch */
    uint32_t index;         /* the buffer of indices */
    uint32_t items[2];      /* that meet where it is wrong; of no_init, [0] reads what nobody wrote */
    const char *says;       /* what the watched run says then */
};

/* Adds the kernels to the graph, whose options become what the plant needs, and chooses the items from the seed. */
struct plant random_plant(struct test_graph *g, enum plant_kind kind, uint64_t seed);
/* Fills the buffer of indices: right, or wrong in one place. */
void random_plant_fill(const struct plant *p, const struct graph_memory *m, bool wrong);
