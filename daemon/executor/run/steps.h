/*
 * Running the steps of an executable: launches, copies, fills. This room runs what is loaded: on threads (pool.h), and
 * so that it can be ended when it faults (fault.h) or takes too long (watchdog.h). It uses the room program.
 */
#pragma once

#include <stdint.h>

#include "daemon/executor/program/device.h"

/* The steps of one part, in order, with the argument blocks filled in. 0, or -1 with the error of the step that failed.
 */
int steps_run(const struct launch_context *context, struct executable *x, uint32_t part, struct error *e);
