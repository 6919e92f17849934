/* Launch records in pages of their own. */
#include "daemon/executor/frozen.h"

#include <sys/mman.h>
#include <unistd.h>

int frozen_make(struct frozen *f, uint32_t n)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = ((n ? n : 1) * sizeof *f->launches + page - 1) & -page;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    *f = (struct frozen){memory, bytes};
    return 0;
}

int frozen_protect(const struct frozen *f)
{
    return mprotect(f->launches, f->bytes, PROT_READ);
}

void frozen_free(struct frozen *f)
{
    if (f->launches) munmap(f->launches, f->bytes);
    f->launches = NULL;
}
