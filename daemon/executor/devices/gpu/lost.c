/* A driver that has lost its device. */
#include "daemon/executor/devices/gpu/lost.h"

#include <stdio.h>
#include <unistd.h>

#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/wait.h"

void gpu_lost(const char *device, const char *driver, const char *object)
{
    char reason[400];
    uint64_t began, sequence = running_sequence(&began);
    if (!running_take_over(sequence)) return;
    snprintf(reason, sizeof reason, "the driver of device %s (%s) lost its device", device, driver);
    running_fail(sequence, FUSION_EXECUTOR, wait_now_ns() - began, object, reason);
    _exit(EXECUTOR_EXIT_LOST);
}
