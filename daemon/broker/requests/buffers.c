/* Buffers of a session. */
#include "daemon/broker/requests/buffers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/broker/core/closing.h"
#include "daemon/broker/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct buffer {
    uint64_t id, bytes, address;
    uint64_t offset; /* where its data begin in the memory */
    uint64_t size;   /* of its memory, all of it: what others can make us hold */
    int fd;
    struct operation *attaching; /* NULL: the session's executors have it */
    uint32_t replies_due;        /* of executors, while it is being attached */
};

/* The memory counts whole, whether it is filled yet or not: the seals keep it from growing, and whoever fills it does
   not ask again. Descriptors count twice: one more is on its way to an executor. */
static struct user_cost cost_of(const struct buffer *b)
{
    return (struct user_cost){
        .of = {[USER_BYTES] = sizeof *b, [USER_DESCRIPTORS] = 2, [USER_OBJECTS] = 1, [USER_SHARED] = b->size}};
}

static void free_buffer(struct session *s, struct buffer *b)
{
    struct user_cost cost = cost_of(b);
    session_refund(s, &cost);
    closing_close(b->fd); /* large memory takes its time to go */
    free(b);
}

static void send_attach(struct executor *executor, const struct buffer *b)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(executor);
    proto_begin_request(&w, id, "buffer.attach");
    proto_pack_map(&w, 4);
    proto_pack_uint(&w, "buffer", b->id);
    proto_pack_uint(&w, "bytes", b->bytes);
    proto_pack_uint(&w, "address", b->address);
    proto_pack_uint(&w, "offset", b->offset);
    w.fds[w.n_fds++] = b->fd;
    executor_request(executor, id, &w, EXECUTOR_BUFFER, b->id);
}

/* Memory that cannot change its size while others have it mapped. The seals come first: what has them is a memfd, of
   which nothing blocks; anything else is not touched. */
static bool check_memory(struct session *s, struct proto_message *m, struct buffer *b)
{
    struct stat status;
    int seals = fcntl(m->fds[0], F_GET_SEALS);
    if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
        return request_fail(s, m, FUSION_INVALID, "buffer",
                            "its descriptor is not a memfd sealed against shrinking "
                            "and growing");
    if (fstat(m->fds[0], &status) != 0 || b->bytes == 0 || (uint64_t)status.st_size < b->bytes ||
        (uint64_t)status.st_size - b->bytes < b->offset)
        return request_fail(s, m, FUSION_INVALID, "buffer", "its memory has %lld bytes, not %llu from byte %llu on",
                            (long long)status.st_size, (unsigned long long)b->bytes, (unsigned long long)b->offset);
    b->size = (uint64_t)status.st_size;
    return true;
}

static bool check_attach(struct session *s, struct proto_message *m, struct buffer *b)
{
    if (!request_uint(s, m, "buffer", &b->id) || !request_uint(s, m, "bytes", &b->bytes) ||
        !request_uint(s, m, "address", &b->address))
        return false;
    if (proto_get(&m->params, "offset") && !request_uint(s, m, "offset", &b->offset)) return false;
    if (m->n_fds != 1) return request_fail(s, m, FUSION_INVALID, "buffer", "it came without a descriptor");
    if (b->id == 0 || map_get(&s->buffers, b->id))
        return request_fail(s, m, FUSION_INVALID, "buffer", "the number %llu is 0 or in use",
                            (unsigned long long)b->id);
    if (s->buffers.count >= PROTO_MAX_BUFFERS)
        return request_fail(s, m, FUSION_OUT_OF_MEMORY, "buffer",
                            "the session has %u buffers attached, the most it "
                            "may have",
                            s->buffers.count);
    return check_memory(s, m, b);
}

static void cancel(struct operation *o)
{
    free(o);
}

void buffer_attach(struct session *s, struct proto_message *m)
{
    struct buffer wanted = {0};
    if (!check_attach(s, m, &wanted)) return;
    struct user_cost cost = cost_of(&wanted);
    struct error error;
    if (!session_charge(s, &cost, &error)) {
        error_about(&error, "buffer");
        session_fail(s, m->id, &error);
        return;
    }
    struct buffer *b = malloc(sizeof *b);
    struct operation *o = malloc(sizeof *o);
    if (!b || !o || !map_put(&s->buffers, wanted.id, b)) {
        session_refund(s, &cost);
        free(b);
        free(o);
        request_fail(s, m, FUSION_OUT_OF_MEMORY, "buffer", "out of memory");
        return;
    }
    *b = wanted;
    b->fd = m->fds[0];
    m->fds[0] = -1;
    b->attaching = o;
    operation_begin(o, &s->operations, m, cancel);
    o->settled = true; /* the executor answers to it */
    b->replies_due = s->gpu.executor ? 2 : 1;
    send_attach(s->executor, b);
    if (s->gpu.executor) send_attach(s->gpu.executor, b);
}

void buffer_replied(struct session *s, uint64_t id, const struct proto_message *reply)
{
    struct buffer *b = map_get(&s->buffers, id);
    if (!b) return; /* released meanwhile */
    if (b->replies_due > 0) b->replies_due--;
    if (reply->status == FUSION_SUCCESS && b->replies_due > 0) return;
    struct operation *o = b->attaching;
    b->attaching = NULL;
    if (reply->status != FUSION_SUCCESS) {
        map_remove(&s->buffers, id);
        free_buffer(s, b);
    }
    if (!o) return;
    operation_end(o);
    if (reply->status == FUSION_SUCCESS) {
        request_done(s, o->request);
    } else {
        struct error error;
        error_set(&error, reply->status, reply->object, "%s", reply->reason);
        session_fail(s, o->request, &error);
    }
    free(o);
}

static void send_release(struct executor *executor, uint64_t id)
{
    struct proto_writer w;
    uint32_t request = executor_next_id(executor);
    proto_begin_request(&w, request, "buffer.release");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "buffer", id);
    executor_request(executor, request, &w, EXECUTOR_NOTHING, 0);
}

void buffer_release(struct session *s, struct proto_message *m)
{
    uint64_t id;
    if (!request_uint(s, m, "buffer", &id)) return;
    struct buffer *b = map_get(&s->buffers, id);
    if (!b || b->attaching) {
        request_fail(s, m, FUSION_NOT_FOUND, "buffer", "the session has no buffer %llu attached",
                     (unsigned long long)id);
        return;
    }
    map_remove(&s->buffers, id);
    free_buffer(s, b);
    send_release(s->executor, id);
    if (s->gpu.executor) send_release(s->gpu.executor, id);
    request_done(s, m->id);
}

/* An executor that has gone does not answer: what was sent to it is counted again. */
void buffers_replay(struct session *s, struct executor *executor)
{
    uint32_t position = 0;
    for (struct map_entry *e; (e = map_next(&s->buffers, &position));) {
        struct buffer *b = e->pointer;
        if (b->attaching && b->replies_due == 0) b->replies_due = 1;
        send_attach(executor, b);
    }
}

void buffers_clear(struct session *s)
{
    uint32_t position = 0;
    for (struct map_entry *e; (e = map_next(&s->buffers, &position));) free_buffer(s, e->pointer);
    map_clear(&s->buffers);
}
