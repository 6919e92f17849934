/*
 * fusiond-executor: runs one session's submissions. Descriptors: 3 the connection to the broker; its first request
 * brings 4, the submission ring, and 5, the socket that tells completions. The main thread answers the broker, one
 * thread runs the ring's entries, workers help it with large launches, one watches the time limit. Here the rooms are
 * put together: program (what is loaded), run (running it), ring (submissions in, completions out), devices (what
 * kernels run on).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/executor/control.h"
#include "daemon/executor/devices/devices.h"
#include "daemon/executor/ring/completion.h"
#include "daemon/executor/ring/ring_thread.h"
#include "daemon/executor/ring/submit.h"
#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/fault.h"
#include "daemon/executor/run/pool.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/watchdog.h"
#include "daemon/executor/sandbox.h"
#include "ir/printf/printer.h"
#include "proto/ring.h"

enum { CONNECTION_FD = SANDBOX_CONNECTION_FD, RING_FD = 4, EVENT_FD = SANDBOX_EVENT_FD };
enum { MAX_THREADS = 256 };

static struct buffers buffers;
static struct executables executables;
static struct states states;
static struct control control = {CONNECTION_FD, NULL, &buffers, &executables, &states};

static int complain(const char *what)
{
    fprintf(stderr, "fusiond-executor: %s: %s\n", what, strerror(errno));
    return -1;
}

/* Nothing of the broker's but the connection and stderr. */
static int keep_descriptors(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) return complain("/dev/null");
    close_range(CONNECTION_FD + 1, ~0u, 0);
    return 0;
}

/* To their places; in this order neither is in the other's way, as they came in rising numbers. */
static int take_descriptors(int ring, int events)
{
    if ((ring != RING_FD && dup2(ring, RING_FD) < 0) || (events != EVENT_FD && dup2(events, EVENT_FD) < 0))
        return complain("the session's descriptors");
    close_range(EVENT_FD + 1, ~0u, 0);
    return 0;
}

static void tell_ring_corrupt(const char *reason)
{
    control_ring_corrupt(&control, reason);
}

static unsigned available_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    unsigned n = (unsigned)CPU_COUNT(&set);
    return n < MAX_THREADS ? n : MAX_THREADS;
}

static int start_threads(struct ring *ring, unsigned threads)
{
    struct pool *pool = pool_new(threads, ring);
    if (!pool) return complain("worker threads");
    if (watchdog_start() != 0) return complain("the watchdog");
    errno = ring_thread_start(ring, submit_new(&buffers, &executables, pool), tell_ring_corrupt);
    return errno ? complain("the ring's thread") : 0;
}

static unsigned parse_threads(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--threads") == 0) {
        unsigned long n = strtoul(argv[2], NULL, 10);
        if (n >= 1 && n <= MAX_THREADS) return (unsigned)n;
    }
    if (argc != 1) fprintf(stderr, "usage: fusiond-executor [--threads 1..%d], started by fusiond\n", MAX_THREADS);
    return argc == 1 ? available_cores() : 0;
}

int main(int argc, char **argv)
{
    unsigned threads = parse_threads(argc, argv);
    if (!threads || keep_descriptors() != 0) return EXECUTOR_EXIT_SETUP;
    if (sandbox_enter() != 0) return EXECUTOR_EXIT_SETUP;
    buffers_init(&buffers);
    states_init(&states);
    devices_init(threads);
    executables_init(&executables, &states, devices_find, ir_printer_new(RING_PRINT_MOST));
    int ring_fd, event_fd, ended = control_begin(&control, &ring_fd, &event_fd);
    if (ended) return ended;
    struct ring *ring = take_descriptors(ring_fd, event_fd) == 0 ? ring_thread_map(RING_FD) : NULL;
    if (!ring) return EXECUTOR_EXIT_SETUP;
    completion_init(ring, EVENT_FD);
    running_init(completion_tell_last);
    fault_init();
    if (start_threads(ring, threads) != 0 || sandbox_filter() != 0) return EXECUTOR_EXIT_SETUP;
    /* Other threads may be in the middle of a kernel: no clean-up, which would pull things from under them. */
    _exit(control_run(&control));
}
