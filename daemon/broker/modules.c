/* Modules of a session: kernels as the compiler has understood them. The broker only keeps the bytes. */
#include <stdlib.h>
#include <string.h>

#include "daemon/broker/session.h"

enum { TEXT_VARIANT = 1 };

/* A request that waits for the compiler. */
struct module_job {
    struct operation operation;
    struct job_waiter waiter;
    struct job_key key;
    char *name;
};

static void free_module_job(struct module_job *j)
{
    pool_cancel(j->operation.session->broker->pool, &j->waiter);
    free(j->name);
    free(j);
}

static void cancel(struct operation *o)
{
    free_module_job((struct module_job *)o);
}

/* Answers with a failure. */
static void fail_job(struct module_job *j, fusion_status status, const char *object, const char *reason)
{
    struct session *s = j->operation.session;
    operation_end(&j->operation);
    session_fail(s, j->operation.request, status, object, reason);
    free_module_job(j);
}

static void free_module(struct module *m)
{
    blob_unref(m->result);
    free(m->name);
    free(m);
}

/* ---- load ---- */

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
    return m;
}

static void answer_load(struct session *s, uint32_t request, uint64_t module, const msgpack_object *kernels)
{
    struct proto_writer w;
    proto_begin_reply(&w, request);
    proto_pack_map(&w, 2);
    proto_pack_uint(&w, "module", module);
    proto_pack_key(&w, "kernels");
    msgpack_pack_object(&w.packer, *kernels);
    session_send(s, &w);
}

/* Ends the job with a module. False: the result is not understood, and nothing has happened. */
static bool finish_load(struct module_job *j, struct blob *result)
{
    struct session *s = j->operation.session;
    struct blob_value value;
    if (!blob_parse(result, &value)) return false;
    struct module *m = make_module(j, result, &value.root);
    if (!m) {
        blob_value_clear(&value);
        return false;
    }
    if (!session_charge(s, result->size)) {
        fail_job(j, FUSION_OUT_OF_MEMORY, m->name, "the session's modules and executables take more than 256 MB");
        free_module(m);
    } else if (!table_put(&s->modules, m->id, m)) {
        session_refund(s, result->size);
        fail_job(j, FUSION_OUT_OF_MEMORY, m->name, "out of memory");
        free_module(m);
    } else {
        operation_end(&j->operation);
        answer_load(s, j->operation.request, m->id, proto_get(&value.root, "kernels"));
        free_module_job(j);
    }
    blob_value_clear(&value);
    return true;
}

static void on_loaded(void *data, const struct job_result *result)
{
    struct module_job *j = data;
    if (result->status != FUSION_SUCCESS)
        fail_job(j, result->status, result->object, result->reason);
    else if (!finish_load(j, result->blob))
        fail_job(j, FUSION_INTERNAL, "compiler", "its description of a module was not understood");
}

static bool load_from_cache(struct module_job *j)
{
    struct cache *cache = j->operation.session->broker->cache;
    struct blob *blob;
    if (cache_get(cache, CACHE_MODULE, &j->key.hash, &blob) == CACHE_MISS) return false;
    bool understood = finish_load(j, blob);
    if (!understood) cache_reject(cache, CACHE_MODULE, &j->key.hash);
    blob_unref(blob);
    return understood;
}

static struct job *start_job(struct module_job *j, const void *data, size_t size, bool want_text)
{
    struct session *s = j->operation.session;
    struct pool *pool = s->broker->pool;
    struct job *job = pool_find(pool, &j->key);
    if (job) return job;
    struct proto_writer w;
    uint32_t id = pool_next_id(pool);
    proto_begin_request(&w, id, "module");
    proto_pack_map(&w, want_text ? 3 : 2);
    proto_pack_string(&w, "name", j->name);
    proto_pack_bytes(&w, "data", data, size);
    if (want_text) proto_pack_bool(&w, "want_text", true);
    return pool_add(pool, &s->pool_client, &j->key, id, &w);
}

static void run_job(struct module_job *j, const void *data, size_t size, bool want_text, job_done_fn *done)
{
    struct job *job = start_job(j, data, size, want_text);
    if (job)
        pool_wait(job, &j->operation.session->pool_client, &j->waiter, done, j);
    else
        fail_job(j, FUSION_OUT_OF_MEMORY, j->name, "the module is too large for a message to the compiler");
}

static struct module_job *new_job(struct session *s, struct proto_message *m, const char *name)
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
    operation_begin(&j->operation, s, m, cancel);
    return j;
}

static void load_named(struct session *s, struct proto_message *m, const char *name)
{
    const void *data;
    size_t size;
    struct hash target;
    struct hasher h;
    if (!request_bytes(s, m, "data", &data, &size) || !request_target(s, m, &target)) return;
    if (s->modules.count >= PROTO_MAX_MODULES) {
        request_fail(s, m, FUSION_OUT_OF_MEMORY, name, "the session has %u modules, the most it may have",
                     s->modules.count);
        return;
    }
    struct module_job *j = new_job(s, m, name);
    if (!j) return;
    hasher_begin(&h, "module");
    hasher_add_hash(&h, &target);
    hasher_add_text(&h, name);
    hasher_add(&h, data, size);
    j->key = (struct job_key){.kind = CACHE_MODULE, .hash = hasher_end(&h), .cached = true};
    if (!load_from_cache(j)) run_job(j, data, size, false, on_loaded);
}

void module_load(struct session *s, struct proto_message *m)
{
    char *name = NULL;
    if (proto_get_string(&m->params, "name", &name, PROTO_MAX_NAME))
        load_named(s, m, name);
    else
        request_fail(s, m, FUSION_INVALID, m->method, "parameter name is not a text of at most %d bytes",
                     PROTO_MAX_NAME);
    free(name);
}

/* ---- text ---- */

static struct module *get_module(struct session *s, struct proto_message *m)
{
    uint64_t id;
    if (!request_uint(s, m, "module", &id)) return NULL;
    struct module *module = table_get(&s->modules, id);
    if (!module)
        request_fail(s, m, FUSION_NOT_FOUND, "module", "the session has no module %llu", (unsigned long long)id);
    return module;
}

static void answer_text(struct module_job *j, struct blob *result)
{
    struct session *s = j->operation.session;
    struct blob_value value;
    if (!blob_parse(result, &value)) {
        fail_job(j, FUSION_INTERNAL, "compiler", "its text of a module was not understood");
        return;
    }
    const msgpack_object *text = proto_get(&value.root, "text");
    if (text && text->type == MSGPACK_OBJECT_STR) {
        struct proto_writer w;
        proto_begin_reply(&w, j->operation.request);
        proto_pack_map(&w, 1);
        proto_pack_key(&w, "text");
        msgpack_pack_object(&w.packer, *text);
        operation_end(&j->operation);
        session_send(s, &w);
        free_module_job(j);
    } else {
        fail_job(j, FUSION_INTERNAL, "compiler", "it gave no text of the module");
    }
    blob_value_clear(&value);
}

static void on_text(void *data, const struct job_result *result)
{
    if (result->status == FUSION_SUCCESS)
        answer_text(data, result->blob);
    else
        fail_job(data, result->status, result->object, result->reason);
}

void module_text(struct session *s, struct proto_message *m)
{
    struct hasher h;
    struct module *module = get_module(s, m);
    struct module_job *j = module ? new_job(s, m, module->name) : NULL;
    if (!j) return;
    hasher_begin(&h, "module text");
    hasher_add_text(&h, module->name);
    hasher_add_hash(&h, &module->hash);
    j->key = (struct job_key){.kind = CACHE_MODULE, .hash = hasher_end(&h), .variant = TEXT_VARIANT};
    run_job(j, module->ir, module->ir_size, true, on_text);
}

/* ---- release ---- */

void module_release(struct session *s, struct proto_message *m)
{
    struct module *module = get_module(s, m);
    if (!module) return;
    table_remove(&s->modules, module->id);
    session_refund(s, module->result->size);
    free_module(module);
    request_done(s, m->id);
}

void modules_clear(struct session *s)
{
    uint32_t position = 0;
    for (struct module *m; (m = table_next(&s->modules, &position));) free_module(m);
    table_clear(&s->modules);
}
