/* Launches that wait for pipes: several at the same time. */
#pragma once

#include <stdint.h>

struct error;
struct executable;
struct launch_context;

/* Starts the threads. -1 with errno. */
int together_start(void);
/* Runs the launches, each on a thread, until all are done. Where some wait for each other so that none can go on, ends
   the process, and the submission with what they wait for. 0, or -1 with the error. */
int together_run(struct executable *x, const uint32_t *launches, uint32_t n, const struct launch_context *context,
                 struct error *e);
