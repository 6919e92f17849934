/* How much compiling a user may have done before others go first, and what that means for jobs that several wait for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <uv.h>

#include <cmocka.h>

#include "daemon/broker/compile/allowance.h"
#include "daemon/broker/compile/jobs.h"

enum { MS = 1000000 };

struct stage {
    struct users users;
    struct user *busy, *rare;
    struct pool_client of_busy, of_rare, background;
    struct job_waiter waiters[3];
    struct jobs jobs;
    struct job job;
};

static struct stage stage;

static int setup(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof stage);
    users_init(&stage.users);
    stage.busy = user_get(&stage.users, 1001);
    stage.rare = user_get(&stage.users, 1002);
    turns_init_client(&stage.of_busy, stage.busy, false);
    turns_init_client(&stage.of_rare, stage.rare, false);
    turns_init_client(&stage.background, stage.rare, true);
    jobs_init(&stage.jobs);
    stage.job.jobs = &stage.jobs;
    LIST_INIT(&stage.job.waiters);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    jobs_clear(&stage.jobs);
    user_put(stage.busy);
    user_put(stage.rare);
    users_clear(&stage.users);
    return 0;
}

/* From now on the user's jobs use a processor's share of so many percent: until it is asked to step back, or 60 s. */
static unsigned ms_until(bool exceeded, unsigned percent)
{
    static uint64_t now_ns = 1000000ull * MS;
    for (unsigned ms = 0; ms < 60000; ms += 10, now_ns += 10 * MS) {
        allowance_use(stage.busy, percent * MS / 10, now_ns);
        if (allowance_exceeded(stage.busy, now_ns) == exceeded) return ms;
    }
    return 60000;
}

/* A moment's work is anybody's, and a little all the time. */
static void test_rare_user_stays(void **state)
{
    (void)state;
    assert_int_equal(ms_until(true, 20), 60000);
    assert_in_range(ms_until(true, 200), 200, 350);
}

/* Who has stepped back and gets nothing, or stops, is soon as anybody; a long compilation is no debt for long. */
static void test_nobody_starves(void **state)
{
    (void)state;
    allowance_use(stage.busy, 3600000ull * MS, 1000ull * MS);
    assert_true(allowance_exceeded(stage.busy, 1000ull * MS));
    assert_true(allowance_exceeded(stage.busy, 2000ull * MS));
    assert_false(allowance_exceeded(stage.busy, 4100ull * MS));
}

/* Nobody steps to and fro at the limit. */
static void test_steps_far_apart(void **state)
{
    (void)state;
    ms_until(true, 200);
    assert_int_equal(ms_until(false, 30), 60000);
    assert_in_range(ms_until(false, 0), 900, 4000);
}

static void join(int i, struct pool_client *client)
{
    job_wait(&stage.job, client, &stage.waiters[i], NULL, NULL);
}

/* The job of who uses much goes last, unless he is alone, or somebody joins who does not. */
static void test_priority_of_jobs(void **state)
{
    (void)state;
    stage.job.runs_for = stage.busy;
    assert_int_equal(job_priority(&stage.job, false), JOB_BEHIND); /* nobody waits */
    assert_int_equal(job_priority(&stage.job, true), JOB_LAST);
    join(0, &stage.of_busy);
    assert_int_equal(job_priority(&stage.job, true), JOB_FIRST);
    allowance_use(stage.busy, 2000ull * MS, uv_hrtime());
    assert_int_equal(job_priority(&stage.job, true), JOB_LAST);
    assert_int_equal(job_priority(&stage.job, false), JOB_FIRST);
    join(1, &stage.background);
    assert_int_equal(job_priority(&stage.job, true), JOB_BEHIND);
    join(2, &stage.of_rare);
    assert_int_equal(job_priority(&stage.job, true), JOB_FIRST);
    job_cancel(&stage.waiters[2]);
    assert_int_equal(job_priority(&stage.job, true), JOB_BEHIND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rare_user_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nobody_starves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_steps_far_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_priority_of_jobs, setup, teardown),
    };
    return cmocka_run_group_tests_name("allowance", tests, NULL, NULL);
}
