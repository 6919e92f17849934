/* The daemon as a whole: what its parts share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "daemon/broker/cache.h"
#include "daemon/broker/child.h"
#include "daemon/broker/options.h"
#include "daemon/broker/tempdir.h"
#include "daemon/broker/user.h"

struct counters {
    uint64_t sessions_ever, finalizes, plan_hits, object_hits_memory, object_hits_disk, object_misses, compiles;
    uint64_t compilers_recycled, compilers_lost, jobs_repeated, executors_lost;
};

struct session;
struct listener;
struct pool;

struct broker {
    uv_loop_t loop;
    struct options options;
    struct children children;
    struct tempdir temporary;
    struct cache *cache;
    struct pool *pool;
    struct listener *listener; /* NULL: private */
    struct users users;
    LIST_HEAD(, session) sessions;
    uint64_t next_id; /* of sessions, modules and executables: never the same number twice */
    uint64_t started_ms;
    struct counters counters;
    uv_signal_t terminate, interrupt;
    uv_timer_t fairness; /* while several users are there: how much their executors use */
    uint64_t fairness_ns; /* when it last went off */
    uv_timer_t weighing;  /* while a service has sessions: the memory of their executors */
};

/* Runs until told to end; the exit status. */
int broker_run(const struct options *options);
/* The event loop ends after what it is doing now. */
void broker_stop(struct broker *broker);
/* A connection that has come; taken. */
void broker_accept(struct broker *broker, int fd);
/* Executors are looked at from now on: their memory, and while there are several users their processor time. */
void broker_session_came(struct broker *broker);
uint64_t broker_new_id(struct broker *broker);
