/* What is asked and told of the server. */
#include "daemon/broker/cache/remote.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "daemon/broker/cache/redis_link.h"
#include "daemon/broker/cache/remote_entry.h"
#include "daemon/broker/core/log.h"

enum {
    TICK_MS = 50,      /* while answers are waited for, */
    IDLE_MS = 500,     /* and while none are */
    LATE_MS = 250,     /* nobody waits longer for an answer */
    MOST_LATE = 4,     /* so many answers in a row that did not come in time: the server is left alone for a while */
    CONNECT_MS = 2000, /* to be connected */
    FIRST_RETRY_MS = 500,
    LAST_RETRY_MS = 10000,
    MOST_ENTRY = 16 << 20,  /* bytes */
    MOST_WRITING = 64 << 20 /* bytes that the server has not confirmed */
};

/* A question whose answer has not come. */
struct remote_call {
    LIST_ENTRY(remote_call) link;
    struct remote *remote;
    struct remote_ask *ask; /* NULL: nobody wants to know any more */
    enum cache_kind kind;
    struct hash key;
    remote_answer *answer;
    void *data;
    uint64_t since_ms;
};

struct remote {
    uv_loop_t *loop;
    uv_timer_t *tick; /* on the heap: it is closed later than the rest */
    char *server, *address;
    int port; /* 0: the server is a path */
    struct remote_key key;
    struct redis_link *link; /* NULL: there is no connection */
    bool is_up, is_closing, said_rejected;
    uint64_t since_ms, retry_ms; /* the connection was begun or lost; until the next one */
    uint32_t late;
    size_t writing;
    LIST_HEAD(, remote_call) calls;
    struct remote_counts counts;
};

/* ---- the connection ---- */

/* Commands under way are answered when the connection is closed. */
static void drop(struct remote *r, const char *why)
{
    struct redis_link *link = r->link;
    if (r->is_up || r->retry_ms == FIRST_RETRY_MS) log_warning("cache server %s: %s", r->server, why);
    r->link = NULL;
    r->is_up = false;
    r->late = 0;
    r->since_ms = uv_now(r->loop);
    r->retry_ms = r->retry_ms * 2 < LAST_RETRY_MS ? r->retry_ms * 2 : LAST_RETRY_MS;
    redis_link_close(link);
}

static void on_up(void *data)
{
    struct remote *r = data;
    log_info("cache server %s: connected", r->server);
    r->is_up = true;
}

static void on_lost(void *data, const char *reason)
{
    drop(data, reason);
}

static const struct redis_link_events events = {.up = on_up, .lost = on_lost};

static void connect_now(struct remote *r)
{
    r->since_ms = uv_now(r->loop);
    r->link = redis_link_open(r->loop, r->address, r->port, MOST_ENTRY + REMOTE_MAC_BYTES, &events, r);
    if (!r->link) drop(r, "it cannot be connected to");
}

/* ---- questions ---- */

static void on_tick(uv_timer_t *timer);

static void answer(struct remote_call *call, struct blob *blob)
{
    if (!call->ask) return;
    call->ask->call = NULL;
    call->ask = NULL;
    LIST_REMOVE(call, link);
    call->answer(call->data, blob);
}

static struct blob *take(struct remote_call *call, enum redis_answer kind, const void *bytes, size_t size)
{
    struct remote *r = call->remote;
    if (kind != REDIS_BYTES) {
        r->counts.misses++;
        return NULL;
    }
    struct blob *blob = remote_entry_read(&r->key, call->kind, &call->key, bytes, size);
    if (blob)
        r->counts.hits++;
    else
        r->counts.rejected++;
    if (!blob && !r->said_rejected) log_warning("cache server %s: entries that are not ours are there", r->server);
    r->said_rejected |= !blob;
    return blob;
}

static void on_reply(void *data, enum redis_answer kind, const void *bytes, size_t size)
{
    struct remote_call *call = data;
    if (kind != REDIS_LOST) call->remote->retry_ms = FIRST_RETRY_MS;
    if (call->ask) {
        if (kind != REDIS_LOST) call->remote->late = 0;
        struct blob *blob = call->remote->is_closing ? NULL : take(call, kind, bytes, size);
        answer(call, blob);
        blob_unref(blob);
    }
    free(call);
}

bool remote_get(struct remote *r, enum cache_kind kind, const struct hash *key, struct remote_ask *ask,
                remote_answer *done, void *data)
{
    char name[REMOTE_NAME_SIZE];
    ask->call = NULL;
    if (!r || !r->is_up) return false;
    struct remote_call *call = calloc(1, sizeof *call);
    if (!call) return false;
    *call = (struct remote_call){
        .remote = r, .ask = ask, .kind = kind, .key = *key, .answer = done, .data = data, .since_ms = uv_now(r->loop)};
    remote_entry_name(name, kind, key);
    const struct redis_word words[] = {{"GET", 3}, {name, strlen(name)}};
    if (!redis_link_send(r->link, words, 2, on_reply, call)) {
        free(call);
        return false;
    }
    if (LIST_EMPTY(&r->calls)) uv_timer_start(r->tick, on_tick, TICK_MS, TICK_MS);
    LIST_INSERT_HEAD(&r->calls, call, link);
    ask->call = call;
    return true;
}

void remote_cancel(struct remote_ask *ask)
{
    if (!ask->call) return;
    LIST_REMOVE(ask->call, link);
    ask->call->ask = NULL;
    ask->call = NULL;
}

/* ---- writing ---- */

struct writing {
    struct remote *remote;
    size_t bytes;
};

static void on_written(void *data, enum redis_answer kind, const void *bytes, size_t size)
{
    struct writing *w = data;
    (void)bytes, (void)size;
    w->remote->writing -= w->bytes;
    w->remote->counts.writes += kind == REDIS_DONE;
    free(w);
}

void remote_put(struct remote *r, enum cache_kind kind, const struct hash *key, const struct blob *blob)
{
    char name[REMOTE_NAME_SIZE];
    if (!r || !r->is_up || blob->size > MOST_ENTRY || r->writing + blob->size > MOST_WRITING) return;
    size_t size = REMOTE_MAC_BYTES + blob->size;
    uint8_t *entry = malloc(size);
    struct writing *w = malloc(sizeof *w);
    if (entry && w) {
        *w = (struct writing){r, size};
        remote_entry_name(name, kind, key);
        remote_entry_mac(&r->key, kind, key, blob->data, blob->size, entry);
        memcpy(entry + REMOTE_MAC_BYTES, blob->data, blob->size);
        const struct redis_word words[] = {{"SET", 3}, {name, strlen(name)}, {entry, size}};
        if (redis_link_send(r->link, words, 3, on_written, w)) {
            r->writing += size;
            w = NULL;
        }
    }
    free(w);
    free(entry);
}

/* ---- time ---- */

static void end_late_calls(struct remote *r)
{
    struct remote_call *call, *next;
    for (call = LIST_FIRST(&r->calls); call; call = next) {
        next = LIST_NEXT(call, link);
        if (uv_now(r->loop) - call->since_ms < LATE_MS) continue;
        r->counts.late++;
        r->late++;
        answer(call, NULL);
        next = LIST_FIRST(&r->calls); /* whoever was told may have asked again */
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct remote *r = timer->data;
    uint64_t age = uv_now(r->loop) - r->since_ms;
    end_late_calls(r);
    if (r->late >= MOST_LATE) {
        r->retry_ms = LAST_RETRY_MS / 2;
        drop(r, "it does not answer in time");
    } else if (!r->link && age >= r->retry_ms) {
        connect_now(r);
    } else if (r->link && !r->is_up && age >= CONNECT_MS) {
        drop(r, "it does not take the connection");
    }
    uv_timer_set_repeat(timer, LIST_EMPTY(&r->calls) ? IDLE_MS : TICK_MS);
}

/* ---- life ---- */

static bool read_address(struct remote *r)
{
    unsigned char number[sizeof(struct in6_addr)];
    char *colon = strrchr(r->address, ':');
    if (r->address[0] == '/') return true;
    if (!colon) return false;
    *colon = 0;
    r->port = atoi(colon + 1);
    bool is_number = inet_pton(AF_INET, r->address, number) == 1 || inet_pton(AF_INET6, r->address, number) == 1;
    return is_number && r->port > 0 && r->port < 65536;
}

static void free_timer(uv_handle_t *timer)
{
    free(timer);
}

struct remote *remote_open(uv_loop_t *loop, const char *server, const char *key_file, struct error *e)
{
    struct remote *r = calloc(1, sizeof *r);
    uv_timer_t *tick = calloc(1, sizeof *tick);
    if (!r || !tick) abort();
    r->loop = loop;
    r->retry_ms = FIRST_RETRY_MS;
    r->server = strdup(server);
    r->address = strdup(server);
    LIST_INIT(&r->calls);
    bool good =
        read_address(r) || error_set(e, 1, NULL, "%s is neither a path nor a numeric ADDRESS:PORT", server) == 0;
    if (!good || remote_key_read(&r->key, key_file, e) != 0) {
        free(tick);
        remote_close(r);
        return NULL;
    }
    r->tick = tick;
    tick->data = r;
    uv_timer_init(loop, tick);
    uv_timer_start(tick, on_tick, 0, IDLE_MS);
    uv_unref((uv_handle_t *)tick);
    return r;
}

void remote_close(struct remote *r)
{
    if (!r) return;
    r->is_closing = true;
    redis_link_close(r->link);
    if (r->tick) uv_close((uv_handle_t *)r->tick, free_timer);
    free(r->server);
    free(r->address);
    free(r);
}

struct remote_counts remote_stats(const struct remote *r)
{
    return r ? r->counts : (struct remote_counts){0};
}
