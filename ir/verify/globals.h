/* Variables of the module. */
#pragma once

#include "ir/verify/verifier.h"

void verify_globals(struct verifier *v);
