/* Early exits made into plain control flow. */
#pragma once

#include "ir/core/ir.h"

/* Rewrites f so that it returns at the end of its body only, or never (the body then ends in unreachable).
   What followed an early return moves into the branch that does not take it; a return inside a loop leaves
   the loop with a flag. Barriers and other meeting points keep their order and their partners. */
void exits_make_single(struct ir_function *f);

/* Rewrites a loop so that op, continue or break, stands at the end of its body only; in between come the loop's other
   exits at most. */
void exits_make_single_of_loop(struct ir_inst *loop, enum ir_op op);

/* Takes the breaks and continues of `loop` out of an if that holds no return: they follow it, under conditions that
   are its results. */
void exits_lift(struct ir_inst *branch, struct ir_inst *loop);
