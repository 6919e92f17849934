/* for (v = from; v < to; v += step): counted_begin opens the body, counted_end closes it. */
#pragma once

#include "fuser/cpu/jit/emit.h"

struct counted {
    lval v;
    rval to, step;
    gcc_jit_block *body, *exit; /* body NULL: there is one round */
};
struct counted counted_begin(struct emit *e, rval from, rval to, rval step);
/* for (v = 0; v < n; v++); known: n where that is known, else 0. Of one round there is no loop. */
struct counted counted_each(struct emit *e, rval n, uint32_t known);
void counted_end(struct emit *e, struct counted *c);

/* while (v < end), whose body moves v on. */
struct below {
    gcc_jit_block *head, *exit;
};
struct below below_begin(struct emit *e, lval v, rval end);
void below_end(struct emit *e, const struct below *b);
