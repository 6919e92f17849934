/* The code of launches. */
#include "daemon/broker/requests/launches.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/broker/requests/binaries.h"
#include "daemon/broker/requests/bundled.h"
#include "daemon/broker/requests/load.h"
#include "daemon/broker/requests/object.h"
#include "daemon/broker/requests/save.h"
#include "proto/fields.h"
#include "proto/frame.h"

enum { PARALLEL = 2 }; /* launches under way for each compiler */

/* What is done sooner in batches than it is compiled, which takes at least some 20 ms: the work of all launches
   together (fuser/cost/cost.h), of which two threads do this in about 10 ms. */
static const uint64_t QUICK_WORK = 100000000;

static void start_launches(struct finalize *f);

/* All code is there. */
static void finish(struct finalize *f)
{
    if (f->graph)
        save_executable(f);
    else
        load_executable(f);
}

/* ---- what is there ---- */

/* The bytes as the launch's code. */
static bool set_code(struct launch *launch, const struct hash *key, const void *bytes, size_t size, uint64_t lanes,
                     const char *effort, struct error *error)
{
    struct finalize *f = launch->owner;
    struct user_cost cost = {.of = {[USER_SHARED] = size, [USER_DESCRIPTORS] = 1}};
    if (launch->assembly) cost.of[USER_BYTES] = strlen(launch->assembly);
    if (!operation_hold(&f->operation, &cost, error))
        error_set(error, FUSION_OUT_OF_MEMORY, "executable", "no memory for the code of %u launches: %s", f->n_launches,
                  error->reason);
    else if (!(launch->code = code_get(&f->operation.session->broker->codes, key, bytes, size, lanes, effort)))
        error_set(error, FUSION_OUT_OF_MEMORY, "executable", "no memory for the code of %u launches: %m",
                  f->n_launches);
    return launch->code;
}

/* For a GPU with the binaries of drivers that there are. */
static bool set_object(struct launch *launch, const struct object *o, struct error *error)
{
    struct hash key;
    size_t size;
    uint8_t *longer = launch->owner->gpu ? binaries_behind(launch, o->bytes, o->size, &key, &size) : NULL;
    bool taken = longer ? set_code(launch, &key, longer, size, o->lanes, o->effort, error)
                        : set_code(launch, &launch->key, o->bytes, o->size, o->lanes, o->effort, error);
    free(longer);
    return taken;
}

/* False: there is no memory for it, or it is of no use (FUSION_INTERNAL): perhaps without the assembly that is wanted.
 */
static bool take_result(struct launch *launch, const struct blob *blob, struct error *error)
{
    struct object object;
    bool taken = false;
    if (object_read(&object, blob, launch->owner->keep_assembly)) {
        launch->assembly = object.assembly;
        object.assembly = NULL;
        taken = set_object(launch, &object, error);
    } else {
        error_set(error, FUSION_INTERNAL, "compiler", "its object was not understood");
    }
    object_clear(&object);
    return taken;
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

/* False: the finalize has failed, and is gone. What the cache has instead of code is replaced when that is made. */
static bool take_from_cache(struct launch *launch)
{
    struct finalize *f = launch->owner;
    struct blob *blob;
    struct error error;
    enum cache_source source = cache_get(f->operation.session->broker->cache, CACHE_OBJECT, &launch->key, &blob);
    if (source == CACHE_MISS) return true;
    bool taken = take_result(launch, blob, &error);
    blob_unref(blob);
    if (taken) {
        count_source(f, source);
        f->done++;
    } else if (error.code != FUSION_INTERNAL) {
        finalization_fail(f, &error);
        return false;
    }
    return true;
}

/* False: the finalize has failed, and is gone. */
static bool take_from_bundle(struct launch *launch)
{
    struct finalize *f = launch->owner;
    struct bundled found;
    struct error error;
    if (launch->code || !bundled_find(launch, &found)) return true;
    bool taken = set_code(launch, &found.key, found.bytes, found.size, found.lanes, found.effort, &error);
    free(found.effort);
    if (!taken) {
        finalization_fail(f, &error);
        return false;
    }
    f->operation.session->broker->counters.object_hits_bundle++;
    f->done++;
    return true;
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
    if (f->keep_assembly || f->gpu || f->tier == TIER_COMPILED) return false;
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
static bool take_kernel(struct launch *launch)
{
    const msgpack_object *kernel = &launch->owner->kernels->ptr[launch->index];
    struct hash hash = kernel_hash(kernel);
    struct error error;
    if (set_code(launch, &hash, kernel->via.bin.ptr, kernel->via.bin.size, 1, CODE_INTERPRETED, &error)) return true;
    finalization_fail(launch->owner, &error);
    return false;
}

/* Spares may never run: nothing is compiled for them. False: the finalize has failed, and is gone. */
static bool take_spares(struct finalize *f)
{
    for (uint32_t i = f->n_launches - f->n_spares; i < f->n_launches; i++) {
        if (f->launches[i].code) continue;
        if (!take_kernel(&f->launches[i])) return false;
        f->launches[i].spare = true;
        f->done++;
    }
    return true;
}

/* False: the finalize has failed, and is gone. */
static bool take_kernels(struct finalize *f)
{
    for (uint32_t i = 0; i < f->n_launches; i++) {
        struct launch *launch = &f->launches[i];
        if (launch->code) continue;
        if (!take_kernel(launch)) return false;
        launch->quick = true;
        f->n_quick++;
        count_source(f, CACHE_MISS);
    }
    f->operation.session->broker->counters.quick_launches += f->n_quick;
    return true;
}

/* ---- compiling ---- */

static void on_compiled(void *data, struct blob *result, const struct error *error)
{
    struct launch *launch = data;
    struct finalize *f = launch->owner;
    struct error refused;
    f->running--;
    if (!result) {
        finalization_fail(f, error);
    } else if (!take_result(launch, result, &refused)) {
        finalization_fail(f, &refused);
    } else {
        f->done++;
        start_launches(f);
    }
}

/* False: the finalize has failed, and is gone. */
static bool compile_launch(struct finalize *f, struct launch *launch)
{
    struct session *s = f->operation.session;
    struct error error;
    count_source(f, CACHE_MISS);
    struct job *job =
        object_job(s, &s->pool_client, &launch->key, f->gpu, &f->kernels->ptr[launch->index], f->keep_assembly, &error);
    if (!job) {
        error_about(&error, "kernel");
        finalization_fail(f, &error);
        return false;
    }
    f->running++;
    pool_wait(s->broker->pool, job, &s->pool_client, &launch->waiter, on_compiled, launch);
    return true;
}

/* False: the finalize has failed, and is gone. An equal launch may have been compiled since it was looked up. */
static bool start_launch(struct finalize *f, struct launch *launch)
{
    if (launch->code) return true;
    if (!take_from_cache(launch)) return false;
    return launch->code || compile_launch(f, launch);
}

static void start_launches(struct finalize *f)
{
    uint32_t most = PARALLEL * f->operation.session->broker->options.compilers;
    while (f->next < f->n_launches && f->running < most)
        if (!start_launch(f, &f->launches[f->next++])) return;
    if (f->done == f->n_launches) finish(f);
}

/* ---- all launches ---- */

static void go_on(struct finalize *f)
{
    if (!take_spares(f)) return;
    if (f->done < f->n_launches && is_quick(f)) {
        if (take_kernels(f)) finish(f);
    } else {
        start_launches(f);
    }
}

/* False: the finalize has failed, and is gone. */
static bool look_up_one(struct finalize *f)
{
    struct launch *launch = &f->launches[f->looked_up];
    *launch = (struct launch){.owner = f, .index = f->looked_up++};
    launch->key = object_hash(&f->target, f->gpu, &f->kernels->ptr[launch->index]);
    return take_from_cache(launch) && take_from_bundle(launch);
}

/* Of ten thousand launches, and with thousands of modules, that takes its time. False: the finalize goes on, or is
   gone. */
static bool look_up(void *data)
{
    struct finalize *f = data;
    uint64_t end = uv_hrtime() + LATER_PIECE_NS;
    while (f->looked_up < f->n_launches) {
        if (!look_up_one(f)) return false;
        if (uv_hrtime() > end && f->looked_up < f->n_launches) return true;
    }
    go_on(f);
    return false;
}

void launches_begin(struct finalize *f)
{
    struct session *s = f->operation.session;
    const struct error *error = pool_info(s->broker->pool, NULL, &f->target);
    if (error) {
        finalization_fail(f, error);
        return;
    }
    if (f->graph && f->gpu) { /* code for a GPU is its driver's, and not saved */
        finish(f);
        return;
    }
    f->n_launches = f->kernels->size;
    if (look_up(f)) later_begin(&s->broker->laters, &f->later, s->user, look_up, f);
}
