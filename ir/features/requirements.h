/* What a kernel asks of a device, with everything that it reaches: the union of the parts. */
#pragma once

#include "ir/features/usage.h"

enum { IR_MAX_SUB_GROUP_SIZES = 32 };

struct ir_requirements {
    uint64_t aspects;            /* used and declared */
    uint32_t sub_group_sizes;    /* bit n: of 2^n work-items */
    uint32_t work_group_size[3]; /* 0: any */
    bool fixed;                  /* it is for these targets alone; else they mean nothing */
    uint32_t n_targets;
    const char **targets; /* those of all functions that have some, in the order of the first; to be freed */
};

/* False: functions that it reaches are for targets that have none in common; *why is a sentence with both lists, to be
   freed. */
bool ir_requirements_find(struct ir_usage *u, const struct ir_function *f, struct ir_requirements *r, char **why);
void ir_requirements_clear(struct ir_requirements *r);

/* "a, b" from a function's targets, to be freed. */
char *ir_target_names(const char *const *targets, uint32_t n);
