/* The first request. */
#include "daemon/broker/session/hello.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/broker/session/request.h"
#include "daemon/broker/session/shared_ring.h"
#include "ir/base/cursor.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/ring.h"
#include "proto/writer.h"

/* Completions are told by bytes through a pair of sockets: nothing that the client does to its end, and to the open
   file behind it, makes a sender at the other one wait. */
static bool make_events(struct session *s)
{
    enum { QUEUE_BYTES = 4096 }; /* one byte wakes as well as many */
    int pair[2], bytes = QUEUE_BYTES;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return false;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    s->event_fd = pair[0];
    s->client_event_fd = pair[1];
    return true;
}

static uint32_t time_limit(const struct session *s, const struct proto_message *m)
{
    const struct options *options = &s->broker->options;
    uint64_t wanted = 0;
    if (!proto_get_uint(&m->params, "time_limit_ms", &wanted) || wanted == 0) wanted = options->time_limit_ms;
    return wanted < options->max_time_limit_ms ? (uint32_t)wanted : options->max_time_limit_ms;
}

/* The name goes into the log and into status reports: one line of text, whatever the client calls itself. */
static char *read_name(const struct proto_message *m)
{
    char *name = NULL;
    if (!proto_get_string(&m->params, "name", &name, PROTO_MAX_NAME)) return strdup("");
    bool text = cursor_is_utf8((const uint8_t *)name, strlen(name));
    for (unsigned char *at = (unsigned char *)name; *at; at++)
        if (*at < 0x20 || *at == 0x7f || (*at >= 0x80 && !text)) *at = '?';
    return name;
}

static void answer(struct session *s, uint32_t request, uint64_t version)
{
    struct proto_writer w;
    proto_begin_reply(&w, request);
    proto_pack_map(&w, 5);
    proto_pack_uint(&w, "version", version);
    proto_pack_uint(&w, "session", s->id);
    proto_pack_uint(&w, "max_message", PROTO_MAX_MESSAGE);
    proto_pack_string(&w, "daemon", FUSIOND_VERSION);
    proto_pack_uint(&w, "time_limit_ms", s->time_limit_ms);
    w.fds[w.n_fds++] = s->ring_fd;
    w.fds[w.n_fds++] = s->client_event_fd;
    session_send(s, &w);
    close(s->client_event_fd);
    s->client_event_fd = -1;
}

static bool refuse(struct session *s, const struct proto_message *m, fusion_status status, const char *reason)
{
    request_fail(s, m, status, "hello", "%s", reason);
    session_end(s, status, NULL, NULL);
    return false;
}

bool hello_answer(struct session *s, const struct proto_message *m)
{
    uint64_t min, max;
    char text[160];
    if (strcmp(m->method, "hello") != 0) return refuse(s, m, FUSION_PROTOCOL, "a connection begins with hello");
    if (!proto_get_uint(&m->params, "min", &min) || !proto_get_uint(&m->params, "max", &max) || min > max)
        return refuse(s, m, FUSION_PROTOCOL, "parameters min and max are to say which versions the client speaks");
    if (min > PROTO_VERSION_MAX || max < PROTO_VERSION_MIN) {
        snprintf(text, sizeof text, "the client speaks versions %llu to %llu of the protocol, this daemon %d to %d",
                 (unsigned long long)min, (unsigned long long)max, PROTO_VERSION_MIN, PROTO_VERSION_MAX);
        return refuse(s, m, FUSION_VERSION, text);
    }
    if (m->n_fds > 0) return refuse(s, m, FUSION_PROTOCOL, "hello takes no descriptors");
    s->name = read_name(m);
    s->time_limit_ms = time_limit(s, m);
    if (s->name && make_events(s)) s->ring = shared_ring_new(&s->ring_fd);
    if (!s->ring || !session_begin(s)) {
        snprintf(text, sizeof text, "the session's ring could not be made: %s", strerror(errno));
        return refuse(s, m, FUSION_OUT_OF_MEMORY, text);
    }
    answer(s, m->id, max < PROTO_VERSION_MAX ? max : PROTO_VERSION_MAX);
    return true;
}
