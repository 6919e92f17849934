/* The protocol of Redis, as far as two commands need it: commands are arrays of words, answers are one line each, which
   bytes may follow whose number it says. */
#include "daemon/broker/cache/redis_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/un.h>

enum { READ_STEP = 64 << 10, MOST_LINE = 1024, KEEP_BYTES = 256 << 10 };

/* A command without its answer. */
struct asked {
    STAILQ_ENTRY(asked) next;
    redis_answer_fn *answer;
    void *data;
};

struct redis_link {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } at;
    uv_connect_t connecting;
    const struct redis_link_events *events;
    void *data;
    size_t most;
    STAILQ_HEAD(, asked) asked;
    char *in; /* what has come and is not answered yet */
    size_t size, room;
    bool closed; /* nobody wants to know of it any more */
};

/* ---- the end ---- */

static void on_closed(uv_handle_t *handle)
{
    struct redis_link *link = handle->data;
    free(link->in);
    free(link);
}

void redis_link_close(struct redis_link *link)
{
    struct asked *a;
    if (!link || link->closed) return;
    link->closed = true;
    uv_close(&link->at.handle, on_closed);
    while ((a = STAILQ_FIRST(&link->asked))) {
        STAILQ_REMOVE_HEAD(&link->asked, next);
        a->answer(a->data, REDIS_LOST, NULL, 0);
        free(a);
    }
}

static void fail(struct redis_link *link, const char *reason)
{
    if (!link->closed) link->events->lost(link->data, reason);
}

/* ---- answers ---- */

/* The first command without an answer has this one. */
static bool give(struct redis_link *link, enum redis_answer answer, const void *bytes, size_t size)
{
    struct asked *a = STAILQ_FIRST(&link->asked);
    STAILQ_REMOVE_HEAD(&link->asked, next);
    a->answer(a->data, answer, bytes, size);
    free(a);
    return !link->closed;
}

/* Of bytes that follow a line; false: that is no number, or too many. */
static bool read_size(const struct redis_link *link, const char *digits, size_t n, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < n; i++) {
        if (digits[i] < '0' || digits[i] > '9' || *size > link->most) return false;
        *size = *size * 10 + (size_t)(digits[i] - '0');
    }
    return n > 0 && *size <= link->most;
}

enum progress { WAITS, GOES_ON, ENDS };

/* The answer that begins at *at, if all of it is there. */
static enum progress take_one(struct redis_link *link, size_t *at)
{
    const char *line = link->in + *at, *end = memchr(line, '\n', link->size - *at);
    size_t length = end ? (size_t)(end - line) : link->size - *at, whole = length + 1, size;
    if (length > MOST_LINE || STAILQ_EMPTY(&link->asked)) return ENDS;
    if (!end) return WAITS;
    if (length < 2 || line[length - 1] != '\r') return ENDS;
    if (line[0] == '+' || line[0] == '-' || (length == 4 && memcmp(line, "$-1", 3) == 0)) {
        *at += whole;
        return give(link, line[0] == '+' ? REDIS_DONE : REDIS_ABSENT, NULL, 0) ? GOES_ON : WAITS;
    }
    if (line[0] != '$' || !read_size(link, line + 1, length - 2, &size)) return ENDS;
    if (link->size - *at - whole < size + 2) return WAITS;
    if (memcmp(line + whole + size, "\r\n", 2) != 0) return ENDS;
    *at += whole + size + 2;
    return give(link, REDIS_BYTES, line + whole, size) ? GOES_ON : WAITS;
}

static void take_answers(struct redis_link *link)
{
    size_t at = 0;
    enum progress progress = GOES_ON;
    while (progress == GOES_ON && at < link->size) progress = take_one(link, &at);
    link->size -= at;
    memmove(link->in, link->in + at, link->size);
    if (link->size == 0 && link->room > KEEP_BYTES) {
        free(link->in);
        link->in = NULL;
        link->room = 0;
    }
    if (progress == ENDS) fail(link, "it sends what is no answer");
}

/* What has come decides how much room there is, never what the server promises. */
static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    struct redis_link *link = handle->data;
    (void)suggested;
    if (link->room - link->size < READ_STEP) {
        size_t wanted = 2 * link->room + READ_STEP;
        char *in = realloc(link->in, wanted);
        if (in) {
            link->in = in;
            link->room = wanted;
        }
    }
    *room = uv_buf_init(link->in ? link->in + link->size : NULL, (unsigned)(link->room - link->size));
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *room)
{
    struct redis_link *link = stream->data;
    (void)room;
    if (link->closed) return;
    if (got < 0) {
        fail(link, got == UV_EOF ? "it has closed" : uv_strerror((int)got));
        return;
    }
    link->size += (size_t)got;
    take_answers(link);
}

/* ---- commands ---- */

struct sending {
    uv_write_t write;
    char bytes[];
};

static void on_sent(uv_write_t *write, int status)
{
    struct sending *s = write->data;
    (void)status; /* what cannot be sent ends the reading, too */
    free(s);
}

static size_t size_of(const struct redis_word *words, unsigned n)
{
    enum { HEAD = 32 }; /* a line with a number */
    size_t size = HEAD;
    for (unsigned i = 0; i < n; i++) size += HEAD + words[i].size;
    return size;
}

static size_t put_command(char *to, const struct redis_word *words, unsigned n)
{
    size_t at = (size_t)sprintf(to, "*%u\r\n", n);
    for (unsigned i = 0; i < n; i++) {
        at += (size_t)sprintf(to + at, "$%zu\r\n", words[i].size);
        memcpy(to + at, words[i].bytes, words[i].size);
        at += words[i].size;
        to[at++] = '\r';
        to[at++] = '\n';
    }
    return at;
}

bool redis_link_send(struct redis_link *link, const struct redis_word *words, unsigned n, redis_answer_fn *answer,
                     void *data)
{
    struct asked *a = malloc(sizeof *a);
    struct sending *s = malloc(sizeof *s + size_of(words, n));
    bool sent = false;
    if (a && s && !link->closed) {
        uv_buf_t bytes = uv_buf_init(s->bytes, (unsigned)put_command(s->bytes, words, n));
        s->write.data = s;
        sent = uv_write(&s->write, &link->at.stream, &bytes, 1, on_sent) == 0;
    }
    if (sent) {
        *a = (struct asked){.answer = answer, .data = data};
        STAILQ_INSERT_TAIL(&link->asked, a, next);
        return true;
    }
    free(s);
    free(a);
    return false;
}

/* ---- the beginning ---- */

static void on_connected(uv_connect_t *connecting, int status)
{
    struct redis_link *link = connecting->data;
    if (link->closed) return;
    if (status == 0) status = uv_read_start(&link->at.stream, on_room, on_read);
    if (status < 0)
        fail(link, uv_strerror(status));
    else
        link->events->up(link->data);
}

/* False: there is nothing to be closed. */
static bool connect_socket(uv_loop_t *loop, struct redis_link *link, const char *path)
{
    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path || uv_pipe_init(loop, &link->at.pipe, 0) != 0)
        return false;
    link->at.handle.data = link;
    uv_pipe_connect(&link->connecting, &link->at.pipe, path, on_connected);
    return true;
}

static bool connect_address(uv_loop_t *loop, struct redis_link *link, const char *address, int port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    if (uv_ip4_addr(address, port, &to.v4) != 0 && uv_ip6_addr(address, port, &to.v6) != 0) return false;
    if (uv_tcp_init(loop, &link->at.tcp) != 0) return false;
    link->at.handle.data = link;
    if (uv_tcp_connect(&link->connecting, &link->at.tcp, &to.any, on_connected) == 0) return true;
    redis_link_close(link);
    return true;
}

struct redis_link *redis_link_open(uv_loop_t *loop, const char *address, int port, size_t most,
                                   const struct redis_link_events *events, void *data)
{
    struct redis_link *link = calloc(1, sizeof *link);
    if (!link) return NULL;
    link->events = events;
    link->data = data;
    link->most = most;
    link->connecting.data = link;
    STAILQ_INIT(&link->asked);
    bool begun = port ? connect_address(loop, link, address, port) : connect_socket(loop, link, address);
    if (!begun) free(link);
    return begun && !link->closed ? link : NULL; /* one that is closed already goes by itself */
}
