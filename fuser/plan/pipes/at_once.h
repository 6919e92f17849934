/* Kernels that may run at the same time. */
#pragma once

#include "fuser/plan/graph/facts.h"

/* Nothing but pipes says that one is before the other: neither the graph nor memory. */
bool nodes_may_run_at_once(const struct plan_facts *f, uint32_t before, uint32_t node);
