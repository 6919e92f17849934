/*
 * Huge pages behind a client's memory. By itself the system gives shared memory small ones, as it is mostly set up:
 * each has its fault, and kernels that stream through several buffers wait for addresses to be translated. Collapsing
 * asks for huge ones all the same, of pages of which the first is there; that one is touched here.
 */
#include "daemon/executor/program/huge_pages.h"

enum { AT_ONCE = 16 }; /* huge pages: each call has the system look through all processors' lists first */

static int collapse(uint8_t *pages, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (madvise(pages + i * HUGE_PAGE_BYTES, 1, MADV_POPULATE_WRITE) != 0) return -1;
    return madvise(pages, n * HUGE_PAGE_BYTES, MADV_COLLAPSE);
}

void huge_pages_take(uint8_t *pages, size_t length)
{
    size_t n = length / HUGE_PAGE_BYTES, some = 1; /* where memory is in pieces, one try tells */
    if ((uintptr_t)pages % HUGE_PAGE_BYTES) return;
    for (size_t i = 0; i < n; i += some, some = AT_ONCE) {
        if (some > n - i) some = n - i;
        if (collapse(pages + i * HUGE_PAGE_BYTES, some) != 0) return;
    }
}
