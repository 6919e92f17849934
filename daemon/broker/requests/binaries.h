/* Binaries of drivers behind the objects of launches for GPUs (daemon/gpu/object.h). */
#pragma once

#include "daemon/broker/requests/finalization.h"

/* The object with the binaries that came with the launch's module, and those that are kept of it, to be freed. NULL:
   there are none. */
uint8_t *binaries_behind(const struct launch *launch, const void *object, size_t object_size, struct hash *key,
                         size_t *size);
/* What an executor says of the binaries that it found, and of those it would take (docs/protocol.md). */
void binaries_told(struct session *s, uint64_t executable, const msgpack_object *told);
