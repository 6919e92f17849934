/* Running the steps of an executable: launches, copies, fills. */
#pragma once

#include "ir/base/error.h"
#include "daemon/executor/executables.h"

struct buffers;
struct ir_printer;
struct pool;
struct running_slot;

struct steps {
    struct pool *pool;
    struct buffers *buffers;
    uint8_t *local;        /* work-group memory, local_bytes for each thread */
    uint64_t local_bytes;
    struct ir_printer *printer; /* what launches have printed since it was emptied */
};

/* printer: the one that launches have (executables.h). */
void steps_init(struct steps *s, struct pool *pool, struct buffers *buffers, struct ir_printer *printer);
/* What as many threads can keep in the caches. */
uint64_t steps_cache_bytes(unsigned threads);
/* Hands what was printed since the last call on to the client. */
void steps_tell_prints(struct steps *s);
/* The steps of one part, in order, with the argument blocks filled in. 0, or -1 with the error of the step that failed. */
int steps_run(struct steps *s, struct executable *x, uint32_t part, const struct running_slot *slots,
              struct error *e);
