/* Blocking send and receive, for processes without an event loop. */
#include "proto/transfer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* Waits for events until the deadline. 0, or -1 with errno. */
static int wait_for(int fd, short events, uint64_t deadline_ms)
{
    for (;;) {
        int timeout = -1;
        if (deadline_ms) {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
            uint64_t left = deadline_ms > ms ? deadline_ms - ms : 0;
            timeout = left > 1 << 30 ? 1 << 30 : (int)left;
        }
        struct pollfd poll_fd = {fd, events, 0};
        int ready = poll(&poll_fd, 1, timeout);
        if (ready > 0) return 0;
        if (ready == 0 && timeout < 1 << 30) {
            errno = ETIMEDOUT;
            return -1;
        }
        if (ready < 0 && errno != EINTR) return -1;
    }
}

/* One sendmsg; the descriptors go with the first byte. */
static ssize_t send_some(int fd, const struct proto_writer *w, size_t sent)
{
    union {
        char bytes[CMSG_SPACE(PROTO_MAX_FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {w->buffer.data + sent, w->buffer.size - sent};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};
    if (sent == 0 && w->n_fds > 0) {
        memset(&control, 0, sizeof control);
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(w->n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(w->n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), w->fds, w->n_fds * sizeof(int));
    }
    return sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int proto_send_from(int fd, const struct proto_writer *w, size_t *sent, uint64_t deadline_ms)
{
    if (w->failed) {
        errno = EMSGSIZE;
        return -1;
    }
    while (*sent < w->buffer.size) {
        ssize_t n = send_some(fd, w, *sent);
        if (n >= 0) {
            *sent += (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (wait_for(fd, POLLOUT, deadline_ms) != 0) return -1;
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

int proto_send(int fd, const struct proto_writer *w, uint64_t deadline_ms)
{
    size_t sent = 0;
    return proto_send_from(fd, w, &sent, deadline_ms);
}

int proto_receive(int fd, struct proto_reader *r, struct proto_message *message, uint64_t deadline_ms,
                  const char **reason)
{
    for (;;) {
        int state = proto_reader_next(r, message, reason);
        if (state > 0) return 0;
        if (state < 0) {
            errno = state == PROTO_NO_MEMORY ? ENOMEM : EPROTO;
            return -1;
        }
        if (wait_for(fd, POLLIN, deadline_ms) != 0) return -1;
        int got = proto_reader_fill(r, fd);
        if (got < 0) return -1;
        if (got == 0) {
            errno = EPIPE;
            *reason = "the other side closed the connection";
            return -1;
        }
    }
}
