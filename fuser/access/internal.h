/* Shared by the files of the access analysis: one walk over one kernel. */
#pragma once

#include "fuser/access/access.h"

/* A loop whose counter has known bounds: past `guard` it is at most `most`. */
struct loop_guard {
    const struct ir_inst *guard;
    const struct ir_value *counter;
    int64_t most;
    struct loop_guard *next;
};

struct access_walk {
    struct access_analysis *result;
    const struct ir_function *kernel;
    struct nd_range range;
    bool even_groups;        /* the local size is known and divides the global one */
    uint32_t sub_group_size; /* 0: not known */
    bool even_sub_groups;    /* it is, and work-groups are rows of as many whole sub-groups each */
    struct affine_bounds bounds;
    uint32_t n_values;     /* numbers are 1 and up; 0 is for constants */
    struct affine *forms;  /* by number: integers and, for pointers, the byte offset from their parameter */
    uint32_t origin_words; /* of a set of parameters */
    uint64_t *origins;     /* by number: the parameters a pointer may come from; bit n_params: memory or an integer */
    struct loop_guard *guards;
};

/* The number of a value, 0 for constants and undefs. */
uint32_t access_number(const struct ir_value *v);

/* origin.c: which parameters a pointer may come from. */
void access_origins(struct access_walk *w); /* makes w->origins, to be freed */
bool access_comes_from(const struct access_walk *w, const struct ir_value *pointer, uint32_t param);
bool access_is_loose(const struct access_walk *w,
                     const struct ir_value *pointer); /* perhaps from memory or an integer */

/* form.c: integers and pointers as sums. */
struct affine access_form(const struct access_walk *w, const struct ir_value *v);
struct affine access_form_of_inst(const struct access_walk *w, const struct ir_inst *inst);

/* sub_group.c: ids of sub-groups as parts of others. */
struct affine access_place_in_sub_group(const struct access_walk *w, const struct ir_inst *inst);
/* A sum with ids of sub-groups in as few ids as it can be said in. */
struct affine access_simplest(const struct access_walk *w, const struct affine *a);

/* loop.c: bounds of a loop's counters, before its body is walked. */
void access_loop_counters(struct access_walk *w, const struct ir_inst *loop);

/* condition.c: what is known of the work-items past a branch. */
struct access_state {
    struct access_items items;
    bool conditional;
};
void access_assume(const struct access_walk *w, const struct ir_value *condition, bool taken,
                   struct access_state *state);

/* walk.c: the sites, in program order. */
void access_walk_kernel(struct access_walk *w);
