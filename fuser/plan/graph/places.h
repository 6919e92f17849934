/* Uses that are of a few bytes at known places, as of scalars that kernels keep in one small buffer. */
#pragma once

#include "fuser/plan/graph/facts.h"

/* Whether all that the use touches is at a few places that are the same for each work-item. */
bool places_are_known(const struct plan_facts *f, const struct plan_use *use);
/* Of two such uses of a buffer: no byte is touched by both, one of them writing. */
bool places_are_apart(const struct plan_facts *f, const struct plan_use *a, const struct plan_use *b);
/* Of two such uses: the first one may write all that the other touches. */
bool places_cover(const struct plan_facts *f, const struct plan_use *a, const struct plan_use *b);
