/* What an executable does in this process. */
#include "client/exec/actions.h"

#include <string.h>

#include "client/base/error.h"
#include "client/graph/host.h"
#include "client/memory/access.h"
#include "client/module/pipe.h"
#include "client/session/wait.h"

fusion_status client_exec_take_actions(fusion_exec *e, const fusion_graph *g)
{
    e->actions = client_pool_array(&e->pool, g->n_actions, sizeof *e->actions);
    e->part_runs = client_pool_array(&e->pool, g->n_actions + 1, sizeof *e->part_runs);
    e->slot_host = client_pool_array(&e->pool, e->n_slots, sizeof *e->slot_host);
    if (e->pool.failed) return client_no_memory("graph");
    for (uint32_t i = 0; i < e->report.n_order; i++) {
        const struct graph_action *action = client_graph_action(g, e->report.order[i]);
        if (!action) {
            e->part_runs[e->n_actions] = true;
            continue;
        }
        if (action->kind == ACTION_READ || action->kind == ACTION_WRITE) e->slot_host[action->slot] = true;
        e->actions[e->n_actions++] = *action;
    }
    return FUSION_SUCCESS;
}

/* ---- running ---- */

static void copy_rows(const struct graph_action *a, uint8_t *memory)
{
    uint8_t *host = a->host;
    for (uint32_t i = 0; i < (a->rows > 1 ? a->rows : 1); i++) {
        uint8_t *place = memory + a->offset + client_row_at(a->plane, i, a->pitch, a->slice_pitch);
        uint8_t *own = host + client_row_at(a->plane, i, a->host_pitch, a->host_slice_pitch);
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
    if (newest) client_wait_all(s, newest);
    return last ? client_wait(s, last, -1, NULL) : FUSION_SUCCESS;
}

/* Who moves packets waits for nothing but what he depends on: kernels before may be waiting for him. */
static fusion_status wait_for_kernels(fusion_session *s, const struct graph_action *a, fusion_event last)
{
    return a->waits && last ? client_wait(s, last, -1, NULL) : FUSION_SUCCESS;
}

fusion_status client_exec_act(fusion_exec *e, uint32_t index, const struct binding *bindings, fusion_event last)
{
    const struct graph_action *a = &e->actions[index];
    fusion_status status =
        a->kind != ACTION_PIPE ? wait_for_turn(e->session, last) : wait_for_kernels(e->session, a, last);
    if (status != FUSION_SUCCESS) return status;
    if (a->kind == ACTION_FUNCTION) {
        a->function(a->data);
        return FUSION_SUCCESS;
    }
    if (a->kind == ACTION_PIPE) return client_pipe_move(a->pipe, a->host, a->n, a->timeout_ms, NULL);
    void *memory;
    uint32_t host = a->kind == ACTION_READ ? RING_HOST_READS : CLIENT_HOST_ALL;
    status = client_memory_access(bindings[a->slot].memory, host, &memory);
    if (status == FUSION_SUCCESS) copy_rows(a, (uint8_t *)memory + bindings[a->slot].offset);
    return status;
}
