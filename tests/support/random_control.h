/* The control flow of random kernels: if, loop, calls, and the ways out of them. */
#pragma once

#include "tests/support/random_steps.h"

struct ir_value *steps_condition(struct steps *k);
void control_step(struct steps *k, uint32_t depth);
