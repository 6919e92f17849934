/* What the daemon needs of the system to keep its processes apart, and how its programs are linked. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

/* ---- a kernel without Landlock ---- */

/* From here on, for this process and what it becomes. */
static void lose_landlock(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0) != 0 ||
        seccomp_load(filter) != 0)
        _exit(126);
    seccomp_release(filter);
}

static void test_refuses_without_landlock(void **state)
{
    (void)state;
    char text[2000] = "", socket[64];
    int out[2], status = 0;
    snprintf(socket, sizeof socket, "/tmp/fusiond-test-%d", (int)getpid());
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        lose_landlock();
        dup2(out[1], STDERR_FILENO);
        execl(getenv("FUSIOND"), "fusiond", "--foreground", "--socket", socket, "--cache", "none", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    alarm(30); /* a daemon that starts does not end by itself */
    for (ssize_t n, at = 0; (n = read(out[0], text + at, sizeof text - 1 - (size_t)at)) > 0;) at += n;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    alarm(0);
    close(out[0]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(text, "--without-landlock"));
    assert_int_equal(access(socket, F_OK), -1);
}

static void test_starts_without_landlock(void **state)
{
    (void)state;
    static const char *const options[] = {"--without-landlock", NULL};
    int status = 1;
    pid_t pid = fork_or_fail();
    if (pid == 0) { /* the loss cannot be taken back */
        struct service s;
        lose_landlock();
        service_start(&s, options);
        fusion_session *session = service_connect(&s);
        load_test_kernels(session);
        fusion_disconnect(session);
        service_clear(&s);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* ---- programs ---- */

struct image {
    const uint8_t *bytes;
    size_t size;
};

static const Elf64_Phdr *find_segment(const struct image *image, uint32_t type)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image->bytes;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(image->bytes + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == type) return &segments[i];
    return NULL;
}

static uint64_t flags_of(const struct image *image)
{
    const Elf64_Phdr *dynamic = find_segment(image, PT_DYNAMIC);
    assert_non_null(dynamic);
    for (const Elf64_Dyn *d = (const Elf64_Dyn *)(image->bytes + dynamic->p_offset); d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_FLAGS_1) return d->d_un.d_val;
    return 0;
}

static void check_program(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s) != 0) fail_msg("%s: %s", path, strerror(errno));
    struct image image = {mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0), (size_t)s.st_size};
    assert_ptr_not_equal(image.bytes, MAP_FAILED);
    if (!find_segment(&image, PT_GNU_RELRO) || (flags_of(&image) & (DF_1_NOW | DF_1_PIE)) != (DF_1_NOW | DF_1_PIE))
        fail_msg("%s: its tables are not read-only, or its address is not random", path);
    munmap((void *)image.bytes, image.size);
    close(fd);
}

static void test_tables_are_read_only(void **state)
{
    (void)state;
    static const char *const others[] = {"compiler/fusiond-compiler", "executor/fusiond-executor"};
    char folder[400], path[512];
    check_program(getenv("FUSIOND"));
    snprintf(folder, sizeof folder, "%s", getenv("FUSIOND"));
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/../%s", i ? folder : dirname(folder), others[i]);
        check_program(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses_without_landlock),
        cmocka_unit_test(test_starts_without_landlock),
        cmocka_unit_test(test_tables_are_read_only),
    };
    return cmocka_run_group_tests_name("confinement", tests, NULL, NULL);
}
