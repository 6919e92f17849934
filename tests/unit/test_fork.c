/* A child of a test that fails ends there. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/support/fork.h"

static int *tests_begun; /* by the parent and its children */

static void expect_abort(void (*fails)(void))
{
    int status;
    pid_t child = fork_or_fail();
    if (child == 0) {
        fails();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void assert_wrongly(void)
{
    assert_int_equal(1, 2);
}

static void fault(void)
{
    raise(SIGSEGV); /* cmocka's handler fails the test */
}

static void test_child_ends(void **state)
{
    (void)state;
    ++*tests_begun;
    expect_abort(assert_wrongly);
    expect_abort(fault);
}

static void test_nobody_goes_on(void **state)
{
    (void)state;
    assert_int_equal(++*tests_begun, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_ends),
        cmocka_unit_test(test_nobody_goes_on),
    };
    tests_begun = mmap(NULL, sizeof *tests_begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tests_begun == MAP_FAILED) return 1;
    return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
