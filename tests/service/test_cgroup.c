/* Kernels run in the control group that a client has for them. Where no hierarchy of version 2 can be written to, none
   of it can be tried. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
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

enum { PATIENCE_MS = 20000, SIZE = 1 << 16, USER = 54321, OTHER = 54322, NOBODY = 65534, PATH = 512 };

static char hierarchy[200], folder[300]; /* where it is mounted, and a group of this test's own in there */

/* ---- control groups ---- */

static bool find_hierarchy(void)
{
    char line[4096];
    bool found = false;
    FILE *f = fopen("/proc/self/mounts", "r");
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%*s %199s cgroup2 ", hierarchy) == 1 && strstr(line, " cgroup2 ");
    if (f) fclose(f);
    return found;
}

static bool write_text(const char *group, const char *file, const char *text)
{
    char path[PATH];
    if (snprintf(path, sizeof path, "%s/%s", group, file) >= (int)sizeof path) return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    return written;
}

/* A group that this user may put processes into, and limit. */
static void make_group(char path[PATH], const char *parent, const char *name, uid_t uid, uid_t procs)
{
    char file[PATH + 16];
    snprintf(path, PATH, "%s/%s", parent, name);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(chown(path, uid, (gid_t)-1), 0);
    snprintf(file, sizeof file, "%s/cgroup.procs", path);
    assert_int_equal(chown(file, procs, (gid_t)-1), 0);
}

/* Whoever is in it has to go first. */
static void remove_group(const char *path)
{
    for (int ms = 0; ms < PATIENCE_MS && rmdir(path) != 0 && errno == EBUSY; ms += 10) usleep(10000);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* The line of version 2, "0::/...". */
static void group_of(pid_t pid, char path[PATH])
{
    char file[64], line[PATH];
    snprintf(file, sizeof file, "/proc/%d/cgroup", (int)pid);
    FILE *f = fopen(file, "r");
    path[0] = 0;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "0::", 3) == 0)
            snprintf(path, PATH, "%s%.*s", hierarchy, (int)strcspn(line + 3, "\n"), line + 3);
    if (f) fclose(f);
}

static void expect_group(pid_t pid, const char *wanted)
{
    char path[PATH];
    group_of(pid, path);
    assert_string_equal(path, wanted);
}

static unsigned long long used_us(const char *group)
{
    char path[PATH + 16];
    unsigned long long us = 0;
    snprintf(path, sizeof path, "%s/cpu.stat", group);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "usage_usec %llu", &us), 1);
    fclose(f);
    return us;
}

static int make_folder(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("# control groups are not tried: only root can delegate them\n");
        hierarchy[0] = 0;
    } else if (!find_hierarchy()) {
        print_message("# control groups are not tried: no hierarchy of version 2 is mounted\n");
    } else {
        snprintf(folder, sizeof folder, "%s/fusiond-test-%d", hierarchy, (int)getpid());
        if (mkdir(folder, 0755) != 0) {
            print_message("# control groups are not tried: %s: %s\n", folder, strerror(errno));
            folder[0] = 0;
        }
    }
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    if (folder[0]) remove_group(folder);
    return 0;
}

/* ---- clients ---- */

struct outcome {
    fusion_status status;
    char reason[1200];
    pid_t daemon;
};

static struct outcome *outcome; /* shared with the client */

/* Another user's program: it connects with this group, runs a kernel, and says what came of it. */
_Noreturn static void be_client(const char *socket, const char *group, uid_t uid, bool private_daemon, int to)
{
    fusion_session *session;
    fusion_exec *exec;
    fusion_event done;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    outcome->status = fusion_connect(private_daemon ? NULL : socket,
                                     &(fusion_connect_options){FUSION_SIZED(fusion_connect_options), .cgroup = group,
                                                               .private_daemon = private_daemon},
                                     &session);
    snprintf(outcome->reason, sizeof outcome->reason, "%s: %s", fusion_last_error()->object,
             fusion_last_error()->reason);
    if (outcome->status == FUSION_SUCCESS) {
        fusion_graph *graph;
        fusion_buffer *a = index_buffer(session, "a", SIZE, 1, 0), *o = index_buffer(session, "o", SIZE, 0, 0);
        fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(o), fusion_arg_i32(3)};
        void *memory;
        expect_ok(fusion_graph_create(session, &graph));
        add_node(graph, load_test_kernels(session), "scale", SIZE, args, 3);
        expect_ok(fusion_graph_finalize(graph, NULL, &exec));
        expect_ok(fusion_buffer_map(o, &memory));
        char byte = 'r';
        int wanted = 0;
        do {
            memset(memory, 0, SIZE * sizeof(int));
            fusion_status status = fusion_exec_submit(exec, NULL, 0, &done);
            if (!status) status = fusion_event_wait(session, done, PATIENCE_MS, NULL);
            if (status == FUSION_EXECUTOR) continue; /* killed by the test */
            if (status || ((int *)memory)[7] != 21) _exit(2);
            if (wanted++ == 0 && write(to, &byte, 1) != 1) _exit(3);
        } while (usleep(1000) == 0);
    }
    if (write(to, "f", 1) != 1) _exit(4);
    for (;;) pause();
}

/* 'r': its first result is there; 'f': it could not connect. */
static char start_client(const struct service *s, const char *group, uid_t uid, bool private_daemon, pid_t *client)
{
    int pipes[2];
    char byte = 0;
    assert_int_equal(pipe(pipes), 0);
    *outcome = (struct outcome){0};
    *client = fork_or_fail();
    if (*client == 0) be_client(s ? s->socket : NULL, group, uid, private_daemon, pipes[1]);
    close(pipes[1]);
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    return byte;
}

static void end_client(pid_t client)
{
    kill(client, SIGKILL);
    waitpid(client, NULL, 0);
}

static pid_t await_executor(const struct service *s, pid_t other)
{
    pid_t pids[8];
    for (int ms = 0; ms < PATIENCE_MS; ms += 10, usleep(10000))
        if (service_executors(s, false, pids, 8) == 1 && pids[0] != other) return pids[0];
    fail_msg("there is no executor");
    return 0;
}

static void expect_refused(const struct service *s, const char *group, uid_t uid, const char *reason)
{
    pid_t client;
    assert_int_equal(start_client(s, group, uid, false, &client), 'f');
    end_client(client);
    if (outcome->status != FUSION_INVALID || !strstr(outcome->reason, reason))
        fail_msg("%s: %s (expected: %s)", fusion_status_name(outcome->status), outcome->reason, reason);
}

/* ---- tests ---- */

/* Everybody may connect to the test's service. */
static void start(struct service *s, uid_t uid)
{
    mode_t before = umask(0);
    service_start_as(s, uid, NULL);
    umask(before);
    chmod(s->folder, 0755);
}

/* The client's executors are there, also the next ones; nothing else is. */
static void test_placed(void **state)
{
    struct service s;
    pid_t client, pids[16];
    char group[PATH], own[PATH];
    (void)state;
    if (!folder[0]) skip();
    group_of(getpid(), own);
    make_group(group, folder, "job", USER, USER);
    start(&s, 0);
    assert_int_equal(start_client(&s, group, USER, false, &client), 'r');
    pid_t first = await_executor(&s, 0);
    expect_group(first, group);
    kill(first, SIGKILL);
    pid_t second = await_executor(&s, first);
    expect_group(second, group);
    int n = service_children(&s, "fusiond-", pids, 16);
    assert_true(n >= 3); /* a compiler, the executor, the one that waits for a session */
    for (int i = 0; i < n; i++)
        if (pids[i] != second) expect_group(pids[i], own);
    expect_group(s.pid, own);
    end_client(client);
    service_clear(&s);
    remove_group(group);
}

static unsigned long long await_use(const char *group, unsigned long long from)
{
    unsigned long long now = from;
    for (int ms = 0; ms < PATIENCE_MS && now == from; ms += 10, usleep(10000)) now = used_us(group);
    return now;
}

static int state_of(const char *group, const char *word)
{
    char path[PATH + 16], line[64];
    int value = -1;
    snprintf(path, sizeof path, "%s/cgroup.events", group);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, word, strlen(word)) == 0) value = atoi(line + strlen(word));
    fclose(f);
    return value;
}

/* The group's owner is told what they use, and may hold them up: what limits a job limits its kernels. */
static void test_limits_hold(void **state)
{
    struct service s;
    pid_t client;
    char group[PATH];
    (void)state;
    if (!folder[0]) skip();
    make_group(group, folder, "job", USER, USER);
    start(&s, 0);
    assert_int_equal(start_client(&s, group, USER, false, &client), 'r');
    unsigned long long before = await_use(group, 0);
    assert_true(before > 0);
    assert_true(await_use(group, before) > before);
    assert_true(write_text(group, "cgroup.freeze", "1"));
    for (int ms = 0; ms < PATIENCE_MS && state_of(group, "frozen ") != 1; ms += 10) usleep(10000);
    assert_int_equal(state_of(group, "frozen "), 1);
    unsigned long long frozen = used_us(group);
    fusion_session *other = service_connect(&s); /* nobody else waits */
    load_test_kernels(other);
    fusion_disconnect(other);
    assert_true(used_us(group) == frozen);
    assert_true(write_text(group, "cgroup.freeze", "0"));
    assert_true(await_use(group, frozen) > frozen);
    end_client(client);
    service_clear(&s);
    remove_group(group);
}

/* What is not the client's own is not touched, whatever the service may do. */
static void test_refused(void **state)
{
    struct service s;
    char group[PATH], half[PATH];
    (void)state;
    if (!folder[0]) skip();
    make_group(group, folder, "job", OTHER, OTHER);
    make_group(half, folder, "half", USER, 0);
    start(&s, 0);
    expect_refused(&s, group, USER, "belongs to user 54322");
    expect_refused(&s, half, USER, "is not delegated to user 54321");
    expect_refused(&s, "/tmp", USER, "not a control group's folder");
    expect_refused(&s, "/proc/self", USER, "not a control group's folder");
    expect_refused(&s, "/nowhere", USER, "No such file");
    fusion_session *session = service_connect(&s);
    assert_int_equal(service_counter(session, "executors_lost"), 0);
    fusion_disconnect(session);
    service_clear(&s);
    remove_group(group);
    remove_group(half);
}

/* A service that may not put processes there says so, and goes on. */
static void test_not_allowed(void **state)
{
    struct service s;
    pid_t client;
    char group[PATH];
    (void)state;
    if (!folder[0]) skip();
    make_group(group, folder, "job", USER, USER);
    start(&s, NOBODY);
    expect_refused(&s, group, USER, "the service cannot run kernels in the client's control group: Permission denied");
    assert_int_equal(start_client(&s, NULL, USER, false, &client), 'r');
    end_client(client);
    service_clear(&s);
    remove_group(group);
}

static unsigned long long capabilities(pid_t pid, const char *set)
{
    char path[64], line[256];
    unsigned long long all = ~0ull;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, set, strlen(set)) == 0) all = strtoull(line + strlen(set), NULL, 16);
    fclose(f);
    return all;
}

/* A service of a user of its own is given the one capability that it takes, and none of its children has it. */
static void test_capability(void **state)
{
    enum { DAC_OVERRIDE = 1 << 1 };
    struct service s;
    pid_t client, pids[16];
    char group[PATH], script[PATH], command[2 * PATH], daemon[PATH];
    (void)state;
    if (!folder[0]) skip();
    snprintf(daemon, sizeof daemon, "%s", getenv("FUSIOND"));
    snprintf(command, sizeof command, "setpriv --reuid 65534 test -x '%s'", daemon);
    if (system(command) != 0) {
        print_message("# not tried with a capability: other users do not reach %s\n", daemon);
        skip();
    }
    snprintf(script, sizeof script, "/tmp/fusiond-test-%d.sh", (int)getpid());
    FILE *f = fopen(script, "w");
    assert_non_null(f);
    fprintf(
        f,
        "#!/bin/sh\n# --socket FOLDER/socket: what it leaves lies there, its compilers' folders, too\n"
        "chown 65534 \"${2%%/*}\"\n"
        "exec setpriv --reuid 65534 --clear-groups --inh-caps +dac_override --ambient-caps +dac_override '%s' \"$@\"\n",
        daemon);
    fclose(f);
    assert_int_equal(chmod(script, 0755), 0);
    make_group(group, folder, "job", USER, USER);
    setenv("FUSIOND", script, 1);
    start(&s, 0);
    setenv("FUSIOND", daemon, 1);
    assert_int_equal(start_client(&s, group, USER, false, &client), 'r');
    expect_group(await_executor(&s, 0), group);
    assert_true(capabilities(s.pid, "CapEff:") == DAC_OVERRIDE);
    int n = service_children(&s, "fusiond-", pids, 16);
    assert_true(n >= 3);
    for (int i = 0; i < n; i++)
        assert_true(capabilities(pids[i], "CapPrm:") == 0 && capabilities(pids[i], "CapInh:") <= DAC_OVERRIDE);
    end_client(client);
    service_clear(&s);
    unlink(script);
    remove_group(group);
}

/* A group of whole processes cannot be below one of threads. */
static void test_takes_none(void **state)
{
    struct service s;
    char group[PATH], threads[PATH];
    (void)state;
    if (!folder[0]) skip();
    make_group(threads, folder, "threads", USER, USER);
    assert_true(write_text(threads, "cgroup.type", "threaded"));
    make_group(group, threads, "job", USER, USER);
    start(&s, 0);
    expect_refused(&s, group, USER, "not supported");
    service_clear(&s);
    remove_group(group);
    remove_group(threads);
}

/* Without any service: who has a group delegated has his private daemon put kernels into another one below it. */
static void test_private(void **state)
{
    char tree[PATH], programs[PATH], kernels[PATH], own[PATH], text[32], cache[] = "/tmp/fusiond-test-XXXXXX",
                                                                         command[64];
    pid_t client, pids[8];
    (void)state;
    if (!folder[0]) skip();
    assert_non_null(mkdtemp(cache));
    assert_int_equal(chown(cache, USER, USER), 0);
    char *others = strdup(getenv("XDG_CACHE_HOME") ? getenv("XDG_CACHE_HOME") : "");
    setenv("XDG_CACHE_HOME", cache, 1);
    make_group(tree, folder, "tree", USER, USER);
    make_group(programs, tree, "programs", USER, USER);
    make_group(kernels, tree, "kernels", USER, USER);
    group_of(getpid(), own);
    snprintf(text, sizeof text, "%d", (int)getpid());
    assert_true(write_text(programs, "cgroup.procs", text)); /* as the client is to begin there */
    char byte = start_client(NULL, kernels, USER, true, &client);
    assert_true(write_text(own, "cgroup.procs", text));
    setenv("XDG_CACHE_HOME", others, 1);
    free(others);
    if (byte != 'r') fail_msg("%s: %s", fusion_status_name(outcome->status), outcome->reason);
    expect_group(client, programs);
    struct service daemon = {0};
    assert_int_equal(service_children(&(struct service){.pid = client}, "fusiond", pids, 8), 1);
    daemon.pid = pids[0];
    expect_group(daemon.pid, programs);
    expect_group(await_executor(&daemon, 0), kernels);
    end_client(client);
    remove_group(kernels);
    remove_group(programs);
    remove_group(tree);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placed),      cmocka_unit_test(test_limits_hold), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_not_allowed), cmocka_unit_test(test_capability),  cmocka_unit_test(test_takes_none),
        cmocka_unit_test(test_private),
    };
    outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED) return 1;
    return cmocka_run_group_tests_name("cgroup", tests, make_folder, remove_folder);
}
