/*
 * A connection to a Redis or Valkey server on the broker's loop: commands out, their answers in, in the same order. The
 * server is a stranger: whatever it sends that is no answer to what was asked, or too long, ends the connection.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct redis_link;

enum redis_answer {
    REDIS_LOST,   /* the connection has ended before it came */
    REDIS_ABSENT, /* there is nothing of the name, or the server refuses */
    REDIS_DONE,
    REDIS_BYTES
};

/* bytes are there during the call only. */
typedef void redis_answer_fn(void *data, enum redis_answer answer, const void *bytes, size_t size);

struct redis_link_events {
    void (*up)(void *data); /* commands are taken from now on */
    /* It is of no use any more, and is to be closed. reason is there during the call only. */
    void (*lost)(void *data, const char *reason);
};

struct redis_word {
    const void *bytes;
    size_t size;
};

/* address: path of a socket (port 0), or a number. most: bytes that an answer may have. Events come from the loop.
   NULL: no memory, or an address that is none. */
struct redis_link *redis_link_open(uv_loop_t *loop, const char *address, int port, size_t most,
                                   const struct redis_link_events *events, void *data);
/* No event comes any more; what has no answer is answered now (REDIS_LOST). NULL is fine. */
void redis_link_close(struct redis_link *link);
/* The words are copied. False: it cannot be sent, and is not answered. */
bool redis_link_send(struct redis_link *link, const struct redis_word *words, unsigned n, redis_answer_fn *answer,
                     void *data);
