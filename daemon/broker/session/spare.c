/* The executor process that waits for a session. */
#include "daemon/broker/session/spare.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAUSE_MS = 20 }; /* before the next one: a session's first finalize goes first */

struct spare {
    struct broker *broker;
    struct started waiting; /* child NULL: none */
    uv_timer_t timer;
};

static bool start(struct broker *broker, bool gpu, int cgroup, child_exit_fn *on_exit, void *data,
                  struct started *started)
{
    const char *const command[] = {broker->options.executor, gpu ? "--gpu" : NULL, NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    *started = (struct started){.connection = pair[0]};
    started->child =
        child_spawn(&broker->children, command, &pair[1], 1, NULL, cgroup, &priority_of_executors, on_exit, data);
    close(pair[1]);
    if (!started->child) close(pair[0]);
    return started->child != NULL;
}

/* Killed by somebody: the next session starts its own. */
static void on_exit_waiting(void *data, int status)
{
    struct spare *s = data;
    (void)status;
    s->waiting.child = NULL;
    close(s->waiting.connection);
}

static void on_timer(uv_timer_t *timer)
{
    struct spare *s = timer->data;
    if (!s->waiting.child && !start(s->broker, false, -1, on_exit_waiting, s, &s->waiting)) s->waiting.child = NULL;
}

struct spare *spare_new(struct broker *broker)
{
    struct spare *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->broker = broker;
    uv_timer_init(&broker->loop, &s->timer);
    s->timer.data = s;
    on_timer(&s->timer);
    return s;
}

static void on_timer_closed(uv_handle_t *timer)
{
    free(timer->data);
}

void spare_free(struct spare *s)
{
    if (!s) return;
    if (s->waiting.child) {
        child_abandon(s->waiting.child);
        close(s->waiting.connection);
    }
    uv_close((uv_handle_t *)&s->timer, on_timer_closed);
}

bool spare_take(struct broker *broker, bool gpu, int cgroup, child_exit_fn *on_exit, void *data,
                struct started *started)
{
    struct spare *s = broker->spare;
    if (gpu || cgroup >= 0 || !s || !s->waiting.child || child_has_ended(s->waiting.child))
        return start(broker, gpu, cgroup, on_exit, data, started);
    *started = s->waiting;
    s->waiting.child = NULL;
    child_hand_over(started->child, on_exit, data);
    if (broker->listener) uv_timer_start(&s->timer, on_timer, PAUSE_MS, 0); /* a private daemon has one session */
    return true;
}
