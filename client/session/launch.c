/* Starting a private daemon: the embedded default where no service answers. */
#include "client/session/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/base/error.h"
#include "client/session/locate.h"
#include "client/session/spawn.h"

static fusion_status launch(const char *path, int *fd, pid_t *pid)
{
    static char *const argv[] = {"fusiond", "--private", "3", NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return client_errno(FUSION_CONNECTION, path, "socketpair");
    const int fds[] = {CLIENT_SPAWN_NULL, CLIENT_SPAWN_NULL, CLIENT_SPAWN_INHERIT, pair[1]};
    int failure = client_spawn(path, argv, fds, sizeof fds / sizeof *fds, pid);
    close(pair[1]);
    if (!failure) {
        *fd = pair[0];
        return FUSION_SUCCESS;
    }
    close(pair[0]);
    return client_error(failure == ENOMEM ? FUSION_OUT_OF_MEMORY : FUSION_CONNECTION, path,
                        "a private daemon could not be started: %s (set FUSIOND to its path)", strerror(failure));
}

fusion_status client_launch_daemon(int *fd, pid_t *pid)
{
    char path[PATH_MAX];
    client_locate(&client_daemon, path);
    return launch(path, fd, pid);
}
