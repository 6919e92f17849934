/* Which host pipe an address of this program stands for. It is there before main(), and for all sessions. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/module/pipe.h"

static struct {
    pthread_mutex_t lock;
    struct entry {
        const void *address;
        char *id;
        unsigned added; /* times: by as many units */
        struct entry *next;
    } * first;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct entry **find_entry(const void *address)
{
    struct entry **link = &registry.first;
    while (*link && (*link)->address != address) link = &(*link)->next;
    return link;
}

static fusion_status add_entry(const void *address, const char *id)
{
    struct entry **link = find_entry(address);
    if (*link && strcmp((*link)->id, id) != 0)
        return client_error(FUSION_INVALID, id, "the address %p stands for the host pipe %s already", address,
                            (*link)->id);
    if (*link) {
        (*link)->added++;
        return FUSION_SUCCESS;
    }
    struct entry *e = malloc(sizeof *e);
    char *copy = strdup(id);
    if (!e || !copy) {
        free(e);
        free(copy);
        return client_no_memory(id);
    }
    *e = (struct entry){address, copy, 1, NULL};
    *link = e;
    return FUSION_SUCCESS;
}

fusion_status fusion_host_pipe_map_add(const void *address, const char *id)
{
    if (!address || !id || !*id) return client_error(FUSION_INVALID, "host pipe", "an address and an id are needed");
    pthread_mutex_lock(&registry.lock);
    fusion_status status = add_entry(address, id);
    pthread_mutex_unlock(&registry.lock);
    return status;
}

void fusion_host_pipe_map_remove(const void *address)
{
    pthread_mutex_lock(&registry.lock);
    struct entry **link = find_entry(address), *e = *link;
    if (e && --e->added) e = NULL;
    if (e) *link = e->next;
    pthread_mutex_unlock(&registry.lock);
    if (e) free(e->id);
    free(e);
}

/* A copy, as another thread may remove it; NULL: there is none, or no memory. */
static char *id_at(const void *address)
{
    pthread_mutex_lock(&registry.lock);
    const struct entry *e = *find_entry(address);
    char *id = e ? strdup(e->id) : NULL;
    pthread_mutex_unlock(&registry.lock);
    return id;
}

fusion_status fusion_pipe_open_host(fusion_module *m, const void *address, const char *device, fusion_pipe **pipe)
{
    char *id = id_at(address);
    if (!id) return client_error(FUSION_NOT_FOUND, m->name, "the address %p stands for no host pipe", address);
    fusion_status status = fusion_pipe_open(m, id, device, pipe);
    free(id);
    return status;
}
