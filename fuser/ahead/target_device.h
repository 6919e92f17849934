/* A target of the device configuration file as the device that the fuser plans for. */
#pragma once

#include "fuser/graph/graph.h"
#include "ir/features/targets.h"

/* The aspects that both have names for as bits, all of them as numbers; whether it can fuse follows. */
void target_device_set_aspects(struct fuser_device *d, const struct ir_target *t);
/* All of it; the primary sub-group size is the largest up to `primary`. Names and lists are the target's. */
struct fuser_device target_device(const struct ir_target *t, uint32_t primary, bool fma);
