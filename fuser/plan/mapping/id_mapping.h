/*
 * Which work-item of a launch is which of its kernels', and their accesses in the ids that they have in common.
 *
 * This room takes the facts of kernels over ND-ranges that may differ, and the range of a launch; launch_range.h finds
 * the range that holds several. Uses access/ and fuser/graph/.
 */
#pragma once

#include "fuser/access/launched_access.h"
#include "fuser/plan/base/node_run.h"
#include "fuser/plan/graph/facts.h"

struct arena;

/* A kernel node in a launch. */
struct mapped_node {
    struct nd_range launch;
    bool linear;                         /* accesses are looked at in linear ids: */
    const struct access_summary *params; /* the kernel's in these; NULL: as they are */
    struct nd_range ids;                 /* that accesses are looked at in: the launch's, or the linear ones */
};

struct id_mapping {
    const struct plan_facts *facts;
    struct arena *arena;
    struct mapped_node *nodes;
};

void id_mapping_init(struct id_mapping *m, const struct plan_facts *facts, struct arena *arena);
/* Puts the kernels of the run into a launch over a range. True: by linear ids. */
bool id_mapping_set(struct id_mapping *m, struct node_run run, const struct nd_range *launch);
/* What the use's parameter is used for, in the ids of the launch. */
const struct access_summary *id_mapping_summary(const struct id_mapping *m, const struct plan_use *use);
struct launched_access id_mapping_access(const struct id_mapping *m, const struct plan_use *use,
                                         const struct access_site *site);
/* The global ids that the node's kernel has for a work-item found in a comparison. */
void id_mapping_own_ids(const struct id_mapping *m, uint32_t node, int64_t id[3]);
/* Whether kernels of a mapped run that get their ids from the linear id hardly look at these: their accesses are at
   multiples of it. `why` names one that is not. */
bool id_mapping_is_cheap(const struct id_mapping *m, struct node_run run, char *why, size_t why_size);
