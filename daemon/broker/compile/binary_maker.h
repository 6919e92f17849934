/*
 * Binaries of drivers: what the driver of a GPU makes of an object, kept for those who load that object later. A driver
 * makes one in a process that sees the object and what the binary is for (its key), ends behind it, and has never run a
 * kernel: so it is the same for whoever asks, and may be given to others. Nobody waits for it, and where none comes of
 * it the executor that asked has its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/broker/core/broker.h"
#include "daemon/broker/core/hash.h"

struct binary_maker;

/* NULL: out of memory. */
struct binary_maker *binary_maker_new(struct broker *broker);
void binary_maker_free(struct binary_maker *maker); /* NULL is fine */

struct binary_wish {
    const char *device; /* stays as long as the broker */
    struct hash object;
    struct code *code; /* the object, nothing behind it; a reference is kept */
    const void *key;   /* what binaries for this begin with */
    size_t key_size;
    bool refused; /* there was one, which the driver did not take */
};

enum { BINARY_MAX_KEY = 512 };

/* Has it made when its turn comes, unless it is there or has failed already, or the user has enough waiting. */
void binary_maker_wish(struct binary_maker *maker, struct user *user, const struct binary_wish *wish);
