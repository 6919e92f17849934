/* The module's own aspects, and sets of aspects of its structs. */
#pragma once

#include "ir/verify/verifier.h"

void verify_module_aspects(struct verifier *v);
