/* What each node does with each buffer: from the analysis of its kernel, checked against what was declared. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/facts.h"

/* What f has of analyses, all zeros at first, is used again and added to; one of those that share them frees them. */
bool uses_find(struct plan_context *ctx, const struct fuser_graph *graph, struct plan_facts *f);
void uses_free(struct plan_facts *f);
/* Work-group memory that a kernel node takes. */
uint64_t uses_local_bytes(const struct plan_facts *f, uint32_t node);
/* A kernel node writes memory that others may see. */
bool uses_write(const struct plan_facts *f, uint32_t node);
