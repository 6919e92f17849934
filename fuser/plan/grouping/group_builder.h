/* A group of kernels in the making. */
#pragma once

#include "fuser/plan/grouping/grouping.h"

enum { GROUP_MOST_KERNELS = 128 };

/* Kernels that become one launch. */
struct plan_group {
    struct node_run run;
    struct nd_range range;             /* that holds all of theirs; local 0 where nobody said */
    bool barriers[GROUP_MOST_KERNELS]; /* by place in the run: a work-group barrier stands before the kernel */
    uint32_t last_from; /* the first place of those that run in a work-group more, behind all others; 0: none does */
};

/* What a kernel makes of the group that it joins. */
struct joining {
    struct nd_range range;
    bool barrier; /* stands before it */
    bool last;    /* it runs in the last work-group */
};

/* A use of a buffer by a kernel of the group. */
struct member_use {
    uint32_t use;
    uint32_t place; /* of the kernel in the run */
    struct member_use *next;
};

struct group_builder {
    struct plan_group group;
    bool alike; /* all kernels have the same range */
    bool shared_state, prints;
    bool follows_pointers; /* some kernel follows pointers that it finds in memory, */
    bool unknown_writes;   /* ... writes through them, */
    bool writes;           /* ... writes anywhere */
    uint32_t pointer_node, writing_node, state_node;
    uint32_t sub_group_size;
    uint32_t ordered; /* so many of the first kernels have a barrier behind them, before the last ones */
    uint64_t local_bytes;
    uint64_t operations, largest; /* of all kernels together, and of the one that has most */
    struct member_use **by_buffer;
    uint32_t *stamp, generation; /* by_buffer[b] is of this group where stamp[b] is generation */
};

void group_builder_init(const struct grouping *g, struct group_builder *b);
/* A group of the kernel at `first`, and of no other one yet. Those that join it have to stand behind it there. */
void group_builder_open(const struct grouping *g, struct group_builder *b, const uint32_t *first);
/* The kernel behind the group becomes part of it. */
void group_builder_add(const struct grouping *g, struct group_builder *b, const struct joining *with);
/* Takes the last kernel out again; before: the group as it was without it. */
void group_builder_remove(const struct grouping *g, struct group_builder *b, const struct group_builder *before);

/* The kernel behind the group, which asks to join. */
static inline uint32_t group_builder_next(const struct group_builder *b)
{
    return b->group.run.nodes[b->group.run.n];
}
