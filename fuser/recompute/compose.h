/*
 * A kernel that computes what it would read.
 *
 * Where a kernel (the consumer) reads of a buffer what another (the producer) writes, at other elements than its own,
 * the producer's function is put in place of each such read, for the work-item that wrote the element: overlapped
 * tiling with tiles of one element. This room takes two kernels (request.h) and makes one. A place that is read becomes
 * the ids of who wrote it (place.h), the producer a function of ids (producer.h) that writes for a box of them
 * (ways.h), and each read is proved to be of that box (proof.h). Uses access/, passes/, ir/ and, of merge/, how
 * pointers become numbers.
 */
#pragma once

#include "fuser/recompute/request.h"

/* The consumer without the buffer: its parameters are those of the consumer, then those of the producer, but for the
   buffer. The first function of a module that is to be freed. NULL: it cannot be done, or is not proved to do the same;
   `why` says it. */
struct ir_module *recompute_compose(const struct recompute_request *r, char *why, size_t why_size);
/* Whether each element that the consumer reads of the buffer is proved to be one that the producer writes. */
bool recompute_is_covered(const struct recompute_request *r);
