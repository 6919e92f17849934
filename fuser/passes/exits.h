/* Early returns made into plain control flow. */
#pragma once

#include "ir/ir.h"

/* Rewrites f so that it returns at the end of its body only, or never (the body then ends in unreachable).
   What followed an early return moves into the branch that does not take it; a return inside a loop leaves
   the loop with a flag. Barriers and other meeting points keep their order and their partners. */
void exits_make_single(struct ir_function *f);
