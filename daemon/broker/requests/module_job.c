/* A request that waits for a compiler to make a module, up to its answer. */
#include "daemon/broker/requests/module_job.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/broker/cache/cache.h"
#include "daemon/broker/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

void module_job_free(struct module_job *j)
{
    job_cancel(&j->waiter);
    free(j->name);
    free(j);
}

static void cancel(struct operation *o)
{
    module_job_free((struct module_job *)o);
}

void module_job_fail(struct module_job *j, const struct error *error)
{
    struct session *s = j->operation.session;
    operation_end(&j->operation);
    session_fail(s, j->operation.request, error);
    module_job_free(j);
}

struct module_job *module_job_new(struct session *s, struct proto_message *m, const char *name)
{
    struct module_job *j = calloc(1, sizeof *j);
    char *copy = strdup(name);
    if (!j || !copy) {
        free(j);
        free(copy);
        request_fail(s, m, FUSION_OUT_OF_MEMORY, m->method, "out of memory");
        return NULL;
    }
    j->name = copy;
    operation_begin(&j->operation, &s->operations, m, cancel);
    return j;
}

static struct job *start_job(struct module_job *j, const struct module_request *r, struct error *error)
{
    struct session *s = j->operation.session;
    struct pool *pool = s->broker->pool;
    struct job *job = pool_find(pool, &j->key);
    if (job) return job;
    struct proto_writer w;
    uint32_t id = pool_next_id(pool);
    proto_begin_request(&w, id, r->method);
    r->pack(&w, j, r->data);
    return pool_add(pool, &s->pool_client, &j->key, id, &w, error);
}

void module_job_run(struct module_job *j, const struct module_request *r, job_done_fn *done)
{
    struct error error;
    struct job *job = start_job(j, r, &error);
    if (job) {
        pool_wait(j->operation.session->broker->pool, job, &j->operation.session->pool_client, &j->waiter, done, j);
    } else {
        error_about(&error, "%s", j->name);
        module_job_fail(j, &error);
    }
}

/* ---- the module ---- */

enum { BYTES_A_LAUNCH = 512 }; /* of code of a bundle, as msgpack values */

void module_free(struct module *m)
{
    if (m->objects || m->binaries) blob_value_clear(&m->code);
    blob_unref(m->result);
    free(m->name);
    free(m);
}

struct user_cost module_cost(const struct module *m)
{
    size_t n = (m->objects ? m->objects->size : 0) + (m->binaries ? m->binaries->size : 0), code = n * BYTES_A_LAUNCH;
    return (struct user_cost){.of = {[USER_BYTES] = sizeof *m + m->result->size + code, [USER_OBJECTS] = 1}};
}

static const msgpack_object_array *list_of(const msgpack_object *root, const char *key)
{
    const msgpack_object *list = proto_get(root, key);
    return list && list->type == MSGPACK_OBJECT_ARRAY && list->via.array.size ? &list->via.array : NULL;
}

/* What a bundle brought with it is read once, and not for each graph. */
static void keep_code(struct module *m, const msgpack_object *root)
{
    bool some = list_of(root, "objects") || list_of(root, "binaries");
    if (!some || !blob_parse(m->result, &m->code)) return;
    m->objects = list_of(&m->code.root, "objects");
    m->binaries = list_of(&m->code.root, "binaries");
}

static struct hash content_hash(const void *ir, size_t size)
{
    struct hasher h;
    hasher_begin(&h, "module content");
    hasher_add(&h, ir, size);
    return hasher_end(&h);
}

/* Makes a module of the compiler's result; NULL: it is not what is expected, or out of memory. */
static struct module *make_module(struct module_job *j, struct blob *result, const msgpack_object *root)
{
    const msgpack_object *kernels = proto_get(root, "kernels");
    struct module *m = calloc(1, sizeof *m);
    if (!m || !kernels || kernels->type != MSGPACK_OBJECT_ARRAY || !proto_get_bytes(root, "ir", &m->ir, &m->ir_size)) {
        free(m);
        return NULL;
    }
    m->id = broker_new_id(j->operation.session->broker);
    m->name = j->name;
    j->name = NULL;
    m->hash = content_hash(m->ir, m->ir_size);
    m->result = blob_ref(result);
    keep_code(m, root);
    return m;
}

/* The id, and what the compiler tells of the module. */
static void answer(struct session *s, uint32_t request, uint64_t module, const msgpack_object *result)
{
    static const char *const keys[] = {"kernels", "warnings", "pipes", "executable"};
    enum { KEYS = sizeof keys / sizeof *keys };
    const msgpack_object *values[KEYS];
    struct proto_writer w;
    uint32_t n = 0;
    for (uint32_t i = 0; i < KEYS; i++) n += (values[i] = proto_get(result, keys[i])) != NULL;
    proto_begin_reply(&w, request);
    proto_pack_map(&w, 1 + n);
    proto_pack_uint(&w, "module", module);
    for (uint32_t i = 0; i < KEYS; i++) {
        if (!values[i]) continue;
        proto_pack_key(&w, keys[i]);
        msgpack_pack_object(&w.packer, *values[i]);
    }
    session_send(s, &w);
}

static bool keep(struct session *s, struct module *m, struct error *error)
{
    struct user_cost cost = module_cost(m);
    if (session_charge(s, &cost, error)) {
        if (map_put(&s->modules, m->id, m)) return true;
        session_refund(s, &cost);
        error_set(error, FUSION_OUT_OF_MEMORY, NULL, "out of memory");
    }
    error_about(error, "%s", m->name);
    return false;
}

/* Ends the job with a module. False: the result is not understood, and nothing has happened. */
static bool finish(struct module_job *j, struct blob *result)
{
    struct session *s = j->operation.session;
    struct blob_value value;
    if (!blob_parse(result, &value)) return false;
    struct module *m = make_module(j, result, &value.root);
    if (!m) {
        blob_value_clear(&value);
        return false;
    }
    struct error error;
    if (keep(s, m, &error)) {
        operation_end(&j->operation);
        answer(s, j->operation.request, m->id, &value.root);
        module_job_free(j);
    } else {
        module_job_fail(j, &error);
        module_free(m);
    }
    blob_value_clear(&value);
    return true;
}

static void on_made(void *data, struct blob *result, const struct error *error)
{
    struct module_job *j = data;
    struct error misunderstood;
    if (!result) {
        module_job_fail(j, error);
    } else if (!finish(j, result)) {
        error_set(&misunderstood, FUSION_INTERNAL, "compiler", "its description of a module was not understood");
        module_job_fail(j, &misunderstood);
    }
}

static bool take_from_cache(struct module_job *j)
{
    struct cache *cache = j->operation.session->broker->cache;
    struct blob *blob;
    if (cache_get(cache, CACHE_MODULE, &j->key.hash, &blob) == CACHE_MISS) return false;
    bool understood = finish(j, blob);
    if (!understood) cache_reject(cache, CACHE_MODULE, &j->key.hash);
    blob_unref(blob);
    return understood;
}

void module_job_make(struct module_job *j, const struct module_request *r)
{
    j->key.kind = CACHE_MODULE;
    j->key.cached = true;
    if (!take_from_cache(j)) module_job_run(j, r, on_made);
}
