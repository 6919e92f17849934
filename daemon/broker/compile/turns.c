/* Whose job a compiler works on next. */
#include "daemon/broker/compile/turns.h"

enum { QUANTUM_NS = 20000000, MAX_DEBT_NS = 1000000000, FIRST_GUESS_NS = 30000000 };

void turns_init(struct turns *turns)
{
    TAILQ_INIT(&turns->users);
}

void turns_init_client(struct pool_client *client, struct user *user, bool background)
{
    client->user = user;
    client->background = background;
    TAILQ_INIT(&client->waiters);
}

/* ---- queues ---- */

/* What was done while nobody else waited is no debt for long. */
static void join(struct turns *turns, struct user *user)
{
    struct user_turns *t = &user->turns;
    if (t->running == 0 && t->deficit_ns < -(int64_t)MAX_DEBT_NS) t->deficit_ns = -(int64_t)MAX_DEBT_NS;
    TAILQ_INSERT_TAIL(&turns->users, user, turns.link);
}

/* Nothing is saved up for later. */
static void leave(struct turns *turns, struct user *user)
{
    TAILQ_REMOVE(&turns->users, user, turns.link);
    if (user->turns.deficit_ns > 0) user->turns.deficit_ns = 0;
}

static bool has_waiters(const struct user *user)
{
    return !TAILQ_EMPTY(&user->turns.clients) || !TAILQ_EMPTY(&user->turns.background);
}

static struct pool_clients *round_of(const struct pool_client *client)
{
    return client->background ? &client->user->turns.background : &client->user->turns.clients;
}

void turns_add(struct turns *turns, struct job_waiter *waiter)
{
    struct pool_client *client = waiter->client;
    if (!has_waiters(client->user)) join(turns, client->user);
    if (TAILQ_EMPTY(&client->waiters)) TAILQ_INSERT_TAIL(round_of(client), client, link);
    TAILQ_INSERT_TAIL(&client->waiters, waiter, turn);
    waiter->queued = true;
}

void turns_remove(struct turns *turns, struct job_waiter *waiter)
{
    struct pool_client *client = waiter->client;
    if (!waiter->queued) return;
    waiter->queued = false;
    TAILQ_REMOVE(&client->waiters, waiter, turn);
    if (!TAILQ_EMPTY(&client->waiters)) return;
    TAILQ_REMOVE(round_of(client), client, link);
    if (!has_waiters(client->user)) leave(turns, client->user);
}

/* ---- rounds ---- */

static bool counts(const struct user *user, enum turns_of of)
{
    return of == TURNS_OF_ALL || (of == TURNS_OF_IDLE ? user->turns.running == 0 : !TAILQ_EMPTY(&user->turns.clients));
}

uint32_t turns_idle_users(const struct turns *turns)
{
    uint32_t n = 0;
    const struct user *user;
    TAILQ_FOREACH(user, &turns->users, turns.link)
    n += counts(user, TURNS_OF_IDLE);
    return n;
}

/* Rounds that the user sits out until its deficit is positive. */
static int64_t rounds_to_wait(const struct user *user)
{
    return user->turns.deficit_ns > 0 ? 0 : -user->turns.deficit_ns / QUANTUM_NS + 1;
}

/* As many rounds pass as it takes until somebody may go. */
static struct user *next_user(struct turns *turns, enum turns_of of)
{
    struct user *user, *next = NULL;
    int64_t rounds = INT64_MAX;
    TAILQ_FOREACH(user, &turns->users, turns.link)
    {
        if (!counts(user, of) || rounds_to_wait(user) >= rounds) continue;
        rounds = rounds_to_wait(user);
        next = user;
    }
    if (!next) return NULL;
    TAILQ_FOREACH(user, &turns->users, turns.link)
    if (counts(user, of)) user->turns.deficit_ns += rounds * QUANTUM_NS;
    return next;
}

struct job_waiter *turns_next(struct turns *turns, enum turns_of of)
{
    struct user *user = next_user(turns, TURNS_OF_IDLE);
    if (!user && of != TURNS_OF_IDLE) user = next_user(turns, of);
    if (!user) return NULL;
    struct pool_clients *round = TAILQ_EMPTY(&user->turns.clients) ? &user->turns.background : &user->turns.clients;
    struct pool_client *client = TAILQ_FIRST(round);
    TAILQ_REMOVE(round, client, link);
    TAILQ_INSERT_TAIL(round, client, link); /* its next job waits for the other sessions' turns */
    return TAILQ_FIRST(&client->waiters);
}

/* ---- costs ---- */

void turns_begin(struct user *user)
{
    struct user_turns *t = &user->turns;
    if (!t->expected_ns) t->expected_ns = FIRST_GUESS_NS;
    t->running++;
    t->deficit_ns -= (int64_t)t->expected_ns;
    t->guessed_ns += t->expected_ns;
}

void turns_end(struct user *user, uint64_t ns)
{
    struct user_turns *t = &user->turns;
    uint64_t guess = t->guessed_ns / t->running; /* of one of those that run */
    t->running--;
    t->guessed_ns -= guess;
    t->deficit_ns += (int64_t)guess - (int64_t)ns;
    t->expected_ns = (3 * t->expected_ns + ns) / 4;
    t->compile_ns += ns;
}
