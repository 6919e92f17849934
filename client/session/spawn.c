/*
 * Starting a program as a fresh login would. Each descriptor is moved out of the way of the program's first, before it
 * gets its number: a copy onto itself would keep close-on-exec.
 */
#include "client/session/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOVED_FDS = 10 };

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
static char **child_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        if (!is_of_parent(environ[i])) copy[kept++] = environ[i];
    return copy;
}

/* ---- descriptors and attributes ---- */

static bool is_null(const int *fds, uint32_t i)
{
    return fds[i] == CLIENT_SPAWN_NULL || (fds[i] == CLIENT_SPAWN_INHERIT && fcntl((int)i, F_GETFD) < 0);
}

/* 0 or an errno. moved: copies of those that are this process's, else -1. */
static int set_descriptors(posix_spawn_file_actions_t *actions, const int *fds, uint32_t n, int *moved)
{
    int failure = 0;
    for (uint32_t i = 0; i < n && !failure; i++) {
        if (is_null(fds, i)) {
            failure = posix_spawn_file_actions_addopen(actions, (int)i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
        } else if (fds[i] >= 0) {
            moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, MOVED_FDS);
            failure = moved[i] < 0 ? errno : posix_spawn_file_actions_adddup2(actions, moved[i], (int)i);
        }
    }
    return failure ? failure : posix_spawn_file_actions_addclosefrom_np(actions, (int)n);
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

/* ---- all of it ---- */

static int spawn(const char *path, char *const argv[], const int *fds, uint32_t n, int *moved, pid_t *pid)
{
    char **environment = child_environment();
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (!environment) return ENOMEM;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int failure = set_descriptors(&actions, fds, n, moved);
    set_attributes(&attributes);
    if (!failure) failure = posix_spawn(pid, path, &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return failure;
}

int client_spawn(const char *path, char *const argv[], const int *fds, uint32_t n, pid_t *pid)
{
    int moved[CLIENT_SPAWN_MAX_FDS] = {-1, -1, -1, -1};
    int failure = spawn(path, argv, fds, n, moved, pid);
    for (uint32_t i = 0; i < n; i++)
        if (moved[i] >= 0) close(moved[i]);
    return failure;
}
