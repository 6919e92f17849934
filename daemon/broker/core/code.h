/*
 * The code of launches on its way to executors: memory with a descriptor, sealed so that nobody changes it. Executables
 * whose launches are the same share it, and so an executor loads it once.
 */
#pragma once

#include "daemon/broker/core/hash.h"
#include "ir/base/map.h"

#define CODE_INTERPRETED "interpreted" /* the effort of a kernel that is its own code */

struct code {
    struct codes *all;
    struct hash key;
    uint32_t references;
    int fd;
    uint64_t lanes;
    char *effort; /* that the compiler made */
};

/* All that there is. All zeros: none. */
struct codes {
    struct map by_key;
};

/* The code with this key: the one that is there, or a new one with these bytes. NULL with errno. */
struct code *code_get(struct codes *all, const struct hash *key, const void *bytes, size_t size, uint64_t lanes,
                      const char *effort);
struct code *code_ref(struct code *code);
void code_put(struct code *code); /* NULL is fine */
