/* Access analysis: what each pointer parameter of a kernel is used for, and which work-item touches what. */
#pragma once

#include "fuser/graph.h"

/* An index as constant + sum of coefficient * id, in elements of the accessed type's size:
   exact where `affine` is set. Ids: global ids with the offset included, x y z. */
struct access_index {
    bool affine;
    int64_t constant; /* bytes */
    int64_t gid[3];   /* bytes per global id */
    bool other_terms; /* local or group ids, scalars or loop variables take part: see access.c */
};

/* One load, store, atomic or other use of a parameter. */
struct access_site {
    const struct ir_inst *inst;
    bool reads, writes, atomic;
    bool conditional; /* not executed by every work-item */
    uint64_t bytes;   /* 0: unknown */
    struct access_index index;
};

struct access_summary {
    bool reads, writes, atomics;
    bool escapes;    /* the pointer is stored, cast to an integer, passed on where we lose it */
    bool all_affine; /* every site has an affine index in global ids alone */
    bool one_index;  /* ... and all sites have the same index and the same size: one element per work-item */
    uint32_t n_sites;
    struct access_site *sites;
};

struct access_analysis {
    uint32_t n_params;
    struct access_summary *params; /* as the kernel's; empty for those that are no pointers */
    bool has_barrier, has_group_ops, has_local_ids; /* facts about the kernel as a whole */
};

struct access_analysis *access_analyse(const struct ir_function *kernel);
void access_analysis_free(struct access_analysis *a); /* NULL is fine */
/* Does each element of the parameter belong to one work-item over this range (proved)? */
bool access_owned_by_item(const struct access_summary *s, const struct fuser_range *range);
/* Bytes of global memory the parameter's sites touch over the range: exact for affine sites, `whole` else. */
uint64_t access_bytes(const struct access_summary *s, const struct fuser_range *range, uint64_t whole);
