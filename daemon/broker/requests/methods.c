/* What clients can ask for. */
#include "daemon/broker/requests/methods.h"

#include <string.h>

#include "daemon/broker/requests/binaries.h"
#include "daemon/broker/requests/buffers.h"
#include "daemon/broker/requests/executables.h"
#include "daemon/broker/requests/finalize.h"
#include "daemon/broker/requests/metrics.h"
#include "daemon/broker/requests/modules.h"
#include "daemon/broker/requests/status.h"
#include "daemon/broker/requests/upgrades.h"
#include "daemon/broker/session/cgroup.h"
#include "daemon/broker/session/gpus.h"
#include "daemon/broker/session/hello.h"
#include "daemon/broker/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

/* Those that are looked for and not there. */
static void pack_absent(struct proto_writer *w, const struct gpus *gpus)
{
    const struct gpu *gpu;
    uint32_t n = 0;
    for (uint32_t i = 0; (gpu = gpus_get(gpus, i)); i++) n += !gpu->description;
    proto_pack_key(w, "absent");
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; (gpu = gpus_get(gpus, i)); i++) {
        if (gpu->description) continue;
        proto_pack_map(w, 2);
        proto_pack_string(w, "name", gpu->name);
        proto_pack_string(w, "reason", gpu->absent);
    }
}

static void pack_devices(struct proto_writer *w, const msgpack_object_array *of_compilers, const struct gpus *gpus)
{
    const struct gpu *gpu;
    uint32_t n = of_compilers->size;
    for (uint32_t i = 0; (gpu = gpus_get(gpus, i)); i++) n += gpu->description != NULL;
    proto_pack_key(w, "devices");
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; i < of_compilers->size; i++) msgpack_pack_object(&w->packer, of_compilers->ptr[i]);
    for (uint32_t i = 0; (gpu = gpus_get(gpus, i)); i++)
        if (gpu->description) proto_pack_raw(w, gpu->device->data, gpu->device->size);
}

static void device_list(struct session *s, struct proto_message *m)
{
    const msgpack_object *devices;
    const struct error *error = pool_info(s->broker->pool, &devices, NULL);
    struct proto_writer w;
    if (!gpus_settled(s->broker->gpus)) {
        session_defer(s, m);
        return;
    }
    if (error) {
        session_fail(s, m->id, error);
        return;
    }
    proto_begin_reply(&w, m->id);
    proto_pack_map(&w, 2);
    pack_devices(&w, &devices->via.array, s->broker->gpus);
    pack_absent(&w, s->broker->gpus);
    session_send(s, &w);
}

static void second_hello(struct session *s, struct proto_message *m)
{
    request_fail(s, m, FUSION_INVALID, "hello", "the session has begun already");
}

/* What compilers do for others goes on. */
static void cancel_request(struct session *s, struct proto_message *m)
{
    uint64_t id;
    if (!request_uint(s, m, "request", &id)) return;
    struct operation *o = id <= UINT32_MAX ? operations_find(&s->operations, (uint32_t)id) : NULL;
    if (o) {
        struct error error;
        error_set(&error, FUSION_CANCELLED, "request", "it was cancelled");
        operation_end(o);
        session_fail(s, o->request, &error);
        o->cancel(o);
    }
    struct proto_writer w;
    proto_begin_reply(&w, m->id);
    proto_pack_map(&w, 1);
    proto_pack_bool(&w, "cancelled", o != NULL);
    session_send(s, &w);
}

static void release_executable(struct session *s, struct proto_message *m)
{
    uint64_t id;
    if (proto_get_uint(&m->params, "executable", &id)) upgrades_end(s, id);
    executable_release(s, m);
}

static const struct {
    const char *name;
    void (*handle)(struct session *s, struct proto_message *m);
    bool works;       /* will submit something later: the executor is started meanwhile */
    uint32_t max_fds; /* descriptors that it may carry */
} methods[] = {
    {"hello", second_hello, false, 0},
    {"session.cgroup", cgroup_enter, false, 1},
    {"device.list", device_list, false, 0},
    {"status", status_reply, false, 0},
    {"metrics", metrics_reply, false, 0},
    {"request.cancel", cancel_request, false, 0},
    {"module.load", module_load, true, 0},
    {"module.link", module_link, true, 0},
    {"module.text", module_text, false, 0},
    {"module.release", module_release, false, 0},
    {"buffer.attach", buffer_attach, true, 1},
    {"buffer.release", buffer_release, false, 0},
    {"graph.finalize", graph_finalize, true, 0},
    {"executable.tiers", executable_tiers, false, 0},
    {"executable.release", release_executable, false, 0},
};

static void on_request(struct session *s, struct proto_message *m)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, m->method) != 0) continue;
        if (m->n_fds > methods[i].max_fds) {
            request_fail(s, m, FUSION_PROTOCOL, m->method, "came with %u descriptors; it takes %u", m->n_fds,
                         methods[i].max_fds);
            return;
        }
        if (methods[i].works) executor_start(s->executor);
        if (!s->ending) methods[i].handle(s, m);
        return;
    }
    request_fail(s, m, FUSION_NOT_FOUND, m->method, "this daemon has no such method");
}

static void on_replied(struct session *s, enum executor_subject subject, uint64_t id, const struct proto_message *reply)
{
    if (subject == EXECUTOR_BUFFER)
        buffer_replied(s, id, reply);
    else if (subject == EXECUTOR_REPLACEMENT)
        upgrades_replied(s, id, reply);
    else if (subject == EXECUTOR_CGROUP)
        cgroup_replied(s, reply);
    else
        executable_replied(s, id, subject == EXECUTOR_RELAY, reply);
}

static void on_restarted(struct session *s, struct executor *executor)
{
    buffers_replay(s, executor);
    executables_replay(s, executor);
    if (executor == s->executor) upgrades_replay(s);
    if (executor == s->executor) cgroup_replay(s);
}

static void on_ended(struct session *s)
{
    upgrades_clear(s);
    executables_clear(s);
    buffers_clear(s);
    modules_clear(s);
}

const struct session_events methods_events = {.greeted = hello_answer,
                                              .request = on_request,
                                              .replied = on_replied,
                                              .restarted = on_restarted,
                                              .spares_run = upgrades_make_spares,
                                              .binaries = binaries_told,
                                              .ended = on_ended};
