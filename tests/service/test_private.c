/* A private daemon and its children, started by a client that has blocked, ignored, opened and closed all it can. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 64, OPENED = 40 };

/* ---- what a process has ---- */

/* A mask of signals out of /proc/PID/status. */
static unsigned long long signal_mask(pid_t pid, const char *key)
{
    char path[64], line[256];
    unsigned long long mask = ~0ull;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) mask = strtoull(line + strlen(key), NULL, 16);
    fclose(f);
    return mask;
}

/* Is the file open there under any number? */
static bool has_open(pid_t pid, const char *name)
{
    char path[64], file[320], target[512];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        ssize_t n = readlink(file, target, sizeof target - 1);
        if (n > 0) target[n] = 0;
        if (n > 0 && strstr(target, name)) found = true;
    }
    closedir(d);
    return found;
}

static int children_of(pid_t pid, pid_t *pids, int max)
{
    struct service s = {.pid = pid};
    return service_children(&s, "fusiond", pids, max);
}

/* ---- a client with a bad heritage ---- */

static void misbehave(const char *file)
{
    sigset_t all;
    for (int i = 1; i < NSIG; i++)
        if (i != SIGCHLD && i != SIGALRM) signal(i, SIG_IGN);
    sigfillset(&all);
    sigdelset(&all, SIGALRM);
    sigprocmask(SIG_SETMASK, &all, NULL);
    int fd = open(file, O_CREAT | O_RDWR, 0600); /* not close-on-exec */
    for (int i = 3; i < OPENED; i++) dup2(fd, i);
    umask(0777);
    alarm(60); /* a daemon that waits for ever */
}

static void expect_clean(pid_t pid, bool broker)
{
    if (signal_mask(pid, "SigBlk:")) exit(11);
    /* 32 and 33 are the C library's own, which posix_spawn ignores; all ignore that a terminal stops who writes to it,
       and the broker what means nothing to it. */
    unsigned long long allowed = 3ull << 31 | 1ull << (SIGTTOU - 1);
    static const int meaningless[] = {SIGPIPE, SIGXFSZ, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO};
    for (size_t i = 0; broker && i < sizeof meaningless / sizeof *meaningless; i++)
        allowed |= 1ull << (meaningless[i] - 1);
    if (signal_mask(pid, "SigIgn:") & ~allowed) exit(12);
    if (has_open(pid, "heritage")) exit(13);
    if (getpgid(pid) == getpgrp()) exit(14);
}

static void program_of(pid_t pid, char program[256])
{
    char link[64];
    memset(program, 0, 256);
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    if (readlink(link, program, 255) < 0) *program = 0;
}

/* The daemon may be starting another compiler just now: until it runs its own program, it is the daemon still. */
static void wait_for_program(pid_t pid, pid_t daemon)
{
    char own[256], daemons[256];
    program_of(daemon, daemons);
    for (int i = 0; i < 2000; i++) {
        program_of(pid, own);
        if (strcmp(own, daemons) != 0) return;
        usleep(1000);
    }
}

static pid_t only_child(void)
{
    pid_t pids[4];
    return children_of(getpid(), pids, 4) == 1 ? pids[0] : 0;
}

static void run_client(const char *folder)
{
    char file[128];
    fusion_session *s;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    void *memory;
    snprintf(file, sizeof file, "%s/heritage", folder);
    misbehave(file);
    setenv("CACHE_DIRECTORY", folder, 1); /* the client's, as a service */
    setenv("XDG_CACHE_HOME", folder, 1);
    if (chdir(folder)) exit(20);
    if (fusion_connect(NULL, &(fusion_connect_options){.private_daemon = true}, &s)) exit(21);
    fusion_module *module = load_test_kernels(s);
    fusion_buffer *in = index_buffer(s, "in", SIZE, 1, 0), *out = index_buffer(s, "out", SIZE, 0, 0);
    expect_ok(fusion_graph_create(s, &graph));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(3)};
    add_node(graph, module, "scale", SIZE, args, 3);
    if (fusion_graph_finalize(graph, NULL, &exec)) exit(22);
    if (fusion_exec_submit(exec, NULL, 0, &event)) exit(23);
    if (fusion_event_wait(s, event, 20000, NULL)) exit(24);
    if (fusion_buffer_map(out, &memory) || ((int *)memory)[SIZE - 1] != 3 * (SIZE - 1)) exit(25);

    pid_t daemon = only_child(), pids[8];
    char link[64], cwd[256] = "";
    if (!daemon) exit(26);
    expect_clean(daemon, true);
    int n = children_of(daemon, pids, 8);
    if (n < 2) exit(27); /* a compiler, an executor */
    for (int i = 0; i < n; i++) {
        wait_for_program(pids[i], daemon);
        expect_clean(pids[i], false);
    }
    snprintf(link, sizeof link, "/proc/%d/cwd", (int)daemon);
    if (readlink(link, cwd, sizeof cwd - 1) != 1 || strcmp(cwd, "/") != 0) exit(28);
    if (getpgid(daemon) != daemon || getsid(daemon) != getsid(0)) exit(29);
    if (access("fusiond", F_OK) != 0) exit(30); /* the cache, not where CACHE_DIRECTORY says */
    /* What killed an executor is told, with SIGCHLD blocked here too. */
    fusion_arg bad[] = {fusion_arg_write(out), fusion_arg_i64(1 << 12)};
    expect_ok(fusion_graph_create(s, &graph));
    add_node(graph, module, "write_beyond", SIZE, bad, 2);
    if (fusion_graph_finalize(graph, NULL, &exec)) exit(31);
    if (fusion_exec_submit(exec, NULL, 0, &event)) exit(32);
    if (fusion_event_wait(s, event, 20000, NULL) != FUSION_KERNEL_FAULT) exit(33);
    fusion_disconnect(s);
    if (process_lives(daemon)) exit(34);
    exit(0);
}

static void expect_success(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), 0);
}

static void make_folder(char folder[64])
{
    strcpy(folder, "/tmp/fusiond-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void test_heritage(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder);
    pid_t pid = fork_or_fail();
    if (pid == 0) run_client(folder);
    expect_success(pid);
    remove_folder(folder);
}

/* No standard descriptors: the connection must not become one of them. */
static void test_without_standard_descriptors(void **state)
{
    (void)state;
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        fusion_session *s;
        char *json;
        close(0);
        close(1);
        close(2);
        if (fusion_connect(NULL, &(fusion_connect_options){.private_daemon = true}, &s)) exit(1);
        if (fusion_session_status(s, &json)) exit(2);
        pid_t daemon = only_child();
        char path[64], target[64] = "";
        snprintf(path, sizeof path, "/proc/%d/fd/2", (int)daemon);
        if (readlink(path, target, sizeof target - 1) < 0 || strcmp(target, "/dev/null") != 0) exit(3);
        fusion_disconnect(s);
        exit(0);
    }
    expect_success(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heritage),
        cmocka_unit_test(test_without_standard_descriptors),
    };
    return cmocka_run_group_tests_name("private", tests, NULL, NULL);
}
