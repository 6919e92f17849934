/*
 * Whose job a compiler works on next: deficit round robin by user, then session by session within a user. What a job
 * costs is the time that it took; until that is known, what the user's jobs took lately. A user with nothing running
 * goes before one with something running.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "daemon/broker/core/user.h"

struct job;
struct blob;
struct error;

/* What a session waits for; part of the session. */
struct pool_client {
    struct user *user;
    bool background;                  /* nobody waits: what others of the user want goes first */
    TAILQ_HEAD(, job_waiter) waiters; /* whose job does not run yet */
    TAILQ_ENTRY(pool_client) link;    /* in its user's round, where there are any */
};

/* The compiler's result, a msgpack map, which stays the caller's; or NULL, and why there is none. */
typedef void job_done_fn(void *data, struct blob *result, const struct error *error);

/* Somebody who waits for a job; part of his own structure, and in use until done is called or it is cancelled. */
struct job_waiter {
    LIST_ENTRY(job_waiter) link;  /* of those who wait for the job */
    TAILQ_ENTRY(job_waiter) turn; /* in the client's queue, unless the job runs */
    struct job *job;              /* NULL: not waiting */
    struct pool_client *client;
    bool queued;
    job_done_fn *done;
    void *data;
    uint64_t waited_ns, began_ns, ended_ns; /* since when; the job's. ended_ns 0: it has not */
};

struct turns {
    TAILQ_HEAD(, user) users; /* with something waiting; the first is looked at first */
};

void turns_init(struct turns *turns);
void turns_init_client(struct pool_client *client, struct user *user, bool background);
/* Behind what its session waits for already. */
void turns_add(struct turns *turns, struct job_waiter *waiter);
/* Fine also where it is not queued. */
void turns_remove(struct turns *turns, struct job_waiter *waiter);
/* Which users come into question: those with nothing running; also those whose clients wait; all of them. */
enum turns_of { TURNS_OF_IDLE, TURNS_OF_WAITING, TURNS_OF_ALL };
/* Who is next; stays queued. NULL: nobody. */
struct job_waiter *turns_next(struct turns *turns, enum turns_of of);
/* Users with something waiting and nothing running. */
uint32_t turns_idle_users(const struct turns *turns);
/* A job of the user begins; it has ended after so long. */
void turns_begin(struct user *user);
void turns_end(struct user *user, uint64_t ns);
