/* Bytes that go over global memory in one run of a launch. */
#pragma once

#include "fuser/plan/base/result.h"

/* sizes: of the pieces of buffers its parameters get; most: what its nodes together move through them. */
uint64_t traffic_of_launch(const struct fuser_launch *launch, const uint64_t *sizes, const uint64_t *most);
