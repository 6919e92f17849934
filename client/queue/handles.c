/* The handles of a queue's commands. */
#include "client/queue/handles.h"

#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"

enum { MOST_KEPT = 64 };

struct queue_handles {
    pthread_mutex_t lock; /* nothing else is taken with it held */
    uint32_t n, next_evict;
    struct queue_handle *kept[MOST_KEPT];
};

struct queue_handles *queue_handles_new(void)
{
    struct queue_handles *handles = calloc(1, sizeof *handles);
    if (handles) pthread_mutex_init(&handles->lock, NULL);
    return handles;
}

static void free_handle(struct queue_handle *h)
{
    if (!h) return;
    free(h->key);
    free(h);
}

static void end_handle(struct queue_handle *h)
{
    if (h) fusion_exec_destroy(h->exec);
    free_handle(h);
}

/* What makes two one-node graphs the same handle: the wire graph and the modules, not buffers or values. */
static uint8_t *key_of(const fusion_graph *g, size_t *size)
{
    size_t graph_size;
    uint8_t *bytes = proto_graph_encode(&g->wire, &graph_size);
    size_t modules = g->wire.n_modules * sizeof *g->modules;
    uint8_t *key = bytes ? realloc(bytes, graph_size + modules) : NULL;
    if (!key) {
        free(bytes);
        return NULL;
    }
    if (modules) memcpy(key + graph_size, g->modules, modules);
    *size = graph_size + modules;
    return key;
}

static struct queue_handle *find(struct queue_handles *handles, const uint8_t *key, size_t size, bool alone)
{
    struct queue_handle *found = NULL;
    pthread_mutex_lock(&handles->lock);
    for (uint32_t i = 0; i < handles->n && !found; i++) {
        struct queue_handle *h = handles->kept[i];
        if (h->key_size == size && memcmp(h->key, key, size) == 0 && !(alone && h->users)) found = h;
    }
    if (found) found->users++;
    pthread_mutex_unlock(&handles->lock);
    return found;
}

/* Keeps it, in the place of another one where there are many. */
static void keep(struct queue_handles *handles, struct queue_handle *h)
{
    pthread_mutex_lock(&handles->lock);
    uint32_t place = handles->n < MOST_KEPT ? handles->n++ : handles->next_evict++ % MOST_KEPT;
    struct queue_handle *before = handles->kept[place];
    handles->kept[place] = h;
    if (before) before->kept = false;
    if (before && before->users) before = NULL; /* it ends with its last user */
    pthread_mutex_unlock(&handles->lock);
    end_handle(before);
}

fusion_status queue_handles_take(struct queue_handles *handles, fusion_graph *g, bool alone,
                                 struct queue_handle **handle)
{
    struct queue_handle made = {.users = 1, .kept = true}, *h;
    made.key = key_of(g, &made.key_size);
    if (!made.key) return client_no_memory("queue");
    h = *handle = find(handles, made.key, made.key_size, alone);
    if (h) {
        free(made.key);
        return FUSION_SUCCESS;
    }
    h = malloc(sizeof *h);
    fusion_status status = h ? fusion_graph_finalize(g, NULL, &made.exec) : client_no_memory("queue");
    if (status != FUSION_SUCCESS) {
        free(made.key);
        free(h);
        return status;
    }
    *h = made;
    keep(handles, h);
    *handle = h;
    return FUSION_SUCCESS;
}

void queue_handles_release(struct queue_handles *handles, struct queue_handle *h)
{
    pthread_mutex_lock(&handles->lock);
    bool ends = --h->users == 0 && !h->kept;
    pthread_mutex_unlock(&handles->lock);
    if (ends) end_handle(h);
}

void queue_handles_end(struct queue_handles *handles)
{
    for (uint32_t i = 0; i < handles->n; i++) {
        fusion_exec_destroy(handles->kept[i]->exec);
        handles->kept[i]->exec = NULL;
    }
}

void queue_handles_free(struct queue_handles *handles)
{
    if (!handles) return;
    for (uint32_t i = 0; i < handles->n; i++) free_handle(handles->kept[i]);
    pthread_mutex_destroy(&handles->lock);
    free(handles);
}
