/* Event pools and events, as the host sees them. */
#include <stdlib.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/state.h"

ze_result_t ZE_APICALL level_event_pool_create(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
                                               uint32_t n, ze_device_handle_t *devices, ze_event_pool_handle_t *pool)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !pool) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > 7) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->count == 0 || (!devices && n > 0)) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (state_device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    ze_event_pool_handle_t p = calloc(1, sizeof *p);
    struct _ze_event_handle_t *events = calloc(desc->count, sizeof *events);
    if (!p || !events) {
        free(p);
        free(events);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *p = (struct _ze_event_pool_handle_t){.flags = desc->flags, .count = desc->count, .events = events};
    *pool = p;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_event_pool_destroy(ze_event_pool_handle_t pool)
{
    if (!pool) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    free(pool->events);
    free(pool);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_event_create(ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
                                          ze_event_handle_t *event)
{
    if (!pool) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !event) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->signal > 7 || desc->wait > 7) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->index >= pool->count) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    ze_event_handle_t e = &pool->events[desc->index];
    state_lock();
    bool taken = e->in_use;
    if (!taken) *e = (struct _ze_event_handle_t){.pool = pool, .in_use = true};
    state_unlock();
    if (taken) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *event = e;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_event_destroy(ze_event_handle_t event)
{
    if (!event) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    state_lock();
    event->in_use = false;
    state_unlock();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t set_signaled(ze_event_handle_t event, bool signaled)
{
    if (!event) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    state_lock();
    event->signaled = signaled;
    state_unlock();
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_event_host_signal(ze_event_handle_t event)
{
    return set_signaled(event, true);
}

ze_result_t ZE_APICALL level_event_host_reset(ze_event_handle_t event)
{
    return set_signaled(event, false);
}

static bool is_signaled(const void *event)
{
    return ((const struct _ze_event_handle_t *)event)->signaled;
}

ze_result_t ZE_APICALL level_event_host_synchronize(ze_event_handle_t event, uint64_t timeout)
{
    if (!event) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return state_await(is_signaled, event, timeout);
}

ze_result_t ZE_APICALL level_event_query_status(ze_event_handle_t event)
{
    return level_event_host_synchronize(event, 0);
}

ze_result_t ZE_APICALL level_event_query_kernel_timestamp(ze_event_handle_t event, ze_kernel_timestamp_result_t *time)
{
    if (!event) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!time) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (!(event->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    state_lock();
    bool known = event->signaled;
    if (known) time->global = time->context = event->time;
    state_unlock();
    return known ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}
