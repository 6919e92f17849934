/* The configuration file: what it may say, what comes before it, and that it is read again at SIGHUP. */
#include <grp.h>
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

enum { PATIENCE_MS = 10000 };

static char path[] = "/tmp/fusiond-conf-XXXXXX";

static void write_file(const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    close(fd);
    return fd < 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void start_with(struct service *s, const char *text)
{
    const char *const options[] = {"--config", path, "--max-objects", "500", NULL};
    write_file(text);
    service_start(s, options);
}

static long long limit_of(fusion_session *session, const char *name)
{
    char *json, key[40];
    expect_ok(fusion_session_status(session, &json));
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *limits = strstr(json, "\"limits\":");
    assert_non_null(limits);
    const char *at = strstr(limits, key);
    assert_non_null(at);
    long long value = atoll(at + strlen(key));
    free(json);
    return value;
}

/* What the file says holds; what the command line says comes first. */
static void test_file(void **state)
{
    (void)state;
    struct service s;
    start_with(&s, "# a comment\n\n  max-sessions = 17\nmax-objects=400\n\tmemory =  200  \n");
    fusion_session *session = service_connect(&s);
    assert_int_equal(limit_of(session, "sessions"), 17);
    assert_int_equal(limit_of(session, "objects"), 500);
    assert_int_equal(limit_of(session, "bytes"), (200 - 96) << 20);
    fusion_disconnect(session);
    service_clear(&s);
}

static void await_limit(fusion_session *session, const char *name, long long value)
{
    for (int waited = 0; limit_of(session, name) != value; waited += 10) {
        assert_true(waited < PATIENCE_MS);
        usleep(10000);
    }
}

/* Read again; a file with an error changes nothing. */
static void test_reload(void **state)
{
    (void)state;
    struct service s;
    start_with(&s, "max-sessions = 17\n");
    fusion_session *session = service_connect(&s);
    write_file("max-sessions = 9\nmax-objects = 1\n");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    await_limit(session, "sessions", 9);
    assert_int_equal(limit_of(session, "objects"), 500);
    write_file("max-sessions = 5\nmax-sesions = 4\n");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    usleep(200000);
    assert_int_equal(limit_of(session, "sessions"), 9);
    write_file("");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    await_limit(session, "sessions", 256);
    fusion_disconnect(session);
    service_clear(&s);
}

/* A user's own limit holds for whoever may have all else, and says whose it is. */
static void test_user(void **state)
{
    (void)state;
    struct service s;
    char text[200];
    fusion_session *session, *more;
    snprintf(text, sizeof text, "[user %u]\nmax-sessions = 1\nmax-objects = 3\n[user 12345]\nmemory = 1\n",
             (unsigned)getuid());
    start_with(&s, text);
    for (int waited = 0; fusion_connect(s.socket, NULL, &session) != FUSION_SUCCESS; waited += 10) {
        assert_true(waited < PATIENCE_MS); /* until the connection that looked whether it answers has gone */
        usleep(10000);
    }
    expect_error(fusion_connect(s.socket, NULL, &more), FUSION_OUT_OF_MEMORY);
    expect_in_reason("is allowed: 1, of which it has 1");
    fusion_module *modules[4];
    for (int i = 0; i < 3; i++) modules[i] = load_test_kernels(session);
    expect_error(fusion_module_load(session, "m", test_kernels, strlen(test_kernels), &modules[3]),
                 FUSION_OUT_OF_MEMORY);
    write_file("max-sessions = 200\n");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    await_limit(session, "sessions", 200);
    expect_ok(fusion_module_load(session, "m", test_kernels, strlen(test_kernels), &modules[3]));
    fusion_disconnect(session);
    service_clear(&s);
}

/* ---- who may connect ---- */

/* Nobody else before the group has it, whatever the umask; and group and mode are as given. */
static void test_socket(void **state)
{
    (void)state;
    struct service s;
    struct stat st;
    char text[100];
    gid_t group = geteuid() == 0 ? 54321 : getegid();
    mode_t before = umask(0);
    snprintf(text, sizeof text, "socket-group = %u\n", (unsigned)group);
    start_with(&s, text);
    assert_int_equal(stat(s.socket, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0660);
    assert_int_equal(st.st_gid, group);
    write_file("socket-group = 0\nmax-sessions = 9\n"); /* of the start */
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    fusion_session *session = service_connect(&s);
    await_limit(session, "sessions", 9);
    fusion_disconnect(session);
    assert_int_equal(stat(s.socket, &st), 0);
    assert_int_equal(st.st_gid, group);
    service_clear(&s);
    start_with(&s, "socket-mode = 0604\n");
    assert_int_equal(stat(s.socket, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
    service_clear(&s);
    start_with(&s, ""); /* as ever */
    assert_int_equal(stat(s.socket, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0777);
    service_clear(&s);
    umask(before);
}

/* ---- several users: needs root ---- */

enum { DAEMON_UID = 65531, VICTIM_UID = 65532, LIMITED_UID = 65533, MOST_TRIES = 200 };

/* Finalizes graphs that nobody has compiled. 0: all of them were; 1: one was refused for compile time. */
static int compile_some(const char *socket, int tries)
{
    fusion_session *session;
    fusion_module *module;
    fusion_status status = fusion_connect(socket, NULL, &session);
    for (int i = 0; i < tries && !status; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "kernel @k(%%o: ptr.global i32 write) {\n  %%i = global_id x\n  store i32 %%o[%%i], %d\n  return\n}\n",
                 (int)getpid() * 1000 + i);
        status = fusion_module_load(session, "m", text, strlen(text), &module);
        usleep(5000); /* the compiler tells what a job has used when nothing is left of it */
    }
    if (status == FUSION_SUCCESS) return 0;
    const char *said = fusion_last_error()->reason;
    bool right = status == FUSION_OUT_OF_MEMORY && strstr(said, "compile time") && strstr(said, "allowed 0.02 s") &&
                 strstr(said, "on user 65533");
    if (!right) fprintf(stderr, "%d: %s\n", (int)status, said);
    return right ? 1 : 2;
}

static int as_user(uid_t uid, const char *socket, int tries)
{
    int status;
    pid_t child = fork_or_fail();
    if (child == 0) _exit(setgid(uid) == 0 && setuid(uid) == 0 ? compile_some(socket, tries) : 3);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int connect_once(const char *socket)
{
    fusion_session *session;
    fusion_status status = fusion_connect(socket, NULL, &session);
    if (status == FUSION_SUCCESS) fusion_disconnect(session);
    return status == FUSION_SUCCESS ? 0 : 1;
}

static int connect_as(uid_t uid, gid_t gid, const char *socket)
{
    int status;
    pid_t child = fork_or_fail();
    if (child == 0) _exit(setgroups(0, NULL) == 0 && setgid(gid) == 0 && setuid(uid) == 0 ? connect_once(socket) : 3);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The group's users come in, others do not. */
static void test_socket_group(void **state)
{
    (void)state;
    struct service s;
    char text[100];
    if (geteuid() != 0) skip();
    snprintf(text, sizeof text, "socket-group = %d\n", LIMITED_UID);
    start_with(&s, text);
    assert_int_equal(chmod(s.folder, 0755), 0);
    assert_int_equal(connect_as(VICTIM_UID, LIMITED_UID, s.socket), 0);
    assert_int_equal(connect_as(LIMITED_UID, VICTIM_UID, s.socket), 1);
    service_clear(&s);
}

/* One who has used up what he is allowed is refused, with the numbers; others go on, and so does he when the
   administrator says so. */
static void test_compile_time(void **state)
{
    (void)state;
    struct service s;
    const char *const options[] = {"--config", path, NULL};
    if (geteuid() != 0) skip();
    write_file("[user 65533]\ncompile-time = 20\ncache-size = 0\n");
    assert_int_equal(chmod(path, 0644), 0);
    service_start_as(&s, DAEMON_UID, options);
    assert_int_equal(as_user(LIMITED_UID, s.socket, MOST_TRIES), 1);
    assert_int_equal(as_user(LIMITED_UID, s.socket, 1), 1); /* and a session later */
    assert_int_equal(as_user(VICTIM_UID, s.socket, 20), 0);
    fusion_session *root = service_connect(&s);
    char *json, *metrics;
    expect_ok(fusion_session_status(root, &json));
    assert_non_null(strstr(json, "\"allowed\":"));
    assert_non_null(strstr(json, "\"compile_hour_ns\": 20000000"));
    free(json);
    expect_ok(fusion_session_metrics(root, &metrics));
    assert_non_null(strstr(metrics, "fusiond_user_allowed{uid=\"65533\",resource=\"compile_hour_ns\"} 20000000\n"));
    assert_non_null(strstr(metrics, "fusiond_user_allowed{uid=\"65533\",resource=\"cache_bytes\"} 0\n"));
    assert_non_null(strstr(metrics, "fusiond_user_compile_hour_seconds{uid=\"65533\"} 0.0"));
    assert_non_null(strstr(metrics, "fusiond_user_cache_bytes{uid=\"65533\"} 0\n")); /* nothing of his is kept */
    assert_non_null(strstr(metrics, "fusiond_user_cache_bytes{uid=\"65532\"} "));
    assert_null(strstr(metrics, "fusiond_user_cache_bytes{uid=\"65532\"} 0\n"));
    free(metrics);
    write_file("max-sessions = 200\n[user *]\ncompile-time = 3600000\n");
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    await_limit(root, "sessions", 200);
    fusion_disconnect(root);
    assert_int_equal(as_user(LIMITED_UID, s.socket, 20), 0);
    service_clear(&s);
}

/* What the daemon says, and that it ends with status 2. */
static void expect_refused(const char *text, const char *message)
{
    char command[600], said[1000] = "";
    const char *daemon = getenv("FUSIOND") ? getenv("FUSIOND") : "fusiond";
    write_file(text);
    snprintf(command, sizeof command, "'%s' --foreground --socket /nowhere/s --config %s 2>&1", daemon, path);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    said[fread(said, 1, sizeof said - 1, out)] = 0;
    int status = pclose(out);
    if (!strstr(said, message)) fail_msg("`%s` does not say `%s`", said, message);
    assert_int_equal(WEXITSTATUS(status), 2);
}

static void test_errors(void **state)
{
    (void)state;
    expect_refused("a = 1\n", ":1: there is no option `a`");
    expect_refused("\nmax-sesions = 4\n", ":2: there is no option `max-sesions` (did you mean `max-sessions`?)");
    expect_refused("compilers = many\n", ":1: compilers: \"many\" is not a number from 1 to 1024");
    expect_refused("private = 3\n", ":1: there is no option `private`");
    expect_refused("config = x\n", ":1: there is no option `config`");
    expect_refused("compilers\n", ":1: `compilers` is no \"name = value\"");
    expect_refused("without-landlock = maybe\n", ":1: without-landlock: \"maybe\" is neither yes nor no");
    expect_refused("socket-group = no-such-group\n", ":1: socket-group: there is no group `no-such-group`");
    expect_refused("socket-mode = 0668\n", ":1: socket-mode: \"0668\" is no octal number up to 777");
    expect_refused("[group x]\n", ":1: `[group x]` is no section");
    expect_refused("[user no-such-user]\n", ":1: there is no user `no-such-user`");
    expect_refused("[user 5]\nmax-objects = 1\n[user 5]\n", ":3: user 5 has a section already");
    expect_refused("[user 5]\nmax-sesions = 1\n",
                   ":2: a user has no limit `max-sesions` (did you mean `max-sessions`?)");
    expect_refused("[user *]\nmax-objects = 1\n[user *]\n", ":3: user * has a section already");
    expect_refused("[user 5]\ncompile-tim = 1\n",
                   ":2: a user has no limit `compile-tim` (did you mean `compile-time`?)");
    expect_refused("[user 5]\nmemory = -1\n", ":2: `-1` is no number");
    expect_refused("[user 5]\ncompile-time = 99999999999999\n", ":2: `99999999999999` is no number");
    unlink(path);
    char command[300];
    snprintf(command, sizeof command, "'%s' --socket /nowhere/s --config %s 2>/dev/null",
             getenv("FUSIOND") ? getenv("FUSIOND") : "fusiond", path);
    assert_int_equal(WEXITSTATUS(system(command)), 2); /* one that was asked for has to be there */
    write_file("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),   cmocka_unit_test(test_reload),       cmocka_unit_test(test_user),
        cmocka_unit_test(test_socket), cmocka_unit_test(test_socket_group), cmocka_unit_test(test_compile_time),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
