/* One walk over one kernel: what is known of its values so far. */
#pragma once

#include "fuser/access/sites.h"

/* A loop whose counter is known: past `guard` more of it is. */
struct loop_guard {
    const struct ir_inst *guard;
    const struct ir_value *counter;
    struct affine past;
    struct loop_guard *next;
};

struct access_walk {
    struct access_analysis *result;
    const struct ir_function *kernel;
    struct nd_range range;
    bool even_groups;        /* the local size is known and divides the global one */
    uint32_t sub_group_size; /* 0: not known */
    bool even_sub_groups;    /* it is, and work-groups are rows of as many whole sub-groups each */
    const int64_t *numbers;  /* by parameter, what integers are; 0: not known; NULL: none is */
    bool small_memory;       /* pointer parameters lead into memory of at most IR_SMALL_MEMORY bytes */
    struct affine_bounds bounds;
    uint32_t n_values;         /* numbers are 1 and up; 0 is for constants */
    struct affine *sums;       /* by number: integers and, for pointers, the byte offset from their parameter or
                                  variable */
    uint32_t provenance_words; /* of a set of parameters */
    uint64_t *provenance; /* by number: the parameters a pointer may come from; bit n_params: memory or an integer */
    struct loop_guard *guards;
};

/* The number of a value, 0 for constants and undefs. */
static inline uint32_t access_value_number(const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF ? 0 : v->scratch;
}
