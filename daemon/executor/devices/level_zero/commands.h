/* Consecutive launches as one command list: recorded when they run first, and replayed. */
#pragma once

#include "daemon/executor/devices/level_zero/launch.h"

/* As device.run_launches. */
int level_zero_run_launches(struct executable *x, const uint32_t *launches, uint32_t n,
                            const struct launch_context *context, struct error *e);
void level_zero_batches_free(struct level_zero_batch *batches);
