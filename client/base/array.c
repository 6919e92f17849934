/* Arrays that grow at their end. */
#include "client/base/array.h"

#include <stdlib.h>

bool client_reserve(void *array, uint32_t n, uint32_t *capacity, size_t item)
{
    if (n < *capacity) return true;
    uint32_t more = *capacity ? *capacity * 2 : 16;
    void *bigger = reallocarray(*(void **)array, more, item);
    if (!bigger) return false;
    *(void **)array = bigger;
    *capacity = more;
    return true;
}
