/* One driver with one device. */
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/objects.h"

struct _ze_driver_handle_t the_driver = {"Level Zero test driver"};

ze_result_t ZE_APICALL level_init(ze_init_flags_t flags)
{
    if (flags & ~(ze_init_flags_t)(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY))
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return machine_start() ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t ZE_APICALL level_driver_get(uint32_t *count, ze_driver_handle_t *drivers)
{
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (*count > 0 && drivers) drivers[0] = &the_driver;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

#ifdef HAVE_INIT_DRIVERS /* what comes in place of the two calls above */
ze_result_t ZE_APICALL level_init_drivers(uint32_t *count, ze_driver_handle_t *drivers,
                                          ze_init_driver_type_desc_t *desc)
{
    if (!count || !desc) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags == 0) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!machine_start()) return ZE_RESULT_ERROR_UNINITIALIZED;
    bool gpu = desc->flags & ZE_INIT_DRIVER_TYPE_FLAG_GPU;
    if (gpu && *count > 0 && drivers) drivers[0] = &the_driver;
    *count = gpu;
    return ZE_RESULT_SUCCESS;
}
#endif

ze_result_t ZE_APICALL level_driver_get_api_version(ze_driver_handle_t driver, ze_api_version_t *version)
{
    if (!driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!version) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *version = ZE_API_VERSION_1_3;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_driver_get_properties(ze_driver_handle_t driver, ze_driver_properties_t *properties)
{
    if (!driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!properties) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const char *other = getenv("FUSIOND_TEST_ZE_UUID"); /* for tests: another driver */
    memcpy(properties->uuid.id, "fusiond test", sizeof "fusiond test");
    if (other) properties->uuid.id[sizeof properties->uuid.id - 1] = (uint8_t)other[0];
    properties->driverVersion = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_driver_get_ipc_properties(ze_driver_handle_t driver,
                                                       ze_driver_ipc_properties_t *properties)
{
    if (!driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!properties) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    properties->flags = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_driver_get_extension_properties(ze_driver_handle_t driver, uint32_t *count,
                                                             ze_driver_extension_properties_t *extensions)
{
    static const ze_driver_extension_properties_t offset = {ZE_GLOBAL_OFFSET_EXP_NAME,
                                                            ZE_GLOBAL_OFFSET_EXP_VERSION_1_0};
    if (!driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (*count > 0 && extensions) extensions[0] = offset;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_driver_get_extension_function(ze_driver_handle_t driver, const char *name, void **address)
{
    if (!driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!name || !address) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *address = NULL;
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
