/* How a table of functions is given to the loader. */
#pragma once

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>

/* All entries say that the feature is not supported: of an empty one, the loader would say that the driver is not
 * initialized. */
void table_fill(void *table, size_t size);
ze_result_t table_check(ze_api_version_t version, const void *table);

/* TABLE(function that gives it, its type): with entries set in the block that follows, called t. */
#define TABLE(name, type)                                                                                              \
    static void set_##name(type *t);                                                                                   \
    ZE_DLLEXPORT ze_result_t ZE_APICALL name(ze_api_version_t version, type *t)                                        \
    {                                                                                                                  \
        ze_result_t result = table_check(version, t);                                                                  \
        if (result != ZE_RESULT_SUCCESS) return result;                                                                \
        table_fill(t, sizeof *t);                                                                                      \
        set_##name(t);                                                                                                 \
        return ZE_RESULT_SUCCESS;                                                                                      \
    }                                                                                                                  \
    static void set_##name(type *t)

#define EMPTY_TABLE(name, type)                                                                                        \
    TABLE(name, type)                                                                                                  \
    {                                                                                                                  \
        (void)t;                                                                                                       \
    }
