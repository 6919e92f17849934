/*
 * fusiond-executor: runs one session's submissions. Descriptors: 3 the connection to the broker, 4 the
 * submission ring, 5 the socket that tells completions. The main thread answers the broker, one thread runs the
 * ring's entries, workers help it with large launches, one watches the time limit.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/executor/control.h"
#include "daemon/executor/exit_codes.h"
#include "daemon/executor/fault.h"
#include "daemon/executor/pool.h"
#include "daemon/executor/running.h"
#include "daemon/executor/sandbox.h"
#include "daemon/executor/steps.h"
#include "daemon/executor/submit.h"
#include "daemon/executor/wait.h"
#include "daemon/executor/watchdog.h"
#include "ir/printf/printer.h"
#include "proto/ring.h"

enum { CONNECTION_FD = SANDBOX_CONNECTION_FD, RING_FD = 4, EVENT_FD = SANDBOX_EVENT_FD };
enum { RING_SPIN_NS = 40000 }; /* after a submission: the next one is often on its way */
enum { MAX_THREADS = 256 };

static struct buffers buffers;
static struct executables executables;
static struct states states;
static struct control control = {CONNECTION_FD, &buffers, &executables, &states};
static struct ring *ring;

static int complain(const char *what)
{
    fprintf(stderr, "fusiond-executor: %s: %s\n", what, strerror(errno));
    return -1;
}

/* Nothing of the broker's but the three descriptors and stderr. */
static int keep_descriptors(void)
{
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) return complain("/dev/null");
    close_range(EVENT_FD + 1, ~0u, 0);
    return 0;
}

static int map_ring(void)
{
    struct stat s;
    int seals = fcntl(RING_FD, F_GET_SEALS);
    if (fstat(RING_FD, &s) != 0) return complain("the ring");
    errno = EINVAL;
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || (size_t)s.st_size < ring_total_bytes()) return complain("the ring");
    ring = mmap(NULL, ring_total_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, RING_FD, 0);
    if (ring == MAP_FAILED) return complain("mapping the ring");
    close(RING_FD);
    errno = EINVAL;
    return ring_check(ring, (size_t)s.st_size) ? 0 : complain("the ring's header");
}

/* One started in place of another gets that one's buffers and executables first: `resume` says when it has all. */
static void wait_until_running(void)
{
    enum { LOOK_NS = 1000000 };
    while (atomic_load(&ring->state) == RING_RESTARTING) wait_on(&ring->state, RING_RESTARTING, LOOK_NS);
}

static void *run_ring(void *data)
{
    static uint8_t entry[RING_MAX_ENTRY];
    struct submitter *submitter = data;
    const char *reason = "";
    fault_thread_init();
    for (;;) {
        wait_until_running();
        int got = ring_pop(ring, entry, &reason);
        if (got > 0)
            submit_run(submitter, entry);
        else if (got == 0)
            ring_wait_entry(ring, RING_SPIN_NS, -1);
        else
            break;
    }
    control_ring_corrupt(&control, reason);
    _exit(EXECUTOR_EXIT_CORRUPT);
}

static unsigned available_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    unsigned n = (unsigned)CPU_COUNT(&set);
    return n < MAX_THREADS ? n : MAX_THREADS;
}

static int start_threads(unsigned threads)
{
    pthread_t id;
    struct pool *pool = pool_new(threads);
    if (!pool) return complain("worker threads");
    if (watchdog_start() != 0) return complain("the watchdog");
    errno = pthread_create(&id, NULL, run_ring, submit_new(&buffers, &executables, pool));
    if (errno) return complain("the ring's thread");
    pthread_detach(id);
    return 0;
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
    if (!threads || keep_descriptors() != 0 || map_ring() != 0 || sandbox_enter() != 0) return EXECUTOR_EXIT_SETUP;
    buffers_init(&buffers);
    states_init(&states);
    executables_init(&executables, &states, ir_printer_new(RING_PRINT_MOST), steps_cache_bytes(threads));
    running_init(ring, EVENT_FD);
    fault_init();
    if (start_threads(threads) != 0 || sandbox_filter() != 0) return EXECUTOR_EXIT_SETUP;
    /* Other threads may be in the middle of a kernel: no clean-up, which would pull things from under them. */
    _exit(control_run(&control));
}
