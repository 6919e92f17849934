/* A connection in the event loop. */
#include "daemon/broker/core/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/broker/core/closing.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { FLUSH_MS = 1000, SHORT_QUEUE = 256 << 10 };

/* A message on its way out. */
struct packet {
    STAILQ_ENTRY(packet) link;
    msgpack_sbuffer bytes;
    size_t sent;
    int fds[PROTO_MAX_FDS]; /* of whoever sends it; ours from when it has to wait */
    uint32_t n_fds;
    bool waits;
};

struct peer {
    uv_poll_t poll;
    uv_timer_t timer; /* wakes the loop for what does not come from the socket */
    uv_timer_t frame; /* how long the message that comes may still take */
    uint32_t open_handles;
    int fd;
    struct user *user;  /* who pays; NULL: nobody */
    bool received_only; /* he does not pay for the queue */
    bool never_waits;   /* for the user's turn */
    uint32_t frame_ms;
    size_t charged_bytes, charged_fds;
    const struct peer_events *events;
    void *data;
    struct proto_reader *reader;
    STAILQ_HEAD(, packet) queue;
    size_t queued, max_queue;
    uint64_t sent;
    bool paused, closing, flushing;
    bool waits;          /* its user has had his part of the loop */
    const char *failure; /* sending failed: told from the loop */
    char text[256];      /* of a limit that was broken */
};

static void on_poll(uv_poll_t *poll, int status, int events);
static void on_timer(uv_timer_t *timer);

/* ---- what it holds ---- */

/* Charges the user what is more than before, or gives back what is less. */
static bool settle(struct user *user, enum user_resource resource, size_t *charged, size_t now, struct error *error)
{
    if (now <= *charged)
        user_refund(user, resource, *charged - now);
    else if (!user_charge(user, resource, now - *charged, error))
        return false;
    *charged = now;
    return true;
}

/* False: it holds more than the user may; p->text says so. */
static bool account(struct peer *p)
{
    if (!p->user) return true;
    struct error error;
    size_t bytes = proto_reader_bytes(p->reader) + (p->received_only ? 0 : p->queued);
    if (settle(p->user, USER_BYTES, &p->charged_bytes, bytes, &error) &&
        settle(p->user, USER_DESCRIPTORS, &p->charged_fds, proto_reader_fds(p->reader), &error))
        return true;
    snprintf(p->text, sizeof p->text, "%.*s", (int)sizeof p->text - 1, error.reason);
    return false;
}

void peer_limit(struct peer *p, struct user *user, uint32_t frame_ms)
{
    p->user = user_ref(user);
    p->frame_ms = frame_ms;
}

void peer_charge_received(struct peer *p, struct user *user)
{
    p->user = user_ref(user);
    p->received_only = true;
}

void peer_charge_reply(struct peer *p, struct user *user)
{
    peer_charge_received(p, user);
    p->never_waits = true;
}

/* ---- life ---- */

static void free_packet(struct packet *packet)
{
    for (uint32_t i = 0; packet->waits && i < packet->n_fds; i++) closing_close(packet->fds[i]);
    msgpack_sbuffer_destroy(&packet->bytes);
    free(packet);
}

static void free_peer(struct peer *p)
{
    struct packet *packet;
    while ((packet = STAILQ_FIRST(&p->queue))) {
        STAILQ_REMOVE_HEAD(&p->queue, link);
        free_packet(packet);
    }
    proto_reader_free(p->reader);
    if (p->fd >= 0) closing_close(p->fd);
    if (p->user) {
        settle(p->user, USER_BYTES, &p->charged_bytes, 0, NULL);
        settle(p->user, USER_DESCRIPTORS, &p->charged_fds, 0, NULL);
    }
    user_put(p->user);
    free(p);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct peer *p = handle->data;
    if (--p->open_handles == 0) free_peer(p);
}

static void close_handles(struct peer *p)
{
    p->closing = true;
    uv_close((uv_handle_t *)&p->poll, on_handle_closed);
    closing_close(p->fd); /* with the descriptors in it that nobody has read; the loop has let go of it */
    p->fd = -1;
    uv_close((uv_handle_t *)&p->timer, on_handle_closed);
    uv_close((uv_handle_t *)&p->frame, on_handle_closed);
}

static void update_poll(struct peer *p)
{
    int events = UV_DISCONNECT;
    if (p->closing) return;
    if (!p->paused && !p->flushing && !p->waits) events |= UV_READABLE;
    if (!STAILQ_EMPTY(&p->queue)) events |= UV_WRITABLE;
    uv_poll_start(&p->poll, events, on_poll);
}

static void wake(struct peer *p)
{
    uv_timer_start(&p->timer, on_timer, 0, 0);
}

static void close_received(void *unused, int fd)
{
    (void)unused;
    closing_close(fd);
}

static void close_strangers(void *uid, int fd)
{
    closing_close_of((uid_t)(uintptr_t)uid, fd);
}

void peer_is_stranger(struct peer *p, uid_t uid)
{
    proto_reader_close_with(p->reader, close_strangers, (void *)(uintptr_t)uid);
}

struct peer *peer_new(uv_loop_t *loop, int fd, size_t max_queue, const struct peer_events *events, void *data)
{
    struct peer *p = calloc(1, sizeof *p);
    if (p) p->reader = proto_reader_new(PROTO_MAX_MESSAGE);
    if (!p || !p->reader || uv_poll_init(loop, &p->poll, fd) != 0) {
        if (p) proto_reader_free(p->reader);
        free(p);
        closing_close(fd);
        return NULL;
    }
    proto_reader_close_with(p->reader, close_received, NULL);
    uv_timer_init(loop, &p->timer);
    uv_timer_init(loop, &p->frame);
    p->poll.data = p->timer.data = p->frame.data = p;
    p->open_handles = 3;
    p->fd = fd;
    p->events = events;
    p->data = data;
    p->max_queue = max_queue;
    STAILQ_INIT(&p->queue);
    update_poll(p);
    return p;
}

void peer_close(struct peer *p, bool flush)
{
    if (!p || p->closing || p->flushing) return;
    if (!flush || STAILQ_EMPTY(&p->queue) || p->failure) {
        close_handles(p);
        return;
    }
    p->flushing = true;
    uv_timer_start(&p->timer, on_timer, FLUSH_MS, 0);
    update_poll(p);
}

/* Tells the owner, who closes the peer then. */
static void end(struct peer *p, fusion_status why, const char *reason)
{
    if (p->flushing)
        close_handles(p);
    else if (!p->closing)
        p->events->ended(p->data, why, reason);
}

/* ---- sending ---- */

static ssize_t send_some(int fd, const struct packet *packet)
{
    union {
        char bytes[CMSG_SPACE(PROTO_MAX_FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {packet->bytes.data + packet->sent, packet->bytes.size - packet->sent};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};
    if (packet->sent == 0 && packet->n_fds > 0) {
        memset(&control, 0, sizeof control);
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(packet->n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(packet->n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), packet->fds, packet->n_fds * sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent;
}

/* 1: all of it has gone, 0: the socket is full, -1: the connection is broken. */
static int send_packet(struct peer *p, struct packet *packet)
{
    while (packet->sent < packet->bytes.size) {
        ssize_t sent = send_some(p->fd, packet);
        if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0 : -1;
        packet->sent += (size_t)sent;
        p->queued -= (size_t)sent;
        p->sent += (size_t)sent;
    }
    return 1;
}

static void fail(struct peer *p, const char *reason)
{
    p->failure = reason;
    wake(p);
}

static void send_queue(struct peer *p)
{
    struct packet *packet;
    while (!p->failure && (packet = STAILQ_FIRST(&p->queue))) {
        int result = send_packet(p, packet);
        if (result < 0) fail(p, "the other side has closed the connection");
        if (result <= 0) return;
        STAILQ_REMOVE_HEAD(&p->queue, link);
        p->queued -= sizeof *packet;
        free_packet(packet);
    }
}

/* Small messages are written with much room. */
static void drop_room(struct packet *packet)
{
    char *data = realloc(packet->bytes.data, packet->bytes.size);
    if (data) packet->bytes.data = data;
}

/* A packet that has to wait has no more memory than it needs, and gets descriptors of its own, unless they have gone
   already, with its first byte. Usually it has not: nothing is to be closed then, which would wake a thread that does
   it. False: there are none. */
static bool keep(struct packet *packet)
{
    uint32_t n = packet->sent ? 0 : packet->n_fds;
    packet->waits = true;
    drop_room(packet);
    for (packet->n_fds = 0; packet->n_fds < n; packet->n_fds++) {
        int fd = fcntl(packet->fds[packet->n_fds], F_DUPFD_CLOEXEC, 0);
        if (fd < 0) return false;
        packet->fds[packet->n_fds] = fd;
    }
    return true;
}

bool peer_send(struct peer *p, struct proto_writer *w)
{
    struct packet *packet = NULL;
    bool accepted = false;
    if (!p->closing && !p->flushing && !p->failure && proto_finish(w) && (packet = calloc(1, sizeof *packet))) {
        packet->bytes = w->buffer;
        packet->n_fds = w->n_fds;
        memcpy(packet->fds, w->fds, w->n_fds * sizeof *w->fds);
        memset(&w->buffer, 0, sizeof w->buffer);
        p->queued += sizeof *packet + packet->bytes.size;
        STAILQ_INSERT_TAIL(&p->queue, packet, link);
        send_queue(p);
        if (!STAILQ_EMPTY(&p->queue) && !keep(packet)) fail(p, "there are no descriptors left"); /* it is the last */
        if (p->queued > p->max_queue) fail(p, "it takes messages more slowly than they are made");
        if (!account(p)) fail(p, p->text);
        update_poll(p);
        accepted = !p->failure;
    }
    proto_writer_clear(w);
    return accepted;
}

uint64_t peer_sent(const struct peer *peer)
{
    return peer->sent;
}

size_t peer_queued(const struct peer *peer)
{
    return peer->queued;
}

/* ---- whose turn it is ---- */

/* Its messages, those that have come already, too, wait for a moment then. */
static bool must_wait(struct peer *p)
{
    if (!p->user || p->never_waits || !user_has_had_enough(p->user, uv_now(p->poll.loop))) return false;
    p->waits = true;
    update_poll(p);
    uv_timer_start(&p->timer, on_timer, user_waits_ms(p->user), 0);
    return true;
}

static void count_served(struct peer *p, uint64_t since)
{
    if (p->user) p->user->served_ns += uv_hrtime() - since;
}

/* ---- receiving ---- */

static void on_frame_late(uv_timer_t *timer)
{
    struct peer *p = timer->data;
    snprintf(p->text, sizeof p->text, "%zu bytes of a message, and not the rest, within %u ms",
             proto_reader_bytes(p->reader), p->frame_ms);
    end(p, FUSION_TIMEOUT, p->text);
}

/* The time of a message runs from its first byte, and not while we do not read. */
static void watch_frame(struct peer *p, bool begun)
{
    if (p->closing) return;
    if (!p->frame_ms || p->paused || p->flushing || p->waits || proto_reader_bytes(p->reader) == 0)
        uv_timer_stop(&p->frame);
    else if (begun || !uv_is_active((uv_handle_t *)&p->frame))
        uv_timer_start(&p->frame, on_frame_late, p->frame_ms, 0);
}

/* The next message, if it is whole. False: it is not. */
static bool deliver_one(struct peer *p)
{
    struct proto_message message;
    const char *reason;
    uint64_t began = uv_hrtime();
    int state = proto_reader_next(p->reader, &message, &reason);
    if (state < 0) end(p, FUSION_PROTOCOL, reason);
    if (state > 0) {
        p->events->message(p->data, &message);
        proto_message_clear(&message);
    }
    count_served(p, began);
    return state > 0;
}

/* Hands out the messages that are whole. */
static void deliver(struct peer *p)
{
    bool delivered = false;
    while (!p->closing && !p->flushing && !p->paused && !must_wait(p) && deliver_one(p)) delivered = true;
    account(p); /* less than before */
    watch_frame(p, delivered);
}

static void receive(struct peer *p)
{
    uint64_t began = uv_hrtime();
    int state = proto_reader_fill(p->reader, p->fd);
    count_served(p, began);
    if (state <= 0)
        end(p, FUSION_SUCCESS, state == 0 ? NULL : strerror(errno));
    else if (account(p))
        deliver(p);
    else
        end(p, FUSION_OUT_OF_MEMORY, p->text);
}

void peer_pause(struct peer *p, bool paused)
{
    if (p->paused == paused || p->closing || p->flushing) return;
    p->paused = paused;
    update_poll(p);
    if (paused)
        watch_frame(p, false);
    else
        wake(p); /* messages may have been read already */
}

static void on_timer(uv_timer_t *timer)
{
    struct peer *p = timer->data;
    if (p->waits) {
        p->waits = false;
        update_poll(p);
    }
    if (p->flushing)
        close_handles(p);
    else if (p->failure)
        end(p, FUSION_SUCCESS, p->failure);
    else
        deliver(p);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct peer *p = poll->data;
    if (status < 0) events = UV_READABLE | UV_WRITABLE;
    if (events & UV_WRITABLE) {
        size_t before = p->queued;
        send_queue(p);
        account(p);
        if (p->flushing && (STAILQ_EMPTY(&p->queue) || p->failure)) {
            close_handles(p);
            return;
        }
        update_poll(p);
        if (before > SHORT_QUEUE && p->queued <= SHORT_QUEUE && !p->flushing && !p->failure && p->events->drained)
            p->events->drained(p->data);
    }
    if (p->closing) return;
    if (events & UV_READABLE && !p->paused && !p->flushing && !p->waits)
        receive(p);
    else if (events & UV_DISCONNECT)
        end(p, FUSION_SUCCESS, NULL); /* nobody is there to read what is still queued */
}
