#include "tests/level_zero/driver/table.h"

/* Takes the place of functions of any parameters: callers clean up after it, wherever Level Zero is. */
static ze_result_t ZE_APICALL unsupported(void)
{
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

void table_fill(void *table, size_t size)
{
    void (**entries)(void) = table;
    for (size_t i = 0; i < size / sizeof *entries; i++) entries[i] = (void (*)(void))unsupported;
}

/* The loader has a later major version, or an earlier one whose tables may be shorter. */
ze_result_t table_check(ze_api_version_t version, const void *table)
{
    if (!table) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    bool same = ZE_MAJOR_VERSION(version) == ZE_MAJOR_VERSION(ZE_API_VERSION_CURRENT);
    return same && version >= ZE_API_VERSION_CURRENT ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}
