/* What the service manager is told. */
#include "daemon/broker/core/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct notify {
    int fd;
    uv_timer_t watchdog;
};

static void say(const struct notify *n, const char *state)
{
    if (n) send(n->fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A name that begins with @ is in the abstract name space. -1: there is no such socket. */
static int dial(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || length >= sizeof address.sun_path) return -1;
    memcpy(address.sun_path, name, length + 1);
    if (name[0] == '@') address.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (name[0] == '/'))) == 0)
        return fd;
    close(fd);
    return -1;
}

/* How often it is to be told that the loop goes round: twice in the time that is too long. 0: not at all. */
static uint64_t watchdog_ms(void)
{
    const char *pid = getenv("WATCHDOG_PID"), *text = getenv("WATCHDOG_USEC");
    if (!text || (pid && strtoll(pid, NULL, 10) != getpid())) return 0;
    uint64_t ms = strtoull(text, NULL, 10) / 2000;
    return ms ? ms : 1;
}

static void on_watchdog(uv_timer_t *timer)
{
    say(timer->data, "WATCHDOG=1");
}

struct notify *notify_new(uv_loop_t *loop)
{
    const char *name = getenv("NOTIFY_SOCKET");
    int fd = name ? dial(name) : -1;
    uint64_t interval = watchdog_ms();
    struct notify *n = fd >= 0 ? calloc(1, sizeof *n) : NULL;
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    if (!n) {
        if (fd >= 0) close(fd);
        return NULL;
    }
    n->fd = fd;
    uv_timer_init(loop, &n->watchdog);
    n->watchdog.data = n;
    if (interval) uv_timer_start(&n->watchdog, on_watchdog, 0, interval);
    uv_unref((uv_handle_t *)&n->watchdog);
    return n;
}

void notify_ready(struct notify *n)
{
    say(n, "READY=1");
}

/* With the time, so that the manager can tell it from an older one. */
void notify_reloading(struct notify *n)
{
    char state[64];
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(uv_hrtime() / 1000));
    say(n, state);
}

void notify_stopping(struct notify *n)
{
    say(n, "STOPPING=1");
}

static void on_closed(uv_handle_t *timer)
{
    free(timer->data);
}

void notify_free(struct notify *n)
{
    if (!n) return;
    close(n->fd);
    uv_close((uv_handle_t *)&n->watchdog, on_closed);
}
