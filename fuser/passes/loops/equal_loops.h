/* Loops of one test, and whether two of them have equally many rounds. */
#pragma once

#include "ir/core/ir.h"

/* A loop with one way to its next round and one way out, at an if of its body and at the body's end. */
struct tested_loop {
    struct ir_inst *loop;
    struct ir_block *body;
    struct ir_inst *test;       /* the if: one branch does nothing, the other goes on, or leaves */
    struct ir_inst *next, *out; /* continue and break */
    bool goes_on;               /* where the test's condition is so */
    bool tests_last;            /* the body ends with the break: what a round does comes before the test */
};

enum { MAX_COUNTERS = 8 };

/* Two such loops, and parameters that are the same in each round of both. */
struct equal_loops {
    const struct tested_loop *a, *b;
    unsigned n;
    uint32_t counters[MAX_COUNTERS][2];
};

bool tested_loop_read(struct ir_inst *loop, struct tested_loop *l);
/* They go on equally often: their tests compute the same from parameters that begin and go on the same. */
bool equal_loops_find(const struct tested_loop *a, const struct tested_loop *b, struct equal_loops *e);
/* v in the first has the value of u in the second, in the same round. */
bool equal_loops_same(struct equal_loops *e, const struct ir_value *v, const struct ir_value *u);
