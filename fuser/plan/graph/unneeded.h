/* Where outputs were declared: what nobody reads, and which nodes write nothing else. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/facts.h"

/* Nodes of whose writing nothing comes, those that are overwritten among them; NULL: there are none. overwriters: as
   overwriters_find() gives them. */
const bool *unneeded_nodes(struct plan_context *ctx, const struct plan_facts *f, const uint32_t *overwriters);
/* In the graph of the facts, buffers that are no outputs have fusion_internal_memory. */
void unneeded_make_internal(struct plan_context *ctx, struct plan_facts *f);
