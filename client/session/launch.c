/*
 * Starting a private daemon: the embedded default where no service answers. It is a process like one of a fresh login:
 * of its parent it gets the environment, the user, limits and standard error, but not what the parent made for itself:
 * signal mask, ignored signals, descriptors, real-time priority, process group and terminal.
 */
#include "client/session/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/base/error.h"
#include "client/session/locate.h"

enum { CONNECTION_FD = 3 }; /* in the daemon */

/* ---- the environment ---- */

/* What a service manager tells the parent is not meant for its children. */
static bool is_of_parent(const char *variable)
{
    static const char *const names[] = {"CACHE_DIRECTORY=", "LISTEN_FDS=",   "LISTEN_PID=",   "LISTEN_FDNAMES=",
                                        "NOTIFY_SOCKET=",   "WATCHDOG_PID=", "WATCHDOG_USEC="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0) return true;
    return false;
}

/* To be freed; the strings are environ's. */
static char **daemon_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        if (!is_of_parent(environ[i])) copy[kept++] = environ[i];
    return copy;
}

/* ---- descriptors and attributes ---- */

/* 0 or an errno. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int end)
{
    int failure = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failure) failure = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failure && fcntl(STDERR_FILENO, F_GETFD) < 0)
        failure = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failure) failure = posix_spawn_file_actions_adddup2(actions, end, CONNECTION_FD);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(actions, CONNECTION_FD + 1);
    return failure;
}

static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    /* A process group of its own: a Ctrl-C at the terminal reaches the client only, which then ends it. Not a session:
       schedulers share processors between these, and a client that spins would not give way to its executor. */
    flags |= POSIX_SPAWN_SETPGROUP;
    /* Compilers at real-time priority would hold up the machine. */
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    if (policy == SCHED_FIFO || policy == SCHED_RR) {
        posix_spawnattr_setschedpolicy(attributes, SCHED_OTHER);
        posix_spawnattr_setschedparam(attributes, &(struct sched_param){0});
        flags |= POSIX_SPAWN_SETSCHEDULER;
    }
    posix_spawnattr_setflags(attributes, flags);
}

/* 0 or an errno. */
static int spawn(const char *path, int end, pid_t *pid)
{
    char *const argv[] = {"fusiond", "--private", "3", NULL};
    char **environment = daemon_environment();
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (!environment) return ENOMEM;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int failure = set_descriptors(&actions, end);
    set_attributes(&attributes);
    if (!failure) failure = posix_spawn(pid, path, &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return failure;
}

static fusion_status launch(const char *path, int *fd, pid_t *pid)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return client_errno(FUSION_CONNECTION, path, "socketpair");
    /* Out of the way of the standard descriptors and of the connection's: dup2 onto itself would keep close-on-exec. */
    int end = fcntl(pair[1], F_DUPFD_CLOEXEC, 10), failure = errno;
    close(pair[1]);
    if (end >= 0) {
        failure = spawn(path, end, pid);
        close(end);
        if (!failure) {
            *fd = pair[0];
            return FUSION_SUCCESS;
        }
    }
    close(pair[0]);
    return client_error(failure == ENOMEM ? FUSION_OUT_OF_MEMORY : FUSION_CONNECTION, path,
                        "a private daemon could not be started: %s (set FUSIOND to its path)", strerror(failure));
}

fusion_status client_launch_daemon(int *fd, pid_t *pid)
{
    char path[PATH_MAX];
    client_locate_daemon(path);
    return launch(path, fd, pid);
}
