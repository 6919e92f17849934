/* Submitting a handle through the ring. */
#include "client/exec/submit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/exec/actions.h"
#include "client/exec/rebind.h"
#include "client/graph/recording.h"
#include "client/memory/access.h"
#include "client/memory/image.h"
#include "client/memory/memory.h"
#include "client/memory/place.h"
#include "client/session/held.h"
#include "client/session/push.h"

struct pushing {
    fusion_exec *exec;
    struct entry *entry;
    const struct binding *bindings;
};

/* What of its memory the client has mapped. */
static void tell_host(const struct pushing *p)
{
    struct ring_binding *told = (struct ring_binding *)p->entry->rest;
    for (uint32_t i = 0; i < p->exec->n_slots; i++)
        if (p->exec->slot_needed[i] && p->bindings[i].memory)
            (told++)->host = client_memory_submitted(p->bindings[i].memory);
}

static bool try_push(void *data, uint64_t sequence)
{
    struct pushing *p = data;
    fusion_exec *e = p->exec;
    struct entry *entry = p->entry;
    entry->head.sequence = sequence;
    if (e->on_gpu) tell_host(p);
    if (!ring_push(e->session->ring, &entry->head, entry->rest, entry->size)) return false;
    e->last_event = sequence;
    for (uint32_t i = 0; i < e->n_slots; i++)
        if (p->bindings[i].memory) client_open_add(e->session, &p->bindings[i].memory->uses, sequence);
    return true;
}

/* What runs on the processor finds the contents where they are. */
static fusion_status bring_back(const fusion_exec *e, const struct binding *bindings)
{
    fusion_status status = FUSION_SUCCESS;
    for (uint32_t i = 0; i < e->n_slots && status == FUSION_SUCCESS; i++)
        if (e->slot_needed[i] && bindings[i].memory)
            status = client_memory_take(bindings[i].memory, CLIENT_HOST_ALL, NULL);
    return status;
}

static fusion_status push(fusion_exec *e, struct entry *entry, const struct binding *bindings, fusion_event *event)
{
    struct pushing p = {e, entry, bindings};
    if (sizeof entry->head + entry->size > RING_MAX_ENTRY)
        return client_error(FUSION_INVALID, "submission", "%zu bytes of rebindings, more than %d", entry->size,
                            RING_MAX_ENTRY);
    entry->head.size = (uint32_t)(sizeof entry->head + entry->size);
    if (!entry->head.executable) entry->head.executable = e->id;
    fusion_status status = e->on_gpu || !e->session->uses_gpus ? FUSION_SUCCESS : bring_back(e, bindings);
    if (status != FUSION_SUCCESS) return status;
    if (entry->reserved) return client_push_reserved(e->session, try_push, &p, entry->reserved);
    return client_push(e->session, try_push, &p, event);
}

/* Executors for GPUs are told of each slot, with all of its binding. */
static fusion_status bind_all(const fusion_exec *e, struct entry *entry, const struct binding *bindings)
{
    struct entry all = {.head = entry->head, .reserved = entry->reserved};
    size_t at = entry->head.n_bindings * sizeof(struct ring_binding);
    bool fits = true;
    if (!e->on_gpu) return FUSION_SUCCESS;
    e->session->uses_gpus = true;
    all.head.n_bindings = 0;
    for (uint32_t i = 0; i < e->n_slots && fits; i++)
        if (e->slot_needed[i] && bindings[i].memory) fits = client_entry_bind(&all, i, &bindings[i]);
    if (fits && entry->size > at) fits = client_entry_add(&all, entry->rest + at, entry->size - at);
    free(entry->rest);
    *entry = all;
    return fits ? FUSION_SUCCESS : client_no_memory("submission");
}

/* Memory behind every slot that needs some: in the executable, or in the other one that runs first. */
static fusion_status ensure_memories(fusion_exec *e, const fusion_exec *first, struct binding *bindings)
{
    for (uint32_t i = 0; i < e->n_slots; i++) {
        if (!e->slot_needed[i] && !e->slot_host[i] && !(first && first->slot_needed[i])) {
            bindings[i].memory = NULL;
            continue;
        }
        if (!bindings[i].memory)
            return client_error(FUSION_NOT_FOUND, e->slot_names[i],
                                "the buffer was destroyed after finalize; rebind it");
        fusion_status status = client_memory_ensure(bindings[i].memory);
        if (status != FUSION_SUCCESS) return status;
    }
    return FUSION_SUCCESS;
}

/* The bindings of slot_memory, which is by slot. To be freed. */
static struct binding *default_bindings(fusion_exec *e, const uint64_t *slot_memory)
{
    fusion_session *s = e->session;
    struct binding *bindings = calloc(e->n_slots + 1, sizeof *bindings);
    if (!bindings) return NULL;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < e->n_slots; i++) bindings[i].memory = client_memory_find(s, slot_memory[i]);
    pthread_mutex_unlock(&s->lock);
    return bindings;
}

/* A head that has what the options say. */
static struct ring_entry head_of(const fusion_exec *e, const fusion_submit_options *o)
{
    uint64_t limit = o->time_limit_ms ? o->time_limit_ms : e->time_limit_ms;
    return (struct ring_entry){.priority = (int32_t)o->priority,
                               .time_limit_ms = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX};
}

static void take_rounds(struct ring_entry *head, const fusion_exec *e, const struct submit_rounds *rounds)
{
    bool both = rounds->n && rounds->n_first;
    head->executable = rounds->n ? e->id : rounds->first->id;
    head->rounds = rounds->n ? rounds->n : rounds->n_first;
    head->first = both ? rounds->first->id : 0;
    head->first_rounds = both ? rounds->n_first : 0;
}

static fusion_submit_options options_of(const struct ring_entry *head)
{
    return (fusion_submit_options){FUSION_SIZED(fusion_submit_options), .priority = head->priority,
                                   .time_limit_ms = head->time_limit_ms};
}

/* The rebindings of memory that the inner graph uses. */
static fusion_status submit_inner(const struct graph_action *a, const struct ring_entry *head,
                                  const fusion_rebind *rebind, uint32_t n, fusion_event *event)
{
    const fusion_submit_options options = options_of(head);
    fusion_rebind *inner = calloc(n ? n : 1, sizeof *inner);
    if (!inner) return client_no_memory("submission");
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
    fusion_status status = fusion_exec_submit_with(a->exec, inner, n_inner, &options, event);
    free(inner);
    return status;
}

/* The parts of the executable with, between them, what runs here. The last part is submitted even where it has no
   steps: its event is the submission's. */
static fusion_status push_parts(fusion_exec *e, uint32_t first, struct entry *entry, const struct binding *bindings,
                                const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *event)
{
    fusion_event last = 0;
    for (uint32_t part = first; part < e->n_actions; part++) {
        entry->head.part = part;
        fusion_status status = e->part_runs[part] ? push(e, entry, bindings, &last) : FUSION_SUCCESS;
        if (status != FUSION_SUCCESS) return status;
        if (e->actions[part].kind == ACTION_GRAPH)
            status = submit_inner(&e->actions[part], &entry->head, rebind, n_rebind, &last);
        else
            status = client_exec_act(e, part, bindings, last);
        if (status != FUSION_SUCCESS) return status;
    }
    entry->head.part = e->n_actions;
    fusion_status status = push(e, entry, bindings, &last);
    if (status != FUSION_SUCCESS) return status;
    client_recording_submitted(e->session, e->recording, last);
    if (event) *event = last;
    return FUSION_SUCCESS;
}

/* What was recorded comes after other graphs that it waits for. */
static fusion_status add_recorded(const fusion_exec *e, struct entry *entry)
{
    uint32_t n = 0;
    fusion_event *before = NULL;
    fusion_status status = client_recording_ready(e->session, e->recording, &before, &n);
    for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++)
        if (!client_entry_after(entry, before[i])) status = client_no_memory("submission");
    free(before);
    return status;
}

/* It does nothing else, so it keeps nobody waiting, as others may submit what it waits for. */
static bool moves_packets(const fusion_exec *e)
{
    return !e->recording && e->n_actions == 1 && e->actions[0].kind == ACTION_PIPE && !e->part_runs[0] &&
           !e->part_runs[1];
}

/* Runs of a session execute in order: one that consists of several parts keeps the others waiting until its last part
   is on its way, but for those that its own host tasks submit. */
static fusion_status push_in_turn(fusion_exec *e, struct entry *entry, const struct binding *bindings,
                                  const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *event)
{
    fusion_session *s = e->session;
    bool moves = moves_packets(e);
    fusion_status status = moves ? client_exec_act(e, 0, bindings, 0) : FUSION_SUCCESS;
    if (status != FUSION_SUCCESS) return status;
    pthread_mutex_lock(&s->turn_lock);
    if (!entry->reserved) client_flush(s);
    status = add_recorded(e, entry);
    if (status == FUSION_SUCCESS) status = push_parts(e, moves ? 1 : 0, entry, bindings, rebind, n_rebind, event);
    pthread_mutex_unlock(&s->turn_lock);
    return status;
}

fusion_status client_check_submit_options(const fusion_submit_options *given, fusion_submit_options *own)
{
    fusion_status status = client_take_submit_options(own, given);
    if (status != FUSION_SUCCESS) return status;
    if (own->priority >= INT32_MIN && own->priority <= INT32_MAX) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, "submission", "a priority of %" PRId64, own->priority);
}

fusion_status fusion_exec_submit(fusion_exec *e, const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *event)
{
    return fusion_exec_submit_with(e, rebind, n_rebind, NULL, event);
}

fusion_status fusion_exec_submit_with(fusion_exec *e, const fusion_rebind *rebind, uint32_t n_rebind,
                                      const fusion_submit_options *options, fusion_event *event)
{
    return client_submit_rounds(e, &(struct submit_rounds){.n = 1}, rebind, n_rebind, options, event);
}

fusion_status client_submit_rounds(fusion_exec *e, const struct submit_rounds *rounds, const fusion_rebind *rebind,
                                   uint32_t n_rebind, const fusion_submit_options *given, fusion_event *event)
{
    fusion_submit_options options;
    fusion_status status = client_check_submit_options(given, &options);
    if (status != FUSION_SUCCESS) return status;
    struct entry entry = {.head = head_of(e, &options)};
    take_rounds(&entry.head, e, rounds);
    struct binding *bindings = default_bindings(e, e->slot_memory);
    if (!bindings) return client_no_memory("submission");
    status = client_rebind(e, rebind, n_rebind, bindings, &entry);
    if (status == FUSION_SUCCESS) status = ensure_memories(e, rounds->first, bindings);
    if (status == FUSION_SUCCESS) status = bind_all(e, &entry, bindings);
    if (status == FUSION_SUCCESS) status = push_in_turn(e, &entry, bindings, rebind, n_rebind, event);
    free(entry.rest);
    free(bindings);
    return status;
}

static fusion_status add_after(fusion_session *s, struct entry *entry, const struct submit_after *after)
{
    for (uint32_t i = 0; i < after->n; i++) {
        fusion_event event = after->events[i];
        fusion_status status = client_event_resolve(s, &event);
        if (status != FUSION_SUCCESS) return status;
        if (!client_entry_after(entry, event)) return client_no_memory("submission");
    }
    return FUSION_SUCCESS;
}

static fusion_status submit_graph(fusion_exec *e, const fusion_graph *g, fusion_event reserved,
                                  const struct submit_after *after, const fusion_submit_options *options,
                                  fusion_event *event)
{
    struct entry entry = {.head = head_of(e, options), .reserved = reserved};
    struct binding *bindings = default_bindings(e, g->slot_memory);
    if (!bindings) return client_no_memory("submission");
    bool fits = true;
    for (uint32_t i = 0; i < e->n_slots; i++)
        if (bindings[i].memory && e->slot_needed[i]) fits = fits && client_entry_bind(&entry, i, &bindings[i]);
    for (uint32_t i = 0; i < e->n_values; i++)
        fits = fits && client_entry_value(&entry, i, g->values[i].data, g->values[i].size);
    fusion_status status = fits ? ensure_memories(e, NULL, bindings) : client_no_memory("submission");
    if (status == FUSION_SUCCESS) status = bind_all(e, &entry, bindings);
    if (status == FUSION_SUCCESS) status = add_after(e->session, &entry, after);
    if (status == FUSION_SUCCESS) status = push_in_turn(e, &entry, bindings, NULL, 0, event);
    free(entry.rest);
    free(bindings);
    return status;
}

fusion_status client_submit_graph(fusion_exec *e, const fusion_graph *g, const struct submit_after *after,
                                  const fusion_submit_options *options, fusion_event *event)
{
    return submit_graph(e, g, 0, after, options, event);
}

fusion_status client_submit_reserved(fusion_exec *e, const fusion_graph *g, const fusion_submit_options *options,
                                     fusion_event last)
{
    return submit_graph(e, g, last, &(struct submit_after){.n = 0}, options, NULL);
}

fusion_status client_submit_check(fusion_exec *e, const fusion_graph *g)
{
    struct binding *bindings = default_bindings(e, g->slot_memory);
    if (!bindings) return client_no_memory("submission");
    fusion_status status = ensure_memories(e, NULL, bindings);
    free(bindings);
    return status;
}
