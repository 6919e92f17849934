/* The compilers and the jobs that wait for them. */
#include "daemon/broker/compile/pool.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/broker/cache/cache.h"
#include "daemon/broker/cache/remote.h"
#include "daemon/broker/compile/allowance.h"
#include "daemon/broker/compile/compiler.h"
#include "daemon/broker/compile/machine.h"
#include "daemon/broker/compile/quota.h"
#include "daemon/broker/core/log.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum {
    TICK_MS = 100,          /* between looks at the compilers; more often where the time limit is short */
    START_LIMIT_MS = 20000, /* from start to `ready` */
    IDLE_MS = 30000,        /* more than one idle compiler is ended after this */
    MAX_FAILED_STARTS = 3,
    RETRY_MS = 2000,     /* from giving up to the next attempt */
    MAX_JOBS = 1000,     /* a compiler is replaced after as many */
    RUNAWAY_FACTOR = 10, /* one that grows beyond this times its limit is killed in the middle of the job */
    MOST_CARE = 2
};

/* A place of the pool. */
struct worker {
    LIST_ENTRY(worker) link;
    struct pool *pool;
    struct compiler *compiler;
    struct job *job;
    bool ready;
    bool over_limit;       /* it is ended for its job's time or memory */
    bool resting;          /* its job is answered, but not all of it has ended */
    struct remote_ask ask; /* the second level of the cache is asked for the job's result, before it is done */
    struct user *user;     /* whose turn its job was, until nothing is left of that; else NULL */
    uint64_t accounted_ns; /* of what the job has used */
    enum job_priority priority;
    uint32_t jobs_done;
    uint64_t since_ms; /* start of this state */
};

struct pool {
    struct broker *broker;
    uv_timer_t tick;
    LIST_HEAD(, worker) workers;
    struct jobs jobs;
    void (*settled)(struct broker *broker);
    struct blob *info; /* params of `ready` */
    struct blob_value info_value;
    struct hash target;
    struct hash compiler_file;
    uint32_t failed_starts;
    struct error failure; /* no compiler can be started; else its code is 0 */
    uint64_t failed_ms;
};

static void schedule(struct pool *pool);
static void on_tick(uv_timer_t *timer);

static uint64_t now_ms(const struct pool *pool)
{
    return uv_now(&pool->broker->loop);
}

static uint64_t tick_ms(const struct pool *pool)
{
    uint64_t limit = pool->broker->options.compile_limit_ms;
    return limit >= TICK_MS * 4 ? TICK_MS : limit / 4 + 1;
}

/* ---- jobs ---- */

struct job *pool_find(struct pool *pool, const struct job_key *key)
{
    return jobs_find(&pool->jobs, key);
}

uint32_t pool_next_id(struct pool *pool)
{
    return jobs_next_id(&pool->jobs);
}

struct job *pool_add(struct pool *pool, struct pool_client *client, const struct job_key *key, uint32_t id,
                     struct proto_writer *request, struct error *error)
{
    bool allowed = quota_allows(client->user, uv_hrtime(), error);
    if (!allowed) proto_writer_clear(request);
    struct job *job = allowed ? jobs_add(&pool->jobs, client, key, id, request, error) : NULL;
    if (job) uv_timer_start(&pool->tick, on_tick, 0, tick_ms(pool)); /* from the loop: no results during this call */
    return job;
}

void pool_wait(struct pool *pool, struct job *job, struct pool_client *client, struct job_waiter *waiter,
               job_done_fn *done, void *data)
{
    job_wait(job, client, waiter, done, data);
    if (job->runs_for) uv_timer_start(&pool->tick, on_tick, 0, tick_ms(pool));
}

/* ---- what the compilers are ---- */

bool pool_settled(const struct pool *pool)
{
    return pool->info || pool->failure.code;
}

const struct error *pool_info(struct pool *pool, const msgpack_object **devices, struct hash *target)
{
    if (!pool->info && now_ms(pool) - pool->failed_ms > RETRY_MS) {
        pool->failed_ms = now_ms(pool);
        schedule(pool);
    }
    if (!pool->info) return &pool->failure;
    if (devices) *devices = proto_get(&pool->info_value.root, "devices");
    if (target) *target = pool->target;
    return NULL;
}

static bool learn(struct pool *pool, const msgpack_object *params)
{
    if (pool->info) return true;
    char *text = NULL;
    struct hasher h;
    const msgpack_object *devices = proto_get(params, "devices");
    if (!devices || devices->type != MSGPACK_OBJECT_ARRAY || !proto_get_string(params, "target", &text, 4096))
        return false;
    hasher_begin(&h, "target");
    hasher_add_text(&h, FUSIOND_VERSION);
    hasher_add_hash(&h, &pool->compiler_file); /* a compiler that was built anew never meets old results */
    hasher_add_text(&h, text);
    pool->target = hasher_end(&h);
    free(text);
    pool->info = blob_pack(params);
    if (pool->info && blob_parse(pool->info, &pool->info_value)) return true;
    blob_unref(pool->info);
    pool->info = NULL;
    return false;
}

/* ---- workers ---- */

static const struct compiler_events events;

static bool is_free(const struct worker *w)
{
    return w->ready && !w->job && !w->resting;
}

static void set_tick(struct pool *pool)
{
    struct worker *w;
    uint32_t n = 0;
    bool busy = pool->jobs.n_queued > 0;
    LIST_FOREACH(w, &pool->workers, link)
    {
        busy |= !is_free(w);
        n++;
    }
    if (!busy && n <= 1)
        uv_timer_stop(&pool->tick);
    else if (!uv_is_active((uv_handle_t *)&pool->tick)) /* never put off: it watches the time limits */
        uv_timer_start(&pool->tick, on_tick, tick_ms(pool), tick_ms(pool));
}

static bool is_shared(const struct pool *pool)
{
    return pool->broker->listener && pool->broker->users.n_present > 1;
}

/* What its job has used up to now. */
static void account(struct worker *w, uint64_t used_ns)
{
    if (!w->user || used_ns <= w->accounted_ns) return;
    allowance_use(w->user, used_ns - w->accounted_ns, uv_hrtime());
    quota_use(w->user, used_ns - w->accounted_ns, uv_hrtime());
    w->accounted_ns = used_ns;
}

/* Its user may have used much by now, somebody else may wait for it, or nobody may be there to go first. */
static void weigh(struct worker *w)
{
    account(w, compiler_used_ns(w->compiler));
    enum job_priority priority = w->job ? job_priority(w->job, is_shared(w->pool)) : w->priority;
    if (priority == w->priority) return;
    w->priority = priority;
    compiler_set_priority(w->compiler, priority);
}

static void remove_worker(struct worker *w)
{
    LIST_REMOVE(w, link);
    remote_cancel(&w->ask);
    user_put(w->user);
    free(w);
}

static void give_up(struct pool *pool, const char *why)
{
    error_set(&pool->failure, FUSION_COMPILER, "compiler", "no compiler can be started: %s", why);
    log_warning("%s", pool->failure.reason);
    pool->failed_ms = now_ms(pool);
    pool->failed_starts = 0;
    struct job_waiter *waiter;
    while ((waiter = jobs_next(&pool->jobs, false))) job_finish(waiter->job, NULL, &pool->failure);
    pool->settled(pool->broker);
}

static void start_failed(struct pool *pool, const char *why)
{
    log_warning("a compiler has not started: %s", why);
    if (++pool->failed_starts >= MAX_FAILED_STARTS) give_up(pool, why);
}

static bool start_worker(struct pool *pool)
{
    struct worker *w = calloc(1, sizeof *w);
    if (!w) return false;
    w->pool = pool;
    w->since_ms = now_ms(pool);
    w->compiler = compiler_start(pool->broker, &events, w);
    if (!w->compiler) {
        free(w);
        start_failed(pool, "it could not be executed");
        return false;
    }
    LIST_INSERT_HEAD(&pool->workers, w, link);
    return true;
}

/* Ends a compiler that does nothing. */
static void retire(struct worker *w)
{
    compiler_stop(w->compiler);
    remove_worker(w);
}

static void on_ready(void *data, const msgpack_object *params)
{
    struct worker *w = data;
    struct pool *pool = w->pool;
    bool first = !pool->info;
    if (!learn(pool, params)) {
        compiler_kill(w->compiler, "its greeting was not understood");
        return;
    }
    w->ready = true;
    w->since_ms = now_ms(pool);
    pool->failed_starts = 0;
    error_clear(&pool->failure);
    schedule(pool);
    if (first) pool->settled(pool->broker);
}

/* A job that ended its compiler is done once more, as that may have been the compiler's fault; and code is made with
   care then, or at once where the time or memory did not do, and in the end none. False: it has had its chances. */
static bool try_again(struct pool *pool, struct job *job, bool over_limit)
{
    bool code = job->key.kind == CACHE_OBJECT, again = job->attempts++ == 0 && !over_limit;
    if ((!again && (!code || job->care == MOST_CARE)) || LIST_EMPTY(&job->waiters)) return false;
    job->care += !again;
    job_put_back(job);
    pool->broker->counters.jobs_repeated++;
    return true;
}

static struct blob *take_result(const struct proto_message *reply, struct error *error)
{
    struct blob *result = reply->status == FUSION_SUCCESS ? blob_pack(&reply->params) : NULL;
    if (reply->status != FUSION_SUCCESS)
        error_set(error, reply->status, reply->object, "%s", reply->reason);
    else if (!result)
        error_set(error, FUSION_OUT_OF_MEMORY, "compiler", "its result does not fit into memory");
    return result;
}

static void on_done(void *data, const struct proto_message *reply)
{
    struct worker *w = data;
    struct pool *pool = w->pool;
    struct job *job = w->job;
    struct error error;
    struct blob *result = take_result(reply, &error);
    w->job = NULL;
    w->resting = true;
    w->since_ms = now_ms(pool);
    w->jobs_done++;
    if (w->jobs_done >= MAX_JOBS) {
        pool->broker->counters.compilers_recycled++;
        retire(w);
    }
    if (result && job->key.cached) {
        cache_put(pool->broker->cache, job->key.kind, &job->key.hash, result, job->payer->uid);
        remote_put(pool->broker->remote, job->key.kind, &job->key.hash, result);
    }
    bool no_code = !result && error.code == FUSION_COMPILER && job->key.kind == CACHE_OBJECT;
    if (!no_code || !try_again(pool, job, true)) job_finish(job, result, &error);
    blob_unref(result);
    schedule(pool);
}

static void on_measured(void *data, const void *figures, size_t size)
{
    struct worker *w = data;
    machine_learn(w->pool->broker, &w->pool->target, figures, size);
}

static void on_idle(void *data, uint64_t used_ns)
{
    struct worker *w = data;
    account(w, used_ns);
    user_put(w->user);
    w->user = NULL;
    w->resting = false;
    w->since_ms = now_ms(w->pool);
    schedule(w->pool);
}

/* A job may have brought it down: whose it was is told, and of a user with many such only how many. */
static void log_lost(const struct job *job, const char *why)
{
    struct user *user = job ? job->payer : NULL;
    const struct log_subject about = {.user = user, .uid = user ? user->uid : 0};
    log_about(LOG_WARNING, user ? &user->log : NULL, &about, "a compiler was lost: %s", why);
}

static void on_ended(void *data, fusion_status status, const char *why)
{
    struct worker *w = data;
    struct pool *pool = w->pool;
    struct job *job = w->job;
    bool was_ready = w->ready, over_limit = w->over_limit;
    struct user *user = w->user ? user_ref(w->user) : NULL;
    struct error error;
    error_set(&error, status, "compiler", "%s", why);
    remove_worker(w);
    if (!was_ready) {
        start_failed(pool, why);
    } else {
        pool->broker->counters.compilers_lost++;
        log_lost(job, why);
    }
    if (job && status == FUSION_OUT_OF_MEMORY)
        job_fail_of(job, user, &error);
    else if (job && !try_again(pool, job, over_limit))
        job_finish(job, NULL, &error);
    user_put(user);
    schedule(pool);
}

static const struct compiler_events events = {
    .ready = on_ready, .done = on_done, .measured = on_measured, .idle = on_idle, .ended = on_ended};

/* ---- scheduling ---- */

struct load {
    uint32_t workers, busy, background; /* compilers, those with a job, those with one that nobody waits for */
};

static struct load measure(const struct pool *pool)
{
    struct load load = {0};
    const struct worker *w;
    LIST_FOREACH(w, &pool->workers, link)
    {
        load.workers++;
        load.busy += w->job != NULL;
        load.background += w->job && w->job->background;
    }
    return load;
}

/* May one more job run, and whose? Beyond the number of compilers only one of a user with nothing running, or one that
   a client waits for, while others run for which nobody does. */
static struct job_waiter *next_waiter(struct pool *pool, const struct load *load)
{
    uint32_t most = pool->broker->options.compilers;
    if (load->busy >= 2 * most) return NULL;
    if (load->busy < most) return jobs_next(&pool->jobs, TURNS_OF_ALL);
    return jobs_next(&pool->jobs, load->busy - load->background < most ? TURNS_OF_WAITING : TURNS_OF_IDLE);
}

/* The same; who has used up his compile time by now gets no turn. */
static struct job_waiter *next_allowed(struct pool *pool, const struct load *load)
{
    struct job_waiter *waiter;
    struct error error;
    while ((waiter = next_waiter(pool, load)) && !quota_allows(waiter->client->user, uv_hrtime(), &error))
        job_refuse(waiter, &error);
    return waiter;
}

/* Plans go by the machine's figures. */
static bool lacks_figures(const struct worker *w)
{
    if (w->job->key.kind != CACHE_PLAN) return false;
    struct blob *figures = machine_figures(w->pool->broker, &w->pool->target);
    blob_unref(figures);
    return !figures;
}

static void begin(struct worker *w)
{
    struct job *job = w->job;
    struct proto_writer request;
    w->since_ms = now_ms(w->pool);
    struct compiler_order order = {.care = job->care, .priority = w->priority, .measures = lacks_figures(w)};
    if (proto_writer_copy(&job->request, &request))
        compiler_run(w->compiler, w->user, job->id, &request, &order);
    else
        compiler_kill(w->compiler, "there is no memory for its job");
}

/* The second level of the cache has the job's result, or not. */
static void on_answer(void *data, struct blob *result)
{
    struct worker *w = data;
    struct pool *pool = w->pool;
    struct job *job = w->job;
    struct blob_value value;
    if (!result || !blob_parse(result, &value)) {
        begin(w);
        return;
    }
    blob_value_clear(&value);
    w->job = NULL;
    w->since_ms = now_ms(pool);
    user_put(w->user);
    w->user = NULL;
    cache_put(pool->broker->cache, job->key.kind, &job->key.hash, result, job->payer->uid);
    job_finish(job, result, NULL);
    schedule(pool);
}

static void run(struct worker *w, struct job *job, const struct pool_client *client)
{
    job_begin(job, client);
    w->job = job;
    w->since_ms = now_ms(w->pool);
    w->user = user_ref(client->user);
    w->accounted_ns = 0;
    w->priority = job_priority(job, is_shared(w->pool));
    bool asks = job->key.cached && !job->attempts;
    if (!asks || !remote_get(w->pool->broker->remote, job->key.kind, &job->key.hash, &w->ask, on_answer, w)) begin(w);
}

/* How many compilers there is work for; one is always there, also beside those that work in the background. */
static uint32_t workers_wanted(const struct pool *pool, const struct load *load)
{
    uint32_t most = pool->info ? pool->broker->options.compilers : 1;
    uint32_t all = load->busy + pool->jobs.n_queued, reserved = load->busy + turns_idle_users(&pool->jobs.turns);
    if (all > most) all = most;
    if (load->background && reserved == load->busy) reserved++;
    if (reserved > 2 * most) reserved = 2 * most;
    uint32_t wanted = all > reserved ? all : reserved;
    return wanted ? wanted : 1;
}

/* Gives idle compilers work, and starts as many as there is work for. */
static void schedule(struct pool *pool)
{
    struct worker *w;
    struct job_waiter *waiter;
    struct load load = measure(pool);
    LIST_FOREACH(w, &pool->workers, link)
    {
        if (!is_free(w) || !(waiter = next_allowed(pool, &load))) continue;
        load.busy++;
        load.background += waiter->client->background;
        run(w, waiter->job, waiter->client);
    }
    for (uint32_t n = load.workers, wanted = workers_wanted(pool, &load); n < wanted; n++) {
        bool waiting = pool->failure.code && now_ms(pool) - pool->failed_ms < RETRY_MS && pool->jobs.n_queued == 0;
        if (waiting || !start_worker(pool)) break;
    }
    set_tick(pool);
}

static void check_worker(struct worker *w)
{
    const struct options *options = &w->pool->broker->options;
    uint64_t age = now_ms(w->pool) - w->since_ms;
    char why[200];
    if (w->resting && age > START_LIMIT_MS) {
        compiler_kill(w->compiler, "the compiler did not end its job in time");
    } else if (!w->ready && age > START_LIMIT_MS) {
        compiler_kill(w->compiler, "the compiler was not ready in time");
    } else if (w->job && age > options->compile_limit_ms) {
        w->over_limit = true;
        snprintf(why, sizeof why, "the compiler took longer than %u ms and was killed", options->compile_limit_ms);
        compiler_kill(w->compiler, why);
    } else if (w->job && compiler_memory(w->compiler) > options->compiler_bytes * RUNAWAY_FACTOR) {
        w->over_limit = true;
        snprintf(why, sizeof why, "the compiler needed more than %llu MB of memory and was killed",
                 (unsigned long long)(options->compiler_bytes * RUNAWAY_FACTOR >> 20));
        compiler_kill(w->compiler, why);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct pool *pool = timer->data;
    struct worker *w, *next;
    uint32_t idle = 0;
    for (w = LIST_FIRST(&pool->workers); w; w = next) {
        next = LIST_NEXT(w, link);
        weigh(w);
        check_worker(w);
        if (is_free(w) && idle++ > 0 && now_ms(pool) - w->since_ms > IDLE_MS) retire(w);
    }
    schedule(pool);
}

/* ---- life ---- */

struct pool *pool_new(struct broker *broker, void (*settled)(struct broker *broker))
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->broker = broker;
    pool->settled = settled;
    LIST_INIT(&pool->workers);
    jobs_init(&pool->jobs);
    uv_timer_init(&broker->loop, &pool->tick);
    pool->tick.data = pool;
    uv_timer_start(&pool->tick, on_tick, 0, tick_ms(pool));
    if (!hash_file(broker->options.compiler, &pool->compiler_file))
        log_warning("%s cannot be read", broker->options.compiler);
    return pool;
}

static void on_closed(uv_handle_t *handle)
{
    struct pool *pool = handle->data;
    free(pool);
}

void pool_free(struct pool *pool)
{
    struct error error;
    if (!pool) return;
    error_set(&error, FUSION_CONNECTION, "fusiond", "the daemon ends");
    while (!LIST_EMPTY(&pool->workers)) {
        struct worker *w = LIST_FIRST(&pool->workers);
        if (w->job) job_finish(w->job, NULL, &error);
        retire(w);
    }
    blob_value_clear(&pool->info_value);
    blob_unref(pool->info);
    jobs_clear(&pool->jobs);
    uv_close((uv_handle_t *)&pool->tick, on_closed);
}

struct pool_counts pool_counts(const struct pool *pool)
{
    struct pool_counts counts = {.queued = pool->jobs.n_queued};
    struct worker *w;
    LIST_FOREACH(w, &pool->workers, link)
    {
        counts.compilers++;
        counts.busy += w->job != NULL;
    }
    return counts;
}
