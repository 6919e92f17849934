/* Loops that count, and loops up to an end. */
#include "fuser/cpu/jit/counted_loop.h"

#include "fuser/cpu/jit/jit.h"

static void go_on_below(struct emit *e, const struct counted *c)
{
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(c->v), c->to), c->body, c->exit);
}

/* With the test at both ends: one jump a round, and gcc's own pass for that takes long. */
struct counted counted_begin(struct emit *e, rval from, rval to, rval step)
{
    struct counted c = {jit_keep(e, from), to, step, jit_block(e), jit_block(e)};
    go_on_below(e, &c);
    jit_begin(e, c.body);
    return c;
}

struct counted counted_each(struct emit *e, rval n, uint32_t known)
{
    if (known == 1) return (struct counted){.v = jit_keep(e, jit_u64(e, 0))};
    return counted_begin(e, jit_u64(e, 0), n, jit_u64(e, 1));
}

void counted_end(struct emit *e, struct counted *c)
{
    if (!c->body) return;
    jit_set(e, c->v, jit_add(e, jit_read(c->v), c->step));
    go_on_below(e, c);
    jit_begin(e, c->exit);
}

struct below below_begin(struct emit *e, lval v, rval end)
{
    gcc_jit_block *head = jit_block(e), *body = jit_block(e), *exit = jit_block(e);
    jit_jump(e, head);
    jit_begin(e, head);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(v), end), body, exit);
    jit_begin(e, body);
    return (struct below){head, exit};
}

void below_end(struct emit *e, const struct below *b)
{
    jit_jump(e, b->head);
    jit_begin(e, b->exit);
}
