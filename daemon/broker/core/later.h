/* Work that would keep the loop too long: done in pieces, one in each round, and by turns of the users. */
#pragma once

#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

#include "daemon/broker/core/user.h"

enum { LATER_PIECE_NS = 2000000 }; /* about what a piece may take */

struct later {
    TAILQ_ENTRY(later) link;
    bool waits;
    struct user *user; /* whose it is */
    /* False: that was the last; the work, with this, may be gone. */
    bool (*piece)(void *data);
    void *data;
};

struct laters {
    uv_timer_t timer;
    TAILQ_HEAD(, later) list;
};

void laters_init(struct laters *all, uv_loop_t *loop);
void laters_close(struct laters *all); /* nothing waits any more */
/* piece is called from the loop until it gives false. */
void later_begin(struct laters *all, struct later *later, struct user *user, bool (*piece)(void *data), void *data);
void later_cancel(struct laters *all, struct later *later); /* fine where nothing waits */
