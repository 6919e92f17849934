/* Address space with nothing in it, before and behind memory that kernels get: who runs over an end faults. */
#pragma once

#include <stddef.h>

/* On each side; a bad address that is no farther away is taken for an overrun. */
#define GUARD_BYTES ((size_t)256 << 20)
