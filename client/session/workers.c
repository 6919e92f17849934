/* Threads of a session. */
#include "client/session/workers.h"

#include <stdlib.h>

#include "client/session/fork.h"

/* A thread. One that ends its session itself goes on without it. */
struct worker {
    struct client_workers *all; /* NULL: the session has gone */
    pthread_t thread;
};

struct client_workers {
    pthread_mutex_t lock;
    pthread_cond_t work;
    TAILQ_HEAD(, client_task) tasks; /* in their order */
    uint32_t n, n_idle, most;
    bool ends;
    struct worker *workers[CLIENT_MOST_WORKERS];
};

static _Thread_local struct worker *own; /* of the calling thread; NULL: it is none of these */

/* ---- the threads ---- */

static void *work(void *data)
{
    struct worker *w = own = data;
    struct client_workers *all = w->all;
    pthread_mutex_lock(&all->lock);
    while (!all->ends) {
        struct client_task *task = TAILQ_FIRST(&all->tasks);
        if (!task) {
            all->n_idle++;
            pthread_cond_wait(&all->work, &all->lock);
            all->n_idle--;
            continue;
        }
        TAILQ_REMOVE(&all->tasks, task, link);
        task->queued = false;
        pthread_mutex_unlock(&all->lock);
        task->run(task, false);
        if (!w->all) { /* it has disconnected */
            free(w);
            return NULL;
        }
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* all->lock held. */
static bool start_worker(struct client_workers *all)
{
    struct worker *w = calloc(1, sizeof *w);
    if (!w) return false;
    w->all = all;
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        free(w);
        return false;
    }
    all->workers[all->n++] = w;
    return true;
}

static struct client_workers *new_workers(uint32_t most)
{
    struct client_workers *all = calloc(1, sizeof *all);
    if (!all) return NULL;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->work, NULL);
    TAILQ_INIT(&all->tasks);
    all->most = most;
    return all;
}

/* ---- tasks ---- */

static void put_in_order(struct client_workers *all, struct client_task *task)
{
    struct client_task *after;
    TAILQ_FOREACH(after, &all->tasks, link)
    {
        if (after->priority < task->priority) break;
    }
    if (after)
        TAILQ_INSERT_BEFORE(after, task, link);
    else
        TAILQ_INSERT_TAIL(&all->tasks, task, link);
    task->queued = true;
}

bool client_task_add(fusion_session *s, struct client_task *task)
{
    pthread_mutex_lock(&s->lock);
    if (!s->workers) s->workers = new_workers(s->n_threads);
    struct client_workers *all = s->workers;
    pthread_mutex_unlock(&s->lock);
    if (!all) return false;
    pthread_mutex_lock(&all->lock);
    bool idle = all->n_idle > 0, able = all->n > 0;
    if (!all->ends && !idle && all->n < all->most) able |= start_worker(all);
    if (able && !all->ends) {
        put_in_order(all, task);
        pthread_cond_signal(&all->work);
    }
    able &= !all->ends;
    pthread_mutex_unlock(&all->lock);
    return able;
}

bool client_task_take_back(fusion_session *s, struct client_task *task)
{
    struct client_workers *all = s->workers;
    pthread_mutex_lock(&all->lock);
    bool queued = task->queued;
    if (queued) TAILQ_REMOVE(&all->tasks, task, link);
    task->queued = false;
    pthread_mutex_unlock(&all->lock);
    return queued;
}

/* ---- the end ---- */

static void end_tasks(struct client_workers *all)
{
    struct client_task *task;
    while ((task = TAILQ_FIRST(&all->tasks))) {
        TAILQ_REMOVE(&all->tasks, task, link);
        task->queued = false;
        task->run(task, true);
    }
}

static void join(struct worker *w)
{
    if (w == own) {
        w->all = NULL;
        pthread_detach(w->thread);
        return;
    }
    pthread_join(w->thread, NULL);
    free(w);
}

void client_workers_end(fusion_session *s)
{
    struct client_workers *all = s->workers;
    if (!all || client_is_foreign(s)) return; /* a child has not the threads */
    pthread_mutex_lock(&all->lock);
    all->ends = true;
    pthread_cond_broadcast(&all->work);
    pthread_mutex_unlock(&all->lock);
    end_tasks(all);
    for (uint32_t i = 0; i < all->n; i++) join(all->workers[i]);
    pthread_cond_destroy(&all->work);
    pthread_mutex_destroy(&all->lock);
    free(all);
    s->workers = NULL;
}
