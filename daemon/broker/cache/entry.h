/* What the cache holds: kinds of entries, how much there is, and of a file on disk what comes before its contents. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "daemon/broker/core/hash.h"

enum cache_kind { CACHE_MODULE, CACHE_PLAN, CACHE_OBJECT, CACHE_BINARIES, CACHE_MACHINE, CACHE_TUNING, CACHE_KINDS };

struct cache_counts {
    uint64_t memory_bytes, disk_bytes, corrupt, write_failures;
};

/* The most that users' entries may take on disk, whatever there is. */
struct cache_allowance {
    uid_t uid;
    uint64_t bytes;
};
struct cache_allowances {
    struct cache_allowance *of; /* single users */
    uint32_t n;
    uint64_t others; /* each of those who are not among them; UINT64_MAX: no other limit */
};

enum { CACHE_FORMAT = 2, CACHE_NAME_SIZE = 128 };

struct cache_header {
    char magic[8];
    uint32_t format, kind;
    uint64_t size;
    uint32_t owner;       /* the user it was made for */
    uint32_t reserved;    /* 0 */
    uint8_t checksum[32]; /* of kind, owner, key and contents */
};
