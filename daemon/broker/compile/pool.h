/*
 * The compilers, and which job each works on next. As jobs can be long, a user with nothing running may always have one
 * run, beyond the number of compilers, up to twice that number.
 */
#pragma once

#include "daemon/broker/compile/jobs.h"
#include "daemon/broker/core/broker.h"
#include "proto/writer.h"

struct pool;

struct pool_counts {
    uint32_t compilers, busy, queued;
};

/* settled: is told when pool_settled() begins to hold. */
struct pool *pool_new(struct broker *broker, void (*settled)(struct broker *broker));
void pool_free(struct pool *pool);

/* Is it known what the compilers are, or known that there are none? Until then nothing can be looked up. */
bool pool_settled(const struct pool *pool);
/* The devices as the compiler told them, and the hash of what code is made for; each may be NULL. Returns NULL, or why
   no compiler can be started: one more is tried then. */
const struct error *pool_info(struct pool *pool, const msgpack_object **devices, struct hash *target);

/* As jobs_find(), jobs_next_id() and jobs_add(); what was added is begun from the loop. Who has used up his compile
   time (quota.h) is refused, and what he has waiting then, too. */
struct job *pool_find(struct pool *pool, const struct job_key *key);
uint32_t pool_next_id(struct pool *pool);
struct job *pool_add(struct pool *pool, struct pool_client *client, const struct job_key *key, uint32_t id,
                     struct proto_writer *request, struct error *error);
/* As job_wait(). Who joins a job that runs already may hasten it. */
void pool_wait(struct pool *pool, struct job *job, struct pool_client *client, struct job_waiter *waiter,
               job_done_fn *done, void *data);
struct pool_counts pool_counts(const struct pool *pool);
