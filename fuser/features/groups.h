/* Which entries become one image: by what the user wants, then by what they require. */
#pragma once

#include "fuser/features/entries.h"

enum split_mode { SPLIT_OFF, SPLIT_PER_SOURCE, SPLIT_PER_KERNEL, SPLIT_AUTO };

/* By its word; false: there is no such mode. */
bool split_mode_parse(const char *word, enum split_mode *mode);

struct split_groups {
    uint32_t n;
    uint32_t *first;    /* by group: its first entry */
    uint32_t *group_of; /* by entry */
};

/* In the memory of the entries. */
struct split_groups split_group(const struct split_entries *e, const struct ir_module *whole, enum split_mode mode);
