/* What a kernel needs of an earlier one, byte by byte: from which work-item to which. */
#pragma once

#include "fuser/access/dependence.h"
#include "fuser/plan/mapping/id_mapping.h"

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
struct dependence_report kernel_dependence(const struct id_mapping *m, const struct plan_use *a,
                                           const struct plan_use *b, const uint64_t *local, bool barriers);
/* Where nothing is proved (DEPENDENCE_OPEN): do two work-items meet, scalar arguments being what they were when the
   graph was recorded? Then the report is of these two. */
bool kernel_dependence_recorded(const struct id_mapping *m, const struct plan_use *a, const struct plan_use *b,
                                const uint64_t *local, bool barriers, struct dependence_report *report);
