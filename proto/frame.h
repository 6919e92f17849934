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
#include "proto/header.h"
#include "proto/limits.h"

typedef void proto_close(void *data, int fd);

/* A received message: body and zone own everything it points to. */
struct proto_message {
    enum proto_kind kind;
    uint32_t id;
    const char *method;          /* NULL in replies; not longer than PROTO_MAX_NAME, NUL-terminated */
    fusion_status status;        /* replies */
    const char *object, *reason; /* replies with an error; never NULL then */
    msgpack_object params;       /* params or result: a map or nil */
    int fds[PROTO_MAX_FDS];
    uint32_t n_fds;        /* taken ones are set to -1 by the taker; the rest is closed with the message */
    proto_close *close_fd; /* as the reader was told; NULL: close() */
    void *close_data;
    msgpack_zone *zone; /* msgpack objects and the strings above */
    uint8_t *frame;     /* header and body: contents of msgpack's strings and bytes */
    size_t size;        /* bytes of the body */
};

/* An incremental decoder of one direction of a connection. */
struct proto_reader;
struct proto_reader *proto_reader_new(size_t max_message); /* at most PROTO_MAX_MESSAGE */
void proto_reader_free(struct proto_reader *r);            /* closes descriptors not handed out */
/* Whatever the reader, and the messages that it gives, close is closed by this function: closing a stranger's
   descriptor may block. */
void proto_reader_close_with(struct proto_reader *r, proto_close *close_fd, void *data);
/* Reads what is there with recvmsg (never more than a bounded amount per call). 1: progress or nothing
   there yet, 0: end of stream, -1: error (errno). */
int proto_reader_fill(struct proto_reader *r, int fd);
/* What it holds of messages that are not whole: bytes, and descriptors. */
size_t proto_reader_bytes(const struct proto_reader *r);
uint32_t proto_reader_fds(const struct proto_reader *r);
/* proto_reader_fill for bytes that came otherwise (tests, fuzzer). */
void proto_reader_feed(struct proto_reader *r, const void *bytes, size_t size, const int *fds, uint32_t n_fds);
/* The next whole message: 1 and message, 0 none yet, -1 violation of the protocol with a reason, PROTO_NO_MEMORY with
   the same: it is still there, to be asked for again. */
enum { PROTO_NO_MEMORY = -2 };
int proto_reader_next(struct proto_reader *r, struct proto_message *message, const char **reason);
void proto_message_clear(struct proto_message *message);
