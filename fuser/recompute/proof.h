/* That each element which is computed instead of read is one that was written. */
#pragma once

#include "fuser/recompute/producer.h"

/* Looks at all calls of the producer's function in the consumer: their ids are in the box of ids that write. False: f
   says that it is not proved. */
bool recompute_is_proved(struct fuse *f, const struct recompute_request *r, const struct ir_function *consumer,
                         const int64_t *numbers, const struct recompute_producer *producer);
