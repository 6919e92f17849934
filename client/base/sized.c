/* Structs of the caller that begin with their size. */
#include "client/base/sized.h"

#include <string.h>

#include "client/base/error.h"

enum { MOST_SIZE = 1 << 14 }; /* what is larger was never set */

static fusion_status read_size(const void *given, size_t first_size, const char *object, size_t *size)
{
    memcpy(size, given, sizeof *size);
    if (*size == 0) *size = first_size;
    if (*size >= first_size && *size <= MOST_SIZE) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, object,
                        "its size is %zu bytes, which no version of the struct has; initialize it with FUSION_SIZED()",
                        *size);
}

fusion_status client_take(void *own, size_t own_size, size_t first_size, const void *given, const char *object)
{
    size_t size = 0;
    fusion_status status = read_size(given, first_size, object, &size);
    if (status != FUSION_SUCCESS) return status;
    for (size_t i = own_size; i < size; i++)
        if (((const uint8_t *)given)[i])
            return client_error(FUSION_INVALID, object,
                                "it has something at byte %zu that this library does not know, whose version is "
                                "%d.%d.%d",
                                i, FUSIOND_VERSION_MAJOR, FUSIOND_VERSION_MINOR, FUSIOND_VERSION_PATCH);
    memset(own, 0, own_size);
    memcpy(own, given, size < own_size ? size : own_size);
    memcpy(own, &own_size, sizeof own_size);
    return FUSION_SUCCESS;
}

fusion_status client_give(const void *own, size_t own_size, size_t first_size, void *given, const char *object)
{
    size_t size = 0, head = sizeof size;
    fusion_status status = read_size(given, first_size, object, &size);
    if (status != FUSION_SUCCESS) return status;
    size_t known = size < own_size ? size : own_size;
    memcpy((uint8_t *)given + head, (const uint8_t *)own + head, known - head);
    memset((uint8_t *)given + known, 0, size - known);
    return FUSION_SUCCESS;
}

fusion_status client_take_finalize_options(fusion_finalize_options *own, const fusion_finalize_options *given)
{
    *own = (fusion_finalize_options){0};
    return given ? CLIENT_TAKE(fusion_finalize_options, barriers, own, given, "finalize options") : FUSION_SUCCESS;
}

fusion_status client_take_submit_options(fusion_submit_options *own, const fusion_submit_options *given)
{
    *own = (fusion_submit_options){0};
    return given ? CLIENT_TAKE(fusion_submit_options, time_limit_ms, own, given, "submit options") : FUSION_SUCCESS;
}

fusion_status client_check_reserved(const uint64_t reserved[4], const char *object)
{
    for (int i = 0; i < 4; i++)
        if (reserved[i]) return client_error(FUSION_INVALID, object, "what is reserved in it is not 0");
    return FUSION_SUCCESS;
}

uint32_t fusion_version(void)
{
    return FUSIOND_VERSION_NUMBER;
}
