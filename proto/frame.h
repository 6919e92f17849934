/*
 * Framing: how messages and file descriptors travel over a stream socket. docs/protocol.md.
 *
 * A frame is an 8-byte header (little endian: u32 bytes of the body, u16 number of descriptors, u16 magic
 * 0x4631 "F1") and a body: one msgpack array
 *   request  [0, id, method, params]      id: u32 chosen by the sender; params: a map
 *   reply    [1, id, error, result]       error: nil or {status, object, reason}; result: nil or a map
 *   notice   [2, method, params]
 * Descriptors arrive with the first byte of the body or earlier (SCM_RIGHTS).
 */
#pragma once

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusiond/status.h"
#include "proto/limits.h"

enum proto_kind { PROTO_REQUEST, PROTO_REPLY, PROTO_NOTICE };

/* A received message: body and zone own everything it points to. */
struct proto_message {
    enum proto_kind kind;
    uint32_t id;
    const char *method; /* NULL in replies; not longer than PROTO_MAX_NAME, NUL-terminated */
    fusion_status status; /* replies */
    const char *object, *reason; /* replies with an error; never NULL then */
    msgpack_object params; /* params or result: a map or nil */
    int fds[PROTO_MAX_FDS];
    uint32_t n_fds; /* taken ones are set to -1 by the taker; the rest is closed with the message */
    void (*close_fd)(int fd); /* as the reader was told; NULL: close() */
    msgpack_zone *zone; /* msgpack objects and the strings above */
    uint8_t *body;      /* contents of msgpack's strings and bytes */
    size_t size;        /* bytes of the body */
};

/* A message that is being written; it must not be moved in memory meanwhile. */
struct proto_writer {
    msgpack_sbuffer buffer; /* header and body */
    msgpack_packer packer;
    int fds[PROTO_MAX_FDS]; /* not owned: duplicated when queued by the daemon, kept open by the caller until sent */
    uint32_t n_fds;
    bool failed;    /* too large, or out of memory: told by proto_finish */
    bool no_memory; /* the latter */
};

/* Begins a message; the caller then packs exactly the params (a map or nil), e.g. with proto_pack_*. */
void proto_begin_request(struct proto_writer *w, uint32_t id, const char *method);
void proto_begin_reply(struct proto_writer *w, uint32_t id);
/* A whole reply, header included. */
void proto_write_error(struct proto_writer *w, uint32_t id, fusion_status status, const char *object, const char *reason);
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

/* Reading of map entries; false where the key is missing or has another type. Strings and bytes point
   into the message. */
const msgpack_object *proto_get(const msgpack_object *map, const char *key);
bool proto_get_uint(const msgpack_object *map, const char *key, uint64_t *value);
bool proto_get_bool(const msgpack_object *map, const char *key, bool *value);
bool proto_get_bytes(const msgpack_object *map, const char *key, const void **bytes, size_t *size); /* bin */
/* A copy to be freed; false where longer than max or with a NUL inside. */
bool proto_get_string(const msgpack_object *map, const char *key, char **value, size_t max);

/* An incremental decoder of one direction of a connection. */
struct proto_reader;
struct proto_reader *proto_reader_new(size_t max_message); /* at most PROTO_MAX_MESSAGE */
void proto_reader_free(struct proto_reader *r);            /* closes descriptors not handed out */
/* Whatever the reader, and the messages that it gives, close is closed by this function: closing a stranger's
   descriptor may block. */
void proto_reader_close_with(struct proto_reader *r, void (*close_fd)(int fd));
/* Reads what is there with recvmsg (never more than a bounded amount per call). 1: progress or nothing
   there yet, 0: end of stream, -1: error (errno). */
int proto_reader_fill(struct proto_reader *r, int fd);
/* What it holds of messages that are not whole: bytes, and descriptors. */
size_t proto_reader_bytes(const struct proto_reader *r);
uint32_t proto_reader_fds(const struct proto_reader *r);
/* proto_reader_fill for bytes that came otherwise (tests, fuzzer). */
void proto_reader_feed(struct proto_reader *r, const void *bytes, size_t size, const int *fds, uint32_t n_fds);
/* The next whole message: 1 and message, 0 none yet, -1 violation of the protocol with a reason. */
int proto_reader_next(struct proto_reader *r, struct proto_message *message, const char **reason);
void proto_message_clear(struct proto_message *message);

/* Blocking send and receive for processes without a loop (client, compiler, executor). deadline: CLOCK_MONOTONIC
   in ms, 0: none. 0 or -1 with errno (ETIMEDOUT, EPIPE ...); reason is set with EPROTO and EPIPE only. */
int proto_send(int fd, const struct proto_writer *w, uint64_t deadline_ms);
/* The same for a message whose first *sent bytes are sent already: it can go on where it ran out of time. The descriptors
   go with the first byte. */
int proto_send_from(int fd, const struct proto_writer *w, size_t *sent, uint64_t deadline_ms);
int proto_receive(int fd, struct proto_reader *r, struct proto_message *message, uint64_t deadline_ms, const char **reason);
