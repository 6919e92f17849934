/* Shared by the files that make a plan: the plan in the making, stage by stage. */
#pragma once

#include "fuser/access/access.h"
#include "fuser/access/dependence.h"
#include "fuser/access/same_place.h"
#include "fuser/plan/plan.h"
#include "fuser/graph/range.h"

struct arena;
struct fuse_request;

enum { NO_GROUP = UINT32_MAX, NO_USE = UINT32_MAX };

/* One node's use of one buffer through one argument (of a copy: argument 0 is `from`, 1 is `to`). A kernel that needs
   only the address neither reads nor writes. */
struct plan_use {
    uint32_t node, arg, buffer;
    uint64_t first, end; /* bytes of the buffer */
    bool reads, writes;
    struct fuser_props props; /* what holds for it, the buffer's included */
};

struct plan_node {
    struct nd_range range;             /* KERNEL: the local size filled in where the kernel requires one */
    const struct access_analysis *access; /* KERNEL */
    struct nd_range launch;            /* KERNEL: of the group it is in */
    bool linear;                          /* accesses of the group are looked at in linear ids: */
    const struct access_summary *placed;  /* access->params in these; NULL: they are not */
    struct nd_range ids;               /* that accesses are looked at in: the launch's, or the linear ones */
    uint32_t first_use, n_uses;
    uint32_t operations; /* KERNEL: with functions put in */
    uint32_t depth;    /* the longest path to it */
    uint32_t position; /* in the linear order */
    uint32_t group;    /* KERNEL: of those that run with it; not an index */
};

/* Kernels that become one launch: a run of the linear order. */
struct plan_group {
    uint32_t first, n;        /* in order[] */
    struct nd_range range; /* that holds all of theirs; local 0 where nobody said */
};

struct planner {
    const struct fuser_graph *graph;
    const struct fuser_options *options;
    struct fuser_error *error;
    struct fuser_plan *plan;
    struct arena *arena; /* of what is needed while planning */
    struct plan_node *nodes;
    uint32_t n_uses;
    struct plan_use *uses;       /* by node */
    uint32_t *buffer_uses_start; /* n_buffers + 1 */
    uint32_t *buffer_uses;       /* indices of uses, by buffer */
    uint32_t *successors_start;  /* n_nodes + 1 */
    uint32_t *successors;
    uint32_t *n_predecessors;
    uint32_t *by_rank, *rank; /* nodes by depth, then name: the same however the graph was recorded */
    uint32_t n_groups;
    struct plan_group *groups;
    bool *starts;                   /* by node: a group starts here, whether or not it has to. NULL: none */
    uint64_t chosen_bytes;          /* what those groups move, as estimated */
    bool quiet;                     /* remarks are not wanted: something is tried */
    struct plan_analyses *analyses; /* of distinct kernels and ranges */
    uint32_t n_left_out;            /* nodes in which nothing happens */
    uint32_t *given;                /* where some were left out: numbers that nodes were given with; theirs come last */
    uint32_t n_own_buffers;         /* of the graph as it was given; those behind are the plan's states */
    struct plan_stated *stated;     /* kernels that use some */
};

/* ---- reports (remark.c). Each false: so that a check can return it. ---- */

bool plan_fail(struct planner *p, enum fuser_status status, const char *what, const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* node and buffer: names, NULL for none. */
void plan_remark(struct planner *p, const char *code, const char *node, const char *buffer, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- stages, in this order; false: failed, and the error is filled in ---- */

bool plan_validate(struct planner *p); /* validate.c: the graph by itself */
bool plan_leave_out_empty(struct planner *p); /* empty.c: nodes in which nothing happens; a graph of its own */
bool plan_states(struct planner *p);   /* state.c: variables of the program become buffers, in a graph of its own */
bool plan_analyse(
    struct planner *p); /* uses.c: what each node does with each buffer, checked against what was declared */
bool plan_edges(struct planner *p);    /* edges.c */
bool plan_order(struct planner *p);    /* order.c */
bool plan_groups(struct planner *p);   /* group.c */
bool plan_launches(struct planner *p); /* launch.c: homes, kernels, steps */
void plan_find_endless(struct planner *p);    /* endless.c: a remark on each kernel with a loop that nothing leaves */
void plan_number_as_given(struct planner *p); /* empty.c, at the end: nodes in the plan as the caller knows them */
void plan_analyses_free(struct plan_analyses *a);
void plan_stated_free(struct plan_stated *k);

/* Is it a variable or pipe of the program, which no host sees? */
static inline bool plan_is_state(const struct planner *p, uint32_t buffer)
{
    return buffer >= p->n_own_buffers;
}

/* validate_kernel.c */
bool plan_validate_kernel(struct planner *p, const struct fuser_node *node);
/* validate_meeting.c; after that */
bool plan_validate_meeting(struct planner *p, const struct fuser_node *node);

/* ---- sub-group sizes (sub_group.c) ---- */

bool plan_check_sub_group_size(struct planner *p, const struct fuser_node *node);
/* What the kernel's sub-groups have wherever it runs. */
uint32_t plan_own_sub_group_size(const struct planner *p, const struct ir_function *kernel);
/* Work-items of the work-groups that a kernel asks for by a number of sub-groups; 0: it does not. */
uint64_t plan_items_of_sub_groups(const struct planner *p, const struct ir_function *kernel);
/* What a kernel node needs, once it is analysed; 0: any does. */
uint32_t plan_sub_group_size(const struct planner *p, uint32_t node);
/* Of one launch of order[first .. first + n), whose nodes agree; 0: it makes no difference. */
uint32_t plan_launch_sub_group_size(const struct planner *p, uint32_t first, uint32_t n);

/* ---- images (image.c) ---- */

/* Argument i, whose parameter is an image. */
bool plan_check_image(struct planner *p, const struct fuser_node *node, uint32_t i);
/* Its texels are not followed from work-item to work-item. */
bool plan_holds_texels(const struct planner *p, uint32_t buffer);
bool plan_use_is_image(const struct planner *p, const struct plan_use *use);
bool plan_image_read(ir_type type);
bool plan_image_written(ir_type type);

/* ---- the choice of groups ---- */

/* Kernels in an order that their dependences allow, and where groups start in it. */
struct plan_choice {
    uint32_t n, n_groups;
    uint32_t *kernels;
    bool *starts;   /* by place */
    uint64_t bytes; /* what the launches move, as estimated */
};

/* choose.c. After groups were formed: an order with fewer launches, or as many that move less memory, becomes the
   linear order, if there is one. Groups have to be formed anew in any case. */
void plan_choose(struct planner *p);
/* optimum.c: the best of all; false: there are too many kernels. */
bool plan_optimum(struct planner *p, struct plan_choice *out);
enum { PLAN_MAX_OPTIMUM = 12 }; /* kernels */
/* sweep.c: a good one. */
void plan_sweep(struct planner *p, struct plan_choice *out);
/* linearize.c: the linear order of all nodes, with commands between groups only where a group needs them. */
void plan_linearize(struct planner *p, const struct plan_choice *choice);

/* estimate.c: what a launch of these kernels, in this order, would move over memory, in bytes. */
struct plan_estimate;
struct plan_estimate *plan_estimate_new(struct planner *p); /* in the planner's arena */
uint64_t plan_estimate(struct planner *p, struct plan_estimate *e, const uint32_t *kernels, uint32_t n);

/* ---- shared facts ---- */

/* Bytes from the first to the last of a copy's or fill's rows. */
static inline uint64_t plan_rows_span(const struct fuser_node *n, uint64_t pitch, uint64_t slice_pitch)
{
    uint64_t plane = n->plane ? n->plane : n->rows;
    return n->rows ? (n->rows / plane - 1) * slice_pitch + (plane - 1) * pitch + n->bytes : n->bytes;
}

struct launched_access plan_side(const struct planner *p, const struct plan_use *use, const struct access_site *site);
/* In the ids of the launch. */
static inline const struct access_summary *plan_summary(const struct planner *p, const struct plan_use *use)
{
    const struct plan_node *node = &p->nodes[use->node];
    return &(node->placed ? node->placed : node->access->params)[use->arg];
}
/* Work-group memory that a kernel node takes. */
uint64_t plan_local_bytes(const struct planner *p, uint32_t node);
/* "add (line 12)" or "add". Into buf; returns buf. */
const char *plan_place(const struct planner *p, uint32_t node, uint32_t line, char *buf, size_t size);

/* ---- kernels of different ND-ranges in one launch (place.c) ---- */

/* Puts the kernels order[first .. first + n) into a launch over a range. True: by linear ids. */
bool plan_place_run(struct planner *p, uint32_t first, uint32_t n, const struct nd_range *launch);
/* Whether work-items of the kernels order[first .. first + n) that are the same one in a launch over `from` are in one
   over `to`. */
bool plan_keeps_ids(const struct planner *p, uint32_t first, uint32_t n, const struct nd_range *from,
                    const struct nd_range *to);
/* Whether what the kernel sees of its work-group and sub-group can be made the same in a launch that begins with
   order[first] and has sub-groups of that size; `why` says what speaks against it ("it has fewer work-items, and
   ..."). */
bool plan_sees_own_groups(const struct planner *p, uint32_t first, uint32_t node, const struct nd_range *launch,
                          uint32_t sub_group_size, char *why, size_t why_size);
/* The range of the kernel as a part of that launch: its local size is filled in where it is not the launch's, and left
   out where the kernel cannot tell it from another one. */
struct nd_range plan_part_range(const struct planner *p, uint32_t node, const struct nd_range *launch);
/* The kernel takes the work-groups that the launch has, whatever their size, and looks at them. */
bool plan_takes_any_groups(const struct planner *p, uint32_t node);
/* Extends sum, which holds the kernels order[first .. first + n), by the node's range. Of different local sizes it gets
   that of the kernel that needs it most. */
enum range_fit plan_join_range(const struct planner *p, uint32_t first, uint32_t n, uint32_t node, bool alike,
                               struct nd_range *sum, char *why, size_t why_size);
/* Whether kernels of a placed run that get their ids from the linear id hardly look at these: their accesses are at
   multiples of it. `why` names one that is not. */
bool plan_is_cheap(const struct planner *p, uint32_t first, uint32_t n, char *why, size_t why_size);
/* The global ids that the node's kernel has for a work-item found in a comparison. */
void plan_own_ids(const struct planner *p, uint32_t node, int64_t id[3]);
/* The range that holds those of the kernels order[first .. first + n). */
struct nd_range plan_run_range(const struct planner *p, uint32_t first, uint32_t n);

/* ---- dependences (depend.c) ---- */

enum dependence {
    DEPENDENCE_NONE,  /* they share no bytes that one of them writes */
    DEPENDENCE_ITEM,  /* proved: from a work-item to itself only */
    DEPENDENCE_GROUP, /* proved: inside a work-group only */
    DEPENDENCE_OPEN,  /* not proved either way */
    DEPENDENCE_RACE,  /* proved: between the two work-items found */
};

struct dependence_report {
    enum dependence kind;
    uint32_t lines[2]; /* where, in either kernel; 0: unknown */
    struct dependence_witness pair;
    uint64_t bytes;   /* of the second access */
    const char *what; /* "writes ... reads", for sentences */
};

/* Between two uses of one buffer by kernels, the first one earlier, when both run as one: work-items are the same
   where their global ids are. local: the size of the work-groups both run in, NULL where it is not known.
   barriers: one stands between the two. */
struct dependence_report plan_dependence(const struct planner *p, const struct plan_use *a, const struct plan_use *b,
                                         const uint64_t *local, bool barriers);

/* ---- homes (homes.c) ---- */

/* Where a buffer without memory lives; for what it means see struct fuse_param. */
struct plan_home {
    enum fuser_storage home;
    ir_type elem;
    uint32_t n_pieces;
    const struct fuse_slice *pieces;
    int64_t local_first;
    uint64_t local_bytes;
    const char *word; /* the property that says to whom its elements belong; NULL: proved */
};

/* Can the buffer live in registers of the group, or in local_left bytes of its work-group memory? Leaves a remark where
   the user asked for it (internal_memory) and it cannot, or where only that property is missing. */
bool plan_find_home(struct planner *p, uint32_t buffer, uint32_t group, const struct nd_range *range,
                    uint64_t local_left, struct plan_home *out);

/* ---- parameters (params.c) ---- */

/* A parameter of a kernel to be made: arguments that are the same memory, or the same one of the graph's values, share
   one. */
struct plan_param {
    enum fuser_param_kind kind;
    const char *name;
    uint32_t index;      /* of the buffer or value */
    uint64_t first, end; /* BUFFER: bytes of it. LOCAL: end is the size */
    ir_type type, elem;
    const struct ir_module *module; /* VALUE by value: elem is a type of it */
    bool by_value, reads, writes;
    const void *view; /* BUFFER: of the argument, which then is a parameter of its own */
    struct plan_home lives; /* BUFFER: in memory, or elsewhere */
};

struct plan_params {
    uint32_t n;
    struct plan_param *params;
    uint32_t **of_node; /* for each node of the run its arguments' parameters */
};

/* The parameters of a launch of the nodes order[first .. first + n). */
void plan_params(struct planner *p, uint32_t first, uint32_t n, struct plan_params *out);

/* ---- kernels (kernel.c) ---- */

/* The fused kernel of order[first .. first + n), with the homes as params says; NULL with the reason in why. */
struct ir_module *plan_kernel(struct planner *p, uint32_t first, uint32_t n, const struct nd_range *range,
                              const struct plan_params *params, bool *kept, char *why, size_t why_size);

/* ---- registers (pressure.c) ---- */

/* Bytes of values that a work-item of the kernel has alive at once, at most: an estimate. */
uint64_t plan_pressure(struct ir_function *f);

/* ---- traffic (traffic.c), in bytes ---- */

uint64_t plan_use_traffic(const struct planner *p, const struct plan_use *use);
uint64_t plan_node_traffic(const struct planner *p, uint32_t node);
/* sizes: of the pieces of buffers its parameters get; most: what its nodes together move through them. */
uint64_t plan_launch_traffic(const struct fuser_launch *launch, const uint64_t *sizes, const uint64_t *most);
