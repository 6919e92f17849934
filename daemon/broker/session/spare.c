/* The executor process that waits for a session. */
#include "daemon/broker/session/spare.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PAUSE_MS = 20,         /* before the next one: a session's first finalize goes first */
    PAUSE_OF_DEAD_MS = 500 /* after one that died while it waited: it may be that all do */
};

struct spare {
    struct broker *broker;
    struct started waiting; /* child NULL: none */
    uv_timer_t timer;
};

static bool start(struct broker *broker, const char *option, int cgroup, child_exit_fn *on_exit, void *data,
                  struct started *started)
{
    const char *const command[] = {broker->options.executor, option, NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    *started = (struct started){.connection = pair[0]};
    started->child =
        child_spawn(&broker->children, command, &pair[1], 1, NULL, cgroup, &priority_of_executors, on_exit, data);
    close(pair[1]);
    if (!started->child) close(pair[0]);
    return started->child != NULL;
}

static void on_exit_waiting(void *data, int status);

static void on_timer(uv_timer_t *timer)
{
    struct spare *s = timer->data;
    if (!s->waiting.child && !start(s->broker, NULL, -1, on_exit_waiting, s, &s->waiting)) s->waiting.child = NULL;
}

/* Killed by somebody: a session that comes before the next one starts its own. */
static void on_exit_waiting(void *data, int status)
{
    struct spare *s = data;
    (void)status;
    s->waiting.child = NULL;
    close(s->waiting.connection);
    uv_timer_start(&s->timer, on_timer, PAUSE_OF_DEAD_MS, 0);
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

/* A private daemon has one session. */
static void prepare_next(struct spare *s)
{
    if (s->broker->listener && !uv_is_active((uv_handle_t *)&s->timer))
        uv_timer_start(&s->timer, on_timer, PAUSE_MS, 0);
}

bool spare_take(struct broker *broker, const char *option, int cgroup, child_exit_fn *on_exit, void *data,
                struct started *started)
{
    struct spare *s = broker->spare;
    if (option || cgroup >= 0 || !s) return start(broker, option, cgroup, on_exit, data, started);
    prepare_next(s);
    if (!s->waiting.child || child_has_ended(s->waiting.child))
        return start(broker, option, cgroup, on_exit, data, started);
    *started = s->waiting;
    s->waiting.child = NULL;
    child_hand_over(started->child, on_exit, data);
    return true;
}
