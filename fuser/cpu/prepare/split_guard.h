/* An if around a loop and more becomes three: what comes before the loop, the loop, and what comes behind it. */
#pragma once

#include <stdbool.h>

struct ir_inst;

/* The loop stands in one branch of the if, and the other does nothing. */
bool guard_can_split(const struct ir_inst *guard, const struct ir_inst *loop);
/* The if that now has the loop, and nothing else. It gives nothing: what it is to give, results of the loop, is used
   behind it as it is, which the caller makes right. */
struct ir_inst *guard_split(struct ir_inst *guard, struct ir_inst *loop);
