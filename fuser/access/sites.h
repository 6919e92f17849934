/* Sites: what a kernel does to the memory behind its pointer parameters, and which work-items do it. */
#pragma once

#include "fuser/access/affine.h"
#include "ir/base/nd_range.h"
#include "ir/core/ir.h"

/* Work-items, as a box of global ids; empty where first > last in a dimension. */
struct access_items {
    int64_t first[3], last[3];
};

/* A condition that the work-items at a site have passed. Where it compares numbers whose sums are known, it is margin
   <= 0, or zero = 0. */
struct access_guard {
    const struct ir_value *condition;
    bool taken;
    bool in_items; /* `items` says it */
    struct affine margin, zero;
    struct access_summary
        *scalar; /* as long as this one is at least `least`, all pass: as it was; NULL: there is none */
    int64_t least;
    const struct access_guard *outer; /* passed before; NULL: none */
};

/* One load, store, atomic or other use of a parameter. */
struct access_site {
    const struct ir_inst *inst;
    uint32_t line;
    bool reads, writes, atomic;
    bool found_one;            /* the pointer comes from this parameter and from nowhere else */
    bool conditional;          /* something besides `items` decides whether a work-item gets here */
    bool unsure;               /* ... something besides the guards, too */
    struct access_items items; /* the work-items that may get here; exactly those where not conditional */
    const struct access_guard *guards;
    ir_type type;            /* of one element */
    uint64_t bytes;          /* touched at once; 0: unknown */
    struct affine index;     /* byte offset from the parameter; of a block, of the work-item's own part of it */
    uint32_t element;        /* of a block's components, each of which is a site: which one */
    uint32_t sub_group_size; /* where the index has ids of sub-groups: how large these are; 0: not known */
};

/* A read or write of a pixel of an image. */
struct access_pixel {
    bool writes;
    bool wraps; /* from outside of the image it may lead back into it */
    uint32_t n; /* coordinates, of which each is exact: */
    struct affine at[3];
    int64_t low[3], high[3];
};

/* A packet put into a pipe, or taken. */
struct access_packet {
    bool puts, waits;
    const struct ir_inst *loop; /* the innermost one that it is in; NULL: none */
    struct access_site site;    /* who gets here */
};

struct access_summary {
    bool reads, writes, atomics;
    bool escapes;       /* the pointer is stored, cast to an integer, passed on where we lose it */
    bool written_first; /* the first site is a store that each work-item executes */
    bool decides;       /* of a scalar: where the kernel accesses memory, or whether it does, depends on it */
    int64_t number;     /* of a scalar that strides depend on: what it was taken to be; 0: nothing */
    int64_t least;      /* of a scalar that ids are compared with: some proof took it to be at least this; 0: none */
    uint32_t n_sites;
    struct access_site *sites; /* in program order */
    bool pixels_unknown;       /* of an image: not all that is done to it is in the list */
    uint32_t n_pixels;
    struct access_pixel *pixels;
    bool packets_unknown; /* of a pipe: more is done with it than to put and take single packets: */
    uint32_t packets_line;
    uint32_t n_packets;
    struct access_packet *packets; /* in program order */
};

struct access_analysis {
    const struct ir_function *kernel; /* what the sites are in: calls inlined, perhaps a copy */
    uint32_t n_params;
    struct access_summary *params; /* as the kernel's; empty for those that are no pointers */
    struct access_summary own;     /* of the kernel's own variables: one, or one of several */
    bool has_barrier, has_group_ops, has_local_ids;
    bool has_sub_groups; /* what it computes depends on the size of sub-groups */
    bool meets_groups;   /* barriers and operations of work-groups */
    bool sees_groups;    /* looks at ids, sizes or numbers of work-groups */
    bool shared_state;   /* prints, uses pipes, or program-scope variables that are no arguments */
    bool prints;
    bool checks;                        /* tells of accesses outside of their memory */
    bool has_pipes;                     /* as arguments */
    bool unknown_reads, unknown_writes; /* through a pointer that comes from memory: whose memory is unknown */
    uint64_t local_bytes;               /* of the kernel's own work-group variables: */
    uint32_t n_locals;
    const struct ir_global **locals;
    struct ir_module *copy; /* owned; NULL where the kernel could be read as it is */
    struct arena *arena;
};

/* Where the index starts when ids are counted from 0 on: its constant, and what the offset of the range adds. */
int64_t site_start(const struct affine *index, const struct nd_range *range);
/* Is each component of a block for one work-item, like a load or store? */
static inline bool site_is_block(const struct access_site *site)
{
    return site->inst->op == IR_OP_BLOCK_READ || site->inst->op == IR_OP_BLOCK_WRITE;
}
