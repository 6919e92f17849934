/* The daemon's directory for temporary files: kept while its daemon lives, removed by the next one when it is dead. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/broker/core/tempdir.h"
#include "tests/support/fork.h"

struct shared {
    struct tempdir made;
    pid_t child; /* of the process that made it */
};

static struct shared *shared;

/* A process that makes a directory and a child, which has all its descriptors, as one between fork and exec. */
static pid_t start_maker(void)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t maker = fork_or_fail();
    if (maker == 0) {
        if (!tempdir_make(&shared->made)) _exit(1);
        pid_t child = fork_or_fail();
        if (child != 0) {
            shared->child = child;
            if (child < 0 || write(ready[1], "r", 1) != 1) _exit(2);
        }
        for (;;) pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return maker;
}

/* What another daemon does when it starts. */
static void start_another(void)
{
    pid_t other = fork_or_fail();
    int status;
    if (other == 0) {
        struct tempdir own;
        if (!tempdir_make(&own)) _exit(1);
        tempdir_remove(&own);
        _exit(0);
    }
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
}

static void test_dead_ones_are_removed(void **state)
{
    char folder[] = "/tmp/fusiond-test-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    pid_t maker = start_maker();
    start_another();
    assert_int_equal(access(shared->made.path, F_OK), 0); /* its daemon lives */
    kill(maker, SIGKILL);
    waitpid(maker, NULL, 0);
    start_another();
    assert_int_not_equal(access(shared->made.path, F_OK), 0); /* though its child lives */
    kill(shared->child, SIGKILL);
    assert_int_equal(rmdir(folder), 0); /* nothing is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dead_ones_are_removed)};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    return cmocka_run_group_tests_name("tempdir", tests, NULL, NULL);
}
