/* Jobs that wait for compilers. */
#include "daemon/broker/compile/jobs.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "daemon/broker/compile/allowance.h"
#include "proto/writer.h"

void jobs_init(struct jobs *jobs)
{
    turns_init(&jobs->turns);
}

void jobs_clear(struct jobs *jobs)
{
    map_clear(&jobs->by_key);
}

static uint64_t map_key(const struct job_key *key)
{
    return hash_prefix(&key->hash) + key->kind * 8u + key->variant;
}

static bool same_key(const struct job_key *a, const struct job_key *b)
{
    return a->kind == b->kind && a->variant == b->variant && hash_equal(&a->hash, &b->hash);
}

struct job *jobs_find(struct jobs *jobs, const struct job_key *key)
{
    struct job *job = map_get(&jobs->by_key, map_key(key));
    while (job && !same_key(&job->key, key)) job = job->same_place;
    return job;
}

static bool remember(struct jobs *jobs, struct job *job)
{
    job->same_place = map_get(&jobs->by_key, map_key(&job->key));
    return map_put(&jobs->by_key, map_key(&job->key), job);
}

static void forget(struct jobs *jobs, struct job *job)
{
    uint64_t at = map_key(&job->key);
    struct job *first = map_get(&jobs->by_key, at);
    if (first != job) {
        while (first->same_place != job) first = first->same_place;
        first->same_place = job->same_place;
    } else if (job->same_place) {
        map_put(&jobs->by_key, at, job->same_place);
    } else {
        map_remove(&jobs->by_key, at);
    }
}

static void free_job(struct job *job)
{
    proto_writer_clear(&job->request);
    user_refund(job->payer, USER_BYTES, job->bytes);
    user_put(job->payer);
    user_put(job->runs_for);
    free(job);
}

/* Nobody waits for his turn with it any more: it runs, or has failed. */
static void leave_queues(struct job *job)
{
    struct jobs *jobs = job->jobs;
    struct job_waiter *waiter;
    if (job->runs_for) return;
    LIST_FOREACH(waiter, &job->waiters, link)
    turns_remove(&jobs->turns, waiter);
    jobs->n_queued--;
}

/* It is out of the map first: who is told may ask again. */
void job_finish(struct job *job, struct blob *result, const struct error *error)
{
    struct job_waiter *waiter;
    leave_queues(job);
    if (job->runs_for) turns_end(job->runs_for, uv_hrtime() - job->started_ns);
    forget(job->jobs, job);
    while ((waiter = LIST_FIRST(&job->waiters))) {
        LIST_REMOVE(waiter, link);
        waiter->job = NULL;
        waiter->ended_ns = uv_hrtime();
        waiter->began_ns = job->runs_for ? job->started_ns : waiter->ended_ns;
        waiter->done(waiter->data, result, error);
    }
    free_job(job);
}

uint32_t jobs_next_id(struct jobs *jobs)
{
    if (++jobs->last_id == 0) jobs->last_id = 1;
    return jobs->last_id;
}

struct job *jobs_add(struct jobs *jobs, struct pool_client *client, const struct job_key *key, uint32_t id,
                     struct proto_writer *request, struct error *error)
{
    size_t bytes = sizeof(struct job) + request->buffer.size;
    bool fits = proto_finish(request), charged = fits && user_charge(client->user, USER_BYTES, bytes, error);
    struct job *job = charged ? calloc(1, sizeof *job) : NULL;
    if (!job || (job->key = *key, !remember(jobs, job))) {
        if (!fits)
            error_set(error, FUSION_OUT_OF_MEMORY, NULL,
                      "with its modules it is too large for a message to the compiler");
        else if (charged)
            error_set(error, FUSION_OUT_OF_MEMORY, NULL, "out of memory");
        if (charged) user_refund(client->user, USER_BYTES, bytes);
        free(job);
        proto_writer_clear(request);
        return NULL;
    }
    job->payer = user_ref(client->user);
    job->bytes = bytes;
    job->id = id;
    job->request = *request; /* finished: nothing is packed into it any more */
    memset(request, 0, sizeof *request);
    job->jobs = jobs;
    LIST_INIT(&job->waiters);
    jobs->n_queued++;
    return job;
}

void job_wait(struct job *job, struct pool_client *client, struct job_waiter *waiter, job_done_fn *done, void *data)
{
    *waiter = (struct job_waiter){.job = job, .client = client, .done = done, .data = data, .waited_ns = uv_hrtime()};
    LIST_INSERT_HEAD(&job->waiters, waiter, link);
    if (!job->runs_for) turns_add(&job->jobs->turns, waiter);
}

void job_cancel(struct job_waiter *waiter)
{
    struct job *job = waiter->job;
    if (!job) return;
    struct jobs *jobs = job->jobs;
    turns_remove(&jobs->turns, waiter);
    LIST_REMOVE(waiter, link);
    waiter->job = NULL;
    if (job->runs_for || !LIST_EMPTY(&job->waiters)) return;
    jobs->n_queued--;
    forget(jobs, job);
    free_job(job);
}

void job_refuse(struct job_waiter *waiter, const struct error *error)
{
    job_cancel(waiter);
    waiter->began_ns = waiter->ended_ns = uv_hrtime();
    waiter->done(waiter->data, NULL, error);
}

/* ---- running ---- */

struct job_waiter *jobs_next(struct jobs *jobs, enum turns_of of)
{
    return turns_next(&jobs->turns, of);
}

void job_begin(struct job *job, const struct pool_client *client)
{
    leave_queues(job);
    job->runs_for = user_ref(client->user);
    job->background = client->background;
    job->started_ns = uv_hrtime();
    turns_begin(client->user);
}

static enum job_priority priority_for(const struct job_waiter *waiter, bool shared)
{
    if (shared && allowance_exceeded(waiter->client->user, uv_hrtime())) return JOB_LAST;
    return waiter->client->background ? JOB_BEHIND : JOB_FIRST;
}

enum job_priority job_priority(const struct job *job, bool shared)
{
    const struct job_waiter *waiter;
    enum job_priority most = shared ? JOB_LAST : JOB_BEHIND;
    LIST_FOREACH(waiter, &job->waiters, link)
    {
        enum job_priority priority = priority_for(waiter, shared);
        if (priority < most) most = priority;
    }
    return most;
}

static struct job_waiter *waiter_of(const struct job *job, const struct user *user, bool is_his)
{
    struct job_waiter *waiter;
    LIST_FOREACH(waiter, &job->waiters, link)
    if ((waiter->client->user == user) == is_his) return waiter;
    return NULL;
}

void job_fail_of(struct job *job, const struct user *user, const struct error *error)
{
    struct jobs *jobs = job->jobs;
    struct job_key key = job->key;
    struct job_waiter *waiter;
    if (!waiter_of(job, user, false)) {
        job_finish(job, NULL, error);
        return;
    }
    job_put_back(job);
    /* Whoever is told may end others who wait, and with the last the job. */
    while (jobs_find(jobs, &key) == job && (waiter = waiter_of(job, user, true))) job_refuse(waiter, error);
}

void job_put_back(struct job *job)
{
    struct job_waiter *waiter;
    turns_end(job->runs_for, uv_hrtime() - job->started_ns);
    user_put(job->runs_for);
    job->runs_for = NULL;
    job->jobs->n_queued++;
    LIST_FOREACH(waiter, &job->waiters, link)
    turns_add(&job->jobs->turns, waiter);
}
