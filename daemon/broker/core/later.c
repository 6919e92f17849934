/* Work in pieces. */
#include "daemon/broker/core/later.h"

/* A timer that is due at once would be so again before anything else is looked at. */
enum { PAUSE_MS = 1 };

static void on_timer(uv_timer_t *timer);

void laters_init(struct laters *all, uv_loop_t *loop)
{
    TAILQ_INIT(&all->list);
    uv_timer_init(loop, &all->timer);
    all->timer.data = all;
}

void laters_close(struct laters *all)
{
    uv_close((uv_handle_t *)&all->timer, NULL);
}

static void put(struct laters *all, struct later *later)
{
    later->waits = true;
    TAILQ_INSERT_TAIL(&all->list, later, link);
}

static void take(struct laters *all, struct later *later)
{
    later->waits = false;
    TAILQ_REMOVE(&all->list, later, link);
}

void later_begin(struct laters *all, struct later *later, struct user *user, bool (*piece)(void *data), void *data)
{
    later->user = user;
    later->piece = piece;
    later->data = data;
    put(all, later);
    uv_timer_start(&all->timer, on_timer, PAUSE_MS, 0);
}

void later_cancel(struct laters *all, struct later *later)
{
    if (later->waits) take(all, later);
}

static struct later *next(const struct laters *all, uint64_t now)
{
    struct later *later;
    TAILQ_FOREACH(later, &all->list, link)
    if (!user_has_had_enough(later->user, now)) return later;
    return NULL;
}

static void on_timer(uv_timer_t *timer)
{
    struct laters *all = timer->data;
    struct later *later = next(all, uv_now(timer->loop));
    if (later) {
        struct user *user = user_ref(later->user);
        uint64_t began = uv_hrtime();
        take(all, later);
        if (later->piece(later->data)) put(all, later);
        user->served_ns += uv_hrtime() - began;
        user_put(user);
    }
    if (!TAILQ_EMPTY(&all->list)) uv_timer_start(timer, on_timer, PAUSE_MS, 0);
}
