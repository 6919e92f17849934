/*
 * Launches that follow each other as strands: what one strand does, the others neither read nor write. So they may run
 * at the same time, each in its order, in queues that know nothing of each other.
 */
#pragma once

#include "daemon/executor/devices/gpu/uses.h"

enum { GPU_MOST_QUEUES = 4 };

/* Shares n launches out to at most so many queues: queue[i] of launch i. Gives how many are used; 1 where a second one
   would gain nothing. used: by place, with what is moved before and behind them, which belongs to whoever uses it. */
uint32_t gpu_share_out(const struct program *p, const uint32_t *launches, uint32_t n, const struct gpu_used *used,
                       uint32_t most, uint8_t *queue);
/* Does one of the launches of this queue use the place? */
bool gpu_queue_uses(const struct program *p, const uint32_t *launches, uint32_t n, const uint8_t *queue, uint32_t which,
                    uint32_t place);
