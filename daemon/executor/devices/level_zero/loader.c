/* libze_loader, opened at run time. */
#include "daemon/executor/devices/level_zero/loader.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

struct level_zero_functions ze;

bool level_zero_load(void)
{
    void *library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define X(name)                                                                                                        \
    ze.name = (__typeof__(ze.name))dlsym(library, "ze" #name);                                                         \
    if (!ze.name) return false;
    LEVEL_ZERO_FUNCTIONS(X)
#undef X
    return true;
}

const char *level_zero_result_name(ze_result_t result)
{
#define NAME(result)                                                                                                   \
    {                                                                                                                  \
        result, #result                                                                                                \
    }
    static const struct {
        ze_result_t result;
        const char *name;
    } names[] = {
        NAME(ZE_RESULT_ERROR_DEVICE_LOST),
        NAME(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY),
        NAME(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY),
        NAME(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE),
        NAME(ZE_RESULT_ERROR_UNINITIALIZED),
        NAME(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE),
        NAME(ZE_RESULT_ERROR_UNSUPPORTED_SIZE),
        NAME(ZE_RESULT_ERROR_INVALID_ARGUMENT),
        NAME(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION),
        NAME(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX),
        NAME(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE),
    };
#undef NAME
    static char number[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].result == result) return names[i].name;
    snprintf(number, sizeof number, "result %#x", (unsigned)result);
    return number;
}
