/* Saving executables. */
#include "daemon/broker/requests/save.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/broker/core/code.h"
#include "daemon/broker/requests/module_job.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

static void fail(struct finalize *f, fusion_status status, const char *object, const char *reason)
{
    struct error error;
    error_set(&error, status, object, "%s", reason);
    finalization_fail(f, &error);
}

/* ---- what compilers are asked for ---- */

/* False: a module was released meanwhile. */
static bool pack_modules(struct proto_writer *w, const struct finalize *f)
{
    struct blob_value ids;
    if (!blob_parse(f->modules, &ids)) return false;
    const msgpack_object_array *list = &ids.root.via.array;
    bool whole = true;
    proto_pack_key(w, "modules");
    msgpack_pack_array(&w->packer, list->size);
    for (uint32_t i = 0; i < list->size && whole; i++) {
        const struct module *m = map_get(&f->operation.session->modules, list->ptr[i].via.u64);
        whole = m;
        if (m) msgpack_pack_bin_with_body(&w->packer, m->ir, m->ir_size);
    }
    blob_value_clear(&ids);
    return whole;
}

/* What is interpreted is its kernel, which is made of the graph again. */
static bool is_code(const struct launch *launch)
{
    return strcmp(launch->code->effort, CODE_INTERPRETED) != 0;
}

static bool pack_launch(struct proto_writer *w, const struct launch *launch)
{
    const msgpack_object *kernel = &launch->owner->kernels->ptr[launch->index];
    struct stat s;
    if (fstat(launch->code->fd, &s) < 0) return false;
    void *map = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, launch->code->fd, 0);
    if (map == MAP_FAILED) return false;
    proto_pack_map(w, 4);
    proto_pack_bytes(w, "launch", kernel->via.bin.ptr, kernel->via.bin.size);
    proto_pack_bytes(w, "object", map, (size_t)s.st_size);
    proto_pack_uint(w, "lanes", launch->code->lanes);
    proto_pack_string(w, "effort", launch->code->effort);
    munmap(map, (size_t)s.st_size);
    return true;
}

static bool pack_launches(struct proto_writer *w, const struct finalize *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_launches; i++) n += is_code(&f->launches[i]);
    proto_pack_key(w, "launches");
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; i < f->n_launches; i++)
        if (is_code(&f->launches[i]) && !pack_launch(w, &f->launches[i])) return false;
    return true;
}

/* Nobody else asks for the same: only those that ask for the same bytes could share the job. */
static struct job_key key_of(const struct finalize *f)
{
    struct hasher h;
    hasher_begin(&h, "saved executable");
    hasher_add_hash(&h, &f->plan_key.hash);
    hasher_add(&h, f->saved_options->data, f->saved_options->size);
    for (uint32_t i = 0; i < f->n_launches; i++) hasher_add_hash(&h, &f->launches[i].code->key);
    return (struct job_key){.kind = CACHE_MODULE, .hash = hasher_end(&h)};
}

/* ---- the answer ---- */

static void on_saved(void *data, struct blob *result, const struct error *error)
{
    struct finalize *f = data;
    struct session *s = f->operation.session;
    struct blob_value value;
    const void *file;
    size_t size;
    if (!result) {
        finalization_fail(f, error);
        return;
    }
    bool parsed = blob_parse(result, &value);
    if (!parsed || !proto_get_bytes(&value.root, "file", &file, &size)) {
        fail(f, FUSION_INTERNAL, "compiler", "it gave no file of the executable");
    } else {
        struct proto_writer w;
        proto_begin_reply(&w, f->operation.request);
        proto_pack_map(&w, 1);
        proto_pack_bytes(&w, "file", file, size);
        operation_end(&f->operation);
        session_send(s, &w);
        finalization_free(f);
    }
    if (parsed) blob_value_clear(&value);
}

static struct job *begin_job(struct finalize *f, const struct job_key *key, struct error *error)
{
    struct session *s = f->operation.session;
    struct pool *pool = s->broker->pool;
    struct proto_writer w;
    uint32_t id = pool_next_id(pool);
    proto_begin_request(&w, id, "save");
    proto_pack_map(&w, 4);
    proto_pack_bytes(&w, "graph", f->graph->data, f->graph->size);
    proto_pack_bytes(&w, "options", f->saved_options->data, f->saved_options->size);
    if (!pack_modules(&w, f))
        error_set(error, FUSION_NOT_FOUND, "module", "a module of the executable was released while it was saved");
    else if (!pack_launches(&w, f))
        error_set(error, FUSION_OUT_OF_MEMORY, "executable", "no memory for its code");
    else
        return pool_add(pool, &s->pool_client, key, id, &w, error);
    proto_writer_clear(&w);
    return NULL;
}

void save_executable(struct finalize *f)
{
    struct error error;
    const struct job_key key = key_of(f);
    struct job *job = pool_find(f->operation.session->broker->pool, &key);
    if (!job) job = begin_job(f, &key, &error);
    if (job) {
        job_wait(job, &f->operation.session->pool_client, &f->save_waiter, on_saved, f);
    } else {
        error_about(&error, "executable");
        finalization_fail(f, &error);
    }
}
