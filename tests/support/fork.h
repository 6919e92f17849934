/* Processes of tests. */
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* As fork(), but the test fails where no process can be made: nobody keeps -1, which to kill() is every process. A
   child that fails ends, by SIGABRT: it would go on with the next test, as a second one of its parent. */
static inline pid_t fork_or_fail(void)
{
    pid_t pid = fork();
    if (pid < 0) fail_msg("no process can be made: %s", strerror(errno));
    if (pid == 0) setenv("CMOCKA_TEST_ABORT", "1", 1);
    return pid;
}
