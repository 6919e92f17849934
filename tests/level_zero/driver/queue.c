#include "tests/level_zero/driver/queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/command.h"
#include "tests/level_zero/driver/limits.h"
#include "tests/level_zero/driver/list.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/state.h"

/* Command lists and a fence, or one command of an immediate list. */
struct job {
    struct job *next;
    struct command *command;
    ze_fence_handle_t fence;
    uint32_t n;
    ze_command_list_handle_t lists[];
};

/* Under the lock of state.h, but for what is made with it. */
struct _ze_command_queue_handle_t {
    uint32_t ordinal;
    bool synchronous, closing;
    struct job *first, *last;
    uint64_t submitted, done; /* jobs */
    pthread_t thread;
};

static bool has_work(const void *queue)
{
    const struct _ze_command_queue_handle_t *q = queue;
    return q->first || q->closing;
}

static bool is_idle(const void *queue)
{
    const struct _ze_command_queue_handle_t *q = queue;
    return q->done == q->submitted;
}

/* NULL: the queue ends. */
static struct job *take(ze_command_queue_handle_t q)
{
    if (state_await(has_work, q, UINT64_MAX) != ZE_RESULT_SUCCESS) return NULL;
    state_lock();
    struct job *job = q->first;
    if (job) q->first = job->next;
    if (!q->first) q->last = NULL;
    state_unlock();
    return job;
}

static bool run(const struct job *job)
{
    if (job->command && !command_run(job->command)) return false;
    for (uint32_t i = 0; i < job->n; i++)
        for (struct command *c = job->lists[i]->first; c; c = c->next)
            if (!command_run(c)) return false;
    return true;
}

static void free_job(struct job *job)
{
    command_free(job->command);
    free(job);
}

static void *run_jobs(void *queue)
{
    ze_command_queue_handle_t q = queue;
    for (struct job *job; (job = take(q));) {
        bool good = run(job);
        if (!good) state_lose_device();
        state_lock();
        q->done++;
        if (job->fence && good) job->fence->signaled = true;
        state_unlock();
        free_job(job);
    }
    return NULL;
}

static ze_result_t check(const ze_command_queue_desc_t *desc)
{
    if (desc->flags > 1 || desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
        desc->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    bool there = desc->ordinal < LIMIT_QUEUE_GROUPS && desc->index < LIMIT_QUEUES;
    if (!there) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return state_device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_queue_create(ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *queue)
{
    if (!context || !device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !queue) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_result_t result = check(desc);
    if (result != ZE_RESULT_SUCCESS) return result;
    ze_command_queue_handle_t q = calloc(1, sizeof *q);
    if (!q) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    q->ordinal = desc->ordinal;
    q->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    if (pthread_create(&q->thread, NULL, run_jobs, q) != 0) {
        free(q);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *queue = q;
    return ZE_RESULT_SUCCESS;
}

/* The application waits for its work before; what it did not wait for still runs. */
ze_result_t ZE_APICALL level_queue_destroy(ze_command_queue_handle_t queue)
{
    if (!queue) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    state_lock();
    queue->closing = true;
    state_unlock();
    pthread_join(queue->thread, NULL);
    for (struct job *job = queue->first, *next; job; job = next) { /* of a lost device */
        next = job->next;
        free_job(job);
    }
    free(queue);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t submit(ze_command_queue_handle_t q, struct job *job)
{
    state_lock();
    if (q->last)
        q->last->next = job;
    else
        q->first = job;
    q->last = job;
    q->submitted++;
    state_unlock();
    return q->synchronous ? state_await(is_idle, q, UINT64_MAX) : ZE_RESULT_SUCCESS;
}

ze_result_t queue_run_now(ze_command_queue_handle_t queue, struct command *c)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job) {
        command_free(c);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    job->command = c;
    return submit(queue, job);
}

static ze_result_t check_lists(ze_command_queue_handle_t q, uint32_t n, ze_command_list_handle_t *lists)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!lists[i]) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
        if (!lists[i]->closed) return ZE_RESULT_ERROR_INVALID_ARGUMENT; /* an immediate one never is */
        if (lists[i]->ordinal != q->ordinal) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_queue_execute(ze_command_queue_handle_t queue, uint32_t n, ze_command_list_handle_t *lists,
                                           ze_fence_handle_t fence)
{
    if (!queue) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!lists) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (n == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (fence && fence->queue != queue) return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (state_device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    ze_result_t result = check_lists(queue, n, lists);
    if (result != ZE_RESULT_SUCCESS) return result;
    struct job *job = calloc(1, sizeof *job + n * sizeof *lists);
    if (!job) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    job->fence = fence;
    job->n = n;
    memcpy(job->lists, lists, n * sizeof *lists);
    return submit(queue, job);
}

ze_result_t ZE_APICALL level_queue_synchronize(ze_command_queue_handle_t queue, uint64_t timeout)
{
    if (!queue) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return state_await(is_idle, queue, timeout);
}
