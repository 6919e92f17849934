/* Kernels run in the scheduling class of the program whose they are. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { PATIENCE_MS = 20000, BEHIND = 5, MOST = 19, COUNT = 64 }; /* executors, behind the daemon; nice values */

static struct service service;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* A program that has asked for this: it runs a kernel, says so, and waits for its end. */
_Noreturn static void be_client(int policy, int more, int to)
{
    const struct sched_param none = {0};
    fusion_session *session;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event done;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    errno = 0;
    if (nice(more) == -1 && errno) _exit(1);
    if (sched_setscheduler(0, policy, &none) != 0 || fusion_connect(service.socket, NULL, &session)) _exit(2);
    fusion_module *module = load_test_kernels(session);
    fusion_arg args[] = {fusion_arg_read(index_buffer(session, "a", COUNT, 1, 0)),
                         fusion_arg_write(index_buffer(session, "o", COUNT, 0, 0)), fusion_arg_i32(3)};
    if (fusion_graph_create(session, &graph)) _exit(3);
    add_node(graph, module, "scale", COUNT, args, 3);
    if (fusion_graph_finalize(graph, NULL, &exec) || fusion_exec_submit(exec, NULL, 0, &done) ||
        fusion_event_wait(session, done, PATIENCE_MS, NULL) || write(to, "r", 1) != 1)
        _exit(4);
    for (;;) pause();
}

static void expect_threads(pid_t pid, int policy, int nice_value)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir)); n++) {
        if (d->d_name[0] == '.') continue;
        pid_t thread = (pid_t)atol(d->d_name);
        assert_int_equal(sched_getscheduler(thread), policy);
        assert_int_equal(getpriority(PRIO_PROCESS, (id_t)thread), nice_value);
    }
    closedir(dir);
    assert_true(n > 3);
}

/* The one executor that is there; not this one. */
static pid_t await_executor(pid_t other)
{
    pid_t pids[4];
    for (int ms = 0; ms < PATIENCE_MS; ms += 10, usleep(10000))
        if (service_executors(&service, false, pids, 4) == 1 && pids[0] != other) return pids[0];
    fail_msg("there is no executor");
    return 0;
}

static void expect_nobody(void)
{
    pid_t pids[4];
    for (int ms = 0; ms < PATIENCE_MS && service_executors(&service, false, pids, 4) > 0; ms += 10) usleep(10000);
}

/* Also the one that takes the place of one that has died. */
static void check(int policy, int more, int wanted_policy)
{
    int pipes[2], own = getpriority(PRIO_PROCESS, 0), wanted = own + more + BEHIND;
    char byte;
    assert_int_equal(pipe(pipes), 0);
    pid_t client = fork_or_fail();
    if (client == 0) be_client(policy, more, pipes[1]);
    close(pipes[1]);
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    pid_t first = await_executor(0);
    expect_threads(first, wanted_policy, wanted < MOST ? wanted : MOST);
    kill(first, SIGKILL);
    pid_t second = await_executor(first);
    expect_threads(second, wanted_policy, wanted < MOST ? wanted : MOST);
    kill(client, SIGKILL);
    waitpid(client, NULL, 0);
    close(pipes[0]);
    expect_nobody();
}

static void test_usual(void **state)
{
    (void)state;
    check(SCHED_OTHER, 0, SCHED_OTHER);
}

static void test_nice(void **state)
{
    (void)state;
    check(SCHED_OTHER, 7, SCHED_OTHER);
    check(SCHED_OTHER, 19, SCHED_OTHER);
}

static void test_batch(void **state)
{
    (void)state;
    check(SCHED_BATCH, 0, SCHED_BATCH);
    check(SCHED_BATCH, 3, SCHED_BATCH);
}

static void test_idle(void **state)
{
    (void)state;
    check(SCHED_IDLE, 0, SCHED_IDLE);
}

/* Nobody goes before others: a program may be trusted with a processor of its own, what it runs is not. */
static void test_real_time(void **state)
{
    const struct sched_param one = {.sched_priority = 1}, none = {0};
    (void)state;
    if (sched_setscheduler(0, SCHED_FIFO, &one) != 0) skip(); /* not everybody may */
    sched_setscheduler(0, SCHED_OTHER, &none);
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    pid_t client = fork_or_fail();
    if (client == 0) {
        fusion_session *session;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (sched_setscheduler(0, SCHED_FIFO, &one) != 0 || fusion_connect(service.socket, NULL, &session)) _exit(1);
        load_test_kernels(session);
        if (write(pipes[1], "r", 1) != 1) _exit(2);
        for (;;) pause();
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    expect_threads(await_executor(0), SCHED_OTHER, getpriority(PRIO_PROCESS, 0) + BEHIND);
    kill(client, SIGKILL);
    waitpid(client, NULL, 0);
    close(pipes[0]);
    close(pipes[1]);
    expect_nobody();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual), cmocka_unit_test(test_nice),      cmocka_unit_test(test_batch),
        cmocka_unit_test(test_idle),  cmocka_unit_test(test_real_time),
    };
    return cmocka_run_group_tests_name("scheduling", tests, start, stop);
}
