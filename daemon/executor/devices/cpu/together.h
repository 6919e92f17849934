/* Launches that wait for pipes: several at the same time, also of several submissions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct beside;
struct executable;
struct launch_context;
struct running;

enum { TOGETHER_THREADS = 32 }; /* launches at a time; of one submission PROTO_MAX_TOGETHER */

/* Starts the threads. -1 with errno. */
int together_start(void);
/* What struct device says of run_beside, end_beside and sleeps_for. Where some wait for each other so that none can go
   on, whatever else is submitted, ends their submissions with what they wait for, and the process. */
bool together_begin(struct executable *x, const uint32_t *launches, uint32_t n, const struct launch_context *context,
                    struct beside *beside);
void together_end(struct executable *x);
bool together_sleeps_for(const struct executable *x, const struct executable *other);
/* Says what kernels of the submission wait for, where they do. */
void together_explain(struct running *r, char *out, size_t room);
