/* How much compiling a user may have done before others go first. */
#include "daemon/broker/compile/allowance.h"

enum { PART = 4, MUCH_NS = 500000000, LITTLE_NS = MUCH_NS / 2, MOST_NS = 1000000000 };

/* What is used beyond the most is forgotten, so that a long compilation is atoned for in seconds. */
void allowance_use(struct user *user, uint64_t used_ns, uint64_t now_ns)
{
    struct user_turns *t = &user->turns;
    uint64_t allowed = (now_ns - t->recent_at) / PART;
    t->recent_ns = (t->recent_ns > allowed ? t->recent_ns - allowed : 0) + used_ns;
    if (t->recent_ns > MOST_NS) t->recent_ns = MOST_NS;
    t->recent_at = now_ns;
    t->much = t->recent_ns > (t->much ? LITTLE_NS : MUCH_NS);
}

bool allowance_exceeded(struct user *user, uint64_t now_ns)
{
    allowance_use(user, 0, now_ns);
    return user->turns.much;
}
