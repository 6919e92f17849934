/* What may begin an image: kernels and exported functions, with what they require in their own translation unit. */
#pragma once

#include "ir/base/name_map.h"
#include "ir/core/ir.h"

struct split_entry {
    const struct ir_function *f; /* in the linked module */
    uint32_t unit;
    uint64_t aspects;        /* used and declared, as bits of the linked module */
    uint32_t sub_group_size; /* a number, or 0 */
    uint32_t n_targets;
    const char **targets; /* sorted, each once */
};

struct split_entries {
    struct arena *arena;
    uint32_t n;
    struct split_entry *items; /* in the order of the units and their functions */
    struct names by_name;      /* place plus 1 */
};

/* whole is the linked module, or the unit where there is one alone. */
void split_find_entries(struct split_entries *e, const struct ir_module *const *units, uint32_t n,
                        struct ir_module *whole);
const struct split_entry *split_entry_of(const struct split_entries *e, const char *name); /* NULL: none */
/* The same for two that may be in one image, by what they require; in the memory of the entries. */
const char *split_requirement_key(const struct split_entries *e, const struct split_entry *x);
