/* The names of the status codes. */
#include "fusiond/status.h"

static const char *const names[FUSION_STATUS_COUNT] = {
    [FUSION_SUCCESS] = "success",
    [FUSION_INVALID] = "invalid",
    [FUSION_KERNEL_NOT_SUPPORTED] = "kernel_not_supported",
    [FUSION_FEATURE_NOT_SUPPORTED] = "feature_not_supported",
    [FUSION_NOT_FOUND] = "not_found",
    [FUSION_OUT_OF_MEMORY] = "out_of_memory",
    [FUSION_PROTOCOL] = "protocol",
    [FUSION_VERSION] = "version",
    [FUSION_CONNECTION] = "connection",
    [FUSION_COMPILER] = "compiler",
    [FUSION_EXECUTOR] = "executor",
    [FUSION_KERNEL_FAULT] = "kernel_fault",
    [FUSION_TIMEOUT] = "timeout",
    [FUSION_BUSY] = "busy",
    [FUSION_IO] = "io",
    [FUSION_INTERNAL] = "internal",
    [FUSION_LOST] = "lost",
    [FUSION_CANCELLED] = "cancelled",
};

const char *fusion_status_name(fusion_status status)
{
    if ((unsigned)status >= FUSION_STATUS_COUNT) return "unknown";
    return names[status];
}
