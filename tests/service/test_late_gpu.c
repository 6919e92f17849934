/* A machine that has so much to do that looking for GPUs takes longer than anybody waits for it: sessions go on
   without, and those that ask later have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { STEP_US = 200000, STEPS = 300 };

static struct service service;

static bool has_gpu(void)
{
    fusion_session *session = service_connect(&service);
    bool there = service_has_device(session, "vulkan");
    assert_true(service_has_device(session, "cpu"));
    fusion_disconnect(session);
    return there;
}

/* An executor that is late where it is to look for GPUs: a script before the one that the daemon would find. */
static void be_late(void)
{
    char path[96], folder[4096];
    const char *other = getenv("FUSIOND_EXECUTOR"), *daemon = getenv("FUSIOND");
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(daemon, '/') - daemon), daemon);
    snprintf(path, sizeof path, "%s/executor", service.folder);
    FILE *script = fopen(path, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\n[ \"$1\" != --describe ] || sleep 12\nexec \"%s%s\" \"$@\"\n", other ? other : folder,
            other ? "" : "/../executor/fusiond-executor");
    fclose(script);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("FUSIOND_EXECUTOR", path, 1);
}

static void test_late(void **state)
{
    (void)state;
    if (!has_gpu()) {
        printf("# skipped: no device vulkan\n");
        return;
    }
    service_stop(&service);
    be_late();
    service_restart(&service, NULL);
    assert_false(has_gpu());
    bool there = false;
    for (int i = 0; i < STEPS && !there; i++, usleep(STEP_US)) there = has_gpu();
    assert_true(there);
}

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_late)};
    return cmocka_run_group_tests(tests, start, stop);
}
