/* Where a buffer's data begin in memory of whole pages: so that they end where the pages do. */
#pragma once

#include <stdint.h>

enum {
    PROTO_LEAD_ALIGNMENT = 64, /* of a vector register and of a line of the caches */
    PROTO_LEAD_SMALL = 4096    /* bytes: what is no larger may begin at any element */
};

/* The bytes before the data: a multiple of `alignment` (a power of two, no more than a page) that is less than a page.
   What is left behind the data is less than `alignment`, and nothing where their size is a multiple of it. */
uint64_t proto_lead(uint64_t bytes, uint64_t alignment);
