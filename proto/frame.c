/* The incremental decoder: bytes and descriptors of a connection in, whole checked messages out. */
#include "proto/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ir/base/cursor.h"
#include "proto/fields.h"

enum {
    READ_STEP = 16 << 10, /* room offered to one recvmsg at least */
    READ_MOST = 256 << 10,
    KEEP_BYTES = 64 << 10,              /* a larger buffer is given up when its message is done */
    MAX_QUEUED_FDS = 2 * PROTO_MAX_FDS, /* of the message that arrives and of the one after it */
    MAX_RECEIVED_FDS = 253              /* what a kernel passes at once: any less room, and the kernel itself closes the
                                           rest, in the middle of recvmsg() */
};

_Static_assert((int)PROTO_MAX_DEPTH <= (int)CURSOR_MAX_DEPTH, "the check of bodies goes as deep as messages may");

struct proto_reader {
    size_t max_message;
    uint8_t *data;
    size_t size, capacity;
    int fds[MAX_QUEUED_FDS];
    uint32_t n_fds;
    proto_close *close_fd; /* NULL: close() */
    void *close_data;
    bool broken; /* a violation was found: nothing more is read */
    char reason[160];
};

struct proto_reader *proto_reader_new(size_t max_message)
{
    struct proto_reader *r = calloc(1, sizeof *r);
    if (r) r->max_message = max_message < PROTO_MAX_MESSAGE ? max_message : PROTO_MAX_MESSAGE;
    return r;
}

static void close_one(proto_close *close_fd, void *data, int fd)
{
    if (close_fd)
        close_fd(data, fd);
    else
        close(fd);
}

void proto_reader_close_with(struct proto_reader *r, proto_close *close_fd, void *data)
{
    r->close_fd = close_fd;
    r->close_data = data;
}

void proto_reader_free(struct proto_reader *r)
{
    if (!r) return;
    for (uint32_t i = 0; i < r->n_fds; i++) close_one(r->close_fd, r->close_data, r->fds[i]);
    free(r->data);
    free(r);
}

/* The first violation is the one that is told. */
static void violation(struct proto_reader *r, const char *reason)
{
    if (!r->broken) snprintf(r->reason, sizeof r->reason, "%s", reason);
    r->broken = true;
}

/* Makes room for `more` bytes. What has arrived decides how much is allocated, never what a header promises. */
static bool reserve(struct proto_reader *r, size_t more)
{
    if (r->capacity - r->size >= more) return true;
    size_t capacity = r->capacity ? r->capacity : READ_STEP;
    while (capacity - r->size < more) capacity *= 2;
    uint8_t *data = realloc(r->data, capacity);
    if (!data) return false;
    r->data = data;
    r->capacity = capacity;
    return true;
}

static void queue_fds(struct proto_reader *r, const int *fds, uint32_t n_fds)
{
    for (uint32_t i = 0; i < n_fds; i++) {
        if (r->broken || r->n_fds == MAX_QUEUED_FDS) {
            violation(r, "too many descriptors");
            close_one(r->close_fd, r->close_data, fds[i]);
        } else {
            r->fds[r->n_fds++] = fds[i];
        }
    }
}

static void queue_control(struct proto_reader *r, struct msghdr *header)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        int fds[MAX_RECEIVED_FDS];
        uint32_t n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fds, CMSG_DATA(c), n * sizeof(int));
        queue_fds(r, fds, n);
    }
    if (header->msg_flags & MSG_CTRUNC) violation(r, "too many descriptors");
}

int proto_reader_fill(struct proto_reader *r, int fd)
{
    if (r->broken) return 1;
    if (!reserve(r, READ_STEP)) {
        errno = ENOMEM;
        return -1;
    }
    union {
        char bytes[CMSG_SPACE(MAX_RECEIVED_FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    size_t room_bytes = r->capacity - r->size;
    struct iovec room = {r->data + r->size, room_bytes < READ_MOST ? room_bytes : READ_MOST};
    struct msghdr header = {
        .msg_iov = &room, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t got;
    do got = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 1 : -1;
    queue_control(r, &header);
    r->size += (size_t)got;
    return got > 0 ? 1 : 0;
}

size_t proto_reader_bytes(const struct proto_reader *r)
{
    return r->size;
}

uint32_t proto_reader_fds(const struct proto_reader *r)
{
    return r->n_fds;
}

void proto_reader_feed(struct proto_reader *r, const void *bytes, size_t size, const int *fds, uint32_t n_fds)
{
    queue_fds(r, fds, n_fds);
    if (r->broken || size == 0) return;
    if (!reserve(r, size)) {
        violation(r, "out of memory");
        return;
    }
    memcpy(r->data + r->size, bytes, size);
    r->size += size;
}

/* ---- from a body to a message ---- */

static const char no_memory[] = "out of memory"; /* told apart from other reasons by its address */

/* NULL, or what is wrong: the text is none, or longer than max, or there is no memory. */
static const char *zone_text(msgpack_zone *zone, const msgpack_object *object, size_t max, const char *wrong,
                             const char **text)
{
    if (!object || object->type != MSGPACK_OBJECT_STR || object->via.str.size > max ||
        (object->via.str.size > 0 && memchr(object->via.str.ptr, 0, object->via.str.size)))
        return wrong;
    char *copy = msgpack_zone_malloc(zone, object->via.str.size + 1);
    if (!copy) return no_memory;
    if (object->via.str.size > 0) memcpy(copy, object->via.str.ptr, object->via.str.size);
    copy[object->via.str.size] = 0;
    *text = copy;
    return NULL;
}

static bool is_map_or_nil(const msgpack_object *object)
{
    return object->type == MSGPACK_OBJECT_MAP || object->type == MSGPACK_OBJECT_NIL;
}

static const char *read_id(struct proto_message *m, const msgpack_object *object)
{
    if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER || object->via.u64 > UINT32_MAX)
        return "the message's id is not a 32-bit number";
    m->id = (uint32_t)object->via.u64;
    return NULL;
}

static const char *read_method(struct proto_message *m, const msgpack_object *object)
{
    return zone_text(m->zone, object, PROTO_MAX_NAME, "the message's method is not a name", &m->method);
}

static const char *read_error(struct proto_message *m, const msgpack_object *error)
{
    static const char wrong[] = "the reply's error is neither nil nor {status, object, reason}";
    uint64_t status;
    if (error->type == MSGPACK_OBJECT_NIL) return NULL;
    if (!proto_get_uint(error, "status", &status) || status == FUSION_SUCCESS) return wrong;
    m->status = status < FUSION_STATUS_COUNT ? (fusion_status)status : FUSION_INTERNAL;
    const char *failed = zone_text(m->zone, proto_get(error, "object"), SIZE_MAX, wrong, &m->object);
    return failed ? failed : zone_text(m->zone, proto_get(error, "reason"), SIZE_MAX, wrong, &m->reason);
}

static const char *read_elements(struct proto_message *m, const msgpack_object *root)
{
    if (root->type != MSGPACK_OBJECT_ARRAY || root->via.array.size < 3 ||
        root->via.array.ptr[0].type != MSGPACK_OBJECT_POSITIVE_INTEGER || root->via.array.ptr[0].via.u64 > PROTO_NOTICE)
        return "the message is not an array that begins with 0, 1 or 2";
    const msgpack_object *at = root->via.array.ptr;
    m->kind = (enum proto_kind)at[0].via.u64;
    if (root->via.array.size != (m->kind == PROTO_NOTICE ? 3 : 4)) return "the message has a wrong number of elements";
    m->params = at[root->via.array.size - 1];
    if (!is_map_or_nil(&m->params)) return "the message's parameters are neither a map nor nil";
    if (m->kind == PROTO_NOTICE) return read_method(m, &at[1]);
    const char *wrong = read_id(m, &at[1]);
    if (wrong) return wrong;
    return m->kind == PROTO_REQUEST ? read_method(m, &at[2]) : read_error(m, &at[2]);
}

/* Fills in m from its frame; NULL, or what is wrong. */
static const char *decode(struct proto_message *m)
{
    const uint8_t *body = m->frame + FRAME_HEADER;
    const char *wrong = cursor_check(body, m->size, PROTO_MAX_DEPTH, PROTO_MAX_OBJECTS);
    if (wrong) return wrong;
    m->zone = msgpack_zone_new(1024);
    msgpack_object root;
    size_t offset = 0;
    /* It is well-formed, so nothing but memory can be missing. */
    if (!m->zone || msgpack_unpack((const char *)body, m->size, &offset, m->zone, &root) != MSGPACK_UNPACK_SUCCESS)
        return no_memory;
    return read_elements(m, &root);
}

/* ---- from bytes to a body ---- */

static void take_fds(struct proto_reader *r, struct proto_message *m, uint32_t n)
{
    memcpy(m->fds, r->fds, n * sizeof(int));
    memmove(r->fds, r->fds + n, (r->n_fds - n) * sizeof(int));
    m->n_fds = n;
    r->n_fds -= n;
}

/* Gives back what a large message needed. */
static void shrink(struct proto_reader *r)
{
    if (r->capacity <= KEEP_BYTES || r->size > READ_STEP) return;
    uint8_t *data = realloc(r->data, 2 * READ_STEP);
    if (data) {
        r->data = data;
        r->capacity = 2 * READ_STEP;
    }
}

/* A large frame that is alone becomes the message's with its memory: no second copy of it exists. */
static bool is_handed_over(const struct proto_reader *r, size_t whole)
{
    return r->size == whole && r->capacity > KEEP_BYTES;
}

/* The reader has no more to do with the frame. */
static void drop_frame(struct proto_reader *r, size_t whole)
{
    if (is_handed_over(r, whole)) {
        r->data = NULL;
        r->size = r->capacity = 0;
        return;
    }
    memmove(r->data, r->data + whole, r->size - whole);
    r->size -= whole;
    shrink(r);
}

/* Decodes the first frame, which is whole. NULL, or what is wrong; without memory the frame stays where it is. */
static const char *take_frame(struct proto_reader *r, struct proto_message *m, uint32_t size, uint32_t fds)
{
    size_t whole = FRAME_HEADER + (size_t)size;
    bool shared = is_handed_over(r, whole);
    m->frame = shared ? r->data : malloc(whole);
    if (!m->frame) return no_memory;
    if (!shared) memcpy(m->frame, r->data, whole);
    m->size = size;
    m->close_fd = r->close_fd;
    m->close_data = r->close_data;
    const char *wrong = decode(m);
    if (wrong == no_memory) {
        if (shared) m->frame = NULL; /* still the reader's */
        return wrong;
    }
    take_fds(r, m, fds);
    drop_frame(r, whole);
    return wrong;
}

/* Looks at the header: does it keep the rules? */
static bool header_valid(struct proto_reader *r)
{
    uint32_t size = frame_body(r->data), fds = frame_fds(r->data);
    if (frame_magic(r->data) != FRAME_MAGIC) {
        violation(r, "the frame does not begin with a fusiond header");
    } else if (size > r->max_message) {
        char text[sizeof r->reason];
        snprintf(text, sizeof text, "the message has %u bytes; the largest allowed is %zu", size, r->max_message);
        violation(r, text);
    } else if (fds > PROTO_MAX_FDS) {
        char text[sizeof r->reason];
        snprintf(text, sizeof text, "the message has %u descriptors; at most %d are allowed", fds, PROTO_MAX_FDS);
        violation(r, text);
    }
    return !r->broken;
}

static int next(struct proto_reader *r, struct proto_message *m)
{
    if (r->broken) return -1;
    if (r->size == 0 && r->n_fds > 0) violation(r, "descriptors without a message");
    if (r->size < FRAME_HEADER) return r->broken ? -1 : 0;
    if (!header_valid(r)) return -1;
    uint32_t size = frame_body(r->data), fds = frame_fds(r->data);
    if (r->size < FRAME_HEADER + (size_t)size) return 0;
    if (r->n_fds < fds) {
        violation(r, "the message came without its descriptors");
        return -1;
    }
    const char *wrong = take_frame(r, m, size, fds);
    if (!wrong) return 1;
    if (wrong != no_memory) violation(r, wrong);
    proto_message_clear(m);
    return wrong == no_memory ? PROTO_NO_MEMORY : -1;
}

int proto_reader_next(struct proto_reader *r, struct proto_message *message, const char **reason)
{
    memset(message, 0, sizeof *message);
    int result = next(r, message);
    if (result < 0) *reason = result == PROTO_NO_MEMORY ? no_memory : r->reason;
    return result;
}

void proto_message_clear(struct proto_message *message)
{
    for (uint32_t i = 0; i < message->n_fds; i++)
        if (message->fds[i] >= 0) close_one(message->close_fd, message->close_data, message->fds[i]);
    if (message->zone) msgpack_zone_free(message->zone);
    free(message->frame);
    memset(message, 0, sizeof *message);
}
