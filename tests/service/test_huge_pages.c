/* Large memory is huge pages where the system has some, in this process, too; and no smaller than it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { HUGE = 2 << 20 };

static struct service service;
static fusion_session *session;

static int set_up(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

/* KiB of the mapping with this address that huge pages map. */
static long huge_kilobytes(const void *memory)
{
    char line[256];
    unsigned long first, end;
    long kilobytes = 0, n;
    bool here = false;
    FILE *f = fopen("/proc/self/smaps", "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2) here = (uintptr_t)memory >= first && (uintptr_t)memory < end;
        if (here && sscanf(line, "ShmemPmdMapped: %ld", &n) == 1) kilobytes = n;
    }
    fclose(f);
    return kilobytes;
}

/* Does the system give shared memory huge pages to who asks as the executor does? */
static bool system_has_some(void)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0 && ftruncate(fd, 4L * HUGE) == 0);
    uint8_t *room = mmap(NULL, 5L * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    uint8_t *at = room + -(uintptr_t)room % HUGE;
    assert_ptr_equal(mmap(at, 4L * HUGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0), at);
    madvise(at, 4L * HUGE, MADV_HUGEPAGE);
    for (int i = 0; i < 4; i++) at[(long)i * HUGE] = 1;
    bool has = madvise(at, 4L * HUGE, MADV_COLLAPSE) == 0;
    munmap(room, 5L * HUGE);
    close(fd);
    return has;
}

/* Of as many whole huge pages as fit. Memory that is in pieces meanwhile is nobody's fault. */
static void check(uint8_t *memory, size_t bytes)
{
    bool had = system_has_some();
    for (size_t i = 0; i < bytes; i += 4096) assert_int_equal(memory[i], 0);
    memset(memory, 7, bytes);
    assert_int_equal(memory[bytes - 1], 7);
    if (had && system_has_some())
        assert_true(huge_kilobytes(memory) >= (long)(bytes / HUGE / 2 * HUGE >> 10));
    else
        printf("# no huge pages for shared memory here\n");
}

static void buffers(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {HUGE, 4 * HUGE, 5 * HUGE + 100, 40 * HUGE + 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fusion_buffer *b;
        void *memory;
        expect_ok(fusion_buffer_create(session, "large", FUSION_U8, sizes[i], 0, &b));
        expect_ok(fusion_buffer_map(b, &memory));
        check(memory, sizes[i]);
        fusion_buffer_destroy(b);
    }
}

static void allocations(void **state)
{
    (void)state;
    void *memory;
    expect_ok(fusion_malloc(session, FUSION_USM_SHARED, 6 * HUGE, &memory));
    check(memory, 6 * HUGE);
    expect_ok(fusion_free(session, memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(buffers), cmocka_unit_test(allocations)};
    return cmocka_run_group_tests_name("huge pages", tests, set_up, tear_down);
}
