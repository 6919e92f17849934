/* Copies and fills of which nobody reads what they write before it is written again. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/facts.h"

enum { NO_OVERWRITER = UINT32_MAX };

/* By node: who overwrites all of it first; NO_OVERWRITER: the node is needed. NULL: all are. */
const uint32_t *overwriters_find(struct plan_context *ctx, const struct plan_facts *f);
