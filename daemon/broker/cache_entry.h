/* A file of the cache on disk: its name and what comes before its contents. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "daemon/broker/hash.h"

enum { CACHE_FORMAT = 2, CACHE_NAME_SIZE = 128 };

struct cache_header {
    char magic[8];
    uint32_t format, kind;
    uint64_t size;
    uint32_t owner;       /* the user it was made for */
    uint32_t reserved;    /* 0 */
    uint8_t checksum[32]; /* of kind, owner, key and contents */
};
