/* Numbers that are known when code is made. Each is one expression however often it is used, and its vector one
   variable, which is set where the function begins: what is written there is compiled once, not for each use. */
#pragma once

#include "fuser/cpu/jit/emit.h"

enum { CONSTANT_WIDTHS = 7 }; /* powers of two up to 64 */

struct constant {
    rval number;
    uint64_t bits;  /* zero-extended */
    bool is_number; /* not an expression of one */
    /* Its vector by the logarithm of the lanes, as parts of a function may have shorter ones; NULL: not needed yet. */
    lval splat[CONSTANT_WIDTHS];
};

/* The constant of that kind, an integer's or a float's; without a number where it was not asked for before. */
struct constant *constant_get(struct emit *e, enum ir_kind kind, uint64_t bits);
void constant_set(struct emit *e, struct constant *c, rval number, bool is_number);
/* What an expression is the number of; NULL: of none. */
struct constant *constant_of(const struct emit *e, rval number);

void constants_clear(struct emit *e);
