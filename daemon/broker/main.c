/* fusiond: the service that clients of libfusiond connect to. */
#include <malloc.h>

#include "daemon/broker/core/log.h"
#include "daemon/broker/core/options.h"
#include "daemon/broker/run.h"

/* Large blocks go back to the system as soon as they are free, whatever sizes have been seen before. */
static void tune_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 64 << 10);
    mallopt(M_TRIM_THRESHOLD, 128 << 10);
    mallopt(M_ARENA_MAX, 1);
}

int main(int argc, char **argv)
{
    struct options options;
    enum options_result parsed = options_parse(&options, argc, argv);
    int status = parsed == OPTIONS_DONE ? 0 : 2;
    if (parsed == OPTIONS_RUN) {
        tune_memory();
        log_open(options.foreground ? LOG_TO_STDERR : options.private_fd >= 0 ? LOG_TO_STDERR_WARNINGS : LOG_TO_SYSLOG);
        status = broker_run(&options);
    }
    options_clear(&options);
    return status;
}
