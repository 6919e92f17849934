/* Putting a function's body where it is called. */
#pragma once

#include "fuser/passes/rename.h"
#include "ir/core/ir.h"

/* Moves the body of `callee`, which must return at its end or never (fuser/passes/lower_returns.h) and is used up,
   before `call`; its parameters become the call's operands. The call is gone after; where the callee never
   returns, so is what followed it. Gives the value that is to replace the call's result, NULL where there
   is none. names are those of the function the call stands in. */
struct ir_value *inline_splice(struct ir_inst *call, struct ir_function *callee, struct rename *names);
/* Unlists a function that nothing refers to any more. */
void inline_forget(struct ir_function *f);
