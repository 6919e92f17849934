/* Child processes. */
#include "daemon/broker/core/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_FD = 3, MAX_FDS = 8, SAFE_FD = 64, EXIT_NO_EXEC = 127, LEAST_FILES = 4 * SAFE_FD, LOOK_MS = 10 };

/*
 * A child begins with a copy of the broker's descriptors, and the system closes them before its program runs. Of what
 * strangers have sent that may last for ever. So all numbers below SAFE_FD are taken before there are clients, and a
 * child gets a copy of these alone: what it is to have is put there for a moment.
 */
static struct {
    int null, sync[2], slots[MAX_FDS + 1];
    bool taken; /* false: there are too few descriptors for that, or the system cannot */
} low;

struct child {
    LIST_ENTRY(child) link;
    pid_t pid;
    child_exit_fn *on_exit;
    void *data;
};

static void reap(struct children *children, pid_t pid, int status)
{
    struct child *child;
    LIST_FOREACH(child, &children->list, link)
    {
        if (child->pid != pid) continue;
        LIST_REMOVE(child, link);
        if (child->on_exit) child->on_exit(child->data, status);
        free(child);
        return;
    }
}

static void on_sigchld(uv_signal_t *signal, int number)
{
    struct children *children = signal->data;
    siginfo_t ended = {0};
    (void)number;
    while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid > 0) {
        int status = 0;
        /* What it has started and left behind, such as an assembler; before its number can be somebody else's. */
        kill(-ended.si_pid, SIGKILL);
        waitpid(ended.si_pid, &status, 0);
        reap(children, ended.si_pid, status);
        ended.si_pid = 0;
    }
}

/* Sanitizers know of children that fork() makes. */
static bool may_take_low(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    struct rlimit files;
    bool can_close = close_range(~0u, ~0u, 0) == 0; /* older systems and filters around containers lack it */
    return can_close && getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur >= LEAST_FILES;
#endif
}

static void take_low(void)
{
    if (low.taken || !may_take_low()) return;
    int n = 0, fd = -1;
    low.null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (low.null < 0 || pipe2(low.sync, O_CLOEXEC) != 0) return;
    while ((fd = fcntl(low.null, F_DUPFD_CLOEXEC, FIRST_FD)) >= 0 && fd < SAFE_FD)
        if (n <= MAX_FDS) low.slots[n++] = fd;
    if (fd >= SAFE_FD) close(fd);
    low.taken = fd >= SAFE_FD && n > MAX_FDS && low.null < SAFE_FD && low.sync[0] < SAFE_FD && low.sync[1] < SAFE_FD;
}

void children_start(struct children *children, uv_loop_t *loop)
{
    take_low();
    LIST_INIT(&children->list);
    uv_signal_init(loop, &children->signal);
    children->signal.data = children;
    uv_signal_start(&children->signal, on_sigchld, SIGCHLD);
}

void children_end(struct children *children)
{
    struct child *child;
    LIST_FOREACH(child, &children->list, link)
    child_kill(child);
    while ((child = LIST_FIRST(&children->list))) {
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) continue;
        kill(-child->pid, SIGKILL);
        LIST_REMOVE(child, link);
        free(child);
    }
    uv_close((uv_handle_t *)&children->signal, NULL);
}

/* environ with TMPDIR replaced. To be freed; the strings belong to others. */
static char **environment_with(char *tmpdir)
{
    size_t count = 0, out = 0;
    while (environ[count]) count++;
    char **copy = malloc((count + 2) * sizeof *copy);
    if (!copy) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!tmpdir || strncmp(environ[i], "TMPDIR=", 7) != 0) copy[out++] = environ[i];
    if (tmpdir) copy[out++] = tmpdir;
    copy[out] = NULL;
    return copy;
}

/* The child does it, as the system may take its time: the daemon goes on. What the daemon may do anywhere, as its user
   or by a capability, decides; whether the group's owner wants it was asked before. */
static void enter(int cgroup)
{
    int fd = openat(cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || write(fd, "0", 1) != 1) _exit(CHILD_EXIT_NO_CGROUP + (errno & 127));
    close(fd);
}

/* Between fork and exec: nothing here allocates or locks. */
_Noreturn static void become(const char *const *command, const int *fds, uint32_t n_fds, char **environment, int cgroup,
                             pid_t parent)
{
    static const struct rlimit no_core = {0, 0};
    int moved[MAX_FDS];
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_NO_EXEC);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (cgroup >= 0) enter(cgroup);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* what the daemon may do no child may */
    for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);        /* what the daemon ignores, its children do not */
    signal(SIGTTOU, SIG_IGN);                                 /* but for a terminal that stops who writes to it */
    setrlimit(RLIMIT_CORE, &no_core);                         /* a client's faulty kernel is no reason to fill a disk */
    /* Out of the way first, since one may lie where another must go. */
    for (uint32_t i = 0; i < n_fds; i++) moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, SAFE_FD);
    for (uint32_t i = 0; i < n_fds; i++)
        if (moved[i] < 0 || dup2(moved[i], FIRST_FD + (int)i) < 0) _exit(EXIT_NO_EXEC);
    close_range(FIRST_FD + n_fds, ~0u, CLOSE_RANGE_CLOEXEC); /* such as whoever started the broker left open */
    execve(command[0], (char *const *)command, environment);
    _exit(EXIT_NO_EXEC);
}

/* ---- a copy of the low numbers alone ---- */

/* The child still has the broker's own table; from here on it has its copy of the low part. */
static void leave_table(void)
{
    if (close_range(SAFE_FD, ~0u, CLOSE_RANGE_UNSHARE) != 0 || write(low.sync[1], "", 1) != 1) _exit(EXIT_NO_EXEC);
}

/* Until it has its copy, or has ended: a moment. */
static void await_copy(pid_t pid)
{
    struct pollfd told = {.fd = low.sync[0], .events = POLLIN};
    siginfo_t ended = {0};
    char byte;
    while (poll(&told, 1, LOOK_MS) < 1 && !ended.si_pid)
        if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (poll(&told, 1, 0) == 1 && read(low.sync[0], &byte, 1) != 1) return;
}

/* As fork(), with the descriptors at these numbers in the child. -1 with errno. */
static pid_t fork_low(const int *fds, uint32_t n_fds, int cgroup, int slots[MAX_FDS], int *cgroup_slot)
{
    uint32_t n = 0;
    pid_t pid = -1;
    *cgroup_slot = cgroup >= 0 ? low.slots[MAX_FDS] : -1;
    while (n < n_fds && dup3(fds[n], low.slots[n], O_CLOEXEC) >= 0) n++;
    memcpy(slots, low.slots, MAX_FDS * sizeof *slots);
    if (n == n_fds && (cgroup < 0 || dup3(cgroup, *cgroup_slot, O_CLOEXEC) >= 0))
        pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        leave_table();
        return 0;
    }
    int number = errno;
    if (pid > 0) await_copy(pid);
    for (uint32_t i = 0; i < n; i++) dup3(low.null, low.slots[i], O_CLOEXEC);
    if (cgroup >= 0) dup3(low.null, *cgroup_slot, O_CLOEXEC);
    errno = number;
    return pid;
}

struct child *child_spawn(struct children *children, const char *const *command, const int *fds, uint32_t n_fds,
                          const char *temporary, int cgroup, const struct priority *priority, child_exit_fn *on_exit,
                          void *data)
{
    char tmpdir[4096];
    if (n_fds > MAX_FDS ||
        (temporary && (size_t)snprintf(tmpdir, sizeof tmpdir, "TMPDIR=%s", temporary) >= sizeof tmpdir)) {
        errno = EINVAL;
        return NULL;
    }
    struct child *child = calloc(1, sizeof *child);
    char **environment = environment_with(temporary ? tmpdir : NULL);
    pid_t self = getpid(), pid = -1;
    int slots[MAX_FDS], cgroup_slot = cgroup;
    if (child && environment) pid = low.taken ? fork_low(fds, n_fds, cgroup, slots, &cgroup_slot) : fork();
    if (pid == 0) become(command, low.taken ? slots : fds, n_fds, environment, cgroup_slot, self);
    free(environment);
    if (pid < 0) {
        free(child);
        return NULL;
    }
    setpgid(pid, pid); /* here too: whoever comes first */
    priority_give(pid, priority);
    *child = (struct child){.pid = pid, .on_exit = on_exit, .data = data};
    LIST_INSERT_HEAD(&children->list, child, link);
    return child;
}

void child_hand_over(struct child *child, child_exit_fn *on_exit, void *data)
{
    child->on_exit = on_exit;
    child->data = data;
}

bool child_has_ended(const struct child *child)
{
    siginfo_t ended = {0};
    return waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid;
}

pid_t child_pid(const struct child *child)
{
    return child->pid;
}

void child_kill(struct child *child)
{
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
}

void child_release(struct child *child)
{
    if (child) child->on_exit = NULL;
}

void child_abandon(struct child *child)
{
    if (!child) return;
    child->on_exit = NULL;
    child_kill(child);
}

void child_describe(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == EXIT_NO_EXEC)
        snprintf(text, size, "could not be executed");
    else
        snprintf(text, size, "ended with exit status %d", WEXITSTATUS(status));
}
