/* What the parts of the daemon share. Who made each of them is above: run.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "daemon/broker/core/child.h"
#include "daemon/broker/core/code.h"
#include "daemon/broker/core/later.h"
#include "daemon/broker/core/options.h"
#include "daemon/broker/core/tempdir.h"
#include "daemon/broker/core/user.h"

struct counters {
    uint64_t sessions_ever, finalizes, plan_hits, object_hits_memory, object_hits_disk, object_misses, compiles;
    uint64_t object_hits_bundle;                               /* launches whose code came with their module */
    uint64_t quick_launches, launches_replaced, launches_kept; /* interpreted at first; then compiled; or not */
    uint64_t binaries_found, binaries_made, binaries_failed;   /* of drivers: by launches that were loaded; by jobs */
    uint64_t drivers_tested;                                   /* their arithmetic was tried out */
    uint64_t compilers_recycled, compilers_lost, jobs_repeated, executors_lost;
};

struct binary_maker;
struct cache;
struct remote;
struct gpus;
struct listener;
struct notify;
struct pool;
struct session;
struct spare;

struct broker {
    uv_loop_t loop;
    struct options options;
    struct children children;
    struct tempdir temporary;
    struct cache *cache;
    struct remote *remote; /* its second level; NULL: there is none */
    struct pool *pool;
    struct binary_maker *binary_maker;
    struct spare *spare; /* NULL: executors start when they are needed */
    struct gpus *gpus;
    struct codes codes;
    struct listener *listener; /* NULL: private */
    struct notify *notify;     /* NULL: no service manager listens */
    struct users users;
    LIST_HEAD(, session) sessions;
    uint64_t next_id; /* of sessions, modules and executables: never the same number twice */
    uint64_t started_ms;
    struct counters counters;
    uv_signal_t terminate, interrupt, reload;
    uv_timer_t fairness;  /* while several users are there: how much their executors use */
    uint64_t fairness_ns; /* when it last went off */
    uv_timer_t weighing;  /* while a service has sessions: the memory of their executors */
    uv_timer_t metrics;   /* while there is a file to write them to */
    struct laters laters;
};

/* Numbers that nothing else of this daemon has or had. */
uint64_t broker_new_id(struct broker *broker);
/* The event loop ends after what it is doing now. */
void broker_stop(struct broker *broker);
