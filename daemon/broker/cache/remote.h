/*
 * The second level of the cache: a Redis or Valkey server that several daemons share. What lies there is code that
 * others made, so each entry has a MAC, BLAKE2b by a key that the daemons share and nobody else has: without it nothing
 * is taken. Nothing here waits or fails: a server that is away, late or full of rubbish is one that has nothing.
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "daemon/broker/cache/entry.h"
#include "daemon/broker/core/blob.h"
#include "ir/base/error.h"

struct remote;
struct remote_call;

/* What the server answered: NULL: nothing that can be used. */
typedef void remote_answer(void *data, struct blob *blob);

struct remote_ask {
    struct remote_call *call; /* NULL: none is under way */
};

struct remote_counts {
    uint64_t hits, misses, rejected, late, writes;
};

/* server: path of a socket, or ADDRESS:PORT, where the address is a number. key_file: 16 bytes or more, of the daemon's
   user or root, whom alone it can be read by. NULL: the error says what is wrong with them. */
struct remote *remote_open(uv_loop_t *loop, const char *server, const char *key_file, struct error *e);
void remote_close(struct remote *r); /* NULL is fine */
/* Asks the server: the answer comes later, from the loop. False: it cannot be asked now. */
bool remote_get(struct remote *r, enum cache_kind kind, const struct hash *key, struct remote_ask *ask,
                remote_answer *answer, void *data);
void remote_cancel(struct remote_ask *ask); /* fine where nothing is under way */
void remote_put(struct remote *r, enum cache_kind kind, const struct hash *key, const struct blob *blob);
struct remote_counts remote_stats(const struct remote *r);
