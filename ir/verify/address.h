/* Addresses in the initial value of a variable. */
#pragma once

#include "ir/verify/verifier.h"

/* Where they lie, and what they point at. */
void verify_addresses(struct verifier *v, const struct ir_global *g);
