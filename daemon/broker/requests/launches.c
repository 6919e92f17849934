/* The code of launches. */
#include "daemon/broker/requests/launches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/broker/requests/load.h"
#include "daemon/broker/requests/object.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { PARALLEL = 2, MAX_EFFORT_NAME = 64 }; /* launches under way for each compiler */
enum { OBJECT_VARIANT_CODE, OBJECT_VARIANT_ASSEMBLY };

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
    finalization_fail(f, FUSION_OUT_OF_MEMORY, "executable", reason);
}

static void on_compiled(void *data, const struct job_result *result)
{
    struct launch *launch = data;
    struct finalize *f = launch->owner;
    const char *refused;
    f->running--;
    if (result->status != FUSION_SUCCESS) {
        finalization_fail(f, result->status, result->object, result->reason);
        return;
    }
    switch (take_result(launch, result->blob, &refused)) {
    case REFUSED: no_object(f, refused); break;
    case NOT_UNDERSTOOD: finalization_fail(f, FUSION_INTERNAL, "compiler", "its object was not understood"); break;
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
        finalization_fail(f, FUSION_OUT_OF_MEMORY, "kernel", refused);
        return false;
    }
    f->running++;
    job_wait(job, &f->operation.session->pool_client, &launch->waiter, on_compiled, launch);
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
    if (f->done == f->n_launches) load_executable(f);
}

void launches_begin(struct finalize *f)
{
    struct hash target;
    const char *reason;
    if (!pool_info(f->operation.session->broker->pool, NULL, &target, &reason)) {
        finalization_fail(f, FUSION_COMPILER, "compiler", reason);
        return;
    }
    for (; f->n_launches < f->kernels->size; f->n_launches++) {
        struct launch *launch = &f->launches[f->n_launches];
        *launch = (struct launch){.owner = f, .index = f->n_launches, .object = -1};
        launch->key = object_key(&target, &f->kernels->ptr[launch->index]);
    }
    start_launches(f);
}
