/* What GPUs there are. */
#include "daemon/broker/session/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/broker/core/log.h"
#include "daemon/broker/core/peer.h"
#include "proto/fields.h"

enum { LIMIT_MS = 10000, LATE_MS = 120000, MAX_GPUS = 8, MAX_TEXT = 256 };

struct gpus {
    struct broker *broker;
    void (*settled_fn)(struct broker *broker);
    bool asked, settled, late; /* late: nobody waits for it any more, but it may still say something */
    struct child *child;       /* NULL: none is asked */
    struct peer *peer;
    uv_timer_t limit;
    struct gpu list[MAX_GPUS];
    uint32_t n;
};

struct gpus *gpus_new(struct broker *broker, void (*settled)(struct broker *broker))
{
    struct gpus *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->broker = broker;
    g->settled_fn = settled;
    uv_timer_init(&broker->loop, &g->limit);
    g->limit.data = g;
    return g;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void gpus_free(struct gpus *g)
{
    if (!g) return;
    child_abandon(g->child);
    peer_close(g->peer, false);
    for (uint32_t i = 0; i < g->n; i++) {
        free(g->list[i].name);
        free(g->list[i].absent);
        blob_unref(g->list[i].device);
        blob_unref(g->list[i].description);
    }
    uv_close((uv_handle_t *)&g->limit, on_closed);
}

/* From here on nothing changes. What has not been told is absent, and nobody is asked again. */
static void settle(struct gpus *g, const char *why)
{
    if (why) log_warning("GPUs are not known: %s", why);
    uv_timer_stop(&g->limit);
    peer_close(g->peer, false);
    g->peer = NULL;
    child_abandon(g->child);
    g->child = NULL;
    g->late = false;
    if (g->settled) return;
    g->settled = true;
    g->settled_fn(g->broker);
}

/* ---- the process that knows ---- */

static bool take(struct gpu *gpu, const msgpack_object *o)
{
    const void *bytes;
    size_t size;
    if (o->type != MSGPACK_OBJECT_MAP || !proto_get_string(o, "name", &gpu->name, MAX_TEXT)) return false;
    const msgpack_object *device = proto_get(o, "device");
    if (device && device->type == MSGPACK_OBJECT_MAP && proto_get_bytes(o, "description", &bytes, &size)) {
        gpu->device = blob_pack(device);
        gpu->description = gpu->device ? blob_new(bytes, size) : NULL;
        if (!gpu->description) gpu->absent = strdup("out of memory");
    } else if (!proto_get_string(o, "absent", &gpu->absent, MAX_TEXT)) {
        gpu->absent = strdup("it did not say why");
    }
    return true;
}

static void on_told(uv_timer_t *timer)
{
    struct gpus *g = timer->data;
    settle(g, g->n ? NULL : "the process that looks for them did not answer");
}

/* Who has asked is told that there are none. On a machine that has too much to do whoever asks later may have them. */
static void on_limit(uv_timer_t *timer)
{
    struct gpus *g = timer->data;
    log_warning("GPUs are not known yet: the process that looks for them has not answered in %d s", LIMIT_MS / 1000);
    g->late = g->settled = true;
    uv_timer_start(&g->limit, on_told, LATE_MS, 0);
    g->settled_fn(g->broker);
}

static void on_message(void *data, struct proto_message *m)
{
    struct gpus *g = data;
    const msgpack_object *list = m->kind == PROTO_NOTICE ? proto_get(&m->params, "gpus") : NULL;
    uint64_t tested = 0;
    if (g->n || (g->settled && !g->late) || !list || list->type != MSGPACK_OBJECT_ARRAY) return;
    proto_get_uint(&m->params, "tested", &tested);
    g->broker->counters.drivers_tested += tested;
    for (uint32_t i = 0; i < list->via.array.size && g->n < MAX_GPUS; i++)
        if (take(&g->list[g->n], &list->via.array.ptr[i])) g->n++;
    uv_timer_start(&g->limit, on_told, 0, 0); /* from the loop: the connection is in use here */
}

static void on_ended(void *data, fusion_status why, const char *reason)
{
    struct gpus *g = data;
    (void)why, (void)reason;
    uv_timer_start(&g->limit, on_told, 0, 0);
}

static void on_exit_status(void *data, int status)
{
    struct gpus *g = data;
    char ending[128];
    g->child = NULL;
    if (g->n || !status) return;
    child_describe(status, ending, sizeof ending);
    log_warning("the process that looks for GPUs %s", ending);
}

static const struct peer_events events = {.message = on_message, .ended = on_ended};

static const char *ask(struct gpus *g)
{
    const char *const command[] = {g->broker->options.executor, "--describe", NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return "too many open files";
    g->peer = peer_new(&g->broker->loop, pair[0], SIZE_MAX, &events, g);
    if (g->peer)
        g->child = child_spawn(&g->broker->children, command, &pair[1], 1, NULL, -1, &priority_of_executors,
                               on_exit_status, g);
    close(pair[1]);
    return g->child ? NULL : "no process can be started to look for them";
}

static void on_ask(uv_timer_t *timer)
{
    struct gpus *g = timer->data;
    const char *failure = ask(g);
    if (failure)
        settle(g, failure);
    else
        uv_timer_start(&g->limit, on_limit, LIMIT_MS, 0);
}

bool gpus_settled(struct gpus *g)
{
    if (!g->asked) uv_timer_start(&g->limit, on_ask, 0, 0); /* from the loop: whoever asks is not told while he asks */
    g->asked = true;
    return g->settled;
}

const struct gpu *gpus_get(const struct gpus *g, uint32_t index)
{
    return index < g->n ? &g->list[index] : NULL;
}

const struct gpu *gpus_find(const struct gpus *g, const char *name)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (strcmp(g->list[i].name, name) == 0) return &g->list[i];
    return NULL;
}
