/* Writing messages. */
#pragma once

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusiond/status.h"
#include "proto/limits.h"

/* A message that is being written; it must not be moved in memory meanwhile. */
struct proto_writer {
    msgpack_sbuffer buffer; /* header and body */
    msgpack_packer packer;
    int fds[PROTO_MAX_FDS]; /* not owned: duplicated by the daemon where they have to wait, else kept open by the caller
                               until sent */
    uint32_t n_fds;
    bool failed;    /* too large, or out of memory: told by proto_finish */
    bool no_memory; /* the latter */
};

/* Begins a message; the caller then packs exactly the params (a map or nil), e.g. with proto_pack_*. */
void proto_begin_request(struct proto_writer *w, uint32_t id, const char *method);
void proto_begin_reply(struct proto_writer *w, uint32_t id);
/* A whole reply, header included. */
void proto_write_error(struct proto_writer *w, uint32_t id, fusion_status status, const char *object,
                       const char *reason);
void proto_begin_notice(struct proto_writer *w, const char *method);
/* Fills in the header; the bytes are buffer.data, buffer.size. False where the message is too large. */
bool proto_finish(struct proto_writer *w);
void proto_writer_clear(struct proto_writer *w);
/* A finished message once more, without descriptors, to be sent. False: out of memory, and nothing to be cleared. */
bool proto_writer_copy(const struct proto_writer *from, struct proto_writer *to);

/* Packing of map entries. Lists: proto_pack_key, then msgpack_pack_array on w->packer. */
void proto_pack_map(struct proto_writer *w, uint32_t entries);
void proto_pack_key(struct proto_writer *w, const char *key);
void proto_pack_uint(struct proto_writer *w, const char *key, uint64_t value);
void proto_pack_int(struct proto_writer *w, const char *key, int64_t value);
void proto_pack_bool(struct proto_writer *w, const char *key, bool value);
void proto_pack_string(struct proto_writer *w, const char *key, const char *value); /* NULL packs nil */
/* A value that is msgpack already: the params of a message, or the value after a key. */
void proto_pack_raw(struct proto_writer *w, const void *msgpack, size_t size);
void proto_pack_bytes(struct proto_writer *w, const char *key, const void *bytes, size_t size);
