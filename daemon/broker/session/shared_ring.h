/* Making submission rings. */
#pragma once

#include "proto/ring.h"

/* In memory of ring_total_bytes() whose size nobody can change under the others; its descriptor. NULL with errno. */
struct ring *shared_ring_new(int *fd);
