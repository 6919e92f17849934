/* A compiler that a client has broken: what it cannot reach, and that nothing of it is left for the next job. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/attacks/arena.h"

enum { SIZE = 64 };

static struct service service;

static int start(void **state)
{
    (void)state;
    static const char *const options[] = {"--compilers", "1", NULL};
    setenv("FUSIOND_COMPILER", getenv("FUSIOND_BROKEN_COMPILER"), 1);
    unsetenv("FUSIOND_MACHINE"); /* of plans the figures count here */
    service_start_as(&service, geteuid() == 0 ? DAEMON_UID : 0, options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* A graph with a buffer of this name. */
static fusion_status finalize(fusion_session *session, const char *name)
{
    fusion_module *module = load_test_kernels(session);
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *out = index_buffer(session, name, SIZE, 0, 0);
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(3)};
    fusion_graph *graph;
    fusion_exec *exec;
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, "scale", SIZE, args, 3);
    return fusion_graph_finalize(graph, NULL, &exec);
}

/* Something of another client's, which is also in the cache then. */
static void work(fusion_session *session)
{
    expect_ok(finalize(session, "out"));
}

/* A file of the cache. */
static void find_entry(const char *folder, char path[300])
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    path[0] = 0;
    for (struct dirent *e; !path[0] && (e = readdir(d));) {
        struct stat s;
        char at[300];
        if (e->d_name[0] == '.' || snprintf(at, sizeof at, "%s/%s", folder, e->d_name) >= (int)sizeof at) continue;
        if (stat(at, &s) != 0) continue;
        if (S_ISDIR(s.st_mode))
            find_entry(at, path);
        else
            memcpy(path, at, sizeof at);
    }
    closedir(d);
}

/* What has worked. */
static const char *attack(fusion_session *session)
{
    char text[900], entry[300];
    fusion_module *module;
    find_entry(service.cache, entry);
    assert_true(entry[0]);
    snprintf(text, sizeof text, "attack %d %s %s %s", (int)service.pid, service.cache, entry, service.socket);
    expect_error(fusion_module_load(session, "attack", text, strlen(text), &module), FUSION_INVALID);
    expect_in_reason("worked: ");
    return fusion_last_error()->reason;
}

static void expect_nothing(const char *worked)
{
    if (strcmp(worked, "worked: ") != 0) fail_msg("%s", worked);
}

static void test_confined(void **state)
{
    (void)state;
    struct stat before, after;
    fusion_session *session = service_connect(&service);
    work(session);
    assert_int_equal(stat(service.cache, &before), 0);
    expect_nothing(attack(session));
    assert_int_equal(stat(service.cache, &after), 0);
    assert_int_equal(after.st_mode, before.st_mode);
    expect_nothing(attack(session)); /* again: the first has left files and a process */
    load_test_kernels(session);      /* and the compiler goes on */
    fusion_disconnect(session);
}

/* Processes of a compiler's name, whoever their parent is. */
static int count_compilers(void)
{
    int n = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[300], link[512] = "";
        snprintf(path, sizeof path, "/proc/%s/exe", e->d_name);
        if (e->d_name[0] < '1' || e->d_name[0] > '9' || readlink(path, link, sizeof link - 1) < 0) continue;
        n += strncmp(link, service.folder, strlen(service.folder)) == 0 && strstr(link, "compiler");
    }
    if (d) closedir(d);
    return n;
}

static void test_nothing_stays(void **state)
{
    (void)state;
    if (geteuid() != 0) return; /* processes are found by the programs that were copied for the daemon's user */
    fusion_session *session = service_connect(&service);
    work(session);
    attack(session);
    pid_t pids[8];
    load_test_kernels(session); /* behind it */
    int n = 0;
    for (int waited = 0; waited < 5000 && (n = count_compilers()) != 2; waited += 20) usleep(20000);
    assert_int_equal(n, 2); /* the compiler, and its process for the next job */
    assert_int_equal(service_children(&service, "fusiond-comp", pids, 8), 1);
    fusion_disconnect(session);
}

/* What /proc has of a process that nobody of its user may look into belongs to root. */
static void test_nobody_looks_in(void **state)
{
    (void)state;
    struct stat s;
    char path[64];
    pid_t pids[2];
    if (geteuid() != 0) return;
    fusion_session *session = service_connect(&service);
    work(session);
    pids[0] = service.pid;
    assert_int_equal(service_children(&service, "fusiond-exec", &pids[1], 1), 1);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/%d/mem", (int)pids[i]);
        assert_int_equal(stat(path, &s), 0);
        assert_int_equal(s.st_uid, 0);
    }
    fusion_disconnect(session);
}

/* Plans of all users go by the machine's figures: those that a job says are nobody's. */
static void test_figures(void **state)
{
    (void)state;
    fusion_session *attacker = service_connect(&service), *victim = service_connect(&service);
    char name[16];
    bool known = false;
    expect_ok(finalize(attacker, "forges"));
    for (int i = 0; i < 200 && !known; i++, usleep(20000)) {
        snprintf(name, sizeof name, "tells %d", i);
        expect_error(finalize(victim, name), FUSION_INVALID);
        expect_in_reason("figures:");
        if (strstr(fusion_last_error()->reason, "ee ee ee ee"))
            fail_msg("a plan goes by %s", fusion_last_error()->reason);
        known = strcmp(fusion_last_error()->reason, "figures:") != 0;
    }
    assert_true(known); /* those that the compiler itself has measured */
    fusion_disconnect(attacker);
    fusion_disconnect(victim);
}

/* ---- what it answers ---- */

static const char flood_text[] = "flood";

static int start_limited(void **state)
{
    (void)state;
    /* 48 MB for clients: 24 of them for a user, and all for root; the answer has 30. */
    static const char *const options[] = {"--compilers", "1", "--memory", "144", "--compile-limit", "4000", NULL};
    setenv("FUSIOND_COMPILER", getenv("FUSIOND_BROKEN_COMPILER"), 1);
    service_start_as(&service, geteuid() == 0 ? DAEMON_UID : 0, options);
    return 0;
}

/* 0: it was refused for what the answer takes. */
static int be_flooded(void)
{
    fusion_session *session;
    fusion_module *module;
    if (fusion_connect(service.socket, NULL, &session) != FUSION_SUCCESS) return 2;
    fusion_status status = fusion_module_load(session, "flood", flood_text, strlen(flood_text), &module);
    const char *said = fusion_last_error()->reason;
    bool right = status == FUSION_OUT_OF_MEMORY && strstr(said, "made more than can be taken: the daemon's memory");
    if (!right) fprintf(stderr, "%d: %s\n", (int)status, said);
    return !right;
}

/* The user whose job it is has what of an answer has come, and more than his share is not read; who waits for the same
   job has his own turn. */
static void test_answers_are_charged(void **state)
{
    (void)state;
    int status;
    fusion_module *module;
    if (geteuid() != 0) skip();
    pid_t child = fork_or_fail();
    if (child == 0) _exit(setgid(ATTACKER_UID) == 0 && setuid(ATTACKER_UID) == 0 ? be_flooded() : 3);
    usleep(100000);
    fusion_session *session = service_connect(&service);
    fusion_status other = fusion_module_load(session, "flood", flood_text, strlen(flood_text), &module);
    expect_status(other, FUSION_COMPILER, __FILE__, __LINE__);
    expect_in_reason("longer than 4000 ms");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    load_test_kernels(session); /* and the next one does its work */
    fusion_disconnect(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_confined, start, stop),
        cmocka_unit_test_setup_teardown(test_nothing_stays, start, stop),
        cmocka_unit_test_setup_teardown(test_nobody_looks_in, start, stop),
        cmocka_unit_test_setup_teardown(test_figures, start, stop),
        cmocka_unit_test_setup_teardown(test_answers_are_charged, start_limited, stop),
    };
    return cmocka_run_group_tests_name("compiler", tests, NULL, NULL);
}
