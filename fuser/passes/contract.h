/* Contraction: pipeline_contract does it; here is who wants it. */
#pragma once

#include <stdbool.h>

struct ir_function;

/* The kernel, or what it calls, may have something to contract. */
bool contract_possible(const struct ir_function *kernel);
