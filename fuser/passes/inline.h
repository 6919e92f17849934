/* Putting a function's body where it is called. */
#pragma once

#include "ir/ir.h"

/* Moves the body of `callee`, which must return at its end or never (fuser/passes/exits.h) and is used up,
   before `call`; its parameters become the call's operands. The call and its result are gone after; where
   the callee never returns, so is what followed the call. */
void inline_splice(struct ir_inst *call, struct ir_function *callee);
/* Unlists a function that nothing refers to any more. */
void inline_forget(struct ir_function *f);
