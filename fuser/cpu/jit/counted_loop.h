/* for (v = from; v < to; v += step): counted_begin opens the body, counted_end closes it. */
#pragma once

#include "fuser/cpu/jit/emit.h"

struct counted {
    lval v;
    rval to, step;
    gcc_jit_block *body, *exit;
};
struct counted counted_begin(struct emit *e, rval from, rval to, rval step);
void counted_end(struct emit *e, struct counted *c);
