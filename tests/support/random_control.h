/* The control flow of random kernels: if, loop, calls, and the ways out of them. */
#pragma once

#include "tests/support/random_steps.h"

typedef void control_body(struct steps *k, uint32_t depth);

struct ir_value *steps_condition(struct steps *k);
void control_step(struct steps *k, uint32_t depth);
/* An if and a loop whose blocks `body` fills. A loop takes at most `most` rounds (i32); where work-items must stay
   together, nothing but that leaves it. */
void control_if(struct steps *k, struct ir_value *condition, control_body *body, uint32_t depth);
void control_loop(struct steps *k, struct ir_value *most, bool together, control_body *body, uint32_t depth);
