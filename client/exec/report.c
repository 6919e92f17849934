/* The report of an executable: what the service says of it, checked, in memory of the executable's own. */
#include "client/exec/report.h"

#include <string.h>

#include "client/base/error.h"
#include "client/base/reply.h"
#include "client/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

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
    uint32_t *numbers = client_pool_array(&e->pool, list.size, sizeof *numbers);
    for (uint32_t i = 0; i < list.size; i++) {
        if (!numbers || !read_index(&list.ptr[i], n_flat, &numbers[i]) || seen[numbers[i]]) return false;
        seen[numbers[i]] = true;
    }
    *nodes = numbers;
    *n = list.size;
    return true;
}

static const char *optional_text(fusion_exec *e, const msgpack_object *map, const char *key)
{
    const msgpack_object *o = proto_get(map, key);
    return o && o->type == MSGPACK_OBJECT_STR ? client_reply_string(&e->pool, o) : NULL;
}

static const char *text_or_none(fusion_exec *e, const msgpack_object *map, const char *key)
{
    const char *text = optional_text(e, map, key);
    return text ? text : "";
}

static bool read_groups(fusion_exec *e, msgpack_object_array list, uint32_t n_flat)
{
    fusion_group *groups = client_pool_array(&e->pool, list.size, sizeof *groups);
    uint64_t *predicted_ns = client_pool_array(&e->pool, list.size, sizeof *predicted_ns);
    bool *seen = client_pool_array(&e->pool, n_flat, sizeof *seen);
    if (!groups || !predicted_ns || !seen) return false;
    for (uint32_t i = 0; i < list.size; i++) {
        const msgpack_object *map = &list.ptr[i];
        uint64_t lanes = 0;
        proto_get_uint(map, "lanes", &lanes);
        groups[i].lanes = (uint32_t)lanes;
        proto_get_uint(map, "bytes", &groups[i].bytes);
        proto_get_uint(map, "predicted_ns", &predicted_ns[i]);
        if (!read_nodes(e, client_reply_list(map, "nodes"), seen, n_flat, &groups[i].nodes, &groups[i].n_nodes))
            return false;
        groups[i].kernel = client_reply_text(&e->pool, map, "kernel");
        groups[i].effort = text_or_none(e, map, "effort");
        groups[i].tier = text_or_none(e, map, "tier");
        groups[i].ir = optional_text(e, map, "ir");
        groups[i].assembly = optional_text(e, map, "assembly");
    }
    e->report.groups = groups;
    e->report.predicted_ns = predicted_ns;
    e->report.n_groups = e->report.launches = list.size;
    return true;
}

/* Launches by number, nodes by -1 - number. */
static bool read_steps(fusion_exec *e, msgpack_object_array list, uint32_t n_flat)
{
    fusion_step *steps = client_pool_array(&e->pool, list.size, sizeof *steps);
    for (uint32_t i = 0; i < list.size; i++) {
        const msgpack_object *o = &list.ptr[i];
        bool group = o->type == MSGPACK_OBJECT_POSITIVE_INTEGER;
        if (!steps || (!group && o->type != MSGPACK_OBJECT_NEGATIVE_INTEGER)) return false;
        uint64_t index = group ? o->via.u64 : (uint64_t)(-1 - o->via.i64);
        if (index >= (group ? e->report.n_groups : n_flat)) return false;
        steps[i] = (fusion_step){group, (uint32_t)index};
    }
    e->report.steps = steps;
    e->report.n_steps = list.size;
    return true;
}

static bool is_home(const char *text)
{
    return strcmp(text, "memory") == 0 || strcmp(text, "ring") == 0 || strcmp(text, "private") == 0 ||
           strcmp(text, "local") == 0 || strcmp(text, "none") == 0;
}

/* Homes by slot; what is not in memory was internalized. */
static bool read_homes(fusion_exec *e, msgpack_object_array list, msgpack_object_array saved)
{
    fusion_internalized *internalized = client_pool_array(&e->pool, e->n_slots, sizeof *internalized);
    e->slot_needed = client_pool_array(&e->pool, e->n_slots, sizeof *e->slot_needed);
    e->slot_saved = client_pool_array(&e->pool, e->n_slots, sizeof *e->slot_saved);
    if (!internalized || !e->slot_needed || !e->slot_saved || list.size != e->n_slots) return false;
    for (uint32_t i = 0; i < e->n_slots; i++) {
        const char *home = client_reply_string(&e->pool, &list.ptr[i]);
        if (!is_home(home)) return false;
        e->slot_needed[i] = strcmp(home, "memory") == 0;
        if (e->slot_needed[i]) continue;
        if (i < saved.size && saved.ptr[i].type == MSGPACK_OBJECT_POSITIVE_INTEGER)
            e->slot_saved[i] = saved.ptr[i].via.u64;
        internalized[e->report.n_internalized++] = (fusion_internalized){
            .buffer = e->slot_names[i], .memory = home, .bytes = e->slot_bytes[i], .traffic = e->slot_saved[i]};
    }
    e->report.internalized = internalized;
    /* What only nodes in this process use the executor does not know. */
    for (uint32_t i = 0; i < e->n_slots; i++)
        e->slot_needed[i] = e->slot_needed[i] && e->slot_access[i] & (SLOT_READ | SLOT_WRITTEN);
    return true;
}

static void read_remarks(fusion_exec *e, msgpack_object_array list)
{
    fusion_remark *remarks = client_pool_array(&e->pool, list.size, sizeof *remarks);
    if (!remarks) return;
    for (uint32_t i = 0; i < list.size; i++) {
        remarks[i].code = client_reply_text(&e->pool, &list.ptr[i], "code");
        remarks[i].node = client_reply_text(&e->pool, &list.ptr[i], "node");
        remarks[i].buffer = client_reply_text(&e->pool, &list.ptr[i], "buffer");
        remarks[i].text = client_reply_text(&e->pool, &list.ptr[i], "text");
    }
    e->report.remarks = remarks;
    e->report.n_remarks = list.size;
}

/* What has an index or a number that cannot be is left out: nothing depends on it. */
static void read_jobs(fusion_exec *e, msgpack_object_array list)
{
    fusion_job *jobs = client_pool_array(&e->pool, list.size, sizeof *jobs);
    for (uint32_t i = 0; i < list.size && jobs; i++) {
        const msgpack_object *o = &list.ptr[i], *field = o->via.array.ptr;
        if (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size != 4) continue;
        bool plan = field[0].type == MSGPACK_OBJECT_NEGATIVE_INTEGER && field[0].via.i64 == -1, times = true;
        for (int k = 1; k < 4; k++) times &= field[k].type == MSGPACK_OBJECT_POSITIVE_INTEGER;
        uint32_t group = 0;
        if (!times || (!plan && !read_index(&field[0], e->report.n_groups, &group))) continue;
        jobs[e->report.n_jobs++] =
            (fusion_job){plan ? -1 : (int32_t)group, field[1].via.u64, field[2].via.u64, field[3].via.u64};
    }
    e->report.jobs = jobs;
}

/* n_flat: nodes of the graph as it went to the service. What is used as an index later, or counted on to be there, is
   checked here. */
static fusion_status read_report(fusion_exec *e, const msgpack_object *reply, uint32_t n_flat)
{
    const msgpack_object *report = proto_get(reply, "report");
    bool *seen = client_pool_array(&e->pool, n_flat, sizeof *seen);
    e->report.cache = client_reply_text(&e->pool, reply, "cache");
    if (!proto_get_uint(reply, "executable", &e->id) || !report || report->type != MSGPACK_OBJECT_MAP)
        return client_error(FUSION_PROTOCOL, "graph.finalize", "the reply has no executable, or no report");
    if (!seen ||
        !read_nodes(e, client_reply_list(report, "order"), seen, n_flat, &e->report.order, &e->report.n_order) ||
        e->report.n_order != n_flat)
        return client_error(FUSION_PROTOCOL, "graph.finalize",
                            "the report's order does not have each of the %u nodes once", n_flat);
    if (!read_groups(e, client_reply_list(report, "launches"), n_flat))
        return client_error(FUSION_PROTOCOL, "graph.finalize",
                            "the report's launches have nodes that there are none of, or some twice");
    if (!read_steps(e, client_reply_list(report, "steps"), n_flat))
        return client_error(FUSION_PROTOCOL, "graph.finalize",
                            "the report's steps have launches or nodes that there are none of");
    if (!read_homes(e, client_reply_list(report, "homes"), client_reply_list(report, "saved")))
        return client_error(FUSION_PROTOCOL, "graph.finalize",
                            "the report does not say where each of the %u buffers is", e->n_slots);
    read_remarks(e, client_reply_list(report, "remarks"));
    read_jobs(e, client_reply_list(reply, "jobs"));
    proto_get_bool(reply, "gpu", &e->on_gpu);
    proto_get_uint(report, "bytes_fused", &e->report.bytes_fused);
    proto_get_uint(report, "bytes_unfused", &e->report.bytes_unfused);
    return FUSION_SUCCESS;
}

/* ---- launches that were quick ---- */

/* What is as it was is not kept again: the report may be updated often. */
static void update_group(fusion_exec *e, fusion_group *group, const msgpack_object *map)
{
    const msgpack_object *tier = proto_get(map, "tier");
    uint64_t lanes = 0;
    if (!tier || tier->type != MSGPACK_OBJECT_STR ||
        (tier->via.str.size == strlen(group->tier) && memcmp(tier->via.str.ptr, group->tier, tier->via.str.size) == 0))
        return;
    proto_get_uint(map, "lanes", &lanes);
    group->lanes = (uint32_t)lanes;
    group->tier = text_or_none(e, map, "tier");
    group->effort = text_or_none(e, map, "effort");
    group->reason = optional_text(e, map, "reason");
}

static void pack_executable(struct proto_writer *w, const void *data)
{
    const fusion_exec *e = data;
    proto_pack_map(w, 1);
    proto_pack_uint(w, "executable", e->id);
}

fusion_status fusion_exec_update_report(fusion_exec *e)
{
    struct proto_message reply;
    bool quick = false;
    for (uint32_t i = 0; i < e->report.n_groups; i++) quick |= strcmp(e->report.groups[i].tier, "quick") == 0;
    if (!quick) return FUSION_SUCCESS;
    fusion_status status = client_request(e->session, "executable.tiers", pack_executable, e, NULL, 0, &reply);
    if (status != FUSION_SUCCESS) return status;
    msgpack_object_array list = client_reply_list(&reply.params, "launches");
    for (uint32_t i = 0; i < list.size; i++) {
        uint64_t launch;
        if (proto_get_uint(&list.ptr[i], "launch", &launch) && launch < e->report.n_groups)
            update_group(e, (fusion_group *)&e->report.groups[launch], &list.ptr[i]);
    }
    proto_message_clear(&reply);
    return e->pool.failed ? client_no_memory("graph") : FUSION_SUCCESS;
}

/* ---- graphs that were flattened ---- */

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

void client_report_rename(fusion_exec *e, const fusion_graph *flat)
{
    if (!flat->parent_of) return;
    e->report.n_order = rename_nodes(flat, (uint32_t *)e->report.order, e->report.n_order);
    for (uint32_t i = 0; i < e->report.n_groups; i++) {
        fusion_group *group = (fusion_group *)&e->report.groups[i];
        group->n_nodes = rename_nodes(flat, (uint32_t *)group->nodes, group->n_nodes);
    }
}

fusion_status client_report_read(fusion_exec *e, const msgpack_object *reply, const fusion_graph *flat)
{
    fusion_status status = read_report(e, reply, flat->wire.n_nodes);
    return e->pool.failed ? client_no_memory("graph") : status;
}

/* ---- graphs in graphs ---- */

/* a, then b, in the executable's pool; NULL: no memory. */
static void *join(fusion_exec *e, const void *a, uint32_t n_a, const void *b, uint32_t n_b, size_t item)
{
    char *both = client_pool_array(&e->pool, (size_t)n_a + n_b, item);
    if (both && n_a) memcpy(both, a, n_a * item);
    if (both && n_b) memcpy(both + n_a * item, b, n_b * item);
    return both;
}

fusion_status client_report_add(fusion_exec *e, const fusion_report *inner)
{
    fusion_report *r = &e->report;
    const fusion_remark *remarks = join(e, r->remarks, r->n_remarks, inner->remarks, inner->n_remarks, sizeof *remarks);
    const fusion_internalized *internalized =
        join(e, r->internalized, r->n_internalized, inner->internalized, inner->n_internalized, sizeof *internalized);
    if (!remarks || !internalized) return client_no_memory("graph");
    r->remarks = remarks;
    r->n_remarks += inner->n_remarks;
    r->internalized = internalized;
    r->n_internalized += inner->n_internalized;
    r->launches += inner->launches;
    r->bytes_fused += inner->bytes_fused;
    r->bytes_unfused += inner->bytes_unfused;
    return FUSION_SUCCESS;
}
