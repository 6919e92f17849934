/* What one run of a launch does: bytes over global memory, operations. */
#pragma once

#include "fuser/plan/base/result.h"
#include "fuser/plan/graph/facts.h"

/* sizes: of the pieces of buffers its parameters get; most: what its nodes together move through them. */
uint64_t traffic_of_launch(const struct fuser_launch *launch, const uint64_t *sizes, const uint64_t *most);
/* By parameter of the launch, what integers are taken to be; 0: nothing. In the arena of planning. */
const int64_t *numbers_of_launch(const struct plan_facts *f, const struct fuser_launch *launch, struct arena *arena);
uint64_t operations_of_launch(const struct fuser_launch *launch, const int64_t *numbers);
