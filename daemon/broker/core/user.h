/*
 * The daemon's users, told apart by the uid of the process that connected, and what each holds of it. Everything that a
 * client can make the daemon hold is charged to its user. A user may hold at most half of what the others leave, so
 * that there is always something left for a newcomer; root and the daemon's own user may hold all of it. The
 * administrator may limit each further.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "daemon/broker/core/log.h"
#include "ir/base/error.h"

enum user_resource {
    USER_SESSIONS,
    USER_BYTES,       /* of the daemon's own memory */
    USER_DESCRIPTORS, /* open in the daemon, until they are closed */
    USER_OBJECTS,     /* modules, buffers and executables */
    USER_SHARED,      /* bytes of shared memory: buffers, rings, compiled code */
    USER_EXECUTORS,   /* bytes of executors that are nobody else's: variables of programs, and what kernels fill */
    USER_RESOURCES
};

/* What the administrator may limit by user besides. */
enum user_limit {
    USER_COMPILING = USER_RESOURCES, /* ns of compilers' processor time within an hour (compile/quota.h) */
    USER_CACHE,                      /* bytes of the cache on disk */
    USER_LIMITS
};

/* Processor time of one minute. */
struct user_minute {
    uint64_t minute, used_ns;
};
enum { USER_MINUTES = 60 };

struct pool_client;
TAILQ_HEAD(pool_clients, pool_client);

/* What a user has to do with the compilers (turns.h). */
struct user_turns {
    TAILQ_ENTRY(user) link;         /* where something waits */
    struct pool_clients clients;    /* sessions with something waiting; the first goes next; */
    struct pool_clients background; /* after these, what no client waits for */
    int64_t deficit_ns;             /* what it may still use in this round; below 0 what it has used too much */
    uint64_t expected_ns;           /* what its jobs took lately */
    uint64_t guessed_ns;            /* taken from the deficit for those that run */
    uint64_t compile_ns;            /* ever */
    uint64_t recent_ns, recent_at;  /* processor time that its jobs used lately, and when that was so (allowance.h) */
    bool much;                      /* that is more than is anybody's */
    struct user_minute hour[USER_MINUTES]; /* what they used in the last one, minute by minute (quota.h) */
    uint32_t running;
};

struct user {
    TAILQ_ENTRY(user) link;
    struct users *users;
    uid_t uid;
    uint32_t references; /* of its sessions and connections */
    bool whole;          /* may hold all of it */
    uint64_t used[USER_RESOURCES];
    uint64_t busy_ns;              /* processor time of its executors in this period */
    uint32_t busy_ticks;           /* periods in a row that it has kept a processor busy */
    int steps_back;                /* of its executors (priority.h) */
    uint64_t served_ns, served_at; /* what the loop has done for its connections lately, and when (ms) that was so */
    struct log_limit log;
    struct user_turns turns;
};

/* The most that one user may have, whatever there is; UINT64_MAX: no other limit. */
struct user_caps {
    bool everybody; /* whoever has no limit of his own, but for those who may hold all of it */
    uid_t uid;
    uint64_t most[USER_LIMITS];
};

struct users {
    TAILQ_HEAD(, user) list;      /* those nobody refers to for the longest time first */
    uint32_t n_present, n_absent; /* with a connection; nobody refers to */
    uid_t owner;
    uint64_t limits[USER_RESOURCES], used[USER_RESOURCES];
    const struct user_caps *caps; /* somebody else's */
    uint32_t n_caps;
};

void users_init(struct users *users); /* without limits: users_limit() sets them */
/* Other limits from now on; nobody loses what it has. */
void users_limit(struct users *users, const uint64_t limits[USER_RESOURCES], const struct user_caps *caps,
                 uint32_t n_caps);
void users_clear(struct users *users);
/* What the administrator allows whoever has the number: of a user_resource or user_limit; UINT64_MAX: says nothing. */
uint64_t users_allow(const struct users *users, uid_t uid, int limit);
/* What a user_resource or user_limit is called in status and metrics. */
const char *user_limit_key(int limit);
/* The user with a reference more; NULL: out of memory. */
struct user *user_get(struct users *users, uid_t uid);
struct user *user_ref(struct user *user);
/* What it did is remembered for a while. NULL is fine. */
void user_put(struct user *user);

/* Of several resources at once. */
struct user_cost {
    uint64_t of[USER_RESOURCES];
};

/* Charges it where its share allows that; else error is FUSION_OUT_OF_MEMORY, about nothing yet: what the user has,
   what others have, how much there is. error may be NULL. */
bool user_charge(struct user *user, enum user_resource resource, uint64_t amount, struct error *error);
void user_refund(struct user *user, enum user_resource resource, uint64_t amount);
/* The same for all of it or nothing. */
bool user_charge_all(struct user *user, const struct user_cost *cost, struct error *error);
void user_refund_all(struct user *user, const struct user_cost *cost);
/* What the loop does for one user others wait for: a quarter of its time is his at most (served_ns counts it) while
   others are there. Has he had more, now (ms)? Then how long he is to wait. */
bool user_has_had_enough(struct user *user, uint64_t now);
uint64_t user_waits_ms(const struct user *user);
/* May it see what others do? */
bool user_sees_all(const struct user *user);
