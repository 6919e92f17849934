/* Loading an executable, and the answer to graph.finalize. */
#include "daemon/broker/requests/load.h"

#include <stdlib.h>

#include "daemon/broker/requests/executables.h"
#include "daemon/broker/requests/report.h"
#include "daemon/broker/requests/upgrades.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

static const char *const source_names[] = {"miss", "memory", "disk"};

static void fail(struct finalize *f, fusion_status status, const char *object, const char *reason)
{
    struct error error;
    error_set(&error, status, object, "%s", reason);
    finalization_fail(f, &error);
}

/* What compilers did for it: the plan (-1), or a launch's code; since when it was waited for, when it began and ended.
 */
static void pack_job(struct proto_writer *w, int64_t launch, const struct job_waiter *waiter)
{
    msgpack_pack_array(&w->packer, 4);
    msgpack_pack_int64(&w->packer, launch);
    msgpack_pack_uint64(&w->packer, waiter->waited_ns);
    msgpack_pack_uint64(&w->packer, waiter->began_ns);
    msgpack_pack_uint64(&w->packer, waiter->ended_ns);
}

static void pack_jobs(struct proto_writer *w, const struct finalize *f)
{
    uint32_t n = f->plan_waiter.ended_ns != 0, shown = f->n_launches - f->n_spares;
    for (uint32_t i = 0; i < shown; i++) n += f->launches[i].waiter.ended_ns != 0;
    proto_pack_key(w, "jobs");
    msgpack_pack_array(&w->packer, n);
    if (f->plan_waiter.ended_ns) pack_job(w, -1, &f->plan_waiter);
    for (uint32_t i = 0; i < shown; i++)
        if (f->launches[i].waiter.ended_ns) pack_job(w, i, &f->launches[i].waiter);
}

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
    proto_pack_map(&w, 6);
    proto_pack_uint(&w, "executable", f->executable);
    pack_jobs(&w, f);
    proto_pack_key(&w, "report");
    proto_pack_raw(&w, report->data, report->size);
    proto_pack_string(&w, "cache", source_names[f->compiled ? CACHE_MISS : f->worst]);
    proto_pack_bool(&w, "gpu", f->gpu != NULL);
    proto_pack_uint(&w, "compile_ns", uv_hrtime() - f->operation.started_ns);
    operation_end(&f->operation);
    session_send(s, &w);
    blob_unref(report);
    if ((f->n_quick || f->n_spares) && !s->ending) upgrades_begin(f);
    finalization_free(f);
}

static struct blob *pack_load(const struct finalize *f, const void *program, size_t size)
{
    struct proto_writer w;
    proto_begin_notice(&w, "");
    size_t begin = w.buffer.size;
    proto_pack_map(&w, 6);
    proto_pack_uint(&w, "executable", f->executable);
    proto_pack_key(&w, "pipes");
    proto_pack_raw(&w, f->pipes->data, f->pipes->size);
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

/* The launches' code in a list of its own. */
static struct code **list_code(const struct finalize *f)
{
    struct code **code = malloc((f->n_launches + 1) * sizeof *code);
    for (uint32_t i = 0; code && i < f->n_launches; i++) code[i] = code_ref(f->launches[i].code);
    return code;
}

/* Of executables for GPUs. NULL: no memory. */
static struct hash *list_objects(const struct finalize *f)
{
    struct hash *objects = malloc((f->n_launches + 1) * sizeof *objects);
    for (uint32_t i = 0; objects && i < f->n_launches; i++) objects[i] = f->launches[i].key;
    return objects;
}

static struct executable_parts list_parts(const struct finalize *f, const void *program, size_t size)
{
    return (struct executable_parts){.load = pack_load(f, program, size),
                                     .code = list_code(f),
                                     .n_code = f->n_launches,
                                     .gpu = f->gpu,
                                     .objects = f->gpu ? list_objects(f) : NULL};
}

static bool is_whole(const struct executable_parts *p)
{
    return p->load && p->code && (p->objects || !p->gpu);
}

static void free_parts(struct executable_parts *p)
{
    for (uint32_t i = 0; p->code && i < p->n_code; i++) code_put(p->code[i]);
    free(p->code);
    free(p->objects);
    blob_unref(p->load);
}

void load_executable(struct finalize *f)
{
    struct session *s = f->operation.session;
    const void *program;
    size_t size;
    if (!proto_get_bytes(&f->plan_value.root, "program", &program, &size)) {
        fail(f, FUSION_INTERNAL, "compiler", "its plan has no program");
        return;
    }
    f->executable = broker_new_id(s->broker);
    f->operation.settled = true; /* the executor answers to it */
    struct executable_parts parts = list_parts(f, program, size);
    operation_release(&f->operation); /* from now on it is the executable that costs */
    struct error error;
    error_set(&error, FUSION_OUT_OF_MEMORY, "executable", "out of memory");
    bool opened = !f->gpu || session_open_gpu(s, &error);
    if (opened && is_whole(&parts) && executable_add(s, f->executable, &parts, &f->operation, on_loaded, &error))
        return;
    free_parts(&parts);
    finalization_fail(f, &error);
}
