/* What the service manager is told: a socket stands for it. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { PATIENCE_MS = 20000 };

static struct service service;
static int manager;

/* A socket of this name in the abstract name space, in the daemon's environment. */
static void start(const char *watchdog_us, const char *watchdog_pid)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[64];
    int length = snprintf(name, sizeof name, "@fusiond-test-%d", (int)getpid());
    memcpy(address.sun_path + 1, name + 1, (size_t)length - 1);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(manager, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length)),
                     0);
    setenv("NOTIFY_SOCKET", name, 1);
    setenv("WATCHDOG_USEC", watchdog_us, 1);
    if (watchdog_pid) setenv("WATCHDOG_PID", watchdog_pid, 1);
    service_start(&service, NULL);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

/* The next thing that it says, within so many milliseconds; "" nothing. */
static const char *hear(int ms)
{
    static char text[200];
    struct pollfd fd = {manager, POLLIN, 0};
    ssize_t n = poll(&fd, 1, ms) == 1 ? recv(manager, text, sizeof text - 1, 0) : 0;
    text[n > 0 ? n : 0] = 0;
    return text;
}

static void expect(const char *wanted, bool beside_watchdog)
{
    const char *said = hear(PATIENCE_MS);
    while (beside_watchdog && strcmp(said, "WATCHDOG=1") == 0) said = hear(PATIENCE_MS);
    if (strncmp(said, wanted, strlen(wanted)) != 0) fail_msg("`%s` instead of `%s`", said, wanted);
}

static void test_life(void **state)
{
    (void)state;
    start("3600000000", NULL);
    expect("READY=1", true);
    kill(service.pid, SIGHUP);
    expect("RELOADING=1\nMONOTONIC_USEC=", true);
    expect("READY=1", true);
    service_stop(&service);
    expect("STOPPING=1", true);
    service_clear(&service);
    close(manager);
}

/* As long as its event loop goes round. */
static void test_watchdog(void **state)
{
    (void)state;
    start("200000", NULL);
    expect("READY=1", true);
    for (int i = 0; i < 3; i++) expect("WATCHDOG=1", false);
    kill(service.pid, SIGSTOP);
    while (hear(500)[0]) continue;
    kill(service.pid, SIGCONT);
    expect("WATCHDOG=1", false);
    service_clear(&service);
    close(manager);
}

/* A watchdog that is for another process is not for this one. */
static void test_watchdog_of_another(void **state)
{
    (void)state;
    start("1000", "1");
    expect("READY=1", false);
    assert_string_equal(hear(200), "");
    service_clear(&service);
    close(manager);
}

/* What the daemon starts knows nothing of the manager. */
static void test_children(void **state)
{
    (void)state;
    pid_t pids[8];
    char path[64], environment[65536];
    start("3600000000", NULL);
    expect("READY=1", true);
    fusion_session *session = service_connect(&service);
    load_test_kernels(session);
    int n = service_children(&service, "fusiond-comp", pids, 8);
    assert_true(n > 0);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pids[0]);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t size = fread(environment, 1, sizeof environment, f);
    fclose(f);
    assert_true(size > 0);
    assert_null(memmem(environment, size, "NOTIFY_SOCKET", 13));
    assert_null(memmem(environment, size, "WATCHDOG_", 9));
    fusion_disconnect(session);
    service_clear(&service);
    close(manager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_watchdog),
        cmocka_unit_test(test_watchdog_of_another),
        cmocka_unit_test(test_children),
    };
    return cmocka_run_group_tests_name("manager", tests, NULL, NULL);
}
