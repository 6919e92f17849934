/* The compile time that a user is allowed within an hour: what counts, who is refused with which words, and when there
   is room again; and that who gets no turn for it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/broker/compile/jobs.h"
#include "daemon/broker/compile/quota.h"
#include "proto/include/fusiond/status.h"

static const uint64_t MINUTE = UINT64_C(60000000000), SECOND = 1000000000, START = UINT64_C(7777) * 60000000000;
enum { USER = 1001, OTHER = 1002, RICH = 1003 };

static struct user_caps caps[2];
static struct users users;

/* Everybody may have 10 s, RICH what is given. */
static int setup(void **state)
{
    (void)state;
    users_init(&users);
    caps[0] = (struct user_caps){.everybody = true};
    caps[1] = (struct user_caps){.uid = RICH};
    for (int i = 0; i < USER_LIMITS; i++) caps[0].most[i] = caps[1].most[i] = UINT64_MAX;
    caps[0].most[USER_COMPILING] = 10 * SECOND;
    caps[1].most[USER_COMPILING] = 100 * SECOND;
    users_limit(&users, (const uint64_t[USER_RESOURCES]){9, 9, 9, 9, 9, 9}, caps, 2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    users_clear(&users);
    return 0;
}

static void test_window(void **state)
{
    (void)state;
    struct user *user = user_get(&users, USER), *other = user_get(&users, OTHER);
    struct error error;
    quota_use(user, 4 * SECOND, START);
    quota_use(user, 5 * SECOND, START + 20 * MINUTE);
    assert_true(quota_allows(user, START + 21 * MINUTE, &error));
    quota_use(user, 3 * SECOND, START + 30 * MINUTE);
    assert_int_equal(quota_used(user, START + 30 * MINUTE), 12 * SECOND);
    assert_false(quota_allows(user, START + 30 * MINUTE, &error));
    assert_int_equal(error.code, FUSION_OUT_OF_MEMORY);
    assert_non_null(strstr(error.reason, "12.00 s of processor time on user 1001"));
    assert_non_null(strstr(error.reason, "allowed 10.00 s; there is room again in 30 minutes"));
    assert_true(quota_allows(other, START + 30 * MINUTE, &error)); /* nobody else's business */
    assert_false(quota_allows(user, START + 59 * MINUTE, &error));
    assert_true(quota_allows(user, START + 60 * MINUTE, &error));
    assert_int_equal(quota_used(user, START + 60 * MINUTE), 8 * SECOND);
    assert_int_equal(quota_used(user, START + 80 * MINUTE), 3 * SECOND);
    assert_int_equal(quota_used(user, START + 900 * MINUTE), 0);
    quota_use(user, SECOND, START + 900 * MINUTE); /* in the place of what was long ago */
    assert_int_equal(quota_used(user, START + 900 * MINUTE), SECOND);
}

/* Each has what his own section says, else what all have; root and the daemon's own user only the former. */
static void test_whose(void **state)
{
    (void)state;
    struct user *rich = user_get(&users, RICH), *root = user_get(&users, 0), *user = user_get(&users, USER);
    struct error error;
    quota_use(rich, 99 * SECOND, START);
    quota_use(root, 9999 * SECOND, START);
    assert_true(quota_allows(rich, START, &error) && quota_allows(root, START, &error));
    quota_use(rich, SECOND, START);
    assert_false(quota_allows(rich, START, &error));
    caps[0].most[USER_COMPILING] = 0;
    assert_false(quota_allows(user, START, &error));
    assert_non_null(strstr(error.reason, "user 1001 is allowed none"));
    caps[1].uid = 0;
    assert_false(quota_allows(root, START, &error)); /* with a section of its own */
    caps[0].most[USER_OBJECTS] = 1;
    assert_true(user_charge(user, USER_OBJECTS, 1, &error));
    assert_false(user_charge(user, USER_OBJECTS, 1, &error));
    assert_non_null(strstr(error.reason, "what user 1001 is allowed: 1, of which it has 1"));
}

static struct error told;
static int n_told;

static void on_done(void *data, struct blob *result, const struct error *error)
{
    (void)data;
    assert_null(result);
    told = *error;
    n_told++;
}

/* A waiter that gets no turn is told; the job stays for another user who waits for it, too, and goes with the last. */
static void test_refused_waiter(void **state)
{
    (void)state;
    struct user *user = user_get(&users, USER), *other = user_get(&users, OTHER);
    struct pool_client of_user, of_other;
    struct job_waiter first, second;
    struct jobs jobs = {0};
    struct job_key key = {.kind = CACHE_OBJECT};
    struct proto_writer w;
    struct error error;
    users_limit(&users, (const uint64_t[USER_RESOURCES]){9, 1 << 20, 9, 9, 9, 9}, caps, 2);
    jobs_init(&jobs);
    turns_init_client(&of_user, user, false);
    turns_init_client(&of_other, other, false);
    proto_begin_request(&w, 1, "compile");
    proto_pack_map(&w, 0);
    struct job *job = jobs_add(&jobs, &of_user, &key, 1, &w, &error);
    assert_non_null(job);
    job_wait(job, &of_user, &first, on_done, NULL);
    job_wait(job, &of_other, &second, on_done, NULL);
    error_set(&error, FUSION_OUT_OF_MEMORY, "compiler", "no time");
    job_refuse(&first, &error);
    assert_int_equal(n_told, 1);
    assert_string_equal(told.reason, "no time");
    assert_ptr_equal(jobs_find(&jobs, &key), job);
    assert_ptr_equal(jobs_next(&jobs, TURNS_OF_ALL), &second);
    job_refuse(&second, &error);
    assert_int_equal(n_told, 2);
    assert_null(jobs_find(&jobs, &key));
    assert_null(jobs_next(&jobs, TURNS_OF_ALL));
    assert_int_equal(user->used[USER_BYTES], 0);
    jobs_clear(&jobs);
}

/* What has failed for its user alone is done again for others who wait for it. */
static void test_failed_for_one(void **state)
{
    (void)state;
    struct user *user = user_get(&users, USER), *other = user_get(&users, OTHER);
    struct pool_client of_user, of_other;
    struct job_waiter waiters[3];
    struct jobs jobs = {0};
    struct job_key key = {.kind = CACHE_OBJECT};
    struct proto_writer w;
    struct error error;
    users_limit(&users, (const uint64_t[USER_RESOURCES]){9, 1 << 20, 9, 9, 9, 9}, caps, 2);
    jobs_init(&jobs);
    turns_init_client(&of_user, user, false);
    turns_init_client(&of_other, other, false);
    proto_begin_request(&w, 1, "compile");
    proto_pack_map(&w, 0);
    struct job *job = jobs_add(&jobs, &of_user, &key, 1, &w, &error);
    assert_non_null(job);
    for (int i = 0; i < 3; i++) job_wait(job, i == 1 ? &of_other : &of_user, &waiters[i], on_done, NULL);
    n_told = 0;
    error_set(&error, FUSION_OUT_OF_MEMORY, "compiler", "too much");
    job_begin(job, &of_user);
    job_fail_of(job, user, &error);
    assert_int_equal(n_told, 2);
    assert_ptr_equal(jobs_next(&jobs, TURNS_OF_ALL), &waiters[1]);
    job_begin(job, &of_other);
    job_fail_of(job, other, &error); /* nobody else: it is gone */
    assert_int_equal(n_told, 3);
    assert_null(jobs_find(&jobs, &key));
    assert_int_equal(user->turns.running + other->turns.running + jobs.n_queued, 0);
    jobs_clear(&jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_window, setup, teardown),
        cmocka_unit_test_setup_teardown(test_whose, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_waiter, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failed_for_one, setup, teardown),
    };
    return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
