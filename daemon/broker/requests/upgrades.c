/* Code for launches that are interpreted until it is there. */
#include "daemon/broker/requests/upgrades.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/broker/requests/executables.h"
#include "daemon/broker/requests/object.h"
#include "daemon/broker/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { PARALLEL = 2 }; /* launches under way for each compiler */

enum state { WAITS, IS_MADE, IS_OFFERED, IS_TAKEN, STAYS };

/* A launch. */
struct upgrade {
    struct upgrades *all;
    struct job_waiter waiter;
    TAILQ_ENTRY(upgrade) link; /* of those offered, in this order */
    uint32_t launch;
    struct hash hash;
    enum state state;
    struct code *code; /* from IS_OFFERED on */
    char *reason;      /* why it stays as it is */
};

/* The launches of an executable. */
struct upgrades {
    struct session *session;
    uint64_t executable;
    struct blob *plan; /* has the kernels; goes when no more is to be made */
    struct blob_value plan_value;
    const msgpack_object_array *kernels;
    struct user_cost cost;
    TAILQ_HEAD(, upgrade) offered;
    uint32_t n, next, running;
    uint32_t n_launches, n_ready; /* the first of the list: those that the report is about; those to be made */
    struct upgrade list[];
};

static void start(struct upgrades *all);

/* ---- life ---- */

static void drop_plan(struct upgrades *all)
{
    if (!all->plan) return;
    blob_value_clear(&all->plan_value);
    blob_unref(all->plan);
    all->plan = NULL;
    session_refund(all->session, &all->cost);
}

static void free_upgrades(struct upgrades *all)
{
    for (uint32_t i = 0; i < all->n; i++) {
        job_cancel(&all->list[i].waiter);
        code_put(all->list[i].code);
        free(all->list[i].reason);
    }
    drop_plan(all);
    free(all);
}

void upgrades_end(struct session *s, uint64_t executable)
{
    struct upgrades *all = map_remove(&s->upgrades, executable);
    if (all) free_upgrades(all);
}

void upgrades_clear(struct session *s)
{
    uint32_t position = 0;
    for (struct map_entry *e; (e = map_next(&s->upgrades, &position));) free_upgrades(e->pointer);
    map_clear(&s->upgrades);
}

/* ---- a launch ---- */

static void stays(struct upgrade *u, const char *reason)
{
    u->state = STAYS;
    u->reason = strdup(reason ? reason : "no reason is known");
    u->all->session->broker->counters.launches_kept++;
}

/* The executor gets the code, where it is any. */
static void offer(struct upgrade *u, const struct object *object)
{
    struct upgrades *all = u->all;
    struct session *s = all->session;
    if (strcmp(object->effort, CODE_INTERPRETED) == 0) {
        stays(u, "within their limits compilers make no code of it");
        return;
    }
    u->code = code_get(&s->broker->codes, &u->hash, object->bytes, object->size, object->lanes, object->effort);
    struct error error;
    if (!u->code) {
        stays(u, strerror(errno));
        return;
    }
    if (!executable_offer(s, all->executable, u->launch, u->code, &error)) {
        stays(u, error.reason);
        return;
    }
    u->state = IS_OFFERED;
    TAILQ_INSERT_TAIL(&all->offered, u, link);
}

/* False: it is not understood. */
static bool take(struct upgrade *u, const struct blob *blob)
{
    struct object object;
    bool understood = object_read(&object, blob, false);
    if (understood) offer(u, &object);
    object_clear(&object);
    return understood;
}

static void on_made(void *data, struct blob *result, const struct error *error)
{
    struct upgrade *u = data;
    struct upgrades *all = u->all;
    all->running--;
    if (!executable_has(all->session, all->executable)) {
        upgrades_end(all->session, all->executable); /* a new executor could not load it */
        return;
    }
    if (!result)
        stays(u, error->reason);
    else if (!take(u, result))
        stays(u, "the compiler's object was not understood");
    start(all);
}

/* It may have been made for somebody else meanwhile. */
static bool is_cached(struct upgrade *u)
{
    struct blob *blob;
    if (cache_get(u->all->session->broker->cache, CACHE_OBJECT, &u->hash, &blob) == CACHE_MISS) return false;
    bool taken = take(u, blob);
    blob_unref(blob);
    return taken;
}

static void start_one(struct upgrade *u)
{
    struct upgrades *all = u->all;
    struct session *s = all->session;
    struct error error;
    if (is_cached(u)) return;
    struct job *job = object_job(s, &s->background, &u->hash, NULL, &all->kernels->ptr[u->launch], false, &error);
    if (!job) {
        stays(u, error.reason);
        return;
    }
    u->state = IS_MADE;
    all->running++;
    pool_wait(s->broker->pool, job, &s->background, &u->waiter, on_made, u);
}

static void start(struct upgrades *all)
{
    uint32_t most = PARALLEL * all->session->broker->options.compilers;
    while (all->next < all->n_ready && all->running < most) start_one(&all->list[all->next++]);
    if (all->next == all->n && all->running == 0) drop_plan(all);
}

/* ---- all launches of an executable ---- */

static void list_launches(struct upgrades *all, const struct finalize *f)
{
    for (uint32_t i = 0; i < f->n_launches; i++) {
        bool is_spare = f->launches[i].spare;
        if (!f->launches[i].quick && !is_spare) continue;
        struct upgrade *u = &all->list[all->n++];
        *u = (struct upgrade){.all = all, .launch = i, .hash = f->launches[i].key};
        if (!is_spare) all->n_ready = all->n_launches = all->n; /* spares come last */
    }
}

/* The plan is read again, as the request's reading of it goes with the request. */
static bool keep_plan(struct upgrades *all, const struct finalize *f)
{
    if (!blob_parse(f->plan, &all->plan_value)) return false;
    all->plan = blob_ref(f->plan);
    all->kernels = &proto_get(&all->plan_value.root, "kernels")->via.array;
    return true;
}

void upgrades_begin(struct finalize *f)
{
    struct session *s = f->operation.session;
    uint32_t most = f->n_quick + f->n_spares;
    struct upgrades *all = calloc(1, sizeof *all + most * sizeof *all->list);
    if (!all || !map_put(&s->upgrades, f->executable, all)) {
        free(all);
        return;
    }
    all->session = s;
    all->executable = f->executable;
    TAILQ_INIT(&all->offered);
    list_launches(all, f);
    all->cost.of[USER_BYTES] = sizeof *all + most * sizeof *all->list + f->plan->size;
    struct error error;
    if (session_charge(s, &all->cost, &error)) {
        if (keep_plan(all, f)) {
            start(all);
            return;
        }
        session_refund(s, &all->cost);
        error_set(&error, FUSION_OUT_OF_MEMORY, NULL, "out of memory");
    }
    for (; all->next < all->n; all->next++) stays(&all->list[all->next], error.reason);
}

void upgrades_make_spares(struct session *s, uint64_t executable)
{
    struct upgrades *all = map_get(&s->upgrades, executable);
    if (!all || all->n_ready == all->n) return;
    all->n_ready = all->n;
    start(all);
}

/* ---- the executor ---- */

void upgrades_replied(struct session *s, uint64_t executable, const struct proto_message *reply)
{
    struct upgrades *all = map_get(&s->upgrades, executable);
    struct upgrade *u = all ? TAILQ_FIRST(&all->offered) : NULL;
    if (!u || !executable_has(s, executable)) return; /* released meanwhile */
    bool taken = reply->status == FUSION_SUCCESS;
    TAILQ_REMOVE(&all->offered, u, link);
    executable_settle(s, executable, u->launch, u->code, taken);
    if (taken) {
        u->state = IS_TAKEN;
        s->broker->counters.launches_replaced++;
        return;
    }
    code_put(u->code);
    u->code = NULL;
    stays(u, reply->reason);
}

void upgrades_replay(struct session *s)
{
    uint32_t position = 0;
    for (struct map_entry *e; (e = map_next(&s->upgrades, &position));) {
        struct upgrades *all = e->pointer;
        struct upgrade *u;
        TAILQ_FOREACH(u, &all->offered, link)
        executable_offer_again(s, all->executable, u->launch, u->code);
    }
}

/* ---- what is told ---- */

static void pack_launch(struct proto_writer *w, const struct upgrade *u)
{
    bool is_code = u->state == IS_TAKEN, is_final = is_code || u->state == STAYS;
    proto_pack_map(w, u->reason ? 5 : 4);
    proto_pack_uint(w, "launch", u->launch);
    proto_pack_string(w, "tier", is_final ? "final" : "quick");
    proto_pack_uint(w, "lanes", is_code ? u->code->lanes : 1);
    proto_pack_string(w, "effort", is_code ? u->code->effort : CODE_INTERPRETED);
    if (u->reason) proto_pack_string(w, "reason", u->reason);
}

void executable_tiers(struct session *s, struct proto_message *m)
{
    uint64_t id;
    struct proto_writer w;
    if (!request_uint(s, m, "executable", &id)) return;
    if (!executable_has(s, id)) {
        request_fail(s, m, FUSION_NOT_FOUND, "executable", "the session has no executable %llu",
                     (unsigned long long)id);
        return;
    }
    const struct upgrades *all = map_get(&s->upgrades, id);
    proto_begin_reply(&w, m->id);
    proto_pack_map(&w, 1);
    proto_pack_key(&w, "launches");
    msgpack_pack_array(&w.packer, all ? all->n_launches : 0);
    for (uint32_t i = 0; all && i < all->n_launches; i++) pack_launch(&w, &all->list[i]);
    session_send(s, &w);
}
