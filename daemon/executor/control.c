/* Requests of the broker: docs/protocol.md, "Broker and executor". */
#include "daemon/executor/control.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/binaries.h"
#include "daemon/executor/ring/completion.h"
#include "daemon/executor/ring/relay.h"
#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/watchdog.h"
#include "ir/base/arena.h"
#include "proto/fields.h"
#include "proto/transfer.h"

typedef int handler(struct control *c, struct proto_message *m, struct error *e);

/* Replies come from one thread, the notice from another. */
static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;

static int send_message(struct control *c, struct proto_writer *w)
{
    pthread_mutex_lock(&sending);
    int result = proto_send(c->connection, w, 0);
    pthread_mutex_unlock(&sending);
    proto_writer_clear(w);
    return result;
}

static int missing(struct error *e, const char *method, const char *key)
{
    return error_set(e, FUSION_PROTOCOL, method, "parameter %s is missing or has another type", key);
}

static int get_id(const struct proto_message *m, const char *key, uint64_t *id, struct error *e)
{
    return proto_get_uint(&m->params, key, id) ? 0 : missing(e, m->method, key);
}

static int buffer_attach(struct control *c, struct proto_message *m, struct error *e)
{
    struct buffer_place place = {0};
    uint64_t id;
    if (get_id(m, "buffer", &id, e) != 0 || get_id(m, "bytes", &place.bytes, e) != 0 ||
        get_id(m, "address", &place.address, e) != 0 || get_id(m, "offset", &place.offset, e) != 0)
        return -1;
    if (m->n_fds != 1)
        return error_set_id(e, FUSION_INVALID, "buffer", id, "came with %u descriptors, not 1", m->n_fds);
    place.fd = m->fds[0];
    return buffers_attach(c->buffers, id, &place, e);
}

static int buffer_release(struct control *c, struct proto_message *m, struct error *e)
{
    uint64_t id;
    return get_id(m, "buffer", &id, e) == 0 ? buffers_detach(c->buffers, id, e) : -1;
}

static const msgpack_object_array *get_list(const struct proto_message *m, const char *key)
{
    const msgpack_object *o = proto_get(&m->params, key);
    return o && o->type == MSGPACK_OBJECT_ARRAY ? &o->via.array : NULL;
}

static bool read_ids(const msgpack_object_array *list, uint64_t *ids)
{
    for (uint32_t i = 0; i < list->size; i++) {
        if (list->ptr[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER) return false;
        ids[i] = list->ptr[i].via.u64;
    }
    return true;
}

static bool read_blobs(const msgpack_object_array *list, struct exec_bytes *blobs)
{
    for (uint32_t i = 0; i < list->size; i++) {
        if (list->ptr[i].type != MSGPACK_OBJECT_BIN) return false;
        blobs[i] = (struct exec_bytes){list->ptr[i].via.bin.ptr, list->ptr[i].via.bin.size};
    }
    return true;
}

static int load_with(struct control *c, struct proto_message *m, const msgpack_object_array *bindings,
                     const msgpack_object_array *values, struct arena *arena, struct error *e)
{
    static const msgpack_object_array none;
    const msgpack_object_array *modules = get_list(m, "modules"), *pipes = get_list(m, "pipes");
    if (!modules) modules = &none;
    if (!pipes) pipes = &none;
    uint64_t *pipe_ids = arena_alloc(arena, pipes->size * sizeof *pipe_ids);
    uint64_t *module_ids = arena_alloc(arena, modules->size * sizeof *module_ids);
    uint64_t *ids = arena_alloc(arena, bindings->size * sizeof *ids);
    struct exec_bytes *blobs = arena_alloc(arena, values->size * sizeof *blobs);
    struct executable_source source = {.n_bindings = bindings->size,
                                       .bindings = ids,
                                       .n_values = values->size,
                                       .values = blobs,
                                       .n_modules = modules->size,
                                       .modules = module_ids,
                                       .n_pipes = pipes->size,
                                       .pipes = pipe_ids,
                                       .fds = m->fds,
                                       .n_fds = m->n_fds};
    if (get_id(m, "executable", &source.id, e) != 0) return -1;
    if (!proto_get_bytes(&m->params, "program", &source.program.data, &source.program.size))
        return missing(e, m->method, "program");
    if (!read_ids(bindings, ids)) return missing(e, m->method, "bindings");
    if (!read_ids(modules, module_ids)) return missing(e, m->method, "modules");
    if (!read_ids(pipes, pipe_ids)) return missing(e, m->method, "pipes");
    if (!read_blobs(values, blobs)) return missing(e, m->method, "values");
    return executables_load(c->executables, &source, e);
}

static int executable_load(struct control *c, struct proto_message *m, struct error *e)
{
    const msgpack_object_array *bindings = get_list(m, "bindings"), *values = get_list(m, "values");
    if (!bindings) return missing(e, m->method, "bindings");
    if (!values) return missing(e, m->method, "values");
    struct arena *arena = arena_new();
    int result = load_with(c, m, bindings, values, arena, e);
    arena_free(arena);
    return result;
}

static int executable_objects(struct control *c, struct proto_message *m, struct error *e)
{
    uint64_t id, first;
    if (get_id(m, "executable", &id, e) != 0 || get_id(m, "first", &first, e) != 0) return -1;
    return executables_add_objects(c->executables, id, first, m->fds, m->n_fds, e);
}

static int executable_replace(struct control *c, struct proto_message *m, struct error *e)
{
    uint64_t id, launch;
    if (get_id(m, "executable", &id, e) != 0 || get_id(m, "launch", &launch, e) != 0) return -1;
    if (m->n_fds != 1)
        return error_set_id(e, FUSION_INVALID, "executable", id, "came with %u descriptors, not 1", m->n_fds);
    return executables_replace(c->executables, id, launch, m->fds, e);
}

static int executable_relay(struct control *c, struct proto_message *m, struct error *e)
{
    uint64_t id;
    (void)c;
    if (get_id(m, "executable", &id, e) != 0) return -1;
    if (m->n_fds != 1)
        return error_set_id(e, FUSION_INVALID, "executable", id, "came with %u descriptors, not 1", m->n_fds);
    return relay_add(id, m->fds, e);
}

static int executable_release(struct control *c, struct proto_message *m, struct error *e)
{
    uint64_t id;
    if (get_id(m, "executable", &id, e) != 0) return -1;
    return relay_remove(id) ? 0 : executables_unload(c->executables, id, e);
}

static int module_release(struct control *c, struct proto_message *m, struct error *e)
{
    uint64_t id;
    if (get_id(m, "module", &id, e) != 0) return -1;
    states_release(c->states, id);
    return 0;
}

static int options(struct control *c, struct proto_message *m, struct error *e)
{
    (void)c;
    uint64_t limit;
    if (get_id(m, "time_limit_ms", &limit, e) != 0) return -1;
    watchdog_set_limit(limit);
    return 0;
}

static int resume(struct control *c, struct proto_message *m, struct error *e)
{
    (void)c;
    (void)m;
    (void)e;
    completion_resume();
    return 0;
}

static int unknown(struct control *c, struct proto_message *m, struct error *e)
{
    (void)c;
    return error_set(e, FUSION_PROTOCOL, m->method, "the executor has no such method");
}

static const struct {
    const char *method;
    handler *handle;
} methods[] = {
    {"buffer.attach", buffer_attach},
    {"buffer.release", buffer_release},
    {"executable.load", executable_load},
    {"executable.objects", executable_objects},
    {"executable.relay", executable_relay},
    {"executable.replace", executable_replace},
    {"executable.release", executable_release},
    {"module.release", module_release},
    {"options", options},
    {"resume", resume},
};

static handler *find_handler(const char *method)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].method, method) == 0) return methods[i].handle;
    return unknown;
}

/* Before the reply: so it is known when that comes. */
static int tell_binaries(struct control *c, const struct proto_message *m)
{
    uint64_t id;
    struct proto_writer w;
    bool loads = strcmp(m->method, "executable.load") == 0 || strcmp(m->method, "executable.objects") == 0;
    if (!loads || !proto_get_uint(&m->params, "executable", &id) || !binaries_tell(c->executables, id, &w)) return 0;
    proto_finish(&w);
    return send_message(c, &w);
}

static int answer(struct control *c, struct proto_message *m)
{
    struct error e;
    struct proto_writer w;
    error_clear(&e);
    int result = find_handler(m->method)(c, m, &e);
    if (result == 0 && tell_binaries(c, m) != 0) return -1;
    if (result != 0) {
        proto_write_error(&w, m->id, (fusion_status)e.code, e.object, e.reason);
    } else {
        proto_begin_reply(&w, m->id);
        proto_pack_map(&w, 0);
        proto_finish(&w);
    }
    return send_message(c, &w);
}

/* Takes the descriptors out of the message. */
static int begin(struct control *c, struct proto_message *m, int *ring, int *events)
{
    struct proto_writer w;
    if (m->kind != PROTO_REQUEST || strcmp(m->method, "begin") != 0 || m->n_fds != 2) return EXECUTOR_EXIT_SETUP;
    *ring = m->fds[0];
    *events = m->fds[1];
    m->fds[0] = m->fds[1] = -1;
    proto_begin_reply(&w, m->id);
    proto_pack_map(&w, 0);
    proto_finish(&w);
    return send_message(c, &w) == 0 ? EXECUTOR_GOES_ON : EXECUTOR_EXIT_CLOSED;
}

static int receive(struct control *c, struct proto_message *m)
{
    const char *reason = "";
    if (!c->reader) c->reader = proto_reader_new(PROTO_MAX_MESSAGE);
    if (!c->reader) return EXECUTOR_EXIT_SETUP;
    return proto_receive(c->connection, c->reader, m, 0, &reason) == 0 ? EXECUTOR_GOES_ON : EXECUTOR_EXIT_CLOSED;
}

static int take_drivers(const struct proto_message *m, struct gpu_description *known, unsigned room, unsigned *n)
{
    const msgpack_object_array *list = get_list(m, "descriptions");
    if (m->kind != PROTO_REQUEST || strcmp(m->method, "drivers") != 0 || !list || list->size > room)
        return EXECUTOR_EXIT_SETUP;
    for (*n = 0; *n < list->size; ++*n) {
        const msgpack_object *o = &list->ptr[*n];
        if (o->type != MSGPACK_OBJECT_BIN || !gpu_description_decode(&known[*n], o->via.bin.ptr, o->via.bin.size))
            return EXECUTOR_EXIT_SETUP;
    }
    return EXECUTOR_GOES_ON;
}

int control_drivers(struct control *c, struct gpu_description *known, unsigned room, unsigned *n)
{
    struct proto_message m;
    int ended = receive(c, &m);
    if (ended != EXECUTOR_GOES_ON) return ended;
    ended = take_drivers(&m, known, room, n);
    c->asked = m.id;
    proto_message_clear(&m);
    return ended;
}

int control_drivers_loaded(struct control *c, unsigned tested)
{
    struct proto_writer w;
    proto_begin_reply(&w, c->asked);
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "tested", tested);
    proto_finish(&w);
    return send_message(c, &w) == 0 ? EXECUTOR_GOES_ON : EXECUTOR_EXIT_CLOSED;
}

int control_begin(struct control *c, int *ring, int *events)
{
    struct proto_message m;
    int ended = receive(c, &m);
    if (ended != EXECUTOR_GOES_ON) return ended;
    ended = begin(c, &m, ring, events);
    proto_message_clear(&m);
    return ended;
}

int control_run(struct control *c)
{
    for (;;) {
        struct proto_message m;
        const char *reason = "";
        if (proto_receive(c->connection, c->reader, &m, 0, &reason) != 0) break;
        int sent = m.kind == PROTO_REQUEST ? answer(c, &m) : 0;
        proto_message_clear(&m);
        if (sent != 0) break;
    }
    return EXECUTOR_EXIT_CLOSED;
}

void control_spares_run(struct control *c, uint64_t executable)
{
    struct proto_writer w;
    proto_begin_notice(&w, "executable.spares");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "executable", executable);
    proto_finish(&w);
    send_message(c, &w);
}

void control_ring_corrupt(struct control *c, const char *reason)
{
    struct proto_writer w;
    proto_begin_notice(&w, "ring.corrupt");
    proto_pack_map(&w, 1);
    proto_pack_string(&w, "reason", reason);
    proto_finish(&w);
    send_message(c, &w);
}
