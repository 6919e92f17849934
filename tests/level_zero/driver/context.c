/* Contexts and residency. All memory is where kernels reach it, so to be resident is to exist. */
#include <stdlib.h>

#include "tests/level_zero/driver/allocations.h"
#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/limits.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/state.h"

ze_result_t ZE_APICALL level_context_create(ze_driver_handle_t driver, const ze_context_desc_t *desc,
                                            ze_context_handle_t *context)
{
    if (!driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!desc || !context) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > 1) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (state_device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    *context = calloc(1, sizeof **context);
    if (!*context) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (*context)->driver = driver;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_context_create_ex(ze_driver_handle_t driver, const ze_context_desc_t *desc, uint32_t n,
                                               ze_device_handle_t *devices, ze_context_handle_t *context)
{
    if (!devices && n > 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    return level_context_create(driver, desc, context);
}

ze_result_t ZE_APICALL level_context_destroy(ze_context_handle_t context)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    allocations_free_all(context);
    free(context);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_context_get_status(ze_context_handle_t context)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return state_device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_context_system_barrier(ze_context_handle_t context, ze_device_handle_t device)
{
    if (!context || !device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return state_device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

static ze_result_t check_range(ze_context_handle_t context, ze_device_handle_t device, const void *p, size_t size)
{
    if (!context || !device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct allocation a;
    if (!allocations_find(p, &a)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    size_t after = a.size - (size_t)((const char *)p - (const char *)a.base);
    return size > after ? ZE_RESULT_ERROR_INVALID_SIZE : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_context_make_memory_resident(ze_context_handle_t context, ze_device_handle_t device,
                                                          void *p, size_t size)
{
    return check_range(context, device, p, size);
}

ze_result_t ZE_APICALL level_context_evict_memory(ze_context_handle_t context, ze_device_handle_t device, void *p,
                                                  size_t size)
{
    return check_range(context, device, p, size);
}
