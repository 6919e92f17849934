/* Finalizing: a graph goes to the service, a handle with its report comes back. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/exec/actions.h"
#include "client/exec/report.h"
#include "client/graph/flatten.h"
#include "client/graph/outputs.h"
#include "client/graph/values.h"
#include "client/module/pipe.h"
#include "client/session/request.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct request {
    const fusion_graph *graph;
    const fusion_finalize_options *options;
    const uint8_t *bytes;
    size_t size;
    struct pipe_rings rings;
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
    proto_pack_map(w, 13);
    proto_pack_bytes(w, "graph", r->bytes, r->size);
    pack_ids(w, "modules", r->graph->modules, r->graph->wire.n_modules);
    proto_pack_uint(w, "mode", o->mode);
    proto_pack_bool(w, "insert_barriers", o->insert_barriers);
    proto_pack_uint(w, "barriers", o->barriers);
    proto_pack_string(w, "device", o->device ? o->device : "cpu");
    proto_pack_bool(w, "keep_ir", o->keep_ir);
    proto_pack_bool(w, "keep_assembly", o->keep_assembly);
    proto_pack_bool(w, "debug", o->debug);
    proto_pack_uint(w, "tier", o->tier);
    pack_ids(w, "bindings", r->graph->slot_memory, r->graph->wire.n_slots);
    pack_values(w, r->graph);
    pack_ids(w, "pipes", r->rings.numbers, r->rings.n);
}

/* Sends the graph, and reads what comes back into e. */
static fusion_status request_exec(fusion_exec *e, const fusion_graph *flat, const fusion_finalize_options *options)
{
    struct request request = {.graph = flat, .options = options};
    struct proto_message reply;
    const char *device = options->debug ? "reference" : options->device ? options->device : "cpu";
    fusion_status status = client_pipe_rings(e->session, flat->modules, flat->wire.n_modules, device, &request.rings);
    if (status != FUSION_SUCCESS) return status;
    uint8_t *bytes = proto_graph_encode(&flat->wire, &request.size);
    request.bytes = bytes;
    status = bytes ? client_request(e->session, "graph.finalize", pack_finalize, &request, NULL, 0, &reply)
                   : client_no_memory("graph");
    free(bytes);
    free(request.rings.numbers);
    if (status != FUSION_SUCCESS) return status;
    status = client_report_read(e, &reply.params, flat);
    if (status == FUSION_SUCCESS) status = client_exec_take_actions(e, flat);
    if (status == FUSION_SUCCESS) client_report_rename(e, flat);
    proto_message_clear(&reply);
    return status;
}

/* ---- debug: what an inner graph that is fused by itself keeps to itself ---- */

/* Does a node recorded later read the memory? */
static bool is_read_by(const fusion_exec *e, uint32_t node, uint64_t memory)
{
    const struct exec_node *n = &e->nodes[node];
    if (n->kind == PROTO_NODE_COPY && e->slot_memory[n->from] == memory) return true;
    for (uint32_t i = 0; i < n->n_args && n->kind != PROTO_NODE_COPY && n->kind != PROTO_NODE_FILL; i++) {
        const struct proto_arg *arg = &n->args[i];
        if (arg->kind == PROTO_ARG_SLOT && arg->access != PROTO_ACCESS_WRITE && e->slot_memory[arg->index] == memory)
            return true;
    }
    return false;
}

static bool is_internalized(const fusion_exec *e, uint32_t slot)
{
    for (uint32_t i = 0; i < e->report.n_internalized; i++)
        if (strcmp(e->report.internalized[i].buffer, e->slot_names[slot]) == 0) return true;
    return false;
}

/* fusion_internal_memory says that nobody reads what the inner graph leaves in the buffer. */
static fusion_status check_internal(const fusion_exec *e, const struct graph_action *a)
{
    for (uint32_t slot = 0; slot < a->exec->n_slots; slot++) {
        if (!is_internalized(a->exec, slot)) continue;
        for (uint32_t i = a->node + 1; i < e->n_nodes; i++)
            if (is_read_by(e, i, a->exec->slot_memory[slot]))
                return client_error(FUSION_INVALID, e->node_names[i],
                                    "fusion_internal_memory on buffer %s does not hold: %s keeps it to itself, and %s, "
                                    "which comes later, reads it",
                                    a->exec->slot_names[slot], e->node_names[a->node], e->node_names[i]);
    }
    return FUSION_SUCCESS;
}

/* ---- the handle ---- */

/* Finalizes the graphs that stay nodes, and adds what they say to the report. */
static fusion_status finalize_inner(fusion_exec *e, const fusion_finalize_options *options)
{
    for (uint32_t i = 0; i < e->n_actions; i++) {
        struct graph_action *a = &e->actions[i];
        if (a->kind != ACTION_GRAPH) continue;
        fusion_finalize_options own = a->options;
        own.device = options->device;
        if (!own.tier) own.tier = options->tier;
        own.debug |= options->debug;
        fusion_status status = fusion_graph_finalize(a->inner, &own, &a->exec);
        a->inner = NULL; /* the graph's, which may go before this does */
        if (status == FUSION_SUCCESS && own.debug) status = check_internal(e, a);
        if (status == FUSION_SUCCESS) status = client_report_add(e, &a->exec->report);
        if (status != FUSION_SUCCESS) return status;
    }
    return FUSION_SUCCESS;
}

static double elapsed_ms(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) * 1e3 + (double)(now.tv_nsec - since->tv_nsec) / 1e6;
}

/* The handle for a graph that goes to the service as `flat`. */
static fusion_status finalize_flat(const fusion_graph *g, const fusion_graph *flat,
                                   const fusion_finalize_options *options, fusion_exec **exec)
{
    fusion_exec *e = client_exec_new(g, flat);
    if (!e) return client_no_memory("graph");
    fusion_status status = request_exec(e, flat, options);
    if (status == FUSION_SUCCESS) status = finalize_inner(e, options);
    if (status == FUSION_SUCCESS)
        *exec = e;
    else
        fusion_exec_destroy(e);
    return status;
}

fusion_status fusion_graph_finalize(fusion_graph *g, const fusion_finalize_options *given, fusion_exec **exec)
{
    fusion_finalize_options own, *options = &own;
    fusion_status status = client_take_finalize_options(options, given);
    if (status != FUSION_SUCCESS) return status;
    if (g->recorders) return client_error(FUSION_BUSY, "graph", "a queue is still recording into it");
    if ((unsigned)options->mode > FUSION_REQUIRE)
        return client_error(FUSION_INVALID, "graph", "unknown mode %d", (int)options->mode);
    if ((unsigned)options->tier > FUSION_TIER_COMPILED)
        return client_error(FUSION_INVALID, "graph", "unknown tier %d", (int)options->tier);
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    fusion_graph *flat = client_graph_flatten(g, options->mode);
    if (!flat) return fusion_last_error()->status;
    client_graph_describe_values(flat);
    client_graph_describe_outputs(flat);
    fusion_exec *e = NULL;
    status = finalize_flat(g, flat, options, &e);
    if (flat != g) client_graph_free(flat);
    if (status != FUSION_SUCCESS) return status;
    e->report.compile_ms = elapsed_ms(&start);
    *exec = e;
    return FUSION_SUCCESS;
}
