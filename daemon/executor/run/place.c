/* Where threads run. */
#include "daemon/executor/run/place.h"

#include <sched.h>
#include <stdint.h>

#include "daemon/executor/run/wait.h"

enum {
    TURNS = 8,        /* together before a thread moves */
    SOON_NS = 100000, /* turns that lie further apart do not count: who sleeps between them is placed anew */
    LEAST_PAUSE_NS = 1000000,
    MOST_PAUSE_NS = 256000000, /* between two moves, where they do not last */
};

static _Thread_local struct {
    unsigned turns;
    uint64_t last_ns, moved_ns, pause_ns;
} place;

void place_move(void)
{
    cpu_set_t allowed, others;
    int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    others = allowed;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
    sched_setaffinity(0, sizeof allowed, &allowed);
}

bool place_is_own(bool shares)
{
    if (!shares) return true;
    uint64_t now = wait_now_ns();
    place.turns = now - place.last_ns < SOON_NS ? place.turns + 1 : 0;
    place.last_ns = now;
    if (place.turns < TURNS || now - place.moved_ns < place.pause_ns) return false;
    bool again = now - place.moved_ns < 4 * place.pause_ns;
    place.pause_ns = again ? place.pause_ns * 2 : LEAST_PAUSE_NS;
    if (place.pause_ns > MOST_PAUSE_NS) place.pause_ns = MOST_PAUSE_NS;
    place.moved_ns = now;
    place.turns = 0;
    place_move();
    return false;
}
