/* Binaries of drivers: one process at a time makes one. */
#include "daemon/broker/compile/binary_maker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/broker/cache/cache.h"
#include "daemon/broker/compile/quota.h"
#include "daemon/broker/core/log.h"
#include "daemon/broker/core/peer.h"
#include "ir/base/map.h"
#include "proto/fields.h"
#include "proto/writer.h"

enum {
    LIMIT_MS = 20000,     /* of one */
    MAX_WAITING = 256,    /* of all users */
    MAX_OF_USER = 32,     /* of one */
    MAX_KEPT = 8,         /* of an object, for one launch or another */
    MAX_BYTES = 32 << 20, /* of these */
    MAX_GIVEN_UP = 4096,  /* then all may be tried again */
};

/* A binary to be made. */
struct making {
    TAILQ_ENTRY(making) link;
    struct user *user;
    const char *device;
    struct hash object, id; /* of object and key */
    struct code *code;
    bool refused;
    size_t key_size;
    uint8_t key[];
};

TAILQ_HEAD(makings, making);

struct binary_maker {
    struct broker *broker;
    struct makings waiting;
    uint32_t n_waiting;
    uid_t last;          /* whose the last one was */
    struct map given_up; /* by the ids' first bytes: what failed, and what was made again as its driver refused it */
    struct making *now;  /* NULL: none */
    struct blob *made;   /* what came of it; NULL: nothing yet */
    struct child *child;
    uint64_t used_ns; /* by that one up to when it was looked at last */
    struct peer *peer;
    uv_timer_t timer; /* how long it may take; and what is to be done from the loop */
};

static void start(struct binary_maker *maker);

struct binary_maker *binary_maker_new(struct broker *broker)
{
    struct binary_maker *maker = calloc(1, sizeof *maker);
    if (!maker) return NULL;
    maker->broker = broker;
    TAILQ_INIT(&maker->waiting);
    uv_timer_init(&broker->loop, &maker->timer);
    maker->timer.data = maker;
    return maker;
}

static void free_making(struct making *m)
{
    if (!m) return;
    user_put(m->user);
    code_put(m->code);
    free(m);
}

/* The process, if it is still there, and what it was making. */
static void drop(struct binary_maker *maker)
{
    uv_timer_stop(&maker->timer);
    peer_close(maker->peer, false);
    child_abandon(maker->child);
    blob_unref(maker->made);
    free_making(maker->now);
    maker->peer = NULL;
    maker->child = NULL;
    maker->made = NULL;
    maker->now = NULL;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void binary_maker_free(struct binary_maker *maker)
{
    struct making *m;
    if (!maker) return;
    drop(maker);
    while ((m = TAILQ_FIRST(&maker->waiting))) {
        TAILQ_REMOVE(&maker->waiting, m, link);
        free_making(m);
    }
    map_clear(&maker->given_up);
    uv_close((uv_handle_t *)&maker->timer, on_closed);
}

/* ---- what is kept of an object: binaries behind one another, each after its size in 8 bytes; the newest first ---- */

static bool is_for(const uint8_t *binary, size_t size, const struct making *m)
{
    return size >= m->key_size && memcmp(binary, m->key, m->key_size) == 0;
}

/* The next one; NULL: there are no more. */
static const uint8_t *next(const struct blob *kept, size_t *at, size_t *size)
{
    uint64_t n;
    if (kept->size - *at < sizeof n) return NULL;
    memcpy(&n, kept->data + *at, sizeof n);
    if (n > kept->size - *at - sizeof n) return NULL;
    const uint8_t *binary = kept->data + *at + sizeof n;
    *at += sizeof n + n;
    *size = n;
    return binary;
}

static bool is_there(struct binary_maker *maker, const struct making *m)
{
    struct blob *kept;
    const uint8_t *binary;
    bool found = false;
    if (cache_get(maker->broker->cache, CACHE_BINARIES, &m->object, &kept) == CACHE_MISS) return false;
    for (size_t at = 0, size; (binary = next(kept, &at, &size)) && !found;) found = is_for(binary, size, m);
    blob_unref(kept);
    return found;
}

static size_t put(struct blob *to, size_t at, const void *binary, uint64_t size)
{
    memcpy(to->data + at, &size, sizeof size);
    memcpy(to->data + at + sizeof size, binary, size);
    return at + sizeof size + size;
}

/* The new one and those that are for other launches. False: no memory. */
static bool keep(struct binary_maker *maker, const struct making *m, const struct blob *made)
{
    struct cache *cache = maker->broker->cache;
    struct blob *old = NULL;
    const uint8_t *binary;
    cache_get(cache, CACHE_BINARIES, &m->object, &old);
    struct blob *all = blob_new(NULL, sizeof(uint64_t) + made->size + (old ? old->size : 0));
    if (all) {
        uint32_t n = 1;
        size_t end = put(all, 0, made->data, made->size);
        for (size_t at = 0, size; old && n < MAX_KEPT && (binary = next(old, &at, &size));) {
            if (is_for(binary, size, m) || size > MAX_BYTES - end) continue;
            end = put(all, end, binary, size);
            n++;
        }
        all->size = end;
        cache_put(cache, CACHE_BINARIES, &m->object, all, m->user->uid);
        blob_unref(all);
    }
    blob_unref(old);
    return all;
}

/* ---- the process ---- */

static void give_up(struct binary_maker *maker, const struct making *m)
{
    if (maker->given_up.count >= MAX_GIVEN_UP) map_clear(&maker->given_up);
    map_put(&maker->given_up, hash_prefix(&m->id), maker);
}

/* What the process has used is its user's compile time. */
static void account(struct binary_maker *maker)
{
    uint64_t used = maker->child ? priority_used_ns(child_pid(maker->child)) : 0;
    if (used <= maker->used_ns) return;
    quota_use(maker->now->user, used - maker->used_ns, uv_hrtime());
    maker->used_ns = used;
}

/* The end of one, good or bad, and the next. */
static void settle(struct binary_maker *maker, const char *why)
{
    struct making *m = maker->now;
    struct counters *counters = &maker->broker->counters;
    bool made = maker->made && keep(maker, m, maker->made);
    account(maker);
    if (!made)
        log_about(LOG_NOTICE, &m->user->log, &(struct log_subject){.user = true, .uid = m->user->uid},
                  "no binary of a driver was made for device %s: %s", m->device, why ? why : "out of memory");
    counters->binaries_made += made;
    counters->binaries_failed += !made;
    if (!made || m->refused) give_up(maker, m);
    drop(maker);
    start(maker);
}

static void on_timer(uv_timer_t *timer)
{
    settle(timer->data, "it took too long");
}

static void on_failed(uv_timer_t *timer)
{
    settle(timer->data, "the process that was to make it did not");
}

static void on_made(uv_timer_t *timer)
{
    settle(timer->data, NULL);
}

/* It begins with what it is for: so who reads it finds it, and here no more is known of it. */
static void on_message(void *data, struct proto_message *message)
{
    struct binary_maker *maker = data;
    const void *bytes;
    size_t size;
    if (maker->made) return;
    account(maker); /* while it is there */
    bool good = message->kind == PROTO_REPLY && message->status == FUSION_SUCCESS &&
                proto_get_bytes(&message->params, "binary", &bytes, &size) && size <= MAX_BYTES - sizeof(uint64_t) &&
                is_for(bytes, size, maker->now);
    if (good) maker->made = blob_new(bytes, size);
    /* From the loop: the connection is in use here. */
    uv_timer_start(&maker->timer, good ? on_made : on_failed, 0, 0);
}

static void on_ended(void *data, fusion_status why, const char *reason)
{
    struct binary_maker *maker = data;
    (void)why, (void)reason;
    if (!maker->made) uv_timer_start(&maker->timer, on_failed, 0, 0);
}

static void on_exit_status(void *data, int status)
{
    struct binary_maker *maker = data;
    (void)status;
    maker->child = NULL;
}

static const struct peer_events events = {.message = on_message, .ended = on_ended};

static void send_job(struct binary_maker *maker)
{
    const struct making *m = maker->now;
    struct proto_writer w;
    proto_begin_request(&w, 1, "binary.make");
    proto_pack_map(&w, 1);
    proto_pack_bytes(&w, "key", m->key, m->key_size);
    w.fds[w.n_fds++] = m->code->fd;
    peer_send(maker->peer, &w);
}

static bool run(struct binary_maker *maker)
{
    struct broker *broker = maker->broker;
    const char *const command[] = {broker->options.executor, "--binary", maker->now->device, NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    maker->peer = peer_new(&broker->loop, pair[0], SIZE_MAX, &events, maker);
    if (maker->peer)
        maker->child = child_spawn(&broker->children, command, &pair[1], 1, NULL, -1, &priority_of_binaries,
                                   on_exit_status, maker);
    close(pair[1]);
    if (maker->child) {
        peer_charge_reply(maker->peer, maker->now->user);
        send_job(maker);
    }
    return maker->child;
}

/* Users take turns. */
static struct making *pick(const struct binary_maker *maker)
{
    struct making *m;
    TAILQ_FOREACH(m, &maker->waiting, link)
    if (m->user->uid != maker->last) return m;
    return TAILQ_FIRST(&maker->waiting);
}

static void start(struct binary_maker *maker)
{
    struct making *m = maker->now ? NULL : pick(maker);
    if (!m) return;
    TAILQ_REMOVE(&maker->waiting, m, link);
    maker->n_waiting--;
    maker->now = m;
    maker->last = m->user->uid;
    maker->used_ns = 0;
    bool runs = run(maker);
    uv_timer_start(&maker->timer, runs ? on_timer : on_failed, runs ? LIMIT_MS : 0, 0);
}

/* ---- wishes ---- */

static struct hash id_of(const struct binary_wish *wish)
{
    struct hasher h;
    hasher_begin(&h, "binary of a driver");
    hasher_add_hash(&h, &wish->object);
    hasher_add(&h, wish->key, wish->key_size);
    return hasher_end(&h);
}

/* Is it under way, or is there no room for it? */
static bool is_enough(const struct binary_maker *maker, const struct making *m)
{
    const struct making *other;
    uint32_t of_user = 0;
    if (maker->now && hash_equal(&maker->now->id, &m->id)) return true;
    TAILQ_FOREACH(other, &maker->waiting, link)
    {
        of_user += other->user == m->user;
        if (hash_equal(&other->id, &m->id)) return true;
    }
    return of_user >= MAX_OF_USER || maker->n_waiting >= MAX_WAITING;
}

void binary_maker_wish(struct binary_maker *maker, struct user *user, const struct binary_wish *wish)
{
    if (wish->key_size == 0 || wish->key_size > BINARY_MAX_KEY) return;
    struct making *m = malloc(sizeof *m + wish->key_size);
    if (!m) return;
    *m = (struct making){.user = user_ref(user),
                         .device = wish->device,
                         .object = wish->object,
                         .id = id_of(wish),
                         .code = code_ref(wish->code),
                         .refused = wish->refused,
                         .key_size = wish->key_size};
    memcpy(m->key, wish->key, wish->key_size);
    bool given_up = map_find(&maker->given_up, hash_prefix(&m->id));
    if (given_up || is_enough(maker, m) || !quota_allows(user, uv_hrtime(), NULL) ||
        (!m->refused && is_there(maker, m))) {
        free_making(m);
        return;
    }
    TAILQ_INSERT_TAIL(&maker->waiting, m, link);
    maker->n_waiting++;
    start(maker);
}
