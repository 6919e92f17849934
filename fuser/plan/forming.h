/* A group of kernels in the making: which kernel may join it. */
#pragma once

#include "fuser/plan/planner.h"

struct member_use;

/* The group is a run of p->plan->order; the kernel that asks to join is the next one there. */
struct forming {
    struct plan_group group;
    bool alike; /* all kernels have the same range */
    bool shared_state;
    bool loose, unknown_writes, writes; /* some kernel does */
    uint32_t loose_node, writing_node, state_node;
    uint32_t sub_group_size;
    uint64_t local_bytes;
    uint64_t operations, largest; /* of all kernels together, and of the one that has most */
    struct member_use **by_buffer;
    uint32_t *stamp, generation; /* by_buffer[b] is of this group where stamp[b] is generation */
};

/* Why a kernel does not join. */
struct cut {
    const char *code;
    const char *buffer;
    char text[640];
};

/* False, for returning. */
bool cut(struct cut *c, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));

void forming_init(const struct planner *p, struct forming *f);
/* A group of the kernel at this place of the order, and of no other one yet. */
void forming_open(struct planner *p, struct forming *f, uint32_t at);
/* Whether the kernel behind the group joins it; *joined is the range then, c says why not. */
bool forming_joins(struct planner *p, const struct forming *f, uint32_t node, struct nd_range *joined,
                   struct cut *c);
void forming_add(struct planner *p, struct forming *f, uint32_t node, const struct nd_range *joined);
/* Takes the last kernel out again; before: the group as it was without it. */
void forming_remove(struct planner *p, struct forming *f, uint32_t node, const struct forming *before);
