/* Counts memory by standing in for malloc and its like, which C++'s new calls too, in the program that links this. */
#include "tests/support/measure.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const bool measure_is_plain = false;
static size_t live, peak;
#else
const bool measure_is_plain = true;
static _Atomic size_t live, peak;

/* glibc's own, under the names that it keeps for this. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

static void *counted(void *p)
{
    live += malloc_usable_size(p);
    if (live > peak) peak = live;
    return p;
}

void *malloc(size_t n)
{
    return counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    size_t before = malloc_usable_size(p);
    void *q = __libc_realloc(p, n);
    if (!q && n) return NULL;
    live -= before;
    return counted(q);
}

void *memalign(size_t alignment, size_t n)
{
    return counted(__libc_memalign(alignment, n));
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    void *q = memalign(alignment, n);
    if (!q) return ENOMEM;
    *p = q;
    return 0;
}

void free(void *p)
{
    live -= malloc_usable_size(p);
    __libc_free(p);
}
#endif

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void measure_begin(struct measure *m)
{
    peak = live;
    *m = (struct measure){.seconds = cpu_seconds(), .peak = live};
}

void measure_end(struct measure *m)
{
    m->seconds = cpu_seconds() - m->seconds;
    m->peak = peak - m->peak;
}
