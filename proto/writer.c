/* Writing messages. */
#include "proto/writer.h"

#include <string.h>

#include "proto/header.h"

enum { MAX_ERROR_TEXT = 1 << 20 };

static int write_bytes(void *data, const char *bytes, size_t size)
{
    struct proto_writer *w = data;
    bool fits = !w->failed && size <= FRAME_HEADER + (size_t)PROTO_MAX_MESSAGE - w->buffer.size;
    if (fits && msgpack_sbuffer_write(&w->buffer, bytes, size) == 0) return 0;
    if (fits) w->no_memory = true;
    w->failed = true;
    return -1;
}

static void begin(struct proto_writer *w, enum proto_kind kind, size_t elements)
{
    static const char header[FRAME_HEADER];
    memset(w, 0, sizeof *w);
    msgpack_sbuffer_init(&w->buffer);
    msgpack_packer_init(&w->packer, w, write_bytes);
    write_bytes(w, header, sizeof header);
    msgpack_pack_array(&w->packer, elements);
    msgpack_pack_uint8(&w->packer, (uint8_t)kind);
}

static void pack_text(struct proto_writer *w, const char *text, size_t max)
{
    if (text)
        msgpack_pack_str_with_body(&w->packer, text, max < SIZE_MAX ? strnlen(text, max) : strlen(text));
    else
        msgpack_pack_nil(&w->packer);
}

void proto_begin_request(struct proto_writer *w, uint32_t id, const char *method)
{
    begin(w, PROTO_REQUEST, 4);
    msgpack_pack_uint32(&w->packer, id);
    pack_text(w, method, PROTO_MAX_NAME);
}

void proto_begin_reply(struct proto_writer *w, uint32_t id)
{
    begin(w, PROTO_REPLY, 4);
    msgpack_pack_uint32(&w->packer, id);
    msgpack_pack_nil(&w->packer);
}

void proto_write_error(struct proto_writer *w, uint32_t id, fusion_status status, const char *object,
                       const char *reason)
{
    begin(w, PROTO_REPLY, 4);
    msgpack_pack_uint32(&w->packer, id);
    proto_pack_map(w, 3);
    proto_pack_uint(w, "status", status);
    proto_pack_key(w, "object");
    pack_text(w, object ? object : "", MAX_ERROR_TEXT);
    proto_pack_key(w, "reason");
    pack_text(w, reason ? reason : "", MAX_ERROR_TEXT);
    msgpack_pack_nil(&w->packer);
    proto_finish(w);
}

void proto_begin_notice(struct proto_writer *w, const char *method)
{
    begin(w, PROTO_NOTICE, 3);
    pack_text(w, method, PROTO_MAX_NAME);
}

bool proto_finish(struct proto_writer *w)
{
    if (w->failed || w->n_fds > PROTO_MAX_FDS) return false;
    frame_put_header((uint8_t *)w->buffer.data, (uint32_t)(w->buffer.size - FRAME_HEADER), (uint16_t)w->n_fds);
    return true;
}

void proto_writer_clear(struct proto_writer *w)
{
    msgpack_sbuffer_destroy(&w->buffer);
    memset(w, 0, sizeof *w);
}

bool proto_writer_copy(const struct proto_writer *from, struct proto_writer *to)
{
    memset(to, 0, sizeof *to);
    msgpack_sbuffer_init(&to->buffer);
    if (msgpack_sbuffer_write(&to->buffer, from->buffer.data, from->buffer.size) == 0) return true;
    proto_writer_clear(to);
    return false;
}

void proto_pack_map(struct proto_writer *w, uint32_t entries)
{
    msgpack_pack_map(&w->packer, entries);
}

void proto_pack_key(struct proto_writer *w, const char *key)
{
    msgpack_pack_str_with_body(&w->packer, key, strlen(key));
}

void proto_pack_uint(struct proto_writer *w, const char *key, uint64_t value)
{
    proto_pack_key(w, key);
    msgpack_pack_uint64(&w->packer, value);
}

void proto_pack_int(struct proto_writer *w, const char *key, int64_t value)
{
    proto_pack_key(w, key);
    msgpack_pack_int64(&w->packer, value);
}

void proto_pack_bool(struct proto_writer *w, const char *key, bool value)
{
    proto_pack_key(w, key);
    if (value)
        msgpack_pack_true(&w->packer);
    else
        msgpack_pack_false(&w->packer);
}

void proto_pack_string(struct proto_writer *w, const char *key, const char *value)
{
    proto_pack_key(w, key);
    pack_text(w, value, SIZE_MAX);
}

void proto_pack_bytes(struct proto_writer *w, const char *key, const void *bytes, size_t size)
{
    proto_pack_key(w, key);
    msgpack_pack_bin(&w->packer, size);
    msgpack_pack_bin_body(&w->packer, bytes, size);
}

void proto_pack_raw(struct proto_writer *w, const void *msgpack, size_t size)
{
    write_bytes(w, msgpack, size);
}
