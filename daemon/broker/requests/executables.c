/* Executables of a session. */
#include "daemon/broker/requests/executables.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "daemon/broker/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct executable {
    uint64_t id;
    struct executable_parts parts; /* with a GPU: its executor has it, and the session's passes submissions on */
    struct user_cost cost;
    uint32_t replies_due; /* while it is being loaded, of the executor that runs it, */
    uint32_t relays_due;  /* and of the one that passes submissions on */
    struct operation *loading;
    executable_loaded_fn *loaded;
};

static void free_executable(struct executable *x)
{
    for (uint32_t i = 0; i < x->parts.n_code; i++) code_put(x->parts.code[i]);
    free(x->parts.code);
    free(x->parts.objects);
    blob_unref(x->parts.load);
    free(x);
}

static void add_fds(struct proto_writer *w, const struct executable *x, uint32_t first)
{
    for (uint32_t i = first; i < x->parts.n_code && w->n_fds < PROTO_MAX_FDS; i++)
        w->fds[w->n_fds++] = x->parts.code[i]->fd;
}

static void send_request(struct executor *executor, const char *method, const char *key, uint64_t about)
{
    struct proto_writer w;
    uint32_t request = executor_next_id(executor);
    proto_begin_request(&w, request, method);
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, key, about);
    executor_request(executor, request, &w, EXECUTOR_NOTHING, 0);
}

void executables_forget_module(struct session *s, uint64_t module)
{
    send_request(s->executor, "module.release", "module", module);
    if (s->gpu.executor) send_request(s->gpu.executor, "module.release", "module", module);
}

/* The executable uses modules that were released before it got there: their variables go with it. */
static void forget_released(struct session *s, const struct executable *x)
{
    struct blob_value load;
    if (!blob_parse(x->parts.load, &load)) return;
    const msgpack_object *modules = proto_get(&load.root, "modules");
    for (uint32_t i = 0; modules && i < modules->via.array.size; i++) {
        uint64_t module = modules->via.array.ptr[i].via.u64;
        if (!map_get(&s->modules, module)) executables_forget_module(s, module);
    }
    blob_value_clear(&load);
}

static void send_objects(struct executor *executor, struct executable *x)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(executor);
    x->replies_due++;
    proto_begin_request(&w, id, "executable.load");
    proto_pack_raw(&w, x->parts.load->data, x->parts.load->size);
    add_fds(&w, x, 0);
    executor_request(executor, id, &w, EXECUTOR_EXECUTABLE, x->id);
    for (uint32_t first = PROTO_MAX_FDS; first < x->parts.n_code; first += PROTO_MAX_FDS) {
        id = executor_next_id(executor);
        x->replies_due++;
        proto_begin_request(&w, id, "executable.objects");
        proto_pack_map(&w, 2);
        proto_pack_uint(&w, "executable", x->id);
        proto_pack_uint(&w, "first", first);
        add_fds(&w, x, first);
        executor_request(executor, id, &w, EXECUTOR_EXECUTABLE, x->id);
    }
}

/* To the session's executor: whose submissions it passes on, and through which ring. 0: of none yet. */
static void send_relay(struct session *s, uint64_t executable)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(s->executor);
    proto_begin_request(&w, id, "executable.relay");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "executable", executable);
    w.fds[w.n_fds++] = s->gpu.ring_fd;
    executor_request(s->executor, id, &w, executable ? EXECUTOR_RELAY : EXECUTOR_NOTHING, executable);
}

/* What runs on a GPU is known to both. only: to this one, which has nothing yet, and answers nothing that was asked of
   the one before; NULL: to all that have to know. */
static void send_load(struct session *s, struct executable *x, const struct executor *only)
{
    struct executor *runs = x->parts.gpu ? s->gpu.executor : s->executor;
    if (!only || only == runs) {
        x->replies_due = 0;
        send_objects(runs, x);
    }
    if (x->parts.gpu && (!only || only == s->executor)) {
        x->relays_due = 1;
        send_relay(s, x->id);
    }
    forget_released(s, x);
}

/* Who shares code with others pays for it as if it were only his: it may be, as soon as they leave. Descriptors count
   twice: one more of each is on its way to an executor. */
static struct user_cost cost_of_code(const struct code *code)
{
    struct stat s;
    struct user_cost cost = {.of = {[USER_DESCRIPTORS] = 2}};
    if (fstat(code->fd, &s) == 0) cost.of[USER_SHARED] = (uint64_t)s.st_blocks * 512;
    return cost;
}

static void add_cost(struct user_cost *to, const struct user_cost *cost, int sign)
{
    for (int i = 0; i < USER_RESOURCES; i++) to->of[i] += sign < 0 ? -cost->of[i] : cost->of[i];
}

static struct user_cost cost_of(const struct executable_parts *p)
{
    const size_t each = sizeof *p->code + (p->objects ? sizeof *p->objects : 0);
    struct user_cost cost = {
        .of = {[USER_BYTES] = sizeof(struct executable) + p->load->size + p->n_code * each, [USER_OBJECTS] = 1}};
    for (uint32_t i = 0; i < p->n_code; i++) {
        struct user_cost own = cost_of_code(p->code[i]);
        add_cost(&cost, &own, 1);
    }
    return cost;
}

bool executable_add(struct session *s, uint64_t id, const struct executable_parts *parts, struct operation *loading,
                    executable_loaded_fn *loaded, struct error *error)
{
    struct user_cost cost = cost_of(parts);
    if (!session_charge(s, &cost, error)) {
        error_about(error, "executable");
        return false;
    }
    struct executable *x = calloc(1, sizeof *x);
    if (!x || !map_put(&s->executables, id, x)) {
        session_refund(s, &cost);
        free(x);
        error_set(error, FUSION_OUT_OF_MEMORY, "executable", "out of memory");
        return false;
    }
    *x = (struct executable){.id = id, .parts = *parts, .cost = cost, .loading = loading, .loaded = loaded};
    send_load(s, x, NULL);
    return true;
}

const struct hash *executable_object(const struct session *s, uint64_t id, uint64_t launch, const struct gpu **gpu)
{
    const struct executable *x = map_get(&s->executables, id);
    if (!x || !x->parts.objects || launch >= x->parts.n_code) return NULL;
    *gpu = x->parts.gpu;
    return &x->parts.objects[launch];
}

uint64_t executable_launches(const struct session *s, uint64_t id, uint64_t told)
{
    const struct executable *x = map_get(&s->executables, id);
    uint64_t n = x ? x->parts.n_code : 0;
    return told < n ? told : n;
}

static void send_release(struct session *s, uint64_t id, bool gpu)
{
    send_request(s->executor, "executable.release", "executable", id);
    if (gpu) send_request(s->gpu.executor, "executable.release", "executable", id);
}

void executable_remove(struct session *s, uint64_t id)
{
    struct executable *x = map_remove(&s->executables, id);
    if (!x) return;
    session_refund(s, &x->cost);
    free_executable(x);
}

void executable_replied(struct session *s, uint64_t id, bool relay, const struct proto_message *reply)
{
    struct executable *x = map_get(&s->executables, id);
    if (!x) return; /* released, or failed with an earlier reply */
    bool failed = reply->status != FUSION_SUCCESS;
    uint32_t *due = relay ? &x->relays_due : &x->replies_due;
    if (*due > 0) --*due;
    if (!failed && (x->replies_due || x->relays_due)) return;
    struct operation *loading = x->loading;
    executable_loaded_fn *loaded = x->loaded;
    x->loading = NULL;
    if (failed) {
        if (x->parts.n_code > PROTO_MAX_FDS || x->parts.gpu)
            send_release(s, id, x->parts.gpu != NULL); /* a part of it may be there */
        executable_remove(s, id);
    }
    if (loading) loaded(loading, failed ? reply : NULL);
}

/* ---- other code for a launch ---- */

bool executable_has(const struct session *s, uint64_t id)
{
    return map_get(&s->executables, id);
}

bool executable_offer(struct session *s, uint64_t id, uint32_t launch, const struct code *code, struct error *error)
{
    struct executable *x = map_get(&s->executables, id);
    struct user_cost cost = cost_of_code(code);
    if (!session_charge(s, &cost, error)) return false;
    add_cost(&x->cost, &cost, 1);
    executable_offer_again(s, id, launch, code);
    return true;
}

void executable_offer_again(struct session *s, uint64_t id, uint32_t launch, const struct code *code)
{
    struct proto_writer w;
    uint32_t request = executor_next_id(s->executor);
    proto_begin_request(&w, request, "executable.replace");
    proto_pack_map(&w, 2);
    proto_pack_uint(&w, "executable", id);
    proto_pack_uint(&w, "launch", launch);
    w.fds[w.n_fds++] = code->fd;
    executor_request(s->executor, request, &w, EXECUTOR_REPLACEMENT, id);
}

void executable_settle(struct session *s, uint64_t id, uint32_t launch, struct code *code, bool taken)
{
    struct executable *x = map_get(&s->executables, id);
    struct code *left = taken ? x->parts.code[launch] : code;
    struct user_cost cost = cost_of_code(left);
    if (taken) x->parts.code[launch] = code_ref(code);
    if (taken) code_put(left);
    add_cost(&x->cost, &cost, -1);
    session_refund(s, &cost);
}

/* ---- the end ---- */

void executable_release(struct session *s, struct proto_message *m)
{
    uint64_t id;
    if (!request_uint(s, m, "executable", &id)) return;
    struct executable *x = map_get(&s->executables, id);
    if (!x || x->loading) {
        request_fail(s, m, FUSION_NOT_FOUND, "executable", "the session has no executable %llu",
                     (unsigned long long)id);
        return;
    }
    bool gpu = x->parts.gpu != NULL;
    executable_remove(s, id);
    send_release(s, id, gpu);
    request_done(s, m->id);
}

void executables_replay(struct session *s, struct executor *executor)
{
    uint32_t position = 0;
    if (executor == s->executor && s->gpu.executor) send_relay(s, 0); /* which may have contents of buffers */
    for (struct map_entry *e; (e = map_next(&s->executables, &position));) {
        struct executable *x = e->pointer;
        if (x->parts.gpu || executor == s->executor) send_load(s, x, executor);
    }
}

void executables_clear(struct session *s)
{
    uint32_t position = 0;
    for (struct map_entry *e; (e = map_next(&s->executables, &position));) {
        struct executable *x = e->pointer;
        session_refund(s, &x->cost);
        free_executable(x);
    }
    map_clear(&s->executables);
}
