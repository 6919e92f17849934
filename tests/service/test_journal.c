/* The log where standard error is systemd's journal: a socket stands for it. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { PATIENCE_MS = 20000, SIZE = 64 };

static struct service service;
static int journal = -1, own_stderr = -1;
static char folder[] = "/tmp/fusiond-journal-XXXXXX", stream[64], path[64];

/* ---- the journal ---- */

static void listen_as_journal(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(journal, (struct sockaddr *)&address, sizeof address), 0);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(strrchr(folder, '-'), "-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(stream, sizeof stream, "%s/stream", folder);
    snprintf(path, sizeof path, "%s/socket", folder);
    setenv("FUSIOND_JOURNAL", path, 1);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    service_clear(&service);
    if (journal >= 0) close(journal);
    journal = -1;
    unlink(stream);
    unlink(path);
    rmdir(folder);
    unsetenv("FUSIOND_JOURNAL");
    return 0;
}

/* The daemon's standard error is a file, of which the environment says that it is the journal, or that another is. */
static void start(bool is_journal, const char *const *options)
{
    struct stat s;
    char text[64];
    int fd = open(stream, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    assert_int_equal(fstat(fd, &s), 0);
    snprintf(text, sizeof text, "%llu:%llu", (unsigned long long)s.st_dev,
             (unsigned long long)s.st_ino + (is_journal ? 0 : 1));
    setenv("JOURNAL_STREAM", text, 1);
    own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(fd, STDERR_FILENO);
    service_start(&service, options);
    dup2(own_stderr, STDERR_FILENO);
    close(own_stderr);
    close(fd);
    unsetenv("JOURNAL_STREAM");
}

static const char *read_stream(void)
{
    static char text[8192];
    FILE *f = fopen(stream, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

/* ---- entries ---- */

static char entry[8192];

static bool hear(int ms)
{
    struct pollfd fd = {journal, POLLIN, 0};
    ssize_t n = poll(&fd, 1, ms) == 1 ? recv(journal, entry, sizeof entry - 1, 0) : 0;
    entry[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* Its value; NULL: there is none. The entry is lines here, as no value of ours has an end of line. A field that is
   there twice ends the test. */
static const char *field(const char *name)
{
    static char values[8][1024];
    static unsigned next;
    char *value = NULL;
    size_t length = strlen(name);
    for (const char *at = entry; *at;) {
        const char *end = strchr(at, '\n'), *equals = strchr(at, '=');
        if (!end || !equals || equals > end) fail_msg("no field: `%s`", at);
        if ((size_t)(equals - at) == length && strncmp(at, name, length) == 0) {
            assert_null(value);
            value = values[next++ % 8];
            snprintf(value, sizeof values[0], "%.*s", (int)(end - equals - 1), equals + 1);
        }
        at = end + 1;
    }
    return value;
}

static void expect_field(const char *name, const char *wanted)
{
    const char *value = field(name);
    if (!value || strcmp(value, wanted) != 0) fail_msg("%s is `%s`, not `%s`", name, value ? value : "", wanted);
}

/* The next entry whose message has this in it. */
static void await(const char *text)
{
    while (hear(PATIENCE_MS))
        if (strstr(field("MESSAGE"), text)) return;
    fail_msg("no entry with `%s`", text);
}

/* ---- a client ---- */

static fusion_session *connect_as(const char *name)
{
    fusion_session *session;
    expect_ok(fusion_connect(service.socket, &(fusion_connect_options){.name = name, .time_limit_ms = 300}, &session));
    return session;
}

static void fail_with(fusion_session *session, const char *kernel, const fusion_arg *args, uint32_t n_args,
                      fusion_status wanted)
{
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, load_test_kernels(session), kernel, SIZE, args, n_args);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_error(fusion_event_wait(session, event, PATIENCE_MS, NULL), wanted);
}

static void expect_client(const char *name)
{
    char number[24];
    snprintf(number, sizeof number, "%u", (unsigned)getuid());
    expect_field("FUSIOND_UID", number);
    snprintf(number, sizeof number, "%d", (int)getpid());
    expect_field("FUSIOND_PID", number);
    expect_field("FUSIOND_CLIENT", name);
    const char *session = field("FUSIOND_SESSION");
    assert_non_null(session);
    assert_true(atoll(session) > 0);
}

static void test_fields(void **state)
{
    static const char *const options[] = {"--foreground", NULL};
    (void)state;
    listen_as_journal();
    start(true, options);
    fusion_session *session = connect_as("simulation");
    fusion_buffer *o = index_buffer(session, "o", SIZE, 0, 0);
    fail_with(session, "write_beyond", (fusion_arg[]){fusion_arg_write(o), fusion_arg_i64(1 << 12)}, 2,
              FUSION_KERNEL_FAULT);
    await("beyond the end of buffer o");
    expect_field("PRIORITY", "5"); /* LOG_NOTICE */
    expect_field("FUSIOND_KERNEL", "write_beyond");
    expect_field("SYSLOG_IDENTIFIER", "fusiond");
    expect_field("SYSLOG_FACILITY", "3");
    expect_client("simulation");
    fail_with(session, "endless", (fusion_arg[]){fusion_arg_read_write(o)}, 1, FUSION_TIMEOUT);
    await("time limit");
    expect_field("FUSIOND_KERNEL", "endless");
    expect_client("simulation");
    fusion_disconnect(session);
    service_stop(&service);
    await("ending: signal 15");
    expect_field("PRIORITY", "6"); /* LOG_INFO */
    assert_null(field("FUSIOND_UID"));
    assert_null(field("FUSIOND_SESSION"));
    assert_null(field("FUSIOND_KERNEL"));
    assert_string_equal(read_stream(), "");
}

/* A user's words are a value of one field, whatever is in them. */
static void test_nobody_writes_fields(void **state)
{
    static const char *const options[] = {"--foreground", NULL};
    (void)state;
    listen_as_journal();
    start(true, options);
    fusion_session *session = connect_as("a\nPRIORITY=0\nFUSIOND_UID=4711");
    fusion_buffer *o = index_buffer(session, "o\nPRIORITY=0\nFUSIOND_UID=4711\n", SIZE, 0, 0);
    fail_with(session, "write_beyond", (fusion_arg[]){fusion_arg_write(o), fusion_arg_i64(1 << 12)}, 2,
              FUSION_KERNEL_FAULT);
    await("beyond the end of buffer o");
    expect_field("PRIORITY", "5");
    expect_client("a?PRIORITY=0?FUSIOND_UID=4711");
    fusion_disconnect(session);
}

/* Of a journal that takes nothing the daemon does not take notice. */
static void test_full(void **state)
{
    static const char *const options[] = {"--foreground", NULL};
    (void)state;
    listen_as_journal();
    start(true, options);
    for (int i = 0; i < 200; i++) kill(service.pid, SIGHUP), usleep(1000); /* a line each */
    fusion_session *session = service_connect(&service);
    load_test_kernels(session);
    fusion_disconnect(session);
    service_stop(&service);
    assert_string_equal(read_stream(), "");
}

/* Without its socket, as where a folder hides it, lines have prefixes that the journal takes away. */
static void test_prefixes(void **state)
{
    static const char *const options[] = {"--foreground", NULL};
    (void)state;
    start(true, options);
    service_stop(&service);
    assert_non_null(strstr(read_stream(), "<6>fusiond: ending: signal 15\n"));
}

/* A socket that is there is not used where standard error leads elsewhere. */
static void test_elsewhere(void **state)
{
    static const char *const options[] = {"--foreground", NULL};
    (void)state;
    listen_as_journal();
    start(false, options);
    service_stop(&service);
    assert_string_equal(strstr(read_stream(), "fusiond: ending"), "fusiond: ending: signal 15\n");
    assert_false(hear(0));
}

/* Without --foreground it is syslog's, which writes to standard error in its own form. */
static void test_syslog(void **state)
{
    char wanted[64];
    (void)state;
    start(false, NULL);
    snprintf(wanted, sizeof wanted, "fusiond[%d]: ending: signal 15\n", (int)service.pid);
    service_stop(&service);
    assert_non_null(strstr(read_stream(), wanted));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fields, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_nobody_writes_fields, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_full, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_prefixes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_elsewhere, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_syslog, make_folder, remove_folder),
    };
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
