/* Appends what orders other commands: barriers, events, and their times. */
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/command.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/state.h"

ze_result_t ZE_APICALL level_append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t n_waits,
                                            ze_event_handle_t *waits)
{
    return command_append_nothing(list, signal, n_waits, waits);
}

ze_result_t ZE_APICALL level_append_memory_ranges_barrier(ze_command_list_handle_t list, uint32_t n,
                                                          const size_t *sizes, const void **ranges,
                                                          ze_event_handle_t signal, uint32_t n_waits,
                                                          ze_event_handle_t *waits)
{
    (void)n;
    if (!list) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!sizes || !ranges) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return command_append_nothing(list, signal, n_waits, waits);
}

ze_result_t ZE_APICALL level_append_signal_event(ze_command_list_handle_t list, ze_event_handle_t event)
{
    if (!event) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return command_append_nothing(list, event, 0, NULL);
}

ze_result_t ZE_APICALL level_append_wait_on_events(ze_command_list_handle_t list, uint32_t n, ze_event_handle_t *events)
{
    if (!list) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!events) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return command_append_nothing(list, NULL, n, events);
}

struct reset {
    struct command command;
    ze_event_handle_t event;
};

static bool run_reset(struct command *c)
{
    state_lock();
    ((struct reset *)c)->event->signaled = false;
    state_unlock();
    return true;
}

ze_result_t ZE_APICALL level_append_event_reset(ze_command_list_handle_t list, ze_event_handle_t event)
{
    if (!event) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    ze_result_t result = command_check(list, 0, NULL);
    if (result != ZE_RESULT_SUCCESS) return result;
    struct reset *r = command_new(sizeof *r, run_reset, NULL);
    if (!r) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    r->event = event;
    return command_append(list, &r->command, NULL, 0, NULL);
}

struct timestamp {
    struct command command;
    uint64_t *to;
};

static bool run_timestamp(struct command *c)
{
    *((struct timestamp *)c)->to = state_nanoseconds();
    return true;
}

ze_result_t ZE_APICALL level_append_write_global_timestamp(ze_command_list_handle_t list, uint64_t *to,
                                                           ze_event_handle_t signal, uint32_t n_waits,
                                                           ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!to) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct timestamp *t = command_new(sizeof *t, run_timestamp, NULL);
    if (!t) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    t->to = to;
    return command_append(list, &t->command, signal, n_waits, waits);
}

/* The times of events, at offsets or one after the other. */
struct query {
    struct command command;
    uint32_t n;
    ze_event_handle_t *events;
    size_t *offsets;
    char *to;
};

static bool run_query(struct command *c)
{
    struct query *q = (struct query *)c;
    for (uint32_t i = 0; i < q->n; i++) {
        state_lock();
        ze_kernel_timestamp_result_t time = {.global = q->events[i]->time, .context = q->events[i]->time};
        state_unlock();
        memcpy(q->to + q->offsets[i], &time, sizeof time);
    }
    return true;
}

static void release_query(struct command *c)
{
    free(((struct query *)c)->events);
    free(((struct query *)c)->offsets);
}

ze_result_t ZE_APICALL level_append_query_kernel_timestamps(ze_command_list_handle_t list, uint32_t n,
                                                            ze_event_handle_t *events, void *to, const size_t *offsets,
                                                            ze_event_handle_t signal, uint32_t n_waits,
                                                            ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!events || !to) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct query *q = command_new(sizeof *q, run_query, release_query);
    if (!q) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    q->n = n;
    q->to = to;
    q->events = calloc(n + 1, sizeof *q->events);
    q->offsets = calloc(n + 1, sizeof *q->offsets);
    if (!q->events || !q->offsets) {
        command_free(&q->command);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < n; i++) {
        q->events[i] = events[i];
        q->offsets[i] = offsets ? offsets[i] : i * sizeof(ze_kernel_timestamp_result_t);
    }
    return command_append(list, &q->command, signal, n_waits, waits);
}
