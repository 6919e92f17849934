/* Nodes of a graph. */
#include "client/graph/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/array.h"
#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/graph/args.h"
#include "client/graph/parameters.h"
#include "client/module/state.h"
#include "proto/limits.h"

fusion_status client_graph_name(fusion_graph *g, const char *given, const char *base, char **name)
{
    if (!given) {
        *name = client_names_make(&g->node_names, base);
        return *name ? FUSION_SUCCESS : client_no_memory("graph");
    }
    if (!*given || strlen(given) > PROTO_MAX_NAME)
        return client_error(FUSION_INVALID, "node", "a name of 1 to %d bytes is needed", PROTO_MAX_NAME);
    enum client_name claimed = client_names_claim(&g->node_names, given);
    if (claimed == CLIENT_NAME_TAKEN)
        return client_error(FUSION_INVALID, given, "another node of the graph has this name");
    if (claimed == CLIENT_NAME_NO_MEMORY) return client_no_memory("graph");
    *name = strdup(given);
    if (*name) return FUSION_SUCCESS;
    client_names_release(&g->node_names, given);
    return client_no_memory("graph");
}

fusion_status client_graph_deps(struct proto_node *n, const fusion_node *deps, uint32_t n_deps)
{
    n->deps = malloc((n_deps ? n_deps : 1) * sizeof *n->deps);
    if (!n->deps) return client_no_memory("graph");
    if (n_deps) memcpy(n->deps, deps, n_deps * sizeof *deps);
    n->n_deps = n_deps;
    return FUSION_SUCCESS;
}

fusion_status client_node_add_deps(struct proto_node *n, const fusion_node *on, uint32_t n_on)
{
    uint32_t *deps = reallocarray(n->deps, n->n_deps + n_on + 1, sizeof *deps);
    if (!deps) return client_no_memory("graph");
    n->deps = deps;
    if (n_on) memcpy(deps + n->n_deps, on, n_on * sizeof *on);
    n->n_deps += n_on;
    return FUSION_SUCCESS;
}

static void discard_node(fusion_graph *g, struct proto_node *n)
{
    if (n->name) client_names_release(&g->node_names, n->name);
    client_node_free(n);
}

fusion_status client_graph_append(fusion_graph *g, struct proto_node *n, fusion_status status, fusion_node *node)
{
    if (status == FUSION_SUCCESS && g->wire.n_nodes >= PROTO_MAX_NODES)
        status = client_graph_full("nodes", PROTO_MAX_NODES);
    if (status == FUSION_SUCCESS &&
        !client_reserve(&g->wire.nodes, g->wire.n_nodes, &g->nodes_capacity, sizeof *g->wire.nodes))
        status = client_no_memory("graph");
    if (status != FUSION_SUCCESS) {
        discard_node(g, n);
        client_graph_roll_back(g);
        return status;
    }
    if (node) *node = g->wire.n_nodes;
    g->wire.nodes[g->wire.n_nodes++] = *n;
    client_graph_keep(g);
    return FUSION_SUCCESS;
}

void client_graph_take_back(fusion_graph *g)
{
    uint32_t last = --g->wire.n_nodes;
    discard_node(g, &g->wire.nodes[last]);
    if (!g->n_actions || g->actions[g->n_actions - 1].node != last) return;
    client_graph_free(g->actions[--g->n_actions].inner);
}

fusion_status client_graph_add(fusion_graph *g, struct proto_node *n, fusion_status status, const char *name,
                               const char *base, const fusion_node *depends_on, uint32_t n_depends_on,
                               fusion_node *node)
{
    if (status == FUSION_SUCCESS) status = client_graph_deps(n, depends_on, n_depends_on);
    if (status == FUSION_SUCCESS) status = client_graph_name(g, name, base, &n->name);
    return client_graph_append(g, n, status, node);
}

static void take_range(const fusion_kernel_node *k, struct proto_node *n)
{
    n->dims = k->dims;
    for (uint32_t d = 0; d < 3; d++) {
        bool used = d < k->dims;
        n->global[d] = used ? k->global[d] : 1;
        n->offset[d] = used ? k->offset[d] : 0;
        n->local[d] = k->local[0] == 0 ? 0 : used ? k->local[d] : 1;
    }
}

static fusion_status check_kernel(const fusion_graph *g, const fusion_kernel_node *k, const char *what,
                                  const fusion_kernel_info **info)
{
    if (k->module->session != g->session)
        return client_error(FUSION_INVALID, what, "its module %.128s belongs to another session", k->module->name);
    fusion_status status = client_find_kernel(k->module, k->kernel, info);
    return status == FUSION_SUCCESS ? client_check_args(what, *info, k->args, k->n_args) : status;
}

fusion_status fusion_graph_add_kernel(fusion_graph *g, const fusion_kernel_node *given, fusion_node *node)
{
    fusion_kernel_node own, *k = &own;
    fusion_status status = CLIENT_TAKE(fusion_kernel_node, depends_on, k, given, "kernel node");
    if (status != FUSION_SUCCESS) return status;
    if (!k->module || !k->kernel)
        return client_error(FUSION_INVALID, "node", "a kernel node needs a module and a kernel's name");
    if (k->dims < 1 || k->dims > 3)
        return client_error(FUSION_INVALID, k->kernel, "1 to 3 dimensions, not %" PRIu32, k->dims);
    struct proto_node n = {.kind = PROTO_NODE_KERNEL};
    const fusion_kernel_info *info = NULL;
    char what[300];
    snprintf(what, sizeof what, "kernel %.200s", k->kernel);
    take_range(k, &n);
    n.kernel = strdup(k->kernel);
    status = n.kernel ? check_kernel(g, k, what, &info) : client_no_memory(what);
    if (status == FUSION_SUCCESS) status = client_graph_module(g, k->module->id, &n.module);
    if (status == FUSION_SUCCESS) status = client_graph_args(g, what, info, k->args, k->n_args, &n);
    return client_graph_add(g, &n, status, k->name, k->kernel, k->depends_on, k->n_depends_on, node);
}
