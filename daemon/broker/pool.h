/*
 * The compilers and the jobs that wait for them. Equal jobs of several requests are one job, which has a place in the
 * queue of each that waits for it. Users take turns, and sessions within a user (turns.h), so that one with a thousand
 * kernels does not keep out one with a single kernel. As jobs can be long, a user with nothing running may always have
 * one run, beyond the number of compilers, up to twice that number.
 */
#pragma once

#include "daemon/broker/blob.h"
#include "daemon/broker/broker.h"
#include "daemon/broker/hash.h"
#include "daemon/broker/turns.h"
#include "proto/writer.h"

struct pool;

struct job_result {
    fusion_status status;
    const char *object, *reason; /* of a failure */
    struct blob *blob;           /* the compiler's result: a msgpack map. Not a reference of its own */
};

struct job_key {
    enum cache_kind kind;
    struct hash hash;
    uint32_t variant; /* jobs of the same hash that ask for more or less */
    bool cached;      /* the result goes into the cache */
};

struct pool_counts {
    uint32_t compilers, busy, queued;
};

struct pool *pool_new(struct broker *broker);
void pool_free(struct pool *pool);

/* Is it known what the compilers are, or known that there are none? Until then nothing can be looked up. If not,
   sessions are told by session_pool_changed. */
bool pool_settled(const struct pool *pool);
/* The devices as the compiler told them, and the hash of what code is made for. False where no compiler can be
   started (reason): one more is tried then. */
bool pool_info(struct pool *pool, const msgpack_object **devices, struct hash *target, const char **reason);

/* An equal job that is under way already, or NULL. */
struct job *pool_find(struct pool *pool, const struct job_key *key);
/* A new job; request: begun with an id of pool_next_id, params packed. Cleared. Its bytes are charged to the client's
   user. NULL: it is too large, or refused (why). */
uint32_t pool_next_id(struct pool *pool);
struct job *pool_add(struct pool *pool, struct pool_client *client, const struct job_key *key, uint32_t id,
                     struct proto_writer *request, const char **why);
void pool_wait(struct job *job, struct pool_client *client, struct job_waiter *waiter, job_done_fn *done, void *data);
/* A job nobody waits for is dropped, unless it runs already: then its result is still kept in the cache. */
void pool_cancel(struct pool *pool, struct job_waiter *waiter);
struct pool_counts pool_counts(const struct pool *pool);
