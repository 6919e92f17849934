/* Finalizing: a graph goes to the service, a handle with its report comes back. */
#include "client/exec/finalize.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/exec/actions.h"
#include "client/exec/report.h"
#include "client/exec/source.h"
#include "client/graph/flatten.h"
#include "client/graph/outputs.h"
#include "client/graph/values.h"
#include "client/session/request.h"
#include "proto/frame.h"
#include "proto/limits.h"

/* Sends the graph, and reads what comes back into e. */
static fusion_status request_exec(fusion_exec *e, const fusion_graph *flat, const fusion_finalize_options *options)
{
    struct proto_message reply;
    const char *device = options->debug ? "reference" : options->device ? options->device : "cpu";
    fusion_status status = client_source_keep(e, flat, options);
    if (status != FUSION_SUCCESS) return status;
    struct finalize_params params = {
        .source = e->source, .bindings = flat->slot_memory, .n_bindings = flat->wire.n_slots};
    status = client_pipe_rings(e->session, flat->modules, flat->wire.n_modules, device, &params.rings);
    if (status != FUSION_SUCCESS) return status;
    status = client_request(e->session, "graph.finalize", client_pack_finalize, &params, NULL, 0, &reply);
    free(params.rings.numbers);
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
        own.bounds |= options->bounds;
        if (!own.time_limit_ms) own.time_limit_ms = options->time_limit_ms;
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

fusion_status client_finalize_flat(const fusion_graph *g, const fusion_graph *flat,
                                   const fusion_finalize_options *options, fusion_exec **exec)
{
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    fusion_exec *e = client_exec_new(g, flat);
    if (!e) return client_no_memory("graph");
    e->time_limit_ms = options->time_limit_ms;
    fusion_status status = request_exec(e, flat, options);
    if (status == FUSION_SUCCESS) status = finalize_inner(e, options);
    if (status != FUSION_SUCCESS) {
        fusion_exec_destroy(e);
        return status;
    }
    e->report.compile_ms = elapsed_ms(&start);
    *exec = e;
    return FUSION_SUCCESS;
}

fusion_status client_check_finalize_options(const fusion_finalize_options *o)
{
    if ((unsigned)o->mode > FUSION_REQUIRE)
        return client_error(FUSION_INVALID, "graph", "unknown mode %d", (int)o->mode);
    if ((unsigned)o->tier > FUSION_TIER_COMPILED)
        return client_error(FUSION_INVALID, "graph", "unknown tier %d", (int)o->tier);
    if (o->tuning && strlen(o->tuning) > PROTO_MAX_TUNING)
        return client_error(FUSION_INVALID, "tuning", "it is longer than %d bytes", PROTO_MAX_TUNING);
    return FUSION_SUCCESS;
}

fusion_status fusion_graph_finalize(fusion_graph *g, const fusion_finalize_options *given, fusion_exec **exec)
{
    fusion_finalize_options own, *options = &own;
    fusion_status status = client_take_finalize_options(options, given);
    if (status != FUSION_SUCCESS) return status;
    if (g->recorders) return client_error(FUSION_BUSY, "graph", "a queue is still recording into it");
    status = client_check_finalize_options(options);
    if (status != FUSION_SUCCESS) return status;
    fusion_graph *flat = client_graph_flatten(g, options->mode);
    if (!flat) return fusion_last_error()->status;
    client_graph_describe_values(flat);
    client_graph_describe_outputs(flat);
    fusion_exec *e = NULL;
    status = client_finalize_flat(g, flat, options, &e);
    if (flat != g) client_graph_free(flat);
    if (status == FUSION_SUCCESS) *exec = e;
    return status;
}
