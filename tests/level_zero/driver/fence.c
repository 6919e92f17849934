#include <stdlib.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/state.h"

static bool is_signaled(const void *fence)
{
    return ((const struct _ze_fence_handle_t *)fence)->signaled;
}

ze_result_t ZE_APICALL level_fence_create(ze_command_queue_handle_t queue, const ze_fence_desc_t *desc,
                                          ze_fence_handle_t *fence)
{
    if (!queue) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !fence) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > 1) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (state_device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    *fence = calloc(1, sizeof **fence);
    if (!*fence) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (*fence)->queue = queue;
    (*fence)->signaled = (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_fence_destroy(ze_fence_handle_t fence)
{
    if (!fence) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    free(fence);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_fence_host_synchronize(ze_fence_handle_t fence, uint64_t timeout)
{
    if (!fence) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return state_await(is_signaled, fence, timeout);
}

ze_result_t ZE_APICALL level_fence_query_status(ze_fence_handle_t fence)
{
    return level_fence_host_synchronize(fence, 0);
}

ze_result_t ZE_APICALL level_fence_reset(ze_fence_handle_t fence)
{
    if (!fence) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    state_lock();
    fence->signaled = false;
    state_unlock();
    return ZE_RESULT_SUCCESS;
}
