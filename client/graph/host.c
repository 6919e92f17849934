/* Nodes that run in this process. */
#include "client/graph/host.h"

#include <inttypes.h>
#include <stdlib.h>

#include "client/base/array.h"
#include "client/base/error.h"
#include "client/graph/args.h"
#include "client/graph/node.h"
#include "client/memory/image.h"
#include "client/memory/place.h"
#include "client/module/pipe.h"

fusion_status client_graph_act(fusion_graph *g, struct proto_node *n, const struct graph_action *action,
                               fusion_status status, fusion_node *node)
{
    fusion_node number = 0;
    if (status == FUSION_SUCCESS &&
        !client_reserve(&g->actions, g->n_actions, &g->actions_capacity, sizeof *g->actions))
        status = client_no_memory("graph");
    status = client_graph_append(g, n, status, &number);
    if (status != FUSION_SUCCESS) return status;
    g->actions[g->n_actions] = *action;
    g->actions[g->n_actions++].node = number;
    if (node) *node = number;
    return FUSION_SUCCESS;
}

static fusion_status add_host_node(fusion_graph *g, const char *name, const char *base, const fusion_arg *args,
                                   uint32_t n_args, struct graph_action *action, const fusion_node *deps,
                                   uint32_t n_deps, fusion_node *node)
{
    struct proto_node n = {.kind = PROTO_NODE_HOST};
    fusion_status status = client_graph_args(g, base, NULL, args, n_args, &n);
    if (status == FUSION_SUCCESS) status = client_graph_deps(&n, deps, n_deps);
    if (status == FUSION_SUCCESS) status = client_graph_name(g, name, base, &n.name);
    if (status == FUSION_SUCCESS && (action->kind == ACTION_READ || action->kind == ACTION_WRITE))
        action->slot = n.args[0].index;
    return client_graph_act(g, &n, action, status, node);
}

fusion_status fusion_graph_add_host_task(fusion_graph *g, const char *name, const fusion_arg *args, uint32_t n_args,
                                         fusion_host_function *function, void *data, const fusion_node *depends_on,
                                         uint32_t n_depends_on, fusion_node *node)
{
    const char *object = name ? name : "host task";
    if (!function) return client_error(FUSION_INVALID, object, "there is no function");
    for (uint32_t i = 0; i < n_args; i++)
        if (args[i].kind != FUSION_ARG_BUFFER && args[i].kind != FUSION_ARG_POINTER && args[i].kind != FUSION_ARG_IMAGE)
            return client_error(FUSION_INVALID, object, "argument %" PRIu32 " is no buffer, pointer or image", i);
    struct graph_action action = {.kind = ACTION_FUNCTION, .function = function, .data = data};
    return add_host_node(g, name, "host", args, n_args, &action, depends_on, n_depends_on, node);
}

fusion_status fusion_graph_add_pipe(fusion_graph *g, const char *name, fusion_pipe *pipe, void *packets, uint64_t n,
                                    int timeout_ms, const fusion_node *depends_on, uint32_t n_depends_on,
                                    fusion_node *node)
{
    const char *object = name ? name : "pipe";
    if (!pipe || !packets) return client_error(FUSION_INVALID, object, "a pipe and memory for packets are needed");
    if (client_pipe_session(pipe) != g->session)
        return client_error(FUSION_INVALID, object, "it is a pipe of another session");
    struct graph_action action = {.kind = ACTION_PIPE,
                                  .pipe = pipe,
                                  .host = packets,
                                  .n = n,
                                  .timeout_ms = timeout_ms,
                                  .waits = n_depends_on > 0};
    return add_host_node(g, name, "pipe", NULL, 0, &action, depends_on, n_depends_on, node);
}

uint64_t client_row_at(uint32_t plane, uint64_t i, uint64_t pitch, uint64_t slice_pitch)
{
    return plane ? i / plane * slice_pitch + i % plane * pitch : i * pitch;
}

fusion_status client_graph_host_copy(fusion_graph *g, const char *name, const struct copy_2d *c,
                                     const fusion_node *deps, uint32_t n_deps, fusion_node *node)
{
    if (c->from.host && c->to.host)
        return client_error(FUSION_INVALID, name ? name : "copy", "both sides are memory of this process");
    bool write = c->from.host != NULL;
    const fusion_memory *place = write ? &c->to : &c->from;
    struct graph_action action = {.kind = write ? ACTION_WRITE : ACTION_READ,
                                  .bytes = c->bytes,
                                  .host = write ? c->from.host : c->to.host,
                                  .rows = c->rows,
                                  .pitch = write ? c->to_pitch : c->from_pitch,
                                  .host_pitch = write ? c->from_pitch : c->to_pitch,
                                  .plane = c->plane,
                                  .slice_pitch = write ? c->to_slice_pitch : c->from_slice_pitch,
                                  .host_slice_pitch = write ? c->from_slice_pitch : c->to_slice_pitch};
    uint32_t last = c->rows > 1 ? c->rows - 1 : 0;
    uint64_t extent = c->bytes + client_row_at(c->plane, last, action.pitch, action.slice_pitch);
    struct memory *m;
    fusion_status status = client_memory_of(g->session, place, extent, &m, &action.offset);
    if (status != FUSION_SUCCESS) return status;
    fusion_access access = write ? FUSION_ACCESS_WRITE : FUSION_ACCESS_READ;
    fusion_arg image = fusion_arg_image((fusion_image *)place->buffer, access);
    fusion_arg arg = {.kind = place->buffer ? FUSION_ARG_BUFFER : FUSION_ARG_POINTER,
                      .buffer = place->buffer,
                      .pointer = place->pointer,
                      .offset = place->offset,
                      .bytes = extent,
                      .access = access};
    return add_host_node(g, name, "copy", m->image ? &image : &arg, 1, &action, deps, n_deps, node);
}

/* ---- looking up ---- */

static int compare_nodes(const void *key, const void *action)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct graph_action *)action)->node;
    return a < b ? -1 : a > b;
}

struct graph_action *client_graph_action(const fusion_graph *g, uint32_t node)
{
    return g->n_actions ? bsearch(&node, g->actions, g->n_actions, sizeof *g->actions, compare_nodes) : NULL;
}
