/* Graphs as nodes of graphs: copied when they are added; when the outer one is finalized either their nodes take the
 * place of that node, or they are executables of their own that are submitted in its turn. */
#include "client/graph/flatten.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/graph/host.h"
#include "client/graph/node.h"
#include "client/graph/outputs.h"
#include "proto/limits.h"

static const struct graph_action *inner_at(const fusion_graph *g, uint32_t node)
{
    const struct graph_action *action = client_graph_action(g, node);
    return action && action->kind == ACTION_GRAPH ? action : NULL;
}

/* ---- copying nodes from graph to graph ---- */

/* Where the slots and values of one graph are in another one. */
struct move {
    const fusion_graph *from;
    fusion_graph *to;
    const char *prefix; /* of names; NULL: names and the numbers of values stay as they are (start_copy()) */
};

static fusion_status move_slot(const struct move *m, uint32_t slot, uint32_t *to)
{
    fusion_session *s = m->to->session;
    const struct map_entry *known = map_find(&m->to->slots, m->from->slot_memory[slot]);
    if (known) {
        *to = (uint32_t)known->number;
        return FUSION_SUCCESS;
    }
    pthread_mutex_lock(&s->lock);
    struct memory *memory = client_memory_find(s, m->from->slot_memory[slot]);
    pthread_mutex_unlock(&s->lock);
    if (!memory) return client_error(FUSION_NOT_FOUND, m->from->wire.slots[slot].name, "the buffer was destroyed");
    return client_graph_slot(m->to, memory, m->from->wire.slots[slot].name, to);
}

static fusion_status move_arg(const struct move *m, struct proto_arg *arg)
{
    const struct value_bytes *value = &m->from->values[arg->index];
    switch (arg->kind) {
    case PROTO_ARG_SLOT: return move_slot(m, arg->index, &arg->index);
    case PROTO_ARG_VALUE:
        if (!m->prefix) return FUSION_SUCCESS;
        return client_graph_value(m->to, value->data, value->size, value->type, &arg->index);
    default: return FUSION_SUCCESS;
    }
}

static fusion_status move_parts(const struct move *m, const struct proto_node *from, struct proto_node *n)
{
    fusion_status status = FUSION_SUCCESS;
    n->kernel = from->kernel ? strdup(from->kernel) : NULL;
    n->args = malloc((from->n_args + 1) * sizeof *n->args);
    if (!n->args || (from->kernel && !n->kernel)) return client_no_memory("graph");
    if (from->n_args) memcpy(n->args, from->args, from->n_args * sizeof *n->args);
    for (uint32_t i = 0; i < n->n_args && status == FUSION_SUCCESS; i++) status = move_arg(m, &n->args[i]);
    if (status == FUSION_SUCCESS && n->kind == PROTO_NODE_KERNEL)
        status = client_graph_module(m->to, m->from->modules[from->module], &n->module);
    if (status == FUSION_SUCCESS && n->kind == PROTO_NODE_COPY) status = move_slot(m, from->from, &n->from);
    if (status == FUSION_SUCCESS && (n->kind == PROTO_NODE_COPY || n->kind == PROTO_NODE_FILL))
        status = move_slot(m, from->to, &n->to);
    return status;
}

static fusion_status move_name(const struct move *m, const char *name, char **moved)
{
    char full[2 * PROTO_MAX_NAME + 2];
    if (!m->prefix) return client_graph_name(m->to, NULL, name, moved);
    snprintf(full, sizeof full, "%s.%s", m->prefix, name);
    return client_graph_name(m->to, NULL, full, moved);
}

/* The node with all that it needs, but no dependences. */
static fusion_status move_node(const struct move *m, uint32_t node)
{
    const struct proto_node *from = &m->from->wire.nodes[node];
    struct proto_node n = *from;
    n.name = n.kernel = NULL;
    n.args = NULL;
    n.deps = NULL;
    n.n_deps = 0;
    fusion_status status = move_parts(m, from, &n);
    if (status == FUSION_SUCCESS) status = move_name(m, from->name, &n.name);
    const struct graph_action *own = client_graph_action(m->from, node);
    if (!own) return client_graph_append(m->to, &n, status, NULL);
    struct graph_action action = *own;
    if (status == FUSION_SUCCESS && (action.kind == ACTION_READ || action.kind == ACTION_WRITE))
        action.slot = n.args[0].index;
    if (action.inner && !(action.inner = client_graph_copy(action.inner)) && status == FUSION_SUCCESS)
        status = fusion_last_error()->status;
    status = client_graph_act(m->to, &n, &action, status, NULL);
    if (status != FUSION_SUCCESS) client_graph_free(action.inner);
    return status;
}

/* ---- flattening ---- */

struct flattening {
    fusion_graph *to;
    fusion_mode mode;
};

static bool is_taken_in(const struct graph_action *inner, fusion_mode mode)
{
    return inner && (mode != FUSION_NONE || inner->options.mode == FUSION_NONE);
}

/*
 * Appends the nodes of `from`, graphs inside it in their places. first[i], first[i + 1]: where node i has become to.
 * prefix: of the names; NULL at the outermost.
 */
static fusion_status flatten_into(const struct flattening *f, const fusion_graph *from, const char *prefix)
{
    struct move m = {from, f->to, prefix};
    uint32_t n = from->wire.n_nodes, *first = calloc(n + 1, sizeof *first);
    fusion_status status = first ? FUSION_SUCCESS : client_no_memory("graph");
    for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++) {
        const struct graph_action *inner = inner_at(from, i);
        char name[2 * PROTO_MAX_NAME + 2];
        snprintf(name, sizeof name, "%s%s%s", prefix ? prefix : "", prefix ? "." : "", from->wire.nodes[i].name);
        first[i] = f->to->wire.n_nodes;
        status = is_taken_in(inner, f->mode) ? flatten_into(f, inner->inner, name) : move_node(&m, i);
        first[i + 1] = f->to->wire.n_nodes;
    }
    for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++)
        for (uint32_t d = 0; d < from->wire.nodes[i].n_deps; d++) {
            uint32_t on = from->wire.nodes[i].deps[d];
            if (on >= n) status = client_error(FUSION_INVALID, from->wire.nodes[i].name, "there is no node %u", on);
            for (uint32_t a = first[i]; a < first[i + 1] && status == FUSION_SUCCESS; a++)
                for (uint32_t b = first[on]; b < first[on + 1] && status == FUSION_SUCCESS; b++)
                    status = client_node_add_deps(&f->to->wire.nodes[a], &b, 1);
        }
    free(first);
    return status;
}

fusion_status client_graph_take_nodes(fusion_graph *g, const fusion_graph *from)
{
    return flatten_into(&(struct flattening){g, FUSION_NONE}, from, "window");
}

/* Slots and values in the same numbers. */
static fusion_status start_copy(const fusion_graph *g, fusion_graph *to)
{
    struct move m = {g, to, NULL};
    fusion_status status = FUSION_SUCCESS;
    uint32_t ignored;
    for (uint32_t i = 0; i < g->wire.n_slots && status == FUSION_SUCCESS; i++) status = move_slot(&m, i, &ignored);
    for (uint32_t i = 0; i < g->wire.n_values && status == FUSION_SUCCESS; i++)
        status = client_graph_value(to, g->values[i].data, g->values[i].size, g->values[i].type, &ignored);
    return status == FUSION_SUCCESS ? client_graph_copy_outputs(to, g) : status;
}

fusion_graph *client_graph_copy(const fusion_graph *g)
{
    fusion_graph *to = client_graph_new(g->session);
    if (!to) {
        client_no_memory("graph");
        return NULL;
    }
    struct move m = {g, to, NULL};
    fusion_status status = start_copy(g, to);
    for (uint32_t i = 0; i < g->wire.n_nodes && status == FUSION_SUCCESS; i++) {
        status = move_node(&m, i);
        if (status == FUSION_SUCCESS)
            status = client_graph_deps(&to->wire.nodes[i], g->wire.nodes[i].deps, g->wire.nodes[i].n_deps);
    }
    if (status == FUSION_SUCCESS) return to;
    client_graph_free(to);
    return NULL;
}

/* Nodes that a graph becomes. */
static uint32_t count_flat(const fusion_graph *g, fusion_mode mode)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->wire.n_nodes; i++) {
        const struct graph_action *inner = inner_at(g, i);
        n += is_taken_in(inner, mode) ? count_flat(inner->inner, mode) : 1;
    }
    return n;
}

static uint32_t *parents_of(const fusion_graph *g, const fusion_graph *flat, fusion_mode mode)
{
    uint32_t *parent = calloc(flat->wire.n_nodes + 1, sizeof *parent), at = 0;
    for (uint32_t i = 0; parent && i < g->wire.n_nodes; i++) {
        const struct graph_action *inner = inner_at(g, i);
        uint32_t n = is_taken_in(inner, mode) ? count_flat(inner->inner, mode) : 1;
        while (n--) parent[at++] = i;
    }
    return parent;
}

fusion_graph *client_graph_flatten(fusion_graph *g, fusion_mode mode)
{
    bool any = false;
    for (uint32_t i = 0; i < g->n_actions; i++)
        any |= g->actions[i].kind == ACTION_GRAPH && is_taken_in(&g->actions[i], mode);
    if (!any) return g;
    fusion_graph *flat = client_graph_new(g->session);
    if (!flat) {
        client_no_memory("graph");
        return NULL;
    }
    struct flattening f = {flat, mode};
    fusion_status status = start_copy(g, flat);
    if (status == FUSION_SUCCESS) status = flatten_into(&f, g, NULL);
    if (status == FUSION_SUCCESS && !(flat->parent_of = parents_of(g, flat, mode))) status = client_no_memory("graph");
    if (status == FUSION_SUCCESS) return flat;
    client_graph_free(flat);
    return NULL;
}

/* ---- adding ---- */

/* What the inner graph does to each of its slots, as arguments of the outer node. */
static fusion_status outer_args(fusion_graph *g, const fusion_graph *inner, struct proto_node *n)
{
    struct move m = {inner, g, NULL};
    fusion_status status = FUSION_SUCCESS;
    n->args = calloc(inner->wire.n_slots + 1, sizeof *n->args);
    if (!n->args) return client_no_memory("graph");
    n->n_args = inner->wire.n_slots;
    for (uint32_t i = 0; i < n->n_args && status == FUSION_SUCCESS; i++) {
        n->args[i].kind = PROTO_ARG_SLOT;
        status = move_slot(&m, i, &n->args[i].index);
    }
    for (uint32_t i = 0; i < inner->wire.n_nodes; i++) {
        const struct proto_node *k = &inner->wire.nodes[i];
        for (uint32_t a = 0; a < k->n_args; a++)
            if (k->args[a].kind == PROTO_ARG_SLOT) n->args[k->args[a].index].access |= k->args[a].access;
        if (k->kind == PROTO_NODE_COPY) n->args[k->from].access |= PROTO_ACCESS_READ;
        if (k->kind == PROTO_NODE_COPY || k->kind == PROTO_NODE_FILL) n->args[k->to].access |= PROTO_ACCESS_WRITE;
    }
    return status;
}

fusion_status fusion_graph_add_graph(fusion_graph *g, const char *name, const fusion_graph *inner,
                                     const fusion_finalize_options *options, const fusion_node *depends_on,
                                     uint32_t n_depends_on, fusion_node *node)
{
    const char *object = name ? name : "graph";
    if (!inner) return client_error(FUSION_INVALID, object, "the graph is NULL");
    if (inner->session != g->session)
        return client_error(FUSION_INVALID, object, "the graphs belong to different sessions");
    if (inner->recorders) return client_error(FUSION_BUSY, object, "a queue is still recording into the inner graph");
    struct graph_action action = {.kind = ACTION_GRAPH};
    fusion_status status = client_take_finalize_options(&action.options, options);
    if (status != FUSION_SUCCESS) return status;
    action.options.device = NULL;
    struct proto_node n = {.kind = PROTO_NODE_HOST};
    action.inner = client_graph_copy(inner);
    if (!action.inner) return fusion_last_error()->status;
    status = outer_args(g, action.inner, &n);
    if (status == FUSION_SUCCESS) status = client_graph_deps(&n, depends_on, n_depends_on);
    if (status == FUSION_SUCCESS) status = client_graph_name(g, name, "graph", &n.name);
    status = client_graph_act(g, &n, &action, status, node);
    if (status != FUSION_SUCCESS) client_graph_free(action.inner);
    return status;
}
