/* Submissions: from entries of the ring to their completions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/executor/ring/submission.h"

struct buffers;
struct executables;
struct pool;
struct submitter;

/* pool_run() of the pool is then called by the thread that calls what follows alone. */
struct submitter *submit_new(struct buffers *buffers, struct executables *executables, struct pool *pool,
                             submit_spares_fn *spares_run);
/* Is there room for another one, beside those that have begun or wait for them? */
bool submit_has_room(const struct submitter *s);
/* Has all that was taken ended? */
bool submit_is_idle(const struct submitter *s);
/* Checks and runs an entry as ring_pop() gave it, and completes it whatever it holds; but where kernels of it wait for
   pipes, or it has to wait for those of others, that is for later. */
void submit_take(struct submitter *s, const uint8_t *entry);
/* The same, but that it waits in any case, for submit_go_on(). */
void submit_hold(struct submitter *s, const uint8_t *entry);
/* Goes on with those that it is time for, and begins those that wait and may begin: one after the other, or, by
   priority, the one of them that is to be first. False: there was nothing to do. */
bool submit_go_on(struct submitter *s, bool by_priority);
