/* Structs and arrays of the module. */
#pragma once

#include "ir/verify/verifier.h"

/* Size and alignment of a struct or an array that are sound are noted: nothing else may ask for sizes before. */
void verify_types(struct verifier *v);
