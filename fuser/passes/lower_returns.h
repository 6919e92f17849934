/*
 * Early exits made into plain control flow. The pass lower_returns rewrites a function so that it returns at the end of
 * its body only, or never (the body then ends in unreachable): what followed an early return moves into the branch that
 * does not take it; a return inside a loop leaves the loop with a flag. Barriers and group operations keep their order
 * and their partners. Here are the parts of it for single loops.
 */
#pragma once

#include "ir/core/ir.h"

/* Rewrites a loop so that op, continue or break, stands at the end of its body only; in between come the loop's other
   exits at most. */
void lower_loop_exits(struct ir_inst *loop, enum ir_op op);

/* Takes the breaks and continues of `loop` out of an if that holds no return: they follow it, under conditions that
   are its results. */
void lift_loop_exits(struct ir_inst *branch, struct ir_inst *loop);
