/* Starting a private daemon: the embedded default where no service answers. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/internal.h"

extern char **environ;

static const char *daemon_path(void)
{
    const char *path = getenv("FUSIOND");
    return path && *path ? path : FUSIOND_EXECUTABLE;
}

fusion_status client_launch_daemon(int *fd, pid_t *pid)
{
    const char *path = daemon_path();
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return client_errno(FUSION_CONNECTION, path, "socketpair");

    /* The daemon finds its end as descriptor 3. When the pair lies there already, dup2 onto itself would
       keep close-on-exec, so the end is moved out of the way first. */
    int end = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
    close(pair[1]);
    if (end < 0) {
        close(pair[0]);
        return client_errno(FUSION_CONNECTION, path, "dup");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, end, 3);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    /* A group of its own, so that a Ctrl-C at the terminal reaches the client only, which then ends it. */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    char *const argv[] = {"fusiond", "--private", "3", NULL};
    int failure = posix_spawn(pid, path, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(end);
    if (failure) {
        close(pair[0]);
        return client_error(FUSION_CONNECTION, path,
                            "a private daemon could not be started: %s (set FUSIOND to its path)", strerror(failure));
    }
    *fd = pair[0];
    return FUSION_SUCCESS;
}
