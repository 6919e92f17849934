/* Finalizing: a graph goes to the service, a handle with its report comes back. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/internal.h"

struct request {
    const fusion_graph *graph;
    const fusion_finalize_options *options;
    const uint8_t *bytes;
    size_t size;
};

static void pack_ids(struct proto_writer *w, const char *key, const uint64_t *ids, uint32_t n)
{
    proto_pack_key(w, key);
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; i < n; i++) msgpack_pack_uint64(&w->packer, ids[i]);
}

static void pack_values(struct proto_writer *w, const fusion_graph *g)
{
    proto_pack_key(w, "values");
    msgpack_pack_array(&w->packer, g->wire.n_values);
    for (uint32_t i = 0; i < g->wire.n_values; i++) {
        msgpack_pack_bin(&w->packer, g->values[i].size);
        msgpack_pack_bin_body(&w->packer, g->values[i].data, g->values[i].size);
    }
}

static void pack_finalize(struct proto_writer *w, const void *data)
{
    const struct request *r = data;
    const fusion_finalize_options *o = r->options;
    proto_pack_map(w, 10);
    proto_pack_bytes(w, "graph", r->bytes, r->size);
    pack_ids(w, "modules", r->graph->modules, r->graph->wire.n_modules);
    proto_pack_uint(w, "mode", o->mode);
    proto_pack_bool(w, "insert_barriers", o->insert_barriers);
    proto_pack_string(w, "device", o->device ? o->device : "cpu");
    proto_pack_bool(w, "keep_ir", o->keep_ir);
    proto_pack_bool(w, "keep_assembly", o->keep_assembly);
    proto_pack_bool(w, "debug", o->debug);
    pack_ids(w, "bindings", r->graph->slot_memory, r->graph->wire.n_slots);
    pack_values(w, r->graph);
}

/* ---- the reply ---- */

static void *pool_array(fusion_exec *e, uint32_t n, size_t item)
{
    void *memory = obstack_alloc(&e->pool, (int)((n ? n : 1) * item));
    return memset(memory, 0, (n ? n : 1) * item);
}

static msgpack_object_array get_array(const msgpack_object *map, const char *key)
{
    const msgpack_object *o = map && map->type == MSGPACK_OBJECT_MAP ? proto_get(map, key) : NULL;
    return o && o->type == MSGPACK_OBJECT_ARRAY ? o->via.array : (msgpack_object_array){0};
}

/* A number below `limit`. */
static bool read_index(const msgpack_object *o, uint32_t limit, uint32_t *index)
{
    if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || o->via.u64 >= limit) return false;
    *index = (uint32_t)o->via.u64;
    return true;
}

/* Numbers of nodes, each once at most. seen: by node. */
static bool read_nodes(fusion_exec *e, msgpack_object_array list, bool *seen, uint32_t n_flat, const uint32_t **nodes,
                       uint32_t *n)
{
    uint32_t *numbers = pool_array(e, list.size, sizeof *numbers);
    for (uint32_t i = 0; i < list.size; i++) {
        if (!read_index(&list.ptr[i], n_flat, &numbers[i]) || seen[numbers[i]]) return false;
        seen[numbers[i]] = true;
    }
    *nodes = numbers;
    *n = list.size;
    return true;
}

static const char *optional_text(fusion_exec *e, const msgpack_object *map, const char *key)
{
    const msgpack_object *o = proto_get(map, key);
    return o && o->type == MSGPACK_OBJECT_STR ? client_pool_string(&e->pool, o) : NULL;
}

static bool read_groups(fusion_exec *e, msgpack_object_array list, uint32_t n_flat)
{
    fusion_group *groups = pool_array(e, list.size, sizeof *groups);
    bool *seen = pool_array(e, n_flat, sizeof *seen);
    for (uint32_t i = 0; i < list.size; i++) {
        const msgpack_object *map = &list.ptr[i];
        uint64_t lanes = 0;
        proto_get_uint(map, "lanes", &lanes);
        groups[i].lanes = (uint32_t)lanes;
        if (!read_nodes(e, get_array(map, "nodes"), seen, n_flat, &groups[i].nodes, &groups[i].n_nodes)) return false;
        groups[i].kernel = client_pool_get(&e->pool, map, "kernel");
        groups[i].effort = optional_text(e, map, "effort");
        if (!groups[i].effort) groups[i].effort = "";
        groups[i].ir = optional_text(e, map, "ir");
        groups[i].assembly = optional_text(e, map, "assembly");
    }
    e->report.groups = groups;
    e->report.n_groups = e->report.launches = list.size;
    return true;
}

static bool is_home(const char *text)
{
    return strcmp(text, "memory") == 0 || strcmp(text, "private") == 0 || strcmp(text, "local") == 0;
}

/* Homes by slot; what is not in memory was internalized. */
static bool read_homes(fusion_exec *e, msgpack_object_array list, msgpack_object_array saved)
{
    fusion_internalized *internalized = pool_array(e, e->n_slots, sizeof *internalized);
    e->slot_needed = pool_array(e, e->n_slots, sizeof *e->slot_needed);
    e->slot_saved = pool_array(e, e->n_slots, sizeof *e->slot_saved);
    if (list.size != e->n_slots) return false;
    for (uint32_t i = 0; i < e->n_slots; i++) {
        const char *home = client_pool_string(&e->pool, &list.ptr[i]);
        if (!is_home(home)) return false;
        e->slot_needed[i] = strcmp(home, "memory") == 0;
        if (e->slot_needed[i]) continue;
        if (i < saved.size && saved.ptr[i].type == MSGPACK_OBJECT_POSITIVE_INTEGER)
            e->slot_saved[i] = saved.ptr[i].via.u64;
        internalized[e->report.n_internalized++] = (fusion_internalized){
            .buffer = e->slot_names[i], .memory = home, .bytes = e->slot_bytes[i], .traffic = e->slot_saved[i]};
    }
    e->report.internalized = internalized;
    return true;
}

static void read_remarks(fusion_exec *e, msgpack_object_array list)
{
    fusion_remark *remarks = pool_array(e, list.size, sizeof *remarks);
    for (uint32_t i = 0; i < list.size; i++) {
        remarks[i].code = client_pool_get(&e->pool, &list.ptr[i], "code");
        remarks[i].node = client_pool_get(&e->pool, &list.ptr[i], "node");
        remarks[i].buffer = client_pool_get(&e->pool, &list.ptr[i], "buffer");
        remarks[i].text = client_pool_get(&e->pool, &list.ptr[i], "text");
    }
    e->report.remarks = remarks;
    e->report.n_remarks = list.size;
}

/* n_flat: nodes of the graph as it went to the service. What is used as an index later, or counted on to be there, is
   checked here. */
static fusion_status read_report(fusion_exec *e, const msgpack_object *reply, uint32_t n_flat)
{
    const msgpack_object *report = proto_get(reply, "report");
    bool *seen = pool_array(e, n_flat, sizeof *seen);
    e->report.cache = client_pool_get(&e->pool, reply, "cache");
    if (!proto_get_uint(reply, "executable", &e->id) || !report || report->type != MSGPACK_OBJECT_MAP)
        return client_error(FUSION_PROTOCOL, "graph.finalize", "the reply has no executable, or no report");
    if (!read_nodes(e, get_array(report, "order"), seen, n_flat, &e->report.order, &e->report.n_order) ||
        e->report.n_order != n_flat)
        return client_error(FUSION_PROTOCOL, "graph.finalize",
                            "the report's order does not have each of the %u nodes once", n_flat);
    if (!read_groups(e, get_array(report, "launches"), n_flat))
        return client_error(FUSION_PROTOCOL, "graph.finalize",
                            "the report's launches have nodes that there are none of, or some twice");
    if (!read_homes(e, get_array(report, "homes"), get_array(report, "saved")))
        return client_error(FUSION_PROTOCOL, "graph.finalize",
                            "the report does not say where each of the %u buffers is", e->n_slots);
    read_remarks(e, get_array(report, "remarks"));
    proto_get_uint(report, "bytes_fused", &e->report.bytes_fused);
    proto_get_uint(report, "bytes_unfused", &e->report.bytes_unfused);
    return FUSION_SUCCESS;
}

/* ---- the handle ---- */

static void *pool_copy(fusion_exec *e, const void *data, size_t bytes)
{
    return bytes ? obstack_copy(&e->pool, data, (int)bytes) : obstack_alloc(&e->pool, 1);
}

/* What the handle needs of the graph, which may change or go after this. */
static void copy_nodes(fusion_exec *e, const fusion_graph *g)
{
    const struct proto_graph *w = &g->wire;
    e->n_nodes = w->n_nodes;
    e->node_names = pool_array(e, w->n_nodes, sizeof *e->node_names);
    e->nodes = pool_array(e, w->n_nodes, sizeof *e->nodes);
    for (uint32_t i = 0; i < w->n_nodes; i++) {
        const struct proto_node *n = &w->nodes[i];
        e->node_names[i] = obstack_copy0(&e->pool, n->name, (int)strlen(n->name));
        e->nodes[i] =
            (struct exec_node){.kind = n->kind, .n_args = n->n_args, .n_deps = n->n_deps, .from = n->from, .to = n->to};
        e->nodes[i].args = pool_copy(e, n->args, n->n_args * sizeof *n->args);
        e->nodes[i].deps = pool_copy(e, n->deps, n->n_deps * sizeof *n->deps);
    }
}

/* flat: as it went to the service. */
static void copy_memory(fusion_exec *e, const fusion_graph *flat)
{
    const struct proto_graph *w = &flat->wire;
    e->n_slots = w->n_slots;
    e->n_values = w->n_values;
    e->slot_names = pool_array(e, w->n_slots, sizeof *e->slot_names);
    e->slot_bytes = pool_array(e, w->n_slots, sizeof *e->slot_bytes);
    e->slot_images = pool_array(e, w->n_slots, sizeof *e->slot_images);
    for (uint32_t i = 0; i < w->n_slots; i++) {
        e->slot_names[i] = obstack_copy0(&e->pool, w->slots[i].name, (int)strlen(w->slots[i].name));
        e->slot_bytes[i] = w->slots[i].bytes;
        e->slot_images[i] = w->slots[i].image;
    }
    e->slot_memory = pool_copy(e, flat->slot_memory, w->n_slots * sizeof *e->slot_memory);
    e->value_sizes = pool_copy(e, w->value_sizes, w->n_values * sizeof *e->value_sizes);
}

/* PROTO_ACCESS_... are the bits of SLOT_READ and SLOT_WRITTEN; those of this process lie two higher. */
static void find_accesses(fusion_exec *e, const fusion_graph *flat)
{
    e->slot_access = pool_array(e, e->n_slots, sizeof *e->slot_access);
    for (uint32_t i = 0; i < flat->wire.n_nodes; i++) {
        const struct proto_node *n = &flat->wire.nodes[i];
        for (uint32_t a = 0; a < n->n_args; a++)
            if (n->args[a].kind == PROTO_ARG_SLOT)
                e->slot_access[n->args[a].index] |=
                    (uint8_t)(n->args[a].access << (n->kind == PROTO_NODE_HOST ? 2 : 0));
        if (n->kind == PROTO_NODE_COPY) e->slot_access[n->from] |= SLOT_READ;
        if (n->kind == PROTO_NODE_COPY || n->kind == PROTO_NODE_FILL) e->slot_access[n->to] |= SLOT_WRITTEN;
    }
    /* What only nodes in this process use the executor does not know. */
    for (uint32_t i = 0; i < e->n_slots; i++)
        e->slot_needed[i] = e->slot_needed[i] && e->slot_access[i] & (SLOT_READ | SLOT_WRITTEN);
}

/* From nodes of the flat graph to those of the graph that the caller knows; what is named twice in a row, once. */
static uint32_t rename_nodes(const fusion_graph *flat, uint32_t *nodes, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = nodes[i] < flat->wire.n_nodes ? flat->parent_of[nodes[i]] : nodes[i];
        if (!kept || nodes[kept - 1] != parent) nodes[kept++] = parent;
    }
    return kept;
}

static void rename_report(fusion_exec *e, const fusion_graph *flat)
{
    if (!flat->parent_of) return;
    e->report.n_order = rename_nodes(flat, (uint32_t *)e->report.order, e->report.n_order);
    for (uint32_t i = 0; i < e->report.n_groups; i++) {
        fusion_group *group = (fusion_group *)&e->report.groups[i];
        group->n_nodes = rename_nodes(flat, (uint32_t *)group->nodes, group->n_nodes);
    }
}

static void free_exec(struct client_object *object)
{
    fusion_exec *e = (fusion_exec *)object;
    obstack_free(&e->pool, NULL);
    free(e);
}

static double elapsed_ms(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) * 1e3 + (double)(now.tv_nsec - since->tv_nsec) / 1e6;
}

/* The handle for a graph that went to the service as `flat`. */
static fusion_status make_exec(const fusion_graph *g, const fusion_graph *flat, const struct proto_message *reply,
                               fusion_exec **exec)
{
    fusion_exec *e = calloc(1, sizeof *e);
    if (!e) return client_error(FUSION_OUT_OF_MEMORY, "graph", "no memory");
    e->session = g->session;
    e->recording = g->recording;
    obstack_init(&e->pool);
    copy_nodes(e, g);
    copy_memory(e, flat);
    fusion_status status = read_report(e, &reply->params, flat->wire.n_nodes);
    if (status != FUSION_SUCCESS) {
        free_exec(&e->object);
        return status;
    }
    find_accesses(e, flat);
    client_exec_take_actions(e, flat);
    rename_report(e, flat);
    client_object_add(e->session, &e->object, free_exec);
    *exec = e;
    return FUSION_SUCCESS;
}

static fusion_status finalize_flat(const fusion_graph *g, const fusion_graph *flat,
                                   const fusion_finalize_options *options, fusion_exec **exec)
{
    struct request request = {.graph = flat, .options = options};
    uint8_t *bytes = proto_graph_encode(&flat->wire, &request.size);
    if (!bytes) return client_error(FUSION_OUT_OF_MEMORY, "graph", "no memory");
    request.bytes = bytes;
    struct proto_message reply;
    fusion_status status = client_request(g->session, "graph.finalize", pack_finalize, &request, NULL, 0, &reply);
    free(bytes);
    if (status != FUSION_SUCCESS) return status;
    fusion_exec *e = NULL;
    status = make_exec(g, flat, &reply, &e);
    proto_message_clear(&reply);
    if (status != FUSION_SUCCESS) return status;
    status = client_exec_finish(e, options);
    if (status != FUSION_SUCCESS) {
        fusion_exec_destroy(e);
        return status;
    }
    *exec = e;
    return FUSION_SUCCESS;
}

fusion_status fusion_graph_finalize(fusion_graph *g, const fusion_finalize_options *options, fusion_exec **exec)
{
    static const fusion_finalize_options defaults;
    if (!options) options = &defaults;
    if (g->recorders) return client_error(FUSION_BUSY, "graph", "a queue is still recording into it");
    if ((unsigned)options->mode > FUSION_REQUIRE)
        return client_error(FUSION_INVALID, "graph", "unknown mode %d", (int)options->mode);
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    fusion_graph *flat = client_graph_flatten(g, options->mode);
    if (!flat) return fusion_last_error()->status;
    fusion_exec *e = NULL;
    fusion_status status = finalize_flat(g, flat, options, &e);
    if (flat != g) client_graph_free(flat);
    if (status != FUSION_SUCCESS) return status;
    e->report.compile_ms = elapsed_ms(&start);
    *exec = e;
    return FUSION_SUCCESS;
}

void fusion_exec_destroy(fusion_exec *e)
{
    if (!e) return;
    if (e->last_event) client_wait(e->session, e->last_event, -1, NULL);
    for (uint32_t i = 0; i < e->n_actions; i++) fusion_exec_destroy(e->actions[i].exec);
    client_release(e->session, "executable.release", "executable", e->id);
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
