/* The listening socket. */
#include "daemon/broker/core/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/broker/core/log.h"

enum { BACKLOG = 128, FIRST_PASSED_FD = 3, PAUSE_MS = 200 };

struct listener {
    listener_accept_fn *accept;
    void *data;
    uv_poll_t poll;
    uv_timer_t pause; /* no descriptors left: accepting rests for a moment */
    uint32_t open_handles;
    int fd;
    char *path; /* the file to be removed; NULL: not ours */
};

/* A socket that systemd has opened for us (sd_listen_fds, version 1 of that protocol). */
static int passed_socket(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    bool ours = pid && count && strtol(pid, NULL, 10) == (long)getpid() && strtol(count, NULL, 10) >= 1;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (!ours) return -1;
    fcntl(FIRST_PASSED_FD, F_SETFD, FD_CLOEXEC);
    fcntl(FIRST_PASSED_FD, F_SETFL, fcntl(FIRST_PASSED_FD, F_GETFL) | O_NONBLOCK);
    return FIRST_PASSED_FD;
}

/* Of who began to listen on a socket that we are connected to. One that we are not shown is taken to live. */
static bool listener_lives(int fd)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) return true;
    int process = (int)syscall(SYS_pidfd_open, peer.pid, 0);
    if (process < 0) return errno != ESRCH;
    struct pollfd ended = {.fd = process, .events = POLLIN};
    bool lives = poll(&ended, 1, 0) == 0;
    close(process);
    return lives;
}

/* Who is connected there hears of the end when nobody has the socket any more. */
static bool is_closed_soon(int fd)
{
    enum { PATIENCE_MS = 5000 };
    struct pollfd closed = {.fd = fd, .events = POLLRDHUP};
    return poll(&closed, 1, PATIENCE_MS) == 1;
}

/* Is anybody listening there? A file left by a daemon that was killed refuses. For a moment a child that the daemon was
   just starting may have the socket: until it is the program that it is to become. */
static bool is_alive(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return true;
    bool connected = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    bool alive = connected ? listener_lives(fd) || !is_closed_soon(fd) : errno != ECONNREFUSED && errno != ENOENT;
    close(fd);
    return alive;
}

static bool bind_socket(int fd, const struct sockaddr_un *address)
{
    struct stat s;
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0) return true;
    if (errno != EADDRINUSE) return false;
    bool stale = lstat(address->sun_path, &s) == 0 && S_ISSOCK(s.st_mode) && !is_alive(address);
    errno = EADDRINUSE;
    return stale && unlink(address->sun_path) == 0 && bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
}

/* Until then nobody but our own user can connect. */
static bool open_to(const char *path, const struct listener_access *access)
{
    if (access->group != (gid_t)-1 && lchown(path, (uid_t)-1, access->group) != 0) {
        log_warning("%s cannot be given to group %u: %s", path, (unsigned)access->group, strerror(errno));
        return false;
    }
    mode_t mode = access->mode < 0 ? 0660 : (mode_t)access->mode;
    if (chmod(path, mode) == 0) return true;
    log_warning("%s: mode %o cannot be set: %s", path, (unsigned)mode, strerror(errno));
    return false;
}

static bool is_given(const struct listener_access *access)
{
    return access->group != (gid_t)-1 || access->mode >= 0;
}

/* A file that only we can use where it is to be opened to others, else one as our umask has it. */
static bool bind_closed(int fd, const struct sockaddr_un *address, const struct listener_access *access)
{
    mode_t before = is_given(access) ? umask(0177) : 0;
    bool bound = bind_socket(fd, address);
    int number = errno;
    if (is_given(access)) umask(before);
    errno = number;
    return bound;
}

static int make_socket(const char *path, const struct listener_access *access)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        log_warning("%s: a socket's path has at most %zu bytes", path, sizeof address.sun_path - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bound = fd >= 0 && bind_closed(fd, &address, access);
    bool opened = bound && (!is_given(access) || open_to(path, access));
    if (opened && listen(fd, BACKLOG) == 0) return fd;
    if (!bound || opened) log_warning("cannot listen on %s: %s", path, strerror(errno));
    if (bound) unlink(path);
    if (fd >= 0) close(fd);
    return -1;
}

static void on_closed(uv_handle_t *handle)
{
    struct listener *l = handle->data;
    if (--l->open_handles == 0) free(l);
}

static void on_connection(uv_poll_t *poll, int status, int events);

static void on_pause_over(uv_timer_t *timer)
{
    struct listener *l = timer->data;
    uv_poll_start(&l->poll, UV_READABLE, on_connection);
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    struct listener *l = poll->data;
    (void)status, (void)events;
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        l->accept(l->data, fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
        log_warning("a client has to wait: %s", strerror(errno));
        uv_poll_stop(&l->poll);
        uv_timer_start(&l->pause, on_pause_over, PAUSE_MS, 0);
    }
}

struct listener *listener_open(uv_loop_t *loop, const char *path, const struct listener_access *access,
                               listener_accept_fn *on_accept, void *data)
{
    struct listener *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->accept = on_accept;
    l->data = data;
    l->fd = passed_socket();
    if (l->fd >= 0 && is_given(access))
        log_warning("the socket has been passed by the service manager: its group and mode are what that says");
    if (l->fd < 0) {
        l->fd = make_socket(path, access);
        l->path = l->fd >= 0 ? strdup(path) : NULL;
    }
    if (l->fd < 0 || uv_poll_init(loop, &l->poll, l->fd) != 0) {
        if (l->fd >= 0) close(l->fd);
        free(l->path);
        free(l);
        return NULL;
    }
    uv_timer_init(loop, &l->pause);
    l->poll.data = l->pause.data = l;
    l->open_handles = 2;
    uv_poll_start(&l->poll, UV_READABLE, on_connection);
    return l;
}

void listener_close(struct listener *l)
{
    if (!l) return;
    if (l->path) unlink(l->path);
    free(l->path);
    uv_poll_stop(&l->poll);
    close(l->fd);
    uv_close((uv_handle_t *)&l->poll, on_closed);
    uv_close((uv_handle_t *)&l->pause, on_closed);
}
