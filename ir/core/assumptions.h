/* Assumptions: what holds of each launch of a kernel, as a bit set. Whoever launches it sees to that. */
#pragma once

#include <stdint.h>

/* small_ids: global sizes, offsets and ids, and so all other ids and sizes, are below 2^31.
   small_memory: what a pointer parameter points into has at most 2^31 bytes.
   whole_groups: local sizes divide global sizes.
   paired_groups: there is an even number of work-groups in x, of the local size given.
   lane_groups: there is a multiple of 16 of them.
   last_group: the range is a line of whole work-groups, whose last one does something else than all others, and begins
   when these have ended: what was said of how many there are is said of the others.
   long_y, long_z, one_item: what ranges are like; nothing goes wrong where it is not so. */
/* clang-format off */
#define IR_ASSUMPTIONS(X) \
    X(SMALL_IDS, "small_ids") \
    X(SMALL_MEMORY, "small_memory") \
    X(WHOLE_GROUPS, "whole_groups") \
    X(LONG_Y, "long_y") \
    X(LONG_Z, "long_z") \
    X(ONE_ITEM, "one_item") \
    X(PAIRED_GROUPS, "paired_groups") \
    X(LANE_GROUPS, "lane_groups") \
    X(LAST_GROUP, "last_group")
/* clang-format on */

enum {
#define X(id, text) IR_ASSUME_BIT_##id,
    IR_ASSUMPTIONS(X)
#undef X
        IR_ASSUME_COUNT
};

enum {
#define X(id, text) IR_ASSUME_##id = 1 << IR_ASSUME_BIT_##id,
    IR_ASSUMPTIONS(X)
#undef X
};

/* Memory of more bytes is not small. */
#define IR_SMALL_MEMORY ((uint64_t)1 << 31)

/* Of so many groups there are multiples. */
enum { IR_LANE_GROUPS = 16 };

/* A dimension of fewer work-items is not long. */
enum { IR_LONG_DIMENSION = 64 };

/* The name of bit number `bit`, or NULL. */
const char *ir_assumption_name(unsigned bit);
