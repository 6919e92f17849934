/* A loop over the lanes that run, for what has no vector form. */
#pragma once

#include "fuser/cpu/jit/emit.h"

struct lane_loop {
    lval bits;
    rval lane;
    gcc_jit_block *head, *body, *exit;
};
void lane_loop_begin(struct emit *e, struct lane_loop *loop);
void lane_loop_end(struct emit *e, struct lane_loop *loop);
