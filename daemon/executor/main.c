/*
 * fusiond-executor: runs one session's submissions. Descriptors: 3 the connection to the broker; its first request
 * brings 4, the submission ring, and 5, the socket that tells completions. The main thread answers the broker, one
 * thread runs the ring's entries, workers help it with large launches, one watches the time limit. Here the rooms are
 * put together: program (what is loaded), run (running it), ring (submissions in, completions out), devices (what
 * kernels run on).
 *
 * Programs with variables or pipes are run by one with --states, which has threads for kernels that wait for pipes: at
 * the first such program one without ends, and is started again.
 *
 * With --gpu it is the session's second executor, whose kernels run on GPUs and which loads their drivers; with
 * --describe it says what GPUs there are, with --binary has a driver make a binary, and ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/executor/binaries.h"
#include "daemon/executor/control.h"
#include "daemon/executor/describe.h"
#include "daemon/executor/devices/devices.h"
#include "daemon/executor/ring/completion.h"
#include "daemon/executor/ring/relay.h"
#include "daemon/executor/ring/ring_memory.h"
#include "daemon/executor/ring/ring_thread.h"
#include "daemon/executor/ring/submit.h"
#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/fault.h"
#include "daemon/executor/run/pool.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/watchdog.h"
#include "daemon/executor/sandbox.h"
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

/* Nothing of the broker's but the connection and stderr. The places of the session's descriptors are kept free of those
   that drivers open. */
static int keep_descriptors(void)
{
    static const int places[] = {STDIN_FILENO, STDOUT_FILENO, RING_FD, EVENT_FD};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (null < 0 || (null != places[i] && dup2(null, places[i]) < 0)) return complain("/dev/null");
    close_range(EVENT_FD + 1, ~0u, 0);
    return 0;
}

static int take_descriptors(int ring, int events)
{
    if (dup2(ring, RING_FD) < 0 || dup2(events, EVENT_FD) < 0) return complain("the session's descriptors");
    close(ring);
    close(events);
    return 0;
}

static void tell_ring_corrupt(const char *reason)
{
    control_ring_corrupt(&control, reason);
}

static void tell_spares_run(uint64_t executable)
{
    control_spares_run(&control, executable);
}

/* Before there is one that could be lost. */
static void start_again_for_states(void)
{
    ring_thread_end(EXECUTOR_EXIT_STATES);
}

static unsigned available_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    unsigned n = (unsigned)CPU_COUNT(&set);
    return n < MAX_THREADS ? n : MAX_THREADS;
}

/* The command line. */
struct start {
    unsigned threads; /* 0: it is wrong */
    enum sandbox_profile profile;
    bool states; /* programs may have variables and pipes */
    bool describes;
    const char *binary; /* the device that one is to be made for; NULL: none */
};

static int start_threads(struct ring *ring, const struct start *start)
{
    struct pool *pool = pool_new(start->threads, ring);
    if (!pool) return complain("worker threads");
    if (start->states && devices_start() != 0) return complain("threads of devices");
    if (watchdog_start(devices_explain) != 0) return complain("the watchdog");
    errno = ring_thread_start(ring, submit_new(&buffers, &executables, pool, tell_spares_run), tell_ring_corrupt);
    return errno ? complain("the ring's thread") : 0;
}

static struct start parse(int argc, char **argv)
{
    struct start s = {.threads = argc <= 2 ? available_cores() : 0};
    bool option = argc == 2;
    s.describes = option && strcmp(argv[1], "--describe") == 0;
    if (s.describes || (option && strcmp(argv[1], "--gpu") == 0)) s.profile = SANDBOX_GPU;
    s.states = s.profile == SANDBOX_GPU || (option && strcmp(argv[1], "--states") == 0);
    if (option && !s.states) s.threads = 0;
    if (argc == 3 && strcmp(argv[1], "--binary") == 0) {
        s.binary = argv[2];
        s.threads = 1;
    }
    if (argc == 3 && strcmp(argv[1], "--threads") == 0) {
        unsigned long n = strtoul(argv[2], NULL, 10);
        if (n >= 1 && n <= MAX_THREADS) s.threads = (unsigned)n;
    }
    if (!s.threads)
        fprintf(
            stderr,
            "usage: fusiond-executor [--threads 1..%d | --states | --gpu | --describe | --binary DEVICE], started by "
            "fusiond\n",
            MAX_THREADS);
    return s;
}

/* The GPUs that the broker knows of. EXECUTOR_GOES_ON, or the process's exit code. */
static int init_gpus(void)
{
    struct gpu_description known[DEVICES_MAX_GPUS];
    struct devices_gpu gpus[DEVICES_MAX_GPUS];
    unsigned n, tested = 0;
    int ended = control_drivers(&control, known, DEVICES_MAX_GPUS, &n);
    if (ended != EXECUTOR_GOES_ON) return ended;
    n = devices_init_gpus(known, n, gpus);
    for (unsigned i = 0; i < n; i++) tested += gpus[i].tested;
    return control_drivers_loaded(&control, tested);
}

static int init_devices(const struct start *s)
{
    if (s->profile == SANDBOX_GPU) return init_gpus();
    devices_init(s->threads);
    return EXECUTOR_GOES_ON;
}

static int describe(void)
{
    struct devices_gpu gpus[DEVICES_MAX_GPUS];
    if (sandbox_enter(SANDBOX_GPU) != 0) return EXECUTOR_EXIT_SETUP;
    return describe_gpus(CONNECTION_FD, gpus, devices_init_gpus(NULL, 0, gpus)) == 0 ? 0 : EXECUTOR_EXIT_SETUP;
}

/* The driver is loaded and the process confined before it knows what it is to do. */
static int make_binary(const char *device)
{
    struct error e;
    if (sandbox_enter(SANDBOX_GPU) != 0) return EXECUTOR_EXIT_SETUP;
    if (devices_open_gpu(device, &e) != 0 || sandbox_filter(SANDBOX_GPU) != 0) return EXECUTOR_EXIT_SETUP;
    return binaries_make_one(CONNECTION_FD, device) == 0 ? 0 : EXECUTOR_EXIT_CLOSED;
}

/* For a session, until it ends. The process's exit code. */
static int serve(const struct start *start)
{
    if (sandbox_enter(start->profile) != 0) return EXECUTOR_EXIT_SETUP;
    buffers_init(&buffers);
    states_init(&states, &buffers, start->states ? NULL : start_again_for_states);
    int ring_fd, event_fd, ended = init_devices(start);
    if (ended != EXECUTOR_GOES_ON) return ended;
    executables_init(&executables, &states, devices_find, RING_PRINT_MOST);
    ended = control_begin(&control, &ring_fd, &event_fd);
    if (ended != EXECUTOR_GOES_ON) return ended;
    struct ring *ring = take_descriptors(ring_fd, event_fd) == 0 ? ring_memory_map(RING_FD) : NULL;
    if (!ring) return EXECUTOR_EXIT_SETUP;
    buffers_set_ring(&buffers, ring);
    relay_init();
    completion_init(ring, EVENT_FD);
    running_init(completion_tell_last);
    fault_init();
    if (start_threads(ring, start) != 0 || sandbox_filter(start->profile) != 0) return EXECUTOR_EXIT_SETUP;
    return control_run(&control);
}

/* No clean-up at the end: other threads may be in the middle of a kernel, and drivers would do what they like. */
int main(int argc, char **argv)
{
    const struct start start = parse(argc, argv);
    if (!start.threads || keep_descriptors() != 0) return EXECUTOR_EXIT_SETUP;
    if (start.describes) _exit(describe());
    if (start.binary) _exit(make_binary(start.binary));
    _exit(serve(&start));
}
