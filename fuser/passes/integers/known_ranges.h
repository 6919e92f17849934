/* The integers of a kernel and what is known of each where the walk over it stands. */
#pragma once

#include "fuser/passes/integers/interval.h"

struct known_range_change {
    uint32_t number;
    struct interval before;
};

struct known_ranges {
    struct interval *of;                /* by ir_value.scratch */
    struct known_range_change *changes; /* what conditions narrowed, to be undone where they end */
    uint32_t n_changes, capacity;
};

bool known_range_is_int(ir_type t); /* a scalar integer: only these are followed */
struct interval known_range(const struct known_ranges *k, const struct ir_value *v);
/* What a pure instruction gives, and ids in a launch as the kernel assumes. */
struct interval known_range_of_inst(const struct known_ranges *k, const struct ir_inst *inst);
/* The condition holds, or does not hold, from here on. */
void known_ranges_assume(struct known_ranges *k, const struct ir_value *condition, bool holds);
/* Takes back all but the first n changes. */
void known_ranges_undo(struct known_ranges *k, uint32_t n);
