/* The request graph.finalize, and the plan. */
#include "daemon/broker/requests/finalize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/broker/compile/machine.h"
#include "daemon/broker/requests/launches.h"
#include "daemon/broker/requests/module_job.h"
#include "daemon/broker/requests/tuning.h"
#include "daemon/broker/session/gpus.h"
#include "daemon/broker/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { MAX_DEVICE_NAME = 64, MODE_ENABLE = 1 };

/* ---- plan ---- */

static const msgpack_object_array *get_array(const msgpack_object *map, const char *key)
{
    const msgpack_object *object = proto_get(map, key);
    return object && object->type == MSGPACK_OBJECT_ARRAY ? &object->via.array : NULL;
}

/* Reads the plan and keeps it. False: it was not understood (FUSION_INTERNAL), or is too large to be kept. */
static bool take_plan(struct finalize *f, struct blob *plan, struct error *error)
{
    error_set(error, FUSION_INTERNAL, "compiler", "its plan was not understood");
    if (!blob_parse(plan, &f->plan_value)) return false;
    f->kernels = get_array(&f->plan_value.root, "kernels");
    bool good = f->kernels && f->kernels->size <= PROTO_MAX_NODES;
    for (uint32_t i = 0; good && i < f->kernels->size; i++) good = f->kernels->ptr[i].type == MSGPACK_OBJECT_BIN;
    if (good) f->launches = calloc(f->kernels->size + 1, sizeof *f->launches);
    if (!f->launches) {
        blob_value_clear(&f->plan_value);
        return false;
    }
    uint64_t spares = 0;
    proto_get_uint(&f->plan_value.root, "spares", &spares);
    /* Of those there is no code before they run; a GPU runs nothing else, so theirs is made at once. */
    f->n_spares = spares < f->kernels->size && !f->gpu ? (uint32_t)spares : 0;
    f->plan = blob_ref(plan);
    if (f->tuning)
        tuning_keep(f->operation.session->broker, &f->tuning_key, f->tuning, f->operation.session->user->uid);
    return finalization_hold(f, plan->size + f->kernels->size * sizeof *f->launches, error);
}

static void on_planned(void *data, struct blob *plan, const struct error *error)
{
    struct finalize *f = data;
    struct error refused;
    if (!plan)
        finalization_fail(f, error);
    else if (!take_plan(f, plan, &refused))
        finalization_fail(f, &refused);
    else
        launches_begin(f);
}

/* False: the cache has no plan. Else f goes on, or has failed. */
static bool plan_from_cache(struct finalize *f)
{
    struct error error;
    struct broker *broker = f->operation.session->broker;
    struct blob *blob;
    enum cache_source source = cache_get(broker->cache, CACHE_PLAN, &f->plan_key.hash, &blob);
    if (source == CACHE_MISS) return false;
    bool taken = take_plan(f, blob, &error);
    blob_unref(blob);
    if (!taken && error.code == FUSION_INTERNAL) {
        cache_reject(broker->cache, CACHE_PLAN, &f->plan_key.hash);
        return false;
    }
    f->worst = source;
    broker->counters.plan_hits++;
    if (taken)
        launches_begin(f);
    else
        finalization_fail(f, &error);
    return true;
}

/* ---- request ---- */

/* What the request says, checked. Pointers into the message and the session. */
struct order {
    const void *graph;
    size_t graph_size;
    const void *saved_options; /* NULL: it is not to be saved */
    size_t saved_options_size;
    const msgpack_object_array *modules;
    struct module **found; /* to be freed */
    uint64_t mode, tier, barriers;
    bool insert_barriers, keep_ir, keep_assembly, debug, bounds, keep_tuning;
    char *device; /* to be freed */
    char *tuning; /* to be freed; NULL: none */
    struct hash target;
    const struct gpu *gpu; /* NULL: the device is none */
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

static bool check_numbers(struct session *s, struct proto_message *m, const char *key, const msgpack_object_array *list)
{
    for (uint32_t i = 0; i < list->size; i++)
        if (list->ptr[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER)
            return request_fail(s, m, FUSION_INVALID, key, "element %u is not a number", i);
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
    const msgpack_object_array *pipes;
    if (!proto_get(&m->params, "pipes")) return true;
    return request_list(s, m, "pipes", &pipes) && check_numbers(s, m, "pipes", pipes);
}

/* Absent in requests of older clients, who know one tier. */
static bool read_tier(struct session *s, struct proto_message *m, struct order *o)
{
    o->tier = TIER_COMPILED;
    if (proto_get(&m->params, "tier") && !request_uint(s, m, "tier", &o->tier)) return false;
    if (o->tier >= TIERS)
        return request_fail(s, m, FUSION_INVALID, "tier", "%llu is neither automatic (0), quick (1) nor compiled (2)",
                            (unsigned long long)o->tier);
    if (o->tier == TIER_AUTOMATIC) o->tier = s->broker->options.tier;
    return true;
}

/* Absent in requests of older clients, who know no others than the default. */
static bool read_barriers(struct session *s, struct proto_message *m, struct order *o)
{
    if (proto_get(&m->params, "barriers") && !request_uint(s, m, "barriers", &o->barriers)) return false;
    if (o->barriers <= 2) return true;
    return request_fail(s, m, FUSION_INVALID, "barriers", "%llu is neither automatic (0), none (1) nor needed (2)",
                        (unsigned long long)o->barriers);
}

/* What is to be saved is nothing but code, or what code is made of. */
static bool read_save(struct session *s, struct proto_message *m, struct order *o)
{
    if (!proto_get(&m->params, "save")) return true;
    o->tier = TIER_COMPILED;
    return request_bytes(s, m, "save", &o->saved_options, &o->saved_options_size);
}

/* Absent in requests of older clients. */
static bool read_bounds(struct session *s, struct proto_message *m, struct order *o)
{
    return !proto_get(&m->params, "bounds") || request_bool(s, m, "bounds", &o->bounds);
}

/* Under enable_fusion, what tuning chose. */
static bool read_tuning(struct session *s, struct proto_message *m, struct order *o)
{
    if (!proto_get(&m->params, "tuning")) return true;
    if (!request_bool(s, m, "keep_tuning", &o->keep_tuning)) return false;
    if (!proto_get_string(&m->params, "tuning", &o->tuning, PROTO_MAX_TUNING))
        return request_fail(s, m, FUSION_INVALID, "tuning", "it is no text, or longer than %d bytes", PROTO_MAX_TUNING);
    return true;
}

/* Only compilers know the other devices. What is debugged runs in the interpreter. */
static bool find_gpu(struct session *s, struct proto_message *m, struct order *o)
{
    o->gpu = gpus_find(s->broker->gpus, o->device);
    if (!o->gpu) return true;
    if (!o->gpu->description) {
        char name[MAX_DEVICE_NAME + 8];
        snprintf(name, sizeof name, "device %s", o->device);
        return request_fail(s, m, FUSION_FEATURE_NOT_SUPPORTED, name, "it is not there: %s", o->gpu->absent);
    }
    return true;
}

static bool read_order(struct session *s, struct proto_message *m, struct order *o)
{
    if (!request_bytes(s, m, "graph", &o->graph, &o->graph_size) || !request_list(s, m, "modules", &o->modules) ||
        !request_uint(s, m, "mode", &o->mode) || !request_bool(s, m, "insert_barriers", &o->insert_barriers) ||
        !request_bool(s, m, "keep_ir", &o->keep_ir) || !request_bool(s, m, "keep_assembly", &o->keep_assembly) ||
        !request_bool(s, m, "debug", &o->debug) || !read_tier(s, m, o) || !read_barriers(s, m, o) ||
        !read_save(s, m, o) || !read_bounds(s, m, o) || !read_tuning(s, m, o))
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
    return check_lists(s, m) && find_gpu(s, m, o) && find_modules(s, m, o) && request_target(s, m, &o->target);
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
    hasher_add_uint(&h, o->barriers);
    hasher_add_uint(&h, o->keep_ir);
    hasher_add_uint(&h, o->debug);
    hasher_add_uint(&h, o->bounds);
    hasher_add_text(&h, o->device);
    if (o->gpu) hasher_add(&h, o->gpu->description->data, o->gpu->description->size);
    hasher_add_text(&h, o->tuning ? o->tuning : "");
    return hasher_end(&h);
}

static struct hash hash_for_tuning(const struct order *o, uid_t user)
{
    struct order plain = *o;
    plain.keep_ir = plain.debug = false;
    plain.tuning = NULL;
    struct hash plan = plan_hash(&plain);
    return tuning_key(&plan, user);
}

/* Where the request says nothing, what was kept counts. */
static void find_tuning(const struct session *s, struct order *o)
{
    bool counts = o->mode == MODE_ENABLE && !o->debug;
    if (!counts) {
        free(o->tuning);
        o->tuning = NULL;
    } else if (!o->tuning) {
        struct hash key = hash_for_tuning(o, s->user->uid);
        o->tuning = tuning_kept(s->broker, &key);
    }
}

static struct job *plan_job(struct finalize *f, const struct order *o, struct error *error)
{
    struct session *s = f->operation.session;
    struct pool *pool = s->broker->pool;
    struct job *job = pool_find(pool, &f->plan_key);
    if (job) return job;
    struct blob *machine = machine_figures(s->broker, &o->target);
    struct proto_writer w;
    uint32_t id = pool_next_id(pool);
    proto_begin_request(&w, id, "plan");
    proto_pack_map(&w, 9 + (o->gpu != NULL) + (machine != NULL) + (o->tuning != NULL));
    proto_pack_bytes(&w, "graph", o->graph, o->graph_size);
    proto_pack_key(&w, "modules");
    msgpack_pack_array(&w.packer, o->modules->size);
    for (uint32_t i = 0; i < o->modules->size; i++) {
        msgpack_pack_bin(&w.packer, o->found[i]->ir_size);
        msgpack_pack_bin_body(&w.packer, o->found[i]->ir, o->found[i]->ir_size);
    }
    proto_pack_uint(&w, "mode", o->mode);
    proto_pack_bool(&w, "insert_barriers", o->insert_barriers);
    proto_pack_uint(&w, "barriers", o->barriers);
    proto_pack_string(&w, "device", o->device);
    if (o->gpu) proto_pack_bytes(&w, "gpu", o->gpu->description->data, o->gpu->description->size);
    proto_pack_bool(&w, "keep_ir", o->keep_ir);
    proto_pack_bool(&w, "debug", o->debug);
    proto_pack_bool(&w, "bounds", o->bounds);
    if (machine) proto_pack_bytes(&w, "machine", machine->data, machine->size);
    blob_unref(machine);
    if (o->tuning) proto_pack_string(&w, "tuning", o->tuning);
    return pool_add(pool, &s->pool_client, &f->plan_key, id, &w, error);
}

static struct finalize *new_finalize(struct session *s, struct proto_message *m, const struct order *o)
{
    struct finalize *f = calloc(1, sizeof *f);
    if (!f) {
        request_fail(s, m, FUSION_OUT_OF_MEMORY, "graph", "out of memory");
        return NULL;
    }
    operation_begin(&f->operation, &s->operations, m, finalization_cancel);
    f->keep_ir = o->keep_ir;
    f->keep_assembly = o->keep_assembly;
    f->gpu = o->debug ? NULL : o->gpu;
    f->tier = (enum tier)o->tier;
    f->target = o->target;
    if (o->keep_tuning && o->tuning) {
        f->tuning_key = hash_for_tuning(o, s->user->uid);
        f->tuning = strdup(o->tuning);
    }
    f->worst = CACHE_MEMORY;
    f->plan_key = (struct job_key){.kind = CACHE_PLAN, .hash = plan_hash(o), .cached = true};
    f->bindings = blob_pack(proto_get(&m->params, "bindings"));
    f->values = blob_pack(proto_get(&m->params, "values"));
    f->modules = blob_pack(proto_get(&m->params, "modules"));
    const msgpack_object *pipes = proto_get(&m->params, "pipes"), none = {.type = MSGPACK_OBJECT_ARRAY};
    f->pipes = blob_pack(pipes ? pipes : &none);
    size_t kept = 0;
    if (o->saved_options) {
        f->graph = blob_new(o->graph, o->graph_size);
        f->saved_options = blob_new(o->saved_options, o->saved_options_size);
        kept = o->graph_size + o->saved_options_size;
    }
    bool whole = !o->saved_options || (f->graph && f->saved_options);
    struct error error;
    error_set(&error, FUSION_OUT_OF_MEMORY, "graph", "out of memory");
    if (whole && f->bindings && f->values && f->modules && f->pipes &&
        finalization_hold(f, kept + f->bindings->size + f->values->size + f->modules->size + f->pipes->size, &error))
        return f;
    finalization_fail(f, &error);
    return NULL;
}

static void start(struct session *s, struct proto_message *m, const struct order *o)
{
    struct finalize *f = new_finalize(s, m, o);
    if (!f) return;
    s->broker->counters.finalizes++;
    struct error later;                                   /* where it is needed, it is tried again */
    if (f->gpu && !f->graph) session_open_gpu(s, &later); /* drivers take their time to load */
    if (plan_from_cache(f)) return;
    f->compiled = true;
    struct error error;
    struct job *job = plan_job(f, o, &error);
    if (job) {
        pool_wait(s->broker->pool, job, &s->pool_client, &f->plan_waiter, on_planned, f);
    } else {
        error_about(&error, "graph");
        finalization_fail(f, &error);
    }
}

/* Who names a device that every machine has does not wait until it is known what else there is. */
static bool may_be_gpu(const struct proto_message *m)
{
    const msgpack_object *o = proto_get(&m->params, "device");
    if (!o || o->type != MSGPACK_OBJECT_STR) return false;
    return !(o->via.str.size == 3 && memcmp(o->via.str.ptr, "cpu", 3) == 0) &&
           !(o->via.str.size == 9 && memcmp(o->via.str.ptr, "reference", 9) == 0);
}

void graph_finalize(struct session *s, struct proto_message *m)
{
    struct order o = {0};
    if (may_be_gpu(m) && !gpus_settled(s->broker->gpus)) {
        session_defer(s, m);
        return;
    }
    if (read_order(s, m, &o)) {
        find_tuning(s, &o);
        start(s, m, &o);
    }
    free(o.found);
    free(o.device);
    free(o.tuning);
}
