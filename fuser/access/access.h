/* Access analysis: what each pointer parameter of a kernel is used for, and which work-item touches what. */
#pragma once

#include "fuser/access/affine.h"
#include "fuser/graph/graph.h"

/* Work-items, as a box of global ids; empty where first > last in a dimension. */
struct access_items {
    int64_t first[3], last[3];
};

/* One load, store, atomic or other use of a parameter. */
struct access_site {
    const struct ir_inst *inst;
    uint32_t line;
    bool reads, writes, atomic;
    bool found_one;            /* the pointer comes from this parameter and from nowhere else */
    bool conditional;          /* something besides `items` decides whether a work-item gets here */
    struct access_items items; /* the work-items that may get here; exactly those where not conditional */
    ir_type type;              /* of one element */
    uint64_t bytes;            /* touched at once; 0: unknown */
    struct affine index;       /* byte offset from the parameter; of a block, of the work-item's own part of it */
    uint32_t element;          /* of a block's components, each of which is a site: which one */
    uint32_t sub_group_size;   /* where the index has ids of sub-groups: how large these are; 0: not known */
};

struct access_summary {
    bool reads, writes, atomics;
    bool escapes;       /* the pointer is stored, cast to an integer, passed on where we lose it */
    bool written_first; /* the first site is a store that each work-item executes */
    uint32_t n_sites;
    struct access_site *sites; /* in program order */
};

struct access_analysis {
    const struct ir_function *kernel; /* what the sites are in: calls inlined, perhaps a copy */
    uint32_t n_params;
    struct access_summary *params; /* as the kernel's; empty for those that are no pointers */
    bool has_barrier, has_group_ops, has_local_ids;
    bool has_sub_groups;            /* what it computes depends on the size of sub-groups */
    bool meets_groups;              /* barriers and operations of work-groups */
    bool sees_groups;               /* looks at ids, sizes or numbers of work-groups */
    bool shared_state;              /* prints, uses pipes, or variables of the program that are no arguments */
    bool prints;
    bool loose_reads, loose_writes; /* through a pointer that comes from memory: whose memory is unknown */
    uint64_t local_bytes;           /* of the kernel's own work-group variables: */
    uint32_t n_locals;
    const struct ir_global **locals;
    struct ir_module *copy; /* owned; NULL where the kernel could be read as it is */
    struct arena *arena;
};

/* Analyses a kernel as it is launched over range: ids are bounded by it, sizes are constants. sub_group_size: 0 where it is
   what the kernel requires, if it does. */
struct access_analysis *access_analyse(const struct ir_function *kernel, const struct nd_range *range,
                                       uint32_t sub_group_size);
/* The same of a kernel whose calls are inlined and variables promoted: its sites are in the kernel itself. */
struct access_analysis *access_analyse_inlined(const struct ir_function *kernel, const struct nd_range *range,
                                               uint32_t sub_group_size);
void access_analysis_free(struct access_analysis *a); /* NULL is fine */

/* The sum without its ids where these are counted from 0 on: the constant, and what the offset of the range adds. */
int64_t access_start(const struct affine *index, const struct nd_range *range);
/* Is each component of a block for one work-item, like a load or store? */
static inline bool access_is_block(const struct access_site *site)
{
    return site->inst->op == IR_OP_BLOCK_READ || site->inst->op == IR_OP_BLOCK_WRITE;
}
/* The site in linear ids of `base`, a range that holds the kernel's own, at the same global ids. An index that is no
   multiple of the linear id becomes unknown. */
void access_linearize(struct access_site *site, const struct nd_range *own, const struct nd_range *base);
/* Does each element of the parameter belong to one work-item over this range (proved)? */
bool access_owned_by_item(const struct access_summary *s, const struct nd_range *range);
/* Bytes of global memory the parameter's sites touch over the range, each element once for reading and
   once for writing; never more than `whole` each. */
uint64_t access_bytes(const struct access_summary *s, const struct nd_range *range, uint64_t whole);
/* The same for reading or for writing alone. */
uint64_t access_bytes_one_way(const struct access_summary *s, const struct nd_range *range, uint64_t whole,
                              bool writing);
