/* Nodes that run in the client: functions, and copies to and from memory of the process. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/submission.h"

/* ---- building ---- */

static bool reserve_action(fusion_graph *g)
{
    if (g->n_actions < g->actions_capacity) return true;
    uint32_t more = g->actions_capacity ? g->actions_capacity * 2 : 4;
    struct graph_action *bigger = reallocarray(g->actions, more, sizeof *bigger);
    if (!bigger) return false;
    g->actions = bigger;
    g->actions_capacity = more;
    return true;
}

fusion_status client_graph_act(fusion_graph *g, struct proto_node *n, const struct graph_action *action,
                               fusion_status status, fusion_node *node)
{
    fusion_node number = 0;
    if (status == FUSION_SUCCESS && !reserve_action(g))
        status = client_error(FUSION_OUT_OF_MEMORY, "graph", "no memory");
    status = client_graph_append(g, n, status, &number);
    if (status != FUSION_SUCCESS) return status;
    g->actions[g->n_actions] = *action;
    g->actions[g->n_actions++].node = number;
    if (node) *node = number;
    return FUSION_SUCCESS;
}

static fusion_status add(fusion_graph *g, const char *name, const char *base, const fusion_arg *args, uint32_t n_args,
                         struct graph_action *action, const fusion_node *deps, uint32_t n_deps, fusion_node *node)
{
    struct proto_node n = {.kind = PROTO_NODE_HOST};
    fusion_status status = client_graph_args(g, base, args, n_args, &n);
    if (status == FUSION_SUCCESS) status = client_graph_deps(&n, deps, n_deps);
    if (status == FUSION_SUCCESS) status = client_graph_name(g, name, base, &n.name);
    if (status == FUSION_SUCCESS && action->kind != ACTION_FUNCTION) action->slot = n.args[0].index;
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
    return add(g, name, "host", args, n_args, &action, depends_on, n_depends_on, node);
}

/* Where row i begins: in slices of `plane` rows, or without slices. */
static uint64_t row_at(uint32_t plane, uint64_t i, uint64_t pitch, uint64_t slice_pitch)
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
    uint64_t extent = c->bytes + row_at(c->plane, last, action.pitch, action.slice_pitch);
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
    return add(g, name, "copy", m->image ? &image : &arg, 1, &action, deps, n_deps, node);
}

/* ---- in an executable ---- */

static int compare_nodes(const void *key, const void *action)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct graph_action *)action)->node;
    return a < b ? -1 : a > b;
}

struct graph_action *client_graph_action(const fusion_graph *g, uint32_t node)
{
    return g->n_actions ? bsearch(&node, g->actions, g->n_actions, sizeof *g->actions, compare_nodes) : NULL;
}

static void *pool_zeroed(fusion_exec *e, size_t n, size_t item)
{
    void *memory = obstack_alloc(&e->pool, (int)((n ? n : 1) * item));
    return memset(memory, 0, (n ? n : 1) * item);
}

void client_exec_take_actions(fusion_exec *e, const fusion_graph *g)
{
    e->actions = pool_zeroed(e, g->n_actions, sizeof *e->actions);
    e->part_runs = pool_zeroed(e, g->n_actions + 1, sizeof *e->part_runs);
    e->slot_host = pool_zeroed(e, e->n_slots, sizeof *e->slot_host);
    for (uint32_t i = 0; i < e->report.n_order; i++) {
        const struct graph_action *action = client_graph_action(g, e->report.order[i]);
        if (!action) {
            e->part_runs[e->n_actions] = true;
            continue;
        }
        if (action->kind == ACTION_READ || action->kind == ACTION_WRITE) e->slot_host[action->slot] = true;
        e->actions[e->n_actions++] = *action;
    }
}

/* ---- running ---- */

static void copy_rows(const struct graph_action *a, uint8_t *memory)
{
    uint8_t *host = a->host;
    for (uint32_t i = 0; i < (a->rows > 1 ? a->rows : 1); i++) {
        uint8_t *place = memory + a->offset + row_at(a->plane, i, a->pitch, a->slice_pitch);
        uint8_t *own = host + row_at(a->plane, i, a->host_pitch, a->host_slice_pitch);
        if (a->kind == ACTION_WRITE)
            memcpy(place, own, a->bytes);
        else
            memcpy(own, place, a->bytes);
    }
}

/* Until all that was submitted before is done. Only the failure of this submission is ours to tell. */
static fusion_status wait_for_turn(fusion_session *s, fusion_event last)
{
    pthread_mutex_lock(&s->lock);
    fusion_event newest = s->next_sequence - 1;
    pthread_mutex_unlock(&s->lock);
    if (newest) client_wait(s, newest, -1, NULL);
    return last ? client_wait(s, last, -1, NULL) : FUSION_SUCCESS;
}

/* The rebindings of memory that the inner graph uses. */
static fusion_status submit_inner(const struct graph_action *a, const fusion_rebind *rebind, uint32_t n,
                                  fusion_event *event)
{
    fusion_rebind *inner = calloc(n ? n : 1, sizeof *inner);
    if (!inner) return client_error(FUSION_OUT_OF_MEMORY, "submission", "no memory");
    uint32_t n_inner = 0;
    for (uint32_t i = 0; i < n; i++) {
        fusion_memory from = {.buffer = rebind[i].from, .pointer = rebind[i].from_pointer};
        if (rebind[i].from_image) from.buffer = client_image_place(rebind[i].from_image, 0).buffer;
        struct memory *m;
        uint64_t offset;
        if ((!from.buffer && !from.pointer) ||
            client_memory_of(a->exec->session, &from, 0, &m, &offset) != FUSION_SUCCESS)
            continue;
        for (uint32_t k = 0; k < a->exec->n_slots; k++)
            if (a->exec->slot_memory[k] == m->id) inner[n_inner++] = rebind[i];
    }
    fusion_status status = fusion_exec_submit(a->exec, inner, n_inner, event);
    free(inner);
    return status;
}

fusion_status client_exec_act(fusion_exec *e, uint32_t index, const struct binding *bindings,
                              const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *last)
{
    const struct graph_action *a = &e->actions[index];
    if (a->kind == ACTION_GRAPH) return submit_inner(a, rebind, n_rebind, last);
    fusion_status status = wait_for_turn(e->session, *last);
    if (status != FUSION_SUCCESS) return status;
    if (a->kind == ACTION_FUNCTION)
        a->function(a->data);
    else
        copy_rows(a, (uint8_t *)bindings[a->slot].memory->map + bindings[a->slot].offset);
    return FUSION_SUCCESS;
}
