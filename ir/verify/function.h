/* Functions: their attributes, and blocks with their links. */
#pragma once

#include "ir/verify/verifier.h"

void verify_function(struct verifier *v, const struct ir_function *f);
