/*
 * Jobs for compilers. Equal jobs of several requests are one job, which has a place in the queue of each that waits for
 * it. Whose turn is next, turns.h says; compilers are the pool's business (pool.h).
 */
#pragma once

#include "daemon/broker/cache/entry.h"
#include "daemon/broker/compile/turns.h"
#include "daemon/broker/core/blob.h"
#include "daemon/broker/core/hash.h"
#include "ir/base/error.h"
#include "ir/base/map.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct job_key {
    enum cache_kind kind;
    struct hash hash;
    uint32_t variant; /* jobs of the same hash that ask for more or less */
    bool cached;      /* the result goes into the cache */
};

/* Before whom it goes where several want the processors: docs/protocol.md, `job`. */
enum job_priority { JOB_FIRST, JOB_BEHIND, JOB_LAST };

struct job {
    struct jobs *jobs;
    struct job_key key;
    uint32_t id;
    struct user *payer; /* of its bytes */
    size_t bytes;
    struct proto_writer request;
    uint32_t attempts; /* that ended their compiler */
    uint32_t care;     /* how it is done from now on: docs/protocol.md, `job` */
    LIST_HEAD(, job_waiter) waiters;
    struct user *runs_for; /* whose turn it was; NULL: it does not run yet */
    bool background;       /* it was begun as one that nobody waits for */
    uint64_t started_ns;
    struct job *same_place; /* next with the same place in the table */
};

struct jobs {
    struct turns turns;
    struct map by_key; /* queued and running ones, chained */
    uint32_t n_queued, last_id;
};

void jobs_init(struct jobs *jobs);
void jobs_clear(struct jobs *jobs);
/* An equal job that is under way already, or NULL. */
struct job *jobs_find(struct jobs *jobs, const struct job_key *key);
uint32_t jobs_next_id(struct jobs *jobs);
/* A new job; request: begun with an id of jobs_next_id, params packed. Cleared. Its bytes are charged to the client's
   user. NULL: it is too large, or refused (error). */
struct job *jobs_add(struct jobs *jobs, struct pool_client *client, const struct job_key *key, uint32_t id,
                     struct proto_writer *request, struct error *error);
/* Whose turn it is (turns_next). */
struct job_waiter *jobs_next(struct jobs *jobs, enum turns_of of);

/* The waiter, part of the caller's structure, is told of the result. */
void job_wait(struct job *job, struct pool_client *client, struct job_waiter *waiter, job_done_fn *done, void *data);
/* A job nobody waits for is dropped, unless it runs already: then its result is still kept in the cache. Fine for who
 * does not wait. */
void job_cancel(struct job_waiter *waiter);
/* The waiter gets no turn: it waits no longer, and is told. */
void job_refuse(struct job_waiter *waiter, const struct error *error);
/* It runs: it was this client's turn. */
void job_begin(struct job *job, const struct pool_client *client);
/* As of now: that of him who should wait least. shared: other users are there, who go before one who has had much
   compiled. */
enum job_priority job_priority(const struct job *job, bool shared);
/* It has failed for what a user may not: he is told, and others who wait for it do so again. */
void job_fail_of(struct job *job, const struct user *user, const struct error *error);
/* It did not get a result, and waits for another compiler. */
void job_put_back(struct job *job);
/* Tells everybody who waits, then frees the job. */
void job_finish(struct job *job, struct blob *result, const struct error *error);
