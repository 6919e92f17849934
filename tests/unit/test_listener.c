/* The daemon's listening socket: a living daemon's is not taken, that of a dead one is, also while a child has it that
   the dead one was just starting. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/broker/core/listener.h"
#include "tests/support/fork.h"

enum { NO_CHILD = -1, ORPHAN_MS = 300 };

static char folder[] = "/tmp/test-listener-XXXXXX";
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static int listen_here(int backlog)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, backlog) != 0) _exit(1);
    return fd;
}

/* A process that listens, and where asked for a child that has all its descriptors for so long, as one between fork and
 * exec. */
static pid_t start_listening(int backlog, int child_ms)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t process = fork_or_fail();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        listen_here(backlog);
        if (child_ms != NO_CHILD && fork_or_fail() == 0) {
            usleep((useconds_t)child_ms * 1000);
            _exit(0);
        }
        if (write(ready[1], "r", 1) != 1) _exit(2);
        for (;;) pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return process;
}

static void on_accept(void *data, int fd)
{
    (void)data;
    close(fd);
}

static bool can_listen(void)
{
    uv_loop_t loop;
    const struct listener_access access = {.group = (gid_t)-1, .mode = -1};
    assert_int_equal(uv_loop_init(&loop), 0);
    struct listener *l = listener_open(&loop, address.sun_path, &access, on_accept, NULL);
    listener_close(l);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return l != NULL;
}

static void end(pid_t process)
{
    kill(process, SIGKILL);
    assert_int_equal(waitpid(process, NULL, 0), process);
}

static void test_living_one_is_refused(void **state)
{
    (void)state;
    pid_t process = start_listening(4, NO_CHILD);
    assert_false(can_listen());
    end(process);
    assert_true(can_listen());
    assert_int_equal(access(address.sun_path, F_OK), -1);
}

/* It answers nobody: connecting to it would wait. */
static void test_busy_one_is_refused(void **state)
{
    (void)state;
    pid_t process = start_listening(0, NO_CHILD);
    int waiting = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(waiting, (struct sockaddr *)&address, sizeof address), 0);
    assert_false(can_listen());
    close(waiting);
    end(process);
    assert_true(can_listen());
}

static void test_dead_one_with_a_child(void **state)
{
    (void)state;
    pid_t process = start_listening(4, ORPHAN_MS);
    end(process);
    assert_true(can_listen());
}

/* A zombie has ended, too. */
static void test_dead_one_that_nobody_waits_for(void **state)
{
    (void)state;
    pid_t process = start_listening(4, ORPHAN_MS);
    siginfo_t info;
    kill(process, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT), 0);
    assert_true(can_listen());
    end(process);
}

static void test_other_files_stay(void **state)
{
    (void)state;
    FILE *f = fopen(address.sun_path, "w");
    assert_non_null(f);
    fclose(f);
    assert_false(can_listen());
    assert_int_equal(access(address.sun_path, F_OK), 0);
    unlink(address.sun_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_one_is_refused), cmocka_unit_test(test_busy_one_is_refused),
        cmocka_unit_test(test_dead_one_with_a_child), cmocka_unit_test(test_dead_one_that_nobody_waits_for),
        cmocka_unit_test(test_other_files_stay),
    };
    if (!mkdtemp(folder)) return 1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    int failed = cmocka_run_group_tests_name("listener", tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
