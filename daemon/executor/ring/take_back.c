/* Bringing back contents that only a device has. */
#include "daemon/executor/ring/take_back.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/ring/relay.h"
#include "daemon/executor/ring/submission.h"
#include "daemon/executor/run/running.h"
#include "proto/include/fusiond/status.h"

static struct ring_binding binding_at(const uint8_t *entry, uint32_t i)
{
    struct ring_binding b;
    memcpy(&b, entry + sizeof(struct ring_entry) + i * sizeof b, sizeof b);
    return b;
}

void take_back_by_relay(struct submission *s)
{
    enum { TRIES = 3 }; /* one that dies meanwhile has another in its place, which knows what was lost */
    for (int i = 0; i == 0 || (i < TRIES && s->error.code == FUSION_EXECUTOR); i++) {
        error_clear(&s->error);
        if (relay_run(s->entry, &s->run_ns, &s->error) == 0) return;
    }
    for (uint32_t i = 0; i < s->header.n_bindings; i++) {
        struct ring_binding b = binding_at(s->entry, i);
        struct buffer *buffer = b.host & RING_NEXT_FAILS ? buffers_get(s->context.buffers, b.buffer) : NULL;
        if (buffer) buffer->lost = true;
        buffers_put(buffer);
    }
}

static int take_one(const struct submission *s, const struct ring_binding *b, struct error *e)
{
    char object[40];
    struct buffer *buffer = buffers_get(s->context.buffers, b->buffer);
    if (!buffer) return 0; /* released meanwhile */
    int result = buffer_bring_back(buffer, b->host & RING_HOST_WRITES, e);
    snprintf(object, sizeof object, "buffer %" PRIu64, b->buffer);
    if (result == 0 && buffer_was_lost(buffer)) result = error_set(e, FUSION_LOST, object, "%s", submission_lost);
    buffers_put(buffer);
    return result;
}

void take_back(struct submission *s)
{
    int result = 0;
    running_step("copy from device", "");
    for (uint32_t i = 0; i < s->header.n_bindings && result == 0; i++) {
        struct ring_binding b = binding_at(s->entry, i);
        result = take_one(s, &b, &s->error);
    }
}
