/*
 * graph.finalize, step by step: the plan (cache or compiler), the code of each launch (cache or compilers, several at
 * a time), loading it into the executor, the reply. Any failure ends it with that failure.
 */
#include "daemon/broker/finalize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/broker/object.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { PARALLEL = 2, MAX_DEVICE_NAME = 64, MAX_EFFORT_NAME = 64 }; /* launches under way for each compiler */
enum { OBJECT_VARIANT_CODE, OBJECT_VARIANT_ASSEMBLY };

static const char *const source_names[] = {"miss", "memory", "disk"};

/* ---- end ---- */

static void free_launches(struct finalize *f)
{
    struct pool *pool = f->operation.session->broker->pool;
    for (uint32_t i = 0; i < f->n_launches; i++) {
        pool_cancel(pool, &f->launches[i].waiter);
        if (f->launches[i].object >= 0) close(f->launches[i].object);
        free(f->launches[i].effort);
        free(f->launches[i].assembly);
    }
    free(f->launches);
}

static void free_finalize(struct finalize *f)
{
    pool_cancel(f->operation.session->broker->pool, &f->plan_waiter);
    free_launches(f);
    blob_value_clear(&f->plan_value);
    blob_unref(f->plan);
    blob_unref(f->bindings);
    blob_unref(f->values);
    blob_unref(f->modules);
    free(f);
}

static void cancel(struct operation *o)
{
    free_finalize((struct finalize *)o);
}

static void fail(struct finalize *f, fusion_status status, const char *object, const char *reason)
{
    operation_end(&f->operation);
    session_fail(f->operation.session, f->operation.request, status, object, reason);
    free_finalize(f);
}

static const char *hold_bytes(struct finalize *f, size_t bytes)
{
    struct user_cost cost = {.of = {[USER_BYTES] = bytes}};
    return operation_hold(&f->operation, &cost);
}

/* ---- reply ---- */

static void on_loaded(struct operation *operation, const struct proto_message *failure)
{
    struct finalize *f = (struct finalize *)operation;
    struct session *s = f->operation.session;
    if (failure) {
        fail(f, failure->status, failure->object, failure->reason);
        return;
    }
    struct blob *report = report_merge(f);
    if (!report) {
        executable_remove(s, f->executable);
        fail(f, FUSION_INTERNAL, "compiler", "its report was not understood");
        return;
    }
    struct proto_writer w;
    proto_begin_reply(&w, f->operation.request);
    proto_pack_map(&w, 4);
    proto_pack_uint(&w, "executable", f->executable);
    proto_pack_key(&w, "report");
    proto_pack_raw(&w, report->data, report->size);
    proto_pack_string(&w, "cache", source_names[f->compiled ? CACHE_MISS : f->worst]);
    proto_pack_uint(&w, "compile_ns", uv_hrtime() - f->operation.started_ns);
    operation_end(&f->operation);
    session_send(s, &w);
    blob_unref(report);
    free_finalize(f);
}

/* ---- load ---- */

static struct blob *pack_load(const struct finalize *f, const void *program, size_t size)
{
    struct proto_writer w;
    proto_begin_notice(&w, "");
    size_t begin = w.buffer.size;
    proto_pack_map(&w, 5);
    proto_pack_uint(&w, "executable", f->executable);
    proto_pack_key(&w, "modules");
    proto_pack_raw(&w, f->modules->data, f->modules->size);
    proto_pack_bytes(&w, "program", program, size);
    proto_pack_key(&w, "bindings");
    proto_pack_raw(&w, f->bindings->data, f->bindings->size);
    proto_pack_key(&w, "values");
    proto_pack_raw(&w, f->values->data, f->values->size);
    struct blob *blob = w.failed ? NULL : blob_new(w.buffer.data + begin, w.buffer.size - begin);
    proto_writer_clear(&w);
    return blob;
}

/* The launches' descriptors in a list of their own; they change hands. */
static int *take_objects(struct finalize *f)
{
    int *fds = malloc((f->n_launches + 1) * sizeof *fds);
    for (uint32_t i = 0; fds && i < f->n_launches; i++) {
        fds[i] = f->launches[i].object;
        f->launches[i].object = -1;
    }
    return fds;
}

static void return_objects(struct finalize *f, int *fds)
{
    for (uint32_t i = 0; fds && i < f->n_launches; i++) f->launches[i].object = fds[i];
    free(fds);
}

static void load(struct finalize *f)
{
    struct session *s = f->operation.session;
    const void *program;
    size_t size;
    if (!proto_get_bytes(&f->plan_value.root, "program", &program, &size)) {
        fail(f, FUSION_INTERNAL, "compiler", "its plan has no program");
        return;
    }
    f->executable = broker_new_id(s->broker);
    struct blob *blob = pack_load(f, program, size);
    int *fds = blob ? take_objects(f) : NULL;
    operation_release(&f->operation); /* from now on it is the executable that costs */
    const char *refused =
        fds ? executable_add(s, f->executable, blob, fds, f->n_launches, &f->operation, on_loaded) : "out of memory";
    if (!refused) return;
    return_objects(f, fds);
    blob_unref(blob);
    fail(f, FUSION_OUT_OF_MEMORY, "executable", refused);
}

/* ---- code of the launches ---- */

static void start_launches(struct finalize *f);

/* Not of the work-group's size: the code takes it when it is launched, so that every range shares one object. */
static struct hash object_key(const struct hash *target, const msgpack_object *kernel)
{
    struct hasher h;
    hasher_begin(&h, "object");
    hasher_add_hash(&h, target);
    hasher_add(&h, kernel->via.bin.ptr, kernel->via.bin.size);
    return hasher_end(&h);
}

enum taken { TAKEN, NOT_UNDERSTOOD, REFUSED };

/* The code as sealed memory; NULL, or why not. */
static const char *seal(struct launch *launch, const void *bytes, size_t size)
{
    struct user_cost cost = {.of = {[USER_SHARED] = size, [USER_DESCRIPTORS] = 1}};
    if (launch->assembly) cost.of[USER_BYTES] = strlen(launch->assembly);
    const char *refused = operation_hold(&launch->owner->operation, &cost);
    if (refused) return refused;
    launch->object = object_seal(bytes, size);
    return launch->object < 0 ? strerror(errno) : NULL;
}

/* NOT_UNDERSTOOD: the result is of no use, or without the assembly that is wanted. */
static enum taken take_result(struct launch *launch, const struct blob *blob, const char **refused)
{
    struct blob_value value;
    const void *bytes;
    size_t size;
    enum taken result = NOT_UNDERSTOOD;
    if (!blob_parse(blob, &value)) return result;
    free(launch->effort);
    launch->effort = NULL;
    bool wants_assembly = launch->owner->keep_assembly;
    if (proto_get_bytes(&value.root, "object", &bytes, &size) && proto_get_uint(&value.root, "lanes", &launch->lanes) &&
        proto_get_string(&value.root, "effort", &launch->effort, MAX_EFFORT_NAME) &&
        (!wants_assembly || proto_get_string(&value.root, "assembly", &launch->assembly, SIZE_MAX))) {
        *refused = seal(launch, bytes, size);
        result = *refused ? REFUSED : TAKEN;
    }
    blob_value_clear(&value);
    return result;
}

static void no_object(struct finalize *f, const char *why)
{
    char reason[400];
    snprintf(reason, sizeof reason, "no memory for the code of %u launches: %s", f->n_launches, why);
    fail(f, FUSION_OUT_OF_MEMORY, "executable", reason);
}

static void on_compiled(void *data, const struct job_result *result)
{
    struct launch *launch = data;
    struct finalize *f = launch->owner;
    const char *refused;
    f->running--;
    if (result->status != FUSION_SUCCESS) {
        fail(f, result->status, result->object, result->reason);
        return;
    }
    switch (take_result(launch, result->blob, &refused)) {
    case REFUSED: no_object(f, refused); break;
    case NOT_UNDERSTOOD: fail(f, FUSION_INTERNAL, "compiler", "its object was not understood"); break;
    case TAKEN:
        f->done++;
        start_launches(f);
        break;
    }
}

static struct job *compile_job(struct finalize *f, const struct launch *launch, const struct job_key *key,
                               const char **refused)
{
    struct session *s = f->operation.session;
    struct pool *pool = s->broker->pool;
    struct job *job = pool_find(pool, key);
    if (job) return job; /* the same code is being made already */
    s->broker->counters.compiles++;
    struct proto_writer w;
    uint32_t id = pool_next_id(pool);
    proto_begin_request(&w, id, "compile");
    proto_pack_map(&w, 2);
    proto_pack_key(&w, "kernel");
    msgpack_pack_object(&w.packer, f->kernels->ptr[launch->index]);
    proto_pack_bool(&w, "keep_assembly", f->keep_assembly);
    return pool_add(pool, &s->pool_client, key, id, &w, refused);
}

static void count_source(struct finalize *f, enum cache_source source)
{
    struct counters *counters = &f->operation.session->broker->counters;
    counters->object_hits_memory += source == CACHE_MEMORY;
    counters->object_hits_disk += source == CACHE_DISK;
    counters->object_misses += source == CACHE_MISS;
    if (source == CACHE_MISS)
        f->compiled = true;
    else if (source > f->worst)
        f->worst = source;
}

/* False: the finalize has failed, and is gone. */
static bool compile_launch(struct finalize *f, struct launch *launch)
{
    struct job_key key = {.kind = CACHE_OBJECT,
                          .hash = launch->key,
                          .variant = f->keep_assembly ? OBJECT_VARIANT_ASSEMBLY : OBJECT_VARIANT_CODE,
                          .cached = true};
    count_source(f, CACHE_MISS);
    const char *refused;
    struct job *job = compile_job(f, launch, &key, &refused);
    if (!job) {
        fail(f, FUSION_OUT_OF_MEMORY, "kernel", refused);
        return false;
    }
    f->running++;
    pool_wait(job, &f->operation.session->pool_client, &launch->waiter, on_compiled, launch);
    return true;
}

/* False: the finalize has failed, and is gone. */
static bool start_launch(struct finalize *f, struct launch *launch)
{
    struct blob *blob;
    struct cache *cache = f->operation.session->broker->cache;
    enum cache_source source = cache_get(cache, CACHE_OBJECT, &launch->key, &blob);
    if (source == CACHE_MISS) return compile_launch(f, launch);
    const char *refused;
    enum taken taken = take_result(launch, blob, &refused);
    blob_unref(blob);
    if (taken == REFUSED) {
        no_object(f, refused);
        return false;
    }
    if (taken == NOT_UNDERSTOOD) /* compiled again; the new entry replaces this one */
        return compile_launch(f, launch);
    count_source(f, source);
    f->done++;
    return true;
}

static void start_launches(struct finalize *f)
{
    uint32_t most = PARALLEL * f->operation.session->broker->options.compilers;
    while (f->next < f->n_launches && f->running < most)
        if (!start_launch(f, &f->launches[f->next++])) return;
    if (f->done == f->n_launches) load(f);
}

/* ---- plan ---- */

static const msgpack_object_array *get_array(const msgpack_object *map, const char *key)
{
    const msgpack_object *object = proto_get(map, key);
    return object && object->type == MSGPACK_OBJECT_ARRAY ? &object->via.array : NULL;
}

/* Reads the plan. NOT_UNDERSTOOD: it is not kept. */
static enum taken take_plan(struct finalize *f, struct blob *plan, const char **refused)
{
    if (!blob_parse(plan, &f->plan_value)) return NOT_UNDERSTOOD;
    f->kernels = get_array(&f->plan_value.root, "kernels");
    bool good = f->kernels && f->kernels->size <= PROTO_MAX_NODES;
    for (uint32_t i = 0; good && i < f->kernels->size; i++) good = f->kernels->ptr[i].type == MSGPACK_OBJECT_BIN;
    if (good) f->launches = calloc(f->kernels->size + 1, sizeof *f->launches);
    if (!f->launches) {
        blob_value_clear(&f->plan_value);
        return NOT_UNDERSTOOD;
    }
    f->plan = blob_ref(plan);
    *refused = hold_bytes(f, plan->size + f->kernels->size * sizeof *f->launches);
    return *refused ? REFUSED : TAKEN;
}

static void begin_launches(struct finalize *f)
{
    struct hash target;
    const char *reason;
    if (!pool_info(f->operation.session->broker->pool, NULL, &target, &reason)) {
        fail(f, FUSION_COMPILER, "compiler", reason);
        return;
    }
    for (; f->n_launches < f->kernels->size; f->n_launches++) {
        struct launch *launch = &f->launches[f->n_launches];
        *launch = (struct launch){.owner = f, .index = f->n_launches, .object = -1};
        launch->key = object_key(&target, &f->kernels->ptr[launch->index]);
    }
    start_launches(f);
}

static void on_planned(void *data, const struct job_result *result)
{
    struct finalize *f = data;
    const char *refused;
    if (result->status != FUSION_SUCCESS) {
        fail(f, result->status, result->object, result->reason);
        return;
    }
    switch (take_plan(f, result->blob, &refused)) {
    case REFUSED: fail(f, FUSION_OUT_OF_MEMORY, "graph", refused); break;
    case NOT_UNDERSTOOD: fail(f, FUSION_INTERNAL, "compiler", "its plan was not understood"); break;
    case TAKEN: begin_launches(f); break;
    }
}

/* False: the cache has no plan. Else f goes on, or has failed. */
static bool plan_from_cache(struct finalize *f)
{
    const char *refused;
    struct broker *broker = f->operation.session->broker;
    struct blob *blob;
    enum cache_source source = cache_get(broker->cache, CACHE_PLAN, &f->plan_key.hash, &blob);
    if (source == CACHE_MISS) return false;
    enum taken taken = take_plan(f, blob, &refused);
    blob_unref(blob);
    if (taken == NOT_UNDERSTOOD) {
        cache_reject(broker->cache, CACHE_PLAN, &f->plan_key.hash);
        return false;
    }
    f->worst = source;
    broker->counters.plan_hits++;
    if (taken == TAKEN)
        begin_launches(f);
    else
        fail(f, FUSION_OUT_OF_MEMORY, "graph", refused);
    return true;
}

/* ---- request ---- */

/* What the request says, checked. Pointers into the message and the session. */
struct order {
    const void *graph;
    size_t graph_size;
    const msgpack_object_array *modules;
    struct module **found; /* to be freed */
    uint64_t mode;
    bool insert_barriers, keep_ir, keep_assembly, debug;
    char *device; /* to be freed */
    struct hash target;
};

static bool find_modules(struct session *s, struct proto_message *m, struct order *o)
{
    if (o->modules->size > PROTO_MAX_MODULES)
        return request_fail(s, m, FUSION_INVALID, "modules", "%u are named; at most %d are possible", o->modules->size,
                            PROTO_MAX_MODULES);
    o->found = calloc(o->modules->size + 1, sizeof *o->found);
    if (!o->found) return request_fail(s, m, FUSION_OUT_OF_MEMORY, "graph", "out of memory");
    for (uint32_t i = 0; i < o->modules->size; i++) {
        const msgpack_object *id = &o->modules->ptr[i];
        if (id->type == MSGPACK_OBJECT_POSITIVE_INTEGER) o->found[i] = map_get(&s->modules, id->via.u64);
        if (!o->found[i])
            return request_fail(s, m, FUSION_NOT_FOUND, "module",
                                "module %u of the graph (number %llu) is none of "
                                "this session",
                                i, id->type == MSGPACK_OBJECT_POSITIVE_INTEGER ? (unsigned long long)id->via.u64 : 0);
    }
    return true;
}

static bool check_lists(struct session *s, struct proto_message *m)
{
    const msgpack_object_array *bindings, *values;
    if (!request_list(s, m, "bindings", &bindings) || !request_list(s, m, "values", &values)) return false;
    for (uint32_t i = 0; i < bindings->size; i++)
        if (bindings->ptr[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER)
            return request_fail(s, m, FUSION_INVALID, "bindings", "binding %u is not a buffer's number", i);
    for (uint32_t i = 0; i < values->size; i++)
        if (values->ptr[i].type != MSGPACK_OBJECT_BIN)
            return request_fail(s, m, FUSION_INVALID, "values", "value %u is not bytes", i);
    return true;
}

static bool read_order(struct session *s, struct proto_message *m, struct order *o)
{
    if (!request_bytes(s, m, "graph", &o->graph, &o->graph_size) || !request_list(s, m, "modules", &o->modules) ||
        !request_uint(s, m, "mode", &o->mode) || !request_bool(s, m, "insert_barriers", &o->insert_barriers) ||
        !request_bool(s, m, "keep_ir", &o->keep_ir) || !request_bool(s, m, "keep_assembly", &o->keep_assembly) ||
        !request_bool(s, m, "debug", &o->debug))
        return false;
    if (o->mode > 2)
        return request_fail(s, m, FUSION_INVALID, "mode", "%llu is neither none (0), enable (1) nor require (2)",
                            (unsigned long long)o->mode);
    if (!proto_get_string(&m->params, "device", &o->device, MAX_DEVICE_NAME))
        return request_fail(s, m, FUSION_INVALID, "device", "its name is missing, or longer than %d bytes",
                            MAX_DEVICE_NAME);
    if (s->executables.count >= PROTO_MAX_EXECUTABLES)
        return request_fail(s, m, FUSION_OUT_OF_MEMORY, "executable",
                            "the session has %u executables, the most it "
                            "may have",
                            s->executables.count);
    return check_lists(s, m) && find_modules(s, m, o) && request_target(s, m, &o->target);
}

static struct hash plan_hash(const struct order *o)
{
    struct hasher h;
    hasher_begin(&h, "plan");
    hasher_add_hash(&h, &o->target);
    hasher_add(&h, o->graph, o->graph_size);
    for (uint32_t i = 0; i < o->modules->size; i++) hasher_add_hash(&h, &o->found[i]->hash);
    hasher_add_uint(&h, o->mode);
    hasher_add_uint(&h, o->insert_barriers);
    hasher_add_uint(&h, o->keep_ir);
    hasher_add_uint(&h, o->debug);
    hasher_add_text(&h, o->device);
    return hasher_end(&h);
}

static struct job *plan_job(struct finalize *f, const struct order *o, const char **refused)
{
    struct session *s = f->operation.session;
    struct pool *pool = s->broker->pool;
    struct job *job = pool_find(pool, &f->plan_key);
    if (job) return job;
    struct proto_writer w;
    uint32_t id = pool_next_id(pool);
    proto_begin_request(&w, id, "plan");
    proto_pack_map(&w, 7);
    proto_pack_bytes(&w, "graph", o->graph, o->graph_size);
    proto_pack_key(&w, "modules");
    msgpack_pack_array(&w.packer, o->modules->size);
    for (uint32_t i = 0; i < o->modules->size; i++) {
        msgpack_pack_bin(&w.packer, o->found[i]->ir_size);
        msgpack_pack_bin_body(&w.packer, o->found[i]->ir, o->found[i]->ir_size);
    }
    proto_pack_uint(&w, "mode", o->mode);
    proto_pack_bool(&w, "insert_barriers", o->insert_barriers);
    proto_pack_string(&w, "device", o->device);
    proto_pack_bool(&w, "keep_ir", o->keep_ir);
    proto_pack_bool(&w, "debug", o->debug);
    return pool_add(pool, &s->pool_client, &f->plan_key, id, &w, refused);
}

static struct finalize *new_finalize(struct session *s, struct proto_message *m, const struct order *o)
{
    struct finalize *f = calloc(1, sizeof *f);
    if (!f) {
        request_fail(s, m, FUSION_OUT_OF_MEMORY, "graph", "out of memory");
        return NULL;
    }
    operation_begin(&f->operation, s, m, cancel);
    f->keep_ir = o->keep_ir;
    f->keep_assembly = o->keep_assembly;
    f->worst = CACHE_MEMORY;
    f->plan_key = (struct job_key){.kind = CACHE_PLAN, .hash = plan_hash(o), .cached = true};
    f->bindings = blob_pack(proto_get(&m->params, "bindings"));
    f->values = blob_pack(proto_get(&m->params, "values"));
    f->modules = blob_pack(proto_get(&m->params, "modules"));
    const char *refused = "out of memory";
    if (f->bindings && f->values && f->modules)
        refused = hold_bytes(f, f->bindings->size + f->values->size + f->modules->size);
    if (!refused) return f;
    fail(f, FUSION_OUT_OF_MEMORY, "graph", refused);
    return NULL;
}

static void start(struct session *s, struct proto_message *m, const struct order *o)
{
    struct finalize *f = new_finalize(s, m, o);
    if (!f) return;
    s->broker->counters.finalizes++;
    if (plan_from_cache(f)) return;
    f->compiled = true;
    const char *refused;
    struct job *job = plan_job(f, o, &refused);
    if (job)
        pool_wait(job, &s->pool_client, &f->plan_waiter, on_planned, f);
    else
        fail(f, FUSION_OUT_OF_MEMORY, "graph", refused);
}

void graph_finalize(struct session *s, struct proto_message *m)
{
    struct order o = {0};
    if (read_order(s, m, &o)) start(s, m, &o);
    free(o.found);
    free(o.device);
}
