/* Whether work-items of two kernels touch pixels of others. */
#pragma once

#include "fuser/plan/mapping/id_mapping.h"

/* Proved: where one of two uses of an image writes, both are at the work-item's own pixel, the same one. */
bool pixels_are_own(const struct id_mapping *m, const struct plan_use *a, const struct plan_use *b);
