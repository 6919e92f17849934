/* Launch records in pages of their own. */
#include "daemon/executor/devices/cpu/launch_records.h"

#include <sys/mman.h>
#include <unistd.h>

int launch_records_make(struct launch_records *r, uint32_t n)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = ((n ? n : 1) * sizeof *r->launches + page - 1) & -page;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    *r = (struct launch_records){memory, bytes};
    return 0;
}

int launch_records_protect(const struct launch_records *r)
{
    return mprotect(r->launches, r->bytes, PROT_READ);
}

void launch_records_free(struct launch_records *r)
{
    if (r && r->launches) munmap(r->launches, r->bytes);
}
