/*
 * Code that came with modules, in bundles. It is a client's: it goes to the executor of the session that loaded it, and
 * nowhere else. It is never put into the cache, and found by what it is, not by what it says that it is code of, so no
 * other session gets it for a kernel that it did not bring.
 */
#pragma once

#include "daemon/broker/requests/finalization.h"

struct bundled {
    struct hash key; /* of these bytes */
    const void *bytes;
    size_t size;
    uint64_t lanes;
    char *effort; /* to be freed */
};

/* The code of a launch for the processor, from the graph's modules, as far as they are still there. */
bool bundled_find(const struct launch *launch, struct bundled *found);
/* Of a GPU: calls `take` for each binary that came for the launch, until it returns false. */
void bundled_binaries(const struct launch *launch, bool (*take)(void *data, const void *bytes, size_t size),
                      void *data);
