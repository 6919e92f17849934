/* Whose job a compiler works on next: turns of users and sessions, by what their jobs cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/broker/compile/turns.h"

enum { MS = 1000000, CLIENTS = 20, EACH = 50 };

struct stage {
    struct turns turns;
    struct users users;
    struct user *a, *b;
    struct pool_client of_a[CLIENTS], of_b, background;
    struct job_waiter waiters[CLIENTS * EACH], own[EACH];
    size_t n_waiters;
};

static struct stage stage;

static int setup(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof stage);
    turns_init(&stage.turns);
    users_init(&stage.users);
    stage.a = user_get(&stage.users, 1001);
    stage.b = user_get(&stage.users, 1002);
    for (int i = 0; i < CLIENTS; i++) turns_init_client(&stage.of_a[i], stage.a, false);
    turns_init_client(&stage.of_b, stage.b, false);
    turns_init_client(&stage.background, stage.a, true);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    users_clear(&stage.users);
    return 0;
}

static struct job_waiter *wait_for(struct job_waiter *w, struct pool_client *client, struct job *job)
{
    *w = (struct job_waiter){.client = client, .job = job};
    turns_add(&stage.turns, w);
    return w;
}

/* Every session of the first user waits for many jobs. */
static void flood(void)
{
    for (int k = 0; k < EACH; k++)
        for (int i = 0; i < CLIENTS; i++) wait_for(&stage.waiters[stage.n_waiters++], &stage.of_a[i], NULL);
}

/* Runs the next job alone; whose it was. */
static struct user *run_next(uint64_t ns_of_a, uint64_t ns_of_b)
{
    struct job_waiter *w = turns_next(&stage.turns, TURNS_OF_ALL);
    if (!w) return NULL;
    struct user *user = w->client->user;
    turns_remove(&stage.turns, w);
    turns_begin(user);
    turns_end(user, user == stage.a ? ns_of_a : ns_of_b);
    return user;
}

/* Twenty sessions with a thousand jobs do not put off a newcomer by more than a round. */
static void test_newcomer(void **state)
{
    (void)state;
    flood();
    for (int i = 0; i < 10; i++) assert_ptr_equal(run_next(30 * MS, 0), stage.a);
    wait_for(&stage.own[0], &stage.of_b, NULL);
    assert_ptr_equal(run_next(30 * MS, 30 * MS), stage.b);
}

/* Equal jobs alternate; of jobs that cost three times as much a third as many run. */
static void test_shares(void **state)
{
    (void)state;
    int of_a = 0, of_b = 0;
    flood();
    for (int i = 0; i < EACH; i++) wait_for(&stage.own[i], &stage.of_b, NULL);
    for (int i = 0; i < 40; i++) run_next(90 * MS, 30 * MS) == stage.a ? of_a++ : of_b++;
    assert_in_range(of_a, 8, 13);
    assert_in_range(of_b, 27, 32);
}

/* What was done while nobody waited is forgiven: it does not keep a user out for as long again. */
static void test_debt_is_bounded(void **state)
{
    (void)state;
    int of_b = 0;
    flood();
    turns_begin(stage.a);
    turns_end(stage.a, 60000ull * MS);
    for (int i = 0; i < EACH; i++) wait_for(&stage.own[i], &stage.of_b, NULL);
    while (run_next(30 * MS, 30 * MS) != stage.a) of_b++;
    assert_true(of_b <= EACH);
}

/* The sessions of a user take turns. */
static void test_sessions(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) wait_for(&stage.waiters[i], &stage.of_a[0], NULL);
    struct job_waiter *other = wait_for(&stage.waiters[10], &stage.of_a[1], NULL);
    run_next(MS, 0);
    assert_ptr_equal(turns_next(&stage.turns, TURNS_OF_ALL), other);
}

/* Who joins a job that stands far behind in another queue has it in his own place. */
static void test_joined(void **state)
{
    (void)state;
    char job;
    flood();
    stage.waiters[stage.n_waiters - 1].job = (struct job *)&job;
    struct job_waiter *joined = wait_for(&stage.own[0], &stage.of_b, (struct job *)&job);
    for (int i = 0; i < 2; i++) {
        if (turns_next(&stage.turns, TURNS_OF_ALL)->job == (struct job *)&job) return;
        run_next(30 * MS, 0);
    }
    assert_ptr_equal(turns_next(&stage.turns, TURNS_OF_ALL), joined);
}

/* Whoever has nothing running goes first, and alone is asked where places are kept for such. */
static void test_idle_first(void **state)
{
    (void)state;
    flood();
    assert_int_equal(turns_idle_users(&stage.turns), 1);
    turns_begin(stage.a);
    assert_null(turns_next(&stage.turns, TURNS_OF_IDLE));
    assert_int_equal(turns_idle_users(&stage.turns), 0);
    struct job_waiter *w = wait_for(&stage.own[0], &stage.of_b, NULL);
    assert_ptr_equal(turns_next(&stage.turns, TURNS_OF_IDLE), w);
    assert_ptr_equal(turns_next(&stage.turns, TURNS_OF_ALL), w);
    turns_remove(&stage.turns, w);
    assert_null(turns_next(&stage.turns, TURNS_OF_IDLE));
    assert_non_null(turns_next(&stage.turns, TURNS_OF_ALL));
    turns_end(stage.a, MS);
}

/* What no client waits for comes after all that clients of the user wait for; other users' turns stay theirs. */
static void test_background(void **state)
{
    (void)state;
    struct job_waiter *late = wait_for(&stage.own[0], &stage.background, NULL);
    assert_ptr_equal(turns_next(&stage.turns, TURNS_OF_ALL), late);
    assert_ptr_equal(turns_next(&stage.turns, TURNS_OF_IDLE), late);
    turns_begin(stage.a);
    assert_null(turns_next(&stage.turns, TURNS_OF_WAITING));
    for (int i = 0; i < 4; i++) wait_for(&stage.waiters[i], &stage.of_a[i], NULL);
    assert_non_null(turns_next(&stage.turns, TURNS_OF_WAITING));
    turns_end(stage.a, MS);
    for (int i = 0; i < 4; i++) {
        assert_ptr_not_equal(turns_next(&stage.turns, TURNS_OF_ALL), late);
        run_next(MS, 0);
    }
    assert_ptr_equal(turns_next(&stage.turns, TURNS_OF_ALL), late);
    turns_remove(&stage.turns, late);
    assert_null(turns_next(&stage.turns, TURNS_OF_ALL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_newcomer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shares, setup, teardown),
        cmocka_unit_test_setup_teardown(test_debt_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sessions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_joined, setup, teardown),
        cmocka_unit_test_setup_teardown(test_idle_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_background, setup, teardown),
    };
    return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
