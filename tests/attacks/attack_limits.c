/* Attacks on what the daemon has a limited number of: connections, memory, descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/attacks/arena.h"

static int start(void **state)
{
    (void)state;
    arena_start(NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_stop();
    return 0;
}

/* One connection after the other, each sending what is no message. */
static void send_garbage(struct attacker *self)
{
    attacker_ready(self);
    for (unsigned n = 0;; n++) {
        int fd = attacker_dial(self);
        if (fd >= 0 && send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL) < 0) attacker_fail(self, "send");
        if (fd >= 0) close(fd);
        usleep(2000);
    }
}

static void test_garbage(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "garbage", .processes = 4, .run = send_garbage});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_garbage),
    };
    if (!arena_possible()) return 0;
    return cmocka_run_group_tests_name("limits", tests, start, stop);
}
