/* Bytes that go over global memory in one run of the nodes as they are: docs/fusion.md says what is counted. */
#pragma once

#include "fuser/plan/graph/facts.h"

uint64_t traffic_of_use(const struct plan_facts *f, const struct plan_use *use);
uint64_t traffic_of_node(const struct plan_facts *f, uint32_t node);
