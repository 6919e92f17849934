/*
 * The ring of a host pipe: memory that a client and its executor share. One side writes packets and the other reads
 * them; each says how far it is, and takes what the other says for a number that may be anything. Who finds nothing to
 * do sleeps at the other's number until that changes.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { PIPE_RING_MAGIC = 0x46504950, PIPE_RING_VERSION = 1 };

enum pipe_ring_end { PIPE_RING_READER, PIPE_RING_WRITER };

/* A line of the cache for each side, so that they do not take them from each other. */
struct pipe_ring_side {
    alignas(64) _Atomic uint64_t done; /* packets taken or put, ever; its low half is what the other side sleeps at */
    _Atomic uint32_t other_sleeps;     /* the other side sleeps, or is about to */
};

struct pipe_ring {
    uint32_t magic, version;
    uint32_t packet_size, capacity;
    _Atomic uint32_t run; /* changes when another executor has it */
    struct pipe_ring_side side[2];
    alignas(64) uint8_t packets[]; /* number n lies at n % capacity */
};

static inline uint64_t pipe_ring_bytes(uint64_t packet_size, uint64_t capacity)
{
    return sizeof(struct pipe_ring) + capacity * packet_size;
}

/* The client: in memory that is all zeros. */
void pipe_ring_init(struct pipe_ring *r, uint32_t packet_size, uint32_t capacity);
/* Is it one of these packets, in so many bytes? NULL, or what is wrong. */
const char *pipe_ring_check(const struct pipe_ring *r, uint64_t bytes, uint32_t packet_size, uint32_t capacity);

/* One end, as its side knows it: what it trusts is in memory of its own. */
struct pipe_ring_port {
    struct pipe_ring *ring;
    uint8_t *packets;
    uint32_t packet_size, capacity;
    enum pipe_ring_end end;
    uint64_t own, other; /* packets done by this side, and by the other as it was seen last */
    bool broken;         /* the other side's number cannot be */
};

/* Goes on where the ring says that this side is. False: it says what cannot be. */
bool pipe_ring_open(struct pipe_ring_port *p, struct pipe_ring *r, uint32_t packet_size, uint32_t capacity,
                    enum pipe_ring_end end);
/* Packets to read, or room to write, as far as is known; look: asks the other side. At most the capacity. */
uint32_t pipe_ring_ready(struct pipe_ring_port *p, bool look);
/* Where packet i of those that are ready lies, and how many of the next n lie behind it without a gap. */
uint8_t *pipe_ring_at(const struct pipe_ring_port *p, uint64_t i);
uint32_t pipe_ring_straight(const struct pipe_ring_port *p, uint32_t n);
/* n packets are read or written: the other side sees that, and wakes up. */
void pipe_ring_advance(struct pipe_ring_port *p, uint32_t n);
/* Sleeps until the other side has done something, or is said to be new, or the time is over: may return early. The
   caller looks again. */
void pipe_ring_sleep(struct pipe_ring_port *p, uint64_t timeout_ns);
/* A new executor has the ring: whoever sleeps there is to look. */
void pipe_ring_renew(struct pipe_ring *r);

/* ---- words that are slept at ---- */

/* Looks at *word for a moment, then sleeps while its low half is `seen`; timeout_ns 0: no limit. */
void pipe_wait_word(_Atomic uint64_t *word, uint64_t seen, uint64_t timeout_ns);
/* Sleeps for so long, unless *word is not `value` any more when it begins. */
void pipe_nap(uint32_t *word, uint32_t value, uint64_t ns);
void pipe_wake_word(_Atomic uint64_t *word);
/* A moment of looking before one sleeps: true where *word has changed. */
bool pipe_spin_word(const _Atomic uint64_t *word, uint64_t seen);
