/* The daemon, the victim and the attackers of a test, each a process of another user. */
#include "tests/attacks/arena.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/transfer.h"

/* What a submission may take whatever it takes alone: who wakes up waits for what a stranger does in the kernel. */
static const double submit_floor_ms = 0.25;
static const double submit_factor = 3, finalize_factor = 4;
static const double frozen_ms = 10000; /* no machine is that slow */
enum { MEASUREMENTS = 3, MEASUREMENTS_STRICT = 40, MAX_PROCESSES = 64 };
enum { READY_LIMIT_MS = 30000, MEASURE_LIMIT_MS = 120000 };

struct attackers {
    pid_t pids[MAX_PROCESSES];
    int ready[MAX_PROCESSES];
    unsigned n;
};

struct victim_process {
    pid_t pid; /* 0: none */
    int to, from;
};

/* Not on the stack: a check that fails leaves the function, and what was started has to end all the same. */
static struct service service;
static struct attackers attackers;
static struct victim_process victim;

/* ---- users ---- */

static bool become(uid_t uid)
{
    return setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0 &&
           prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

bool arena_possible(void)
{
    int status = 0;
    pid_t pid = geteuid() == 0 ? fork() : -1;
    if (pid == 0) _exit(!become(ATTACKER_UID));
    if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0) return true;
    puts("1..0 # SKIP attacks of one user on another need root, who can be both");
    return false;
}

/* ---- the daemon ---- */

/* Other work on the machine is not to be taken for the attack: the arena's processes, which are a group of the kernel's
   scheduler where they are a session of their own, go before it. */
static void go_first(void)
{
    FILE *f = fopen("/proc/self/autogroup", "w");
    if (!f) return;
    fputs("-20", f);
    fclose(f);
}

void arena_start(const char *const *options)
{
    go_first();
    service_start_as(&service, DAEMON_UID, options);
}

struct service *arena_service(void)
{
    return &service;
}

/* The letter of a process's state in /proc, and a number of its status. */
static char process_state(pid_t pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    char *end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    return end ? end[2] : 0;
}

static long long status_kb(pid_t pid, const char *key)
{
    char path[64], line[256];
    long long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) value = atoll(line + strlen(key) + 1);
    if (f) fclose(f);
    return value;
}

static void expect_daemon_well(void)
{
    char state = process_state(service.pid);
    if (state != 'R' && state != 'S') fail_msg("the daemon has ended or is stopped: state '%c'", state ? state : '-');
    long long peak = status_kb(service.pid, "VmHWM:");
    print_message("# the daemon's memory: at most %lld kB\n", peak);
    if (peak < 0 || peak > ARENA_MEMORY_MB * 1024LL)
        fail_msg("the daemon has needed %lld kB; its bound is %d MB", peak, ARENA_MEMORY_MB);
}

/* ---- the victim ---- */

static void start_victim(void)
{
    int to[2], from[2];
    assert_int_equal(pipe(to) | pipe(from), 0);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        close(to[1]);
        close(from[0]);
        if (!become(VICTIM_UID)) _exit(1);
        victim_run(service.socket, to[0], from[1]);
    }
    assert_true(pid > 0);
    close(to[0]);
    close(from[1]);
    victim = (struct victim_process){pid, to[1], from[0]};
}

static struct victim_times measure(const char *when)
{
    struct victim_times t;
    struct pollfd answer = {victim.from, POLLIN, 0};
    assert_int_equal(write(victim.to, "m", 1), 1);
    if (poll(&answer, 1, MEASURE_LIMIT_MS) != 1) fail_msg("%s: the victim's measurement does not end", when);
    if (read(victim.from, &t, sizeof t) != sizeof t) fail_msg("%s: the victim has died", when);
    if (t.failed) fail_msg("%s: the victim was refused: %s", when, t.failure);
    return t;
}

/* Times are asserted where somebody asks for that, on a machine that does nothing else. */
static bool strict(void)
{
    return getenv("FUSIOND_TEST_BOUNDS") != NULL;
}

static void expect_no_freeze(const char *when, const struct victim_times *t)
{
    if (t->slowest_ms > frozen_ms) fail_msg("%s: the victim has waited for %.0f ms", when, t->slowest_ms);
}

/* All that was measured at one time, smallest first. */
struct series {
    double submit[MEASUREMENTS_STRICT], finalize[MEASUREMENTS_STRICT];
    unsigned n;
};

static void insert(double *sorted, unsigned n, double value)
{
    for (; n > 0 && sorted[n - 1] > value; n--) sorted[n] = sorted[n - 1];
    sorted[n] = value;
}

static void measure_more(struct series *all, const char *when)
{
    struct victim_times t = measure(when);
    expect_no_freeze(when, &t);
    insert(all->submit, all->n, t.submit_p99_ms);
    insert(all->finalize, all->n, t.finalize_ms);
    all->n++;
}

static struct series measure_alone(void)
{
    struct series alone = {.n = 0};
    while (alone.n < MEASUREMENTS) measure_more(&alone, "alone");
    return alone;
}

static void end_victim(void)
{
    if (!victim.pid) return;
    close(victim.to);
    close(victim.from);
    kill(victim.pid, SIGKILL);
    waitpid(victim.pid, NULL, 0);
    victim.pid = 0;
}

/* Against the best that the victim has alone. */
static void tell(const char *when, const struct series *all, const struct series *alone)
{
    double submit = alone->submit[0], finalize = alone->finalize[0], middle = all->submit[all->n / 2];
    print_message("# %s: submit p99 %.3f ms at best (%.1f x alone), %.3f (%.1f x) in the median of %u; ", when,
                  all->submit[0], all->submit[0] / submit, middle, middle / submit, all->n);
    middle = all->finalize[all->n / 2];
    print_message("new finalize %.1f ms (%.1f x), %.1f (%.1f x)\n", all->finalize[0], all->finalize[0] / finalize,
                  middle, middle / finalize);
}

/* A machine that others use, too, may be slow for a moment; an attack that harms does so each time. */
static void measure_attacked(const struct attack *attack, const struct series *alone)
{
    double submit = alone->submit[0] * submit_factor, finalize = alone->finalize[0] * finalize_factor;
    struct series attacked = {.n = 0};
    bool good;
    if (submit < submit_floor_ms) submit = submit_floor_ms;
    do {
        measure_more(&attacked, attack->name);
        good = !strict() || (attacked.submit[0] <= submit && attacked.finalize[0] <= finalize);
    } while (attacked.n < MEASUREMENTS || (!good && attacked.n < MEASUREMENTS_STRICT));
    tell("alone", alone, alone);
    tell(attack->name, &attacked, alone);
    if (!good)
        fail_msg("%s: a small submission may take %.3f ms here, a new finalize %.1f ms", attack->name, submit,
                 finalize);
}

/* ---- the attackers ---- */

static void start_attacker(const struct attack *attack)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        struct attacker self = {service.socket, attackers.n, ready[1]};
        close(ready[0]);
        if (!become(ATTACKER_UID)) _exit(1);
        attack->run(&self);
        for (;;) pause();
    }
    assert_true(pid > 0);
    close(ready[1]);
    attackers.pids[attackers.n] = pid;
    attackers.ready[attackers.n++] = ready[0];
}

static void end_attackers(void)
{
    for (unsigned i = 0; i < attackers.n; i++) kill(attackers.pids[i], SIGKILL);
    for (unsigned i = 0; i < attackers.n; i++) {
        waitpid(attackers.pids[i], NULL, 0);
        close(attackers.ready[i]);
    }
    attackers.n = 0;
}

/* Each has said that it is ready. */
static bool wait_for_attackers(void)
{
    for (unsigned i = 0; i < attackers.n; i++) {
        struct pollfd ready = {attackers.ready[i], POLLIN, 0};
        char byte;
        if (poll(&ready, 1, READY_LIMIT_MS) != 1 || read(attackers.ready[i], &byte, 1) != 1) return false;
    }
    return true;
}

/* Has one ended by itself, which it does when it could not attack? */
static bool attackers_live(void)
{
    siginfo_t ended;
    for (unsigned i = 0; i < attackers.n; i++) {
        ended.si_pid = 0;
        if (waitid(P_PID, (id_t)attackers.pids[i], &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid)
            return false;
    }
    return true;
}

void arena_stop(void)
{
    end_attackers();
    end_victim();
    service_clear(&service);
}

void arena_withstand(const struct attack *attack)
{
    end_attackers();
    end_victim();
    start_victim();
    struct series alone = measure_alone();
    while (attackers.n < attack->processes && attackers.n < MAX_PROCESSES) start_attacker(attack);
    if (!wait_for_attackers()) fail_msg("%s: an attacker did not get ready", attack->name);
    if (attack->check) attack->check();
    measure_attacked(attack, &alone);
    if (!attackers_live()) fail_msg("%s: an attacker ended by itself", attack->name);
    expect_daemon_well();
    if (attack->release) attack->release();
    end_attackers();
    end_victim();
}

/* ---- for attackers ---- */

void attacker_ready(struct attacker *self)
{
    if (write(self->ready_fd, "r", 1) != 1) _exit(1);
}

_Noreturn void attacker_fail(const struct attacker *self, const char *what)
{
    fprintf(stderr, "# attacker %u: %s: %s; last error: %s\n", self->number, what, strerror(errno),
            fusion_last_error()->reason);
    _exit(1);
}

int attacker_dial(const struct attacker *self)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", self->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) attacker_fail(self, "socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return -1;
}

int attacker_greet(const struct attacker *self)
{
    int fd = attacker_dial(self);
    const char *reason = "";
    struct proto_writer w;
    struct proto_message reply;
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    proto_begin_request(&w, 1, "hello");
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "min", PROTO_VERSION_MIN);
    proto_pack_uint(&w, "max", PROTO_VERSION_MAX);
    proto_pack_string(&w, "name", "attacker");
    bool greeted =
        fd >= 0 && proto_finish(&w) && proto_send(fd, &w, 0) == 0 && proto_receive(fd, r, &reply, 0, &reason) == 0;
    if (greeted) {
        greeted = reply.status == FUSION_SUCCESS;
        proto_message_clear(&reply);
    }
    proto_writer_clear(&w);
    proto_reader_free(r);
    if (greeted) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

fusion_session *attacker_session(const struct attacker *self)
{
    fusion_session *session = NULL;
    return fusion_connect(self->socket, NULL, &session) == FUSION_SUCCESS ? session : NULL;
}
