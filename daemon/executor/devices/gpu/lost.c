/* A driver that has lost its device. */
#include "daemon/executor/devices/gpu/lost.h"

#include <stdio.h>
#include <unistd.h>

#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/running.h"

void gpu_lost(const char *device, const char *driver, const char *object)
{
    char reason[400];
    struct running_seen seen;
    if (!running_see_own(&seen) || !running_take_over(&seen, 1)) return;
    snprintf(reason, sizeof reason, "the driver of device %s (%s) lost its device", device, driver);
    running_fail(&seen, FUSION_EXECUTOR, object, reason);
    _exit(EXECUTOR_EXIT_LOST);
}
