/* Where a buffer's data begin in its memory. */
#include "proto/lead.h"

#include <unistd.h>

uint64_t proto_lead(uint64_t bytes, uint64_t alignment)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (page - bytes % page) % page / alignment * alignment;
}
