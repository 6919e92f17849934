/* Accesses that are proved to be outside of their buffer. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/facts.h"

/* Fails where a work-item of a node certainly touches bytes that its buffer or allocation does not have: with the line,
   the work-item and the element. What depends on scalars, on loops or on what is in memory is not proved. */
bool outside_check(struct plan_context *ctx, const struct plan_facts *f);
