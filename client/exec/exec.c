/* Executables: what they keep of their graph, and their end. */
#include "client/exec/exec.h"

#include <stdlib.h>
#include <string.h>

#include "client/exec/saved_memory.h"
#include "client/session/request.h"
#include "client/session/wait.h"

/* Of the graph that the caller knows. */
static void copy_nodes(fusion_exec *e, const fusion_graph *g)
{
    const struct proto_graph *w = &g->wire;
    e->n_nodes = w->n_nodes;
    e->node_names = client_pool_array(&e->pool, w->n_nodes, sizeof *e->node_names);
    e->nodes = client_pool_array(&e->pool, w->n_nodes, sizeof *e->nodes);
    for (uint32_t i = 0; i < w->n_nodes && !e->pool.failed; i++) {
        const struct proto_node *n = &w->nodes[i];
        e->node_names[i] = client_pool_text(&e->pool, n->name, strlen(n->name));
        e->nodes[i] = (struct exec_node){
            .kind = n->kind, .n_args = n->n_args, .n_deps = n->n_deps, .from = n->from, .to = n->to, .dims = n->dims};
        memcpy(e->nodes[i].global, n->global, sizeof n->global);
        memcpy(e->nodes[i].local, n->local, sizeof n->local);
        e->nodes[i].args = client_pool_copy(&e->pool, n->args, n->n_args * sizeof *n->args);
        e->nodes[i].deps = client_pool_copy(&e->pool, n->deps, n->n_deps * sizeof *n->deps);
    }
}

/* Of the graph as it goes to the service. */
static void copy_memory_and_types(fusion_exec *e, const fusion_graph *flat)
{
    const struct proto_graph *w = &flat->wire;
    e->n_slots = w->n_slots;
    e->n_values = w->n_values;
    e->slot_names = client_pool_array(&e->pool, w->n_slots, sizeof *e->slot_names);
    e->slot_bytes = client_pool_array(&e->pool, w->n_slots, sizeof *e->slot_bytes);
    e->slot_images = client_pool_array(&e->pool, w->n_slots, sizeof *e->slot_images);
    for (uint32_t i = 0; i < w->n_slots && !e->pool.failed; i++) {
        e->slot_names[i] = client_pool_text(&e->pool, w->slots[i].name, strlen(w->slots[i].name));
        e->slot_bytes[i] = w->slots[i].bytes;
        e->slot_images[i] = w->slots[i].image;
    }
    e->value_types = client_pool_array(&e->pool, w->n_values, sizeof *e->value_types);
    for (uint32_t i = 0; i < w->n_values && e->value_types; i++) e->value_types[i] = flat->values[i].type;
    e->slot_memory = client_pool_copy(&e->pool, flat->slot_memory, w->n_slots * sizeof *e->slot_memory);
}

/* PROTO_ACCESS_... are the bits of SLOT_READ and SLOT_WRITTEN; those of this process lie two higher. */
static void find_accesses(fusion_exec *e, const fusion_graph *flat)
{
    e->slot_access = client_pool_array(&e->pool, e->n_slots, sizeof *e->slot_access);
    for (uint32_t i = 0; i < flat->wire.n_nodes && e->slot_access; i++) {
        const struct proto_node *n = &flat->wire.nodes[i];
        for (uint32_t a = 0; a < n->n_args; a++)
            if (n->args[a].kind == PROTO_ARG_SLOT)
                e->slot_access[n->args[a].index] |=
                    (uint8_t)(n->args[a].access << (n->kind == PROTO_NODE_HOST ? 2 : 0));
        if (n->kind == PROTO_NODE_COPY) e->slot_access[n->from] |= SLOT_READ;
        if (n->kind == PROTO_NODE_COPY || n->kind == PROTO_NODE_FILL) e->slot_access[n->to] |= SLOT_WRITTEN;
    }
}

static void free_exec(struct client_object *object)
{
    fusion_exec *e = (fusion_exec *)object;
    pthread_mutex_destroy(&e->rounds.lock);
    client_pool_clear(&e->pool);
    free(e);
}

fusion_exec *client_exec_new(const fusion_graph *g, const fusion_graph *flat)
{
    fusion_exec *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    pthread_mutex_init(&e->rounds.lock, NULL);
    e->session = g->session;
    e->recording = g->recording;
    copy_nodes(e, g);
    copy_memory_and_types(e, flat);
    find_accesses(e, flat);
    if (e->pool.failed) {
        free_exec(&e->object);
        return NULL;
    }
    client_object_add(e->session, &e->object, free_exec);
    return e;
}

void fusion_exec_destroy(fusion_exec *e)
{
    if (!e) return;
    if (e->last_event) client_wait(e->session, e->last_event, -1, NULL);
    if (e->rounds.drop) e->rounds.drop(e);
    for (uint32_t i = 0; i < e->n_actions; i++) fusion_exec_destroy(e->actions[i].exec);
    if (e->id) client_release(e->session, "executable.release", "executable", e->id);
    if (e->owns_memory) client_saved_memory_drop(e->session, e->slot_memory, e->n_slots);
    for (uint32_t i = 0; i < e->n_modules; i++) fusion_module_destroy(e->modules[i]);
    client_object_remove(e->session, &e->object);
    free_exec(&e->object);
}

const fusion_report *fusion_exec_report(const fusion_exec *e)
{
    return &e->report;
}

const char *fusion_exec_node_name(const fusion_exec *e, fusion_node node)
{
    return node < e->n_nodes ? e->node_names[node] : NULL;
}
