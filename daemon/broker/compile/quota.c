/* How much processor time compilers may spend on a user within an hour. */
#include "daemon/broker/compile/quota.h"

#include "proto/include/fusiond/status.h"

static const uint64_t MINUTE_NS = UINT64_C(60000000000);

static bool counts(const struct user_minute *m, uint64_t now)
{
    return m->minute <= now && now - m->minute < USER_MINUTES;
}

void quota_use(struct user *user, uint64_t used_ns, uint64_t now_ns)
{
    uint64_t now = now_ns / MINUTE_NS;
    struct user_minute *m = &user->turns.hour[now % USER_MINUTES];
    if (m->minute != now) *m = (struct user_minute){.minute = now};
    m->used_ns += used_ns;
}

uint64_t quota_used(const struct user *user, uint64_t now_ns)
{
    uint64_t sum = 0;
    for (int i = 0; i < USER_MINUTES; i++) {
        const struct user_minute *m = &user->turns.hour[i];
        if (counts(m, now_ns / MINUTE_NS)) sum += m->used_ns;
    }
    return sum;
}

/* Minutes until enough of what was used is an hour ago. */
static unsigned minutes_to_wait(const struct user *user, uint64_t now_ns, uint64_t used, uint64_t most)
{
    uint64_t now = now_ns / MINUTE_NS;
    unsigned wait = 0;
    while (used >= most && wait < USER_MINUTES) {
        wait++;
        const struct user_minute *m = &user->turns.hour[(now + wait) % USER_MINUTES];
        if (counts(m, now)) used -= m->used_ns;
    }
    return wait;
}

bool quota_allows(const struct user *user, uint64_t now_ns, struct error *error)
{
    uint64_t most = users_allow(user->users, user->uid, USER_COMPILING);
    if (most == UINT64_MAX) return true;
    uint64_t used = quota_used(user, now_ns);
    if (used < most) return true;
    if (most == 0)
        return error_set(error, FUSION_OUT_OF_MEMORY, "compiler", "compile time: user %u is allowed none",
                         (unsigned)user->uid) == 0;
    error_set(error, FUSION_OUT_OF_MEMORY, "compiler",
              "compile time: compilers have spent %.2f s of processor time on user %u within an hour, which is allowed "
              "%.2f s; there is room again in %u minutes",
              (double)used * 1e-9, (unsigned)user->uid, (double)most * 1e-9, minutes_to_wait(user, now_ns, used, most));
    return false;
}
