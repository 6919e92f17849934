/* Huge pages behind a client's memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

enum { HUGE_PAGE_BYTES = 2 << 20 };

/* Puts huge pages where whole ones fit, as far as the system has them. pages: where a memfd that holds nothing yet is
   mapped, from its first byte on. Where it does not work nothing is lost. */
void huge_pages_take(uint8_t *pages, size_t length);
