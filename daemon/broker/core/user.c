/* Users and what they hold. */
#include "daemon/broker/core/user.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/broker/core/closing.h"
#include "proto/include/fusiond/status.h"

enum { SERVED_PER_MS = 250000, SERVED_MOST = 2000000 }; /* ns */
enum { MAX_ABSENT = 64 };                               /* users without a connection who are remembered */

static const struct {
    const char *name;
    uint64_t unit;
    const char *unit_name;
} resources[USER_RESOURCES] = {
    [USER_SESSIONS] = {"sessions", 1, ""},
    [USER_BYTES] = {"the daemon's memory", 1 << 20, " MB"},
    [USER_DESCRIPTORS] = {"descriptors", 1, ""},
    [USER_OBJECTS] = {"modules, buffers and executables", 1, ""},
    [USER_SHARED] = {"shared memory", 1 << 20, " MB"},
    [USER_EXECUTORS] = {"memory of executors", 1 << 20, " MB"},
};

const char *user_limit_key(int limit)
{
    static const char *const keys[USER_LIMITS] = {
        [USER_SESSIONS] = "sessions",         [USER_BYTES] = "bytes",         [USER_DESCRIPTORS] = "descriptors",
        [USER_OBJECTS] = "objects",           [USER_SHARED] = "shared_bytes", [USER_EXECUTORS] = "executor_bytes",
        [USER_COMPILING] = "compile_hour_ns", [USER_CACHE] = "cache_bytes"};
    return keys[limit];
}

void users_init(struct users *users)
{
    *users = (struct users){.owner = geteuid()};
    TAILQ_INIT(&users->list);
}

void users_limit(struct users *users, const uint64_t limits[USER_RESOURCES], const struct user_caps *caps,
                 uint32_t n_caps)
{
    for (int i = 0; i < USER_RESOURCES; i++) users->limits[i] = limits[i];
    users->caps = caps;
    users->n_caps = n_caps;
}

static void forget(struct user *user)
{
    TAILQ_REMOVE(&user->users->list, user, link);
    free(user);
}

void users_clear(struct users *users)
{
    while (!TAILQ_EMPTY(&users->list)) forget(TAILQ_FIRST(&users->list));
}

static bool is_whole(const struct users *users, uid_t uid)
{
    return uid == 0 || uid == users->owner;
}

static struct user *find(struct users *users, uid_t uid)
{
    struct user *user;
    TAILQ_FOREACH(user, &users->list, link)
    if (user->uid == uid) return user;
    return NULL;
}

struct user *user_get(struct users *users, uid_t uid)
{
    struct user *user = find(users, uid);
    if (!user) {
        user = calloc(1, sizeof *user);
        if (!user) return NULL;
        *user = (struct user){.users = users, .uid = uid, .whole = is_whole(users, uid)};
        TAILQ_INIT(&user->turns.clients);
        TAILQ_INIT(&user->turns.background);
        TAILQ_INSERT_TAIL(&users->list, user, link);
        users->n_absent++;
    }
    if (user->references++ == 0) {
        users->n_absent--;
        users->n_present++;
    }
    return user;
}

struct user *user_ref(struct user *user)
{
    user->references++;
    return user;
}

void user_put(struct user *user)
{
    if (!user || --user->references > 0) return;
    struct users *users = user->users;
    users->n_present--;
    TAILQ_REMOVE(&users->list, user, link);
    TAILQ_INSERT_TAIL(&users->list, user, link);
    if (++users->n_absent <= MAX_ABSENT) return;
    TAILQ_FOREACH(user, &users->list, link)
    if (user->references == 0) break;
    users->n_absent--;
    forget(user);
}

uint64_t users_allow(const struct users *users, uid_t uid, int limit)
{
    uint64_t own = UINT64_MAX, everybody = UINT64_MAX;
    for (uint32_t i = 0; i < users->n_caps; i++) {
        if (users->caps[i].everybody)
            everybody = users->caps[i].most[limit];
        else if (users->caps[i].uid == uid)
            own = users->caps[i].most[limit];
    }
    return own != UINT64_MAX || is_whole(users, uid) ? own : everybody;
}

static uint64_t cap(const struct user *user, enum user_resource resource)
{
    return users_allow(user->users, user->uid, resource);
}

/* What it holds, and what all do: descriptors that it has sent are its until they are closed, which may last. */
static uint64_t held(const struct user *user, enum user_resource resource)
{
    return user->used[resource] + (resource == USER_DESCRIPTORS ? closing_pending_of(user->uid) : 0);
}

static uint64_t held_by_all(const struct users *users, enum user_resource resource)
{
    return users->used[resource] + (resource == USER_DESCRIPTORS ? closing_pending() : 0);
}

/* What others hold; some of it may have been closed in this moment. */
static uint64_t held_by_others(const struct user *user, enum user_resource resource)
{
    uint64_t own = held(user, resource), all = held_by_all(user->users, resource);
    return all > own ? all - own : 0;
}

/* The most it may hold. */
static uint64_t share(const struct user *user, enum user_resource resource)
{
    const struct users *users = user->users;
    uint64_t others = held_by_others(user, resource), limit = users->limits[resource];
    uint64_t left = limit > others ? limit - others : 0;
    uint64_t fair = user->whole ? left : left / 2, most = cap(user, resource);
    return fair < most ? fair : most;
}

static bool refuse(const struct user *user, enum user_resource resource, uint64_t amount, struct error *error)
{
    uint64_t unit = resources[resource].unit, used = held(user, resource), most = cap(user, resource);
    const char *name = resources[resource].unit_name;
    if (used > most || amount > most - used)
        return error_set(error, FUSION_OUT_OF_MEMORY, NULL,
                         "%s: %llu%s more are beyond what user %u is allowed: %llu%s, of which it has %llu%s",
                         resources[resource].name, (unsigned long long)(amount / unit + (amount % unit != 0)), name,
                         (unsigned)user->uid, (unsigned long long)(most / unit), name,
                         (unsigned long long)(used / unit), name) == 0;
    error_set(error, FUSION_OUT_OF_MEMORY, NULL,
              "%s: %llu%s more are beyond the share of user %u, which has %llu%s; others have %llu%s of %llu%s",
              resources[resource].name, (unsigned long long)(amount / unit + (amount % unit != 0)), name,
              (unsigned)user->uid, (unsigned long long)(used / unit), name,
              (unsigned long long)(held_by_others(user, resource) / unit), name,
              (unsigned long long)(user->users->limits[resource] / unit), name);
    return false;
}

bool user_charge(struct user *user, enum user_resource resource, uint64_t amount, struct error *error)
{
    if (amount == 0) return true;
    uint64_t most = share(user, resource), used = held(user, resource);
    if (used > most || amount > most - used) return refuse(user, resource, amount, error);
    user->used[resource] += amount;
    user->users->used[resource] += amount;
    return true;
}

void user_refund(struct user *user, enum user_resource resource, uint64_t amount)
{
    user->used[resource] -= amount;
    user->users->used[resource] -= amount;
}

bool user_charge_all(struct user *user, const struct user_cost *cost, struct error *error)
{
    for (enum user_resource i = 0; i < USER_RESOURCES; i++) {
        if (user_charge(user, i, cost->of[i], error)) continue;
        for (enum user_resource k = 0; k < i; k++) user_refund(user, k, cost->of[k]);
        return false;
    }
    return true;
}

void user_refund_all(struct user *user, const struct user_cost *cost)
{
    for (enum user_resource i = 0; i < USER_RESOURCES; i++) user_refund(user, i, cost->of[i]);
}

bool user_has_had_enough(struct user *user, uint64_t now)
{
    uint64_t allowed = (now - user->served_at) * SERVED_PER_MS;
    user->served_ns -= user->served_ns < allowed ? user->served_ns : allowed;
    user->served_at = now;
    return user->users->n_present > 1 && user->served_ns > SERVED_MOST;
}

uint64_t user_waits_ms(const struct user *user)
{
    return user->served_ns > SERVED_MOST ? (user->served_ns - SERVED_MOST) / SERVED_PER_MS + 1 : 0;
}

bool user_sees_all(const struct user *user)
{
    return user->whole;
}
