/* The graph of calls. */
#pragma once

#include "ir/verify/verifier.h"

/* No recursion, and not too deep. False where the module must not be walked along its calls. */
bool verify_calls(struct verifier *v);
