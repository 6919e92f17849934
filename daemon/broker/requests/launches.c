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

enum { PARALLEL = 2 }; /* launches under way for each compiler */

/* What is interpreted sooner than it is compiled: operations of all work-items together, a few milliseconds' worth. */
static const uint64_t QUICK_WORK = 60000;

static void start_launches(struct finalize *f);

/* ---- what is there ---- */

/* The bytes as the launch's code; NULL, or why not. */
static const char *set_code(struct launch *launch, const struct hash *key, const void *bytes, size_t size,
                            uint64_t lanes, const char *effort)
{
    struct finalize *f = launch->owner;
    struct user_cost cost = {.of = {[USER_SHARED] = size, [USER_DESCRIPTORS] = 1}};
    if (launch->assembly) cost.of[USER_BYTES] = strlen(launch->assembly);
    const char *refused = operation_hold(&f->operation, &cost);
    if (refused) return refused;
    launch->code = code_get(&f->operation.session->broker->codes, key, bytes, size, lanes, effort);
    return launch->code ? NULL : strerror(errno);
}

/* NOT_UNDERSTOOD: the result is of no use, or without the assembly that is wanted. */
static enum taken take_result(struct launch *launch, const struct blob *blob, const char **refused)
{
    struct object object;
    enum taken result = NOT_UNDERSTOOD;
    if (object_read(&object, blob, launch->owner->keep_assembly)) {
        launch->assembly = object.assembly;
        object.assembly = NULL;
        *refused = set_code(launch, &launch->key, object.bytes, object.size, object.lanes, object.effort);
        result = *refused ? REFUSED : TAKEN;
    }
    object_clear(&object);
    return result;
}

static void no_object(struct finalize *f, const char *why)
{
    char reason[400];
    snprintf(reason, sizeof reason, "no memory for the code of %u launches: %s", f->n_launches, why);
    finalization_fail(f, FUSION_OUT_OF_MEMORY, "executable", reason);
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

/* NOT_UNDERSTOOD: the cache does not have it; what it has instead is replaced when it is made. */
static enum taken take_from_cache(struct launch *launch, const char **refused)
{
    struct finalize *f = launch->owner;
    struct blob *blob;
    enum cache_source source = cache_get(f->operation.session->broker->cache, CACHE_OBJECT, &launch->key, &blob);
    if (source == CACHE_MISS) return NOT_UNDERSTOOD;
    enum taken taken = take_result(launch, blob, refused);
    blob_unref(blob);
    if (taken == TAKEN) {
        count_source(f, source);
        f->done++;
    }
    return taken;
}

/* ---- the quick tier: the kernel itself, until there is code ---- */

static uint64_t work_of(const struct finalize *f, uint32_t launch)
{
    const msgpack_object *list = proto_get(&f->plan_value.root, "work");
    bool known = list && list->type == MSGPACK_OBJECT_ARRAY && launch < list->via.array.size &&
                 list->via.array.ptr[launch].type == MSGPACK_OBJECT_POSITIVE_INTEGER;
    return known ? list->via.array.ptr[launch].via.u64 : UINT64_MAX;
}

/* Is the first result there sooner when what has no code is interpreted? */
static bool is_quick(const struct finalize *f)
{
    uint64_t left = QUICK_WORK;
    if (f->keep_assembly || f->tier == TIER_COMPILED) return false;
    for (uint32_t i = 0; i < f->n_launches && f->tier == TIER_AUTOMATIC; i++) {
        uint64_t work = f->launches[i].code ? 0 : work_of(f, i);
        if (work > left) return false;
        left -= work;
    }
    return true;
}

static struct hash kernel_hash(const msgpack_object *kernel)
{
    struct hasher h;
    hasher_begin(&h, "kernel to interpret");
    hasher_add(&h, kernel->via.bin.ptr, kernel->via.bin.size);
    return hasher_end(&h);
}

/* False: the finalize has failed, and is gone. */
static bool take_kernels(struct finalize *f)
{
    for (uint32_t i = 0; i < f->n_launches; i++) {
        struct launch *launch = &f->launches[i];
        const msgpack_object *kernel = &f->kernels->ptr[i];
        if (launch->code) continue;
        struct hash hash = kernel_hash(kernel);
        const char *refused = set_code(launch, &hash, kernel->via.bin.ptr, kernel->via.bin.size, 1, CODE_INTERPRETED);
        if (refused) {
            no_object(f, refused);
            return false;
        }
        launch->quick = true;
        f->n_quick++;
        count_source(f, CACHE_MISS);
    }
    f->operation.session->broker->counters.quick_launches += f->n_quick;
    return true;
}

/* ---- compiling ---- */

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

/* False: the finalize has failed, and is gone. */
static bool compile_launch(struct finalize *f, struct launch *launch)
{
    struct session *s = f->operation.session;
    const char *refused;
    count_source(f, CACHE_MISS);
    struct job *job =
        object_job(s, &s->pool_client, &launch->key, &f->kernels->ptr[launch->index], f->keep_assembly, &refused);
    if (!job) {
        finalization_fail(f, FUSION_OUT_OF_MEMORY, "kernel", refused);
        return false;
    }
    f->running++;
    job_wait(job, &s->pool_client, &launch->waiter, on_compiled, launch);
    return true;
}

/* False: the finalize has failed, and is gone. An equal launch may have been compiled since it was looked up. */
static bool start_launch(struct finalize *f, struct launch *launch)
{
    const char *refused;
    if (launch->code) return true;
    switch (take_from_cache(launch, &refused)) {
    case TAKEN: return true;
    case NOT_UNDERSTOOD: return compile_launch(f, launch);
    case REFUSED: break;
    }
    no_object(f, refused);
    return false;
}

static void start_launches(struct finalize *f)
{
    uint32_t most = PARALLEL * f->operation.session->broker->options.compilers;
    while (f->next < f->n_launches && f->running < most)
        if (!start_launch(f, &f->launches[f->next++])) return;
    if (f->done == f->n_launches) load_executable(f);
}

/* ---- all launches ---- */

/* False: the finalize has failed, and is gone. */
static bool look_up(struct finalize *f)
{
    const char *refused;
    for (uint32_t i = 0; i < f->n_launches; i++) {
        if (take_from_cache(&f->launches[i], &refused) != REFUSED) continue;
        no_object(f, refused);
        return false;
    }
    return true;
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
        *launch = (struct launch){.owner = f, .index = f->n_launches};
        launch->key = object_hash(&target, &f->kernels->ptr[launch->index]);
    }
    if (!look_up(f)) return;
    if (f->done < f->n_launches && is_quick(f)) {
        if (take_kernels(f)) load_executable(f);
    } else {
        start_launches(f);
    }
}
