/* What clients can ask for: the table of methods, and what their handlers share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/broker/session.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

bool request_fail(struct session *s, const struct proto_message *m, fusion_status status, const char *object,
                  const char *format, ...)
{
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    session_fail(s, m->id, status, object, reason);
    return false;
}

void request_done(struct session *s, uint32_t request)
{
    struct proto_writer w;
    proto_begin_reply(&w, request);
    proto_pack_map(&w, 0);
    session_send(s, &w);
}

static bool wrong(struct session *s, const struct proto_message *m, const char *key)
{
    return request_fail(s, m, FUSION_INVALID, m->method, "parameter %s is missing or of the wrong type", key);
}

bool request_uint(struct session *s, const struct proto_message *m, const char *key, uint64_t *value)
{
    return proto_get_uint(&m->params, key, value) || wrong(s, m, key);
}

bool request_bool(struct session *s, const struct proto_message *m, const char *key, bool *value)
{
    *value = false;
    return !proto_get(&m->params, key) || proto_get_bool(&m->params, key, value) || wrong(s, m, key);
}

bool request_bytes(struct session *s, const struct proto_message *m, const char *key, const void **bytes, size_t *size)
{
    return proto_get_bytes(&m->params, key, bytes, size) || wrong(s, m, key);
}

bool request_list(struct session *s, const struct proto_message *m, const char *key, const msgpack_object_array **list)
{
    const msgpack_object *object = proto_get(&m->params, key);
    if (!object || object->type != MSGPACK_OBJECT_ARRAY) return wrong(s, m, key);
    *list = &object->via.array;
    return true;
}

bool request_target(struct session *s, const struct proto_message *m, struct hash *target)
{
    const char *reason;
    return pool_info(s->broker->pool, NULL, target, &reason) ||
           request_fail(s, m, FUSION_COMPILER, "compiler", "%s", reason);
}

static void device_list(struct session *s, struct proto_message *m)
{
    const msgpack_object *devices;
    const char *reason;
    struct proto_writer w;
    if (!pool_info(s->broker->pool, &devices, NULL, &reason)) {
        session_fail(s, m->id, FUSION_COMPILER, "compiler", reason);
        return;
    }
    proto_begin_reply(&w, m->id);
    proto_pack_map(&w, 1);
    proto_pack_key(&w, "devices");
    msgpack_pack_object(&w.packer, *devices);
    session_send(s, &w);
}

static void second_hello(struct session *s, struct proto_message *m)
{
    request_fail(s, m, FUSION_INVALID, "hello", "the session has begun already");
}

static const struct {
    const char *name;
    void (*handle)(struct session *s, struct proto_message *m);
    bool works;       /* will submit something later: the executor is started meanwhile */
    uint32_t max_fds; /* descriptors that it may carry */
} methods[] = {
    {"hello", second_hello, false, 0},
    {"device.list", device_list, false, 0},
    {"status", status_reply, false, 0},
    {"module.load", module_load, true, 0},
    {"module.link", module_link, true, 0},
    {"module.text", module_text, false, 0},
    {"module.release", module_release, false, 0},
    {"buffer.attach", buffer_attach, true, 1},
    {"buffer.release", buffer_release, false, 0},
    {"graph.finalize", graph_finalize, true, 0},
    {"executable.release", executable_release, false, 0},
};

void session_request(struct session *s, struct proto_message *m)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, m->method) != 0) continue;
        if (m->n_fds > methods[i].max_fds) {
            request_fail(s, m, FUSION_PROTOCOL, m->method, "came with %u descriptors; it takes %u", m->n_fds,
                         methods[i].max_fds);
            return;
        }
        if (methods[i].works) session_start_executor(s);
        if (!s->ending) methods[i].handle(s, m);
        return;
    }
    request_fail(s, m, FUSION_NOT_FOUND, m->method, "this daemon has no such method");
}
