/* Where no process can be made, a test of the service fails, and signals nobody: -1, which fork() gives then, is every
 * process to kill(). */
#include "tests/support/service.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIGNALLED = 99 };

/* In place of the C library's, for all that is linked to this test. */
pid_t fork(void)
{
    errno = EAGAIN;
    return -1;
}

int kill(pid_t pid, int number)
{
    fprintf(stderr, "kill(%d, %d)\n", (int)pid, number);
    _exit(SIGNALLED);
}

static struct service service;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

static void test_nothing(void **state)
{
    (void)state;
}

/* A group as tests of the service have it, in a program of its own: what it prints is no result of this one. */
static int run_group(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing)};
    int result = cmocka_run_group_tests_name("without processes", tests, start, end);
    return result != 0 && access(service.folder, F_OK) != 0 ? 0 : 1;
}

static void test_nobody_is_signalled(void **state)
{
    char *argv[] = {"test_no_processes", "group", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    (void)state;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0), 0);
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nobody_is_signalled)};
    if (argc > 1 && strcmp(argv[1], "group") == 0) return run_group();
    return cmocka_run_group_tests_name("no processes", tests, NULL, NULL);
}
