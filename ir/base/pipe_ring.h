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
#include <string.h>

enum { PIPE_RING_MAGIC = 0x46504950, PIPE_RING_VERSION = 2 };

enum pipe_ring_end { PIPE_RING_READER, PIPE_RING_WRITER };

/* A line of the cache for each side, so that they do not take them from each other. */
struct pipe_ring_side {
    alignas(64) _Atomic uint64_t done; /* packets taken or put, ever; its low half is what the other side sleeps at */
    _Atomic uint64_t slept_at; /* the other side's: it sleeps, or is about to, or did, while `done` is one less */
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
    uint64_t woken_at;   /* the sleep from which the other was woken last: nobody sleeps at one number twice */
    bool broken;         /* the other side's number cannot be */
};

/* Goes on where the ring says that this side is. False: it says what cannot be. */
bool pipe_ring_open(struct pipe_ring_port *p, struct pipe_ring *r, uint32_t packet_size, uint32_t capacity,
                    enum pipe_ring_end end);
/* Packets to read, or room to write: what the other side says now. At most the capacity. */
uint32_t pipe_ring_look(struct pipe_ring_port *p);
void pipe_ring_wake(struct pipe_ring_port *p, uint64_t slept_at);

/* What is done for each packet is here, so that it is part of what its callers do. */

/* The same, as far as is known. */
static inline uint32_t pipe_ring_ready(const struct pipe_ring_port *p)
{
    return (uint32_t)((p->end == PIPE_RING_WRITER ? p->capacity : 0) + p->other - p->own);
}

/* The place of a packet; most capacities are powers of two, and dividing takes as long as all the rest. */
static inline uint64_t pipe_ring_slot(uint64_t number, uint32_t capacity)
{
    return capacity & (capacity - 1) ? number % capacity : number & (capacity - 1);
}

/* Where packet i of those that are ready lies. */
static inline uint8_t *pipe_ring_at(const struct pipe_ring_port *p, uint64_t i)
{
    return p->packets + pipe_ring_slot(p->own + i, p->capacity) * p->packet_size;
}

/* How many of the next n packets lie without a gap. */
static inline uint32_t pipe_ring_straight(const struct pipe_ring_port *p, uint32_t n)
{
    uint64_t left = p->capacity - pipe_ring_slot(p->own, p->capacity);
    return n < left ? n : (uint32_t)left;
}

/* n packets are read or written: the other side sees that, and wakes up. Neither waits here until others see what was
   stored: see pipe_ring_sleep(). */
static inline void pipe_ring_advance(struct pipe_ring_port *p, uint32_t n)
{
    struct pipe_ring_side *side = &p->ring->side[p->end];
    p->own += n;
    atomic_store_explicit(&side->done, p->own, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t slept_at = atomic_load_explicit(&side->slept_at, memory_order_relaxed);
    if (slept_at != p->woken_at) pipe_ring_wake(p, slept_at);
}

/* Between processes a copy of a few bytes, without a call where the size is a usual one. */
static inline void pipe_ring_copy(void *to, const void *from, uint64_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

/* Has the other side done something, a moment later? */
bool pipe_ring_spin(const struct pipe_ring_port *p);
/* Sleeps until the other side has done something, or is said to be new, or the time is over (0: no limit): may return
   early. The caller looks again. */
void pipe_ring_sleep(struct pipe_ring_port *p, uint64_t timeout_ns);
/* A new executor has the ring: whoever sleeps there is to look. */
void pipe_ring_renew(struct pipe_ring *r);

/* ---- words that are slept at ---- */

/*
 * Sleeps while the low half of *word is `seen`, timeout_ns at most (0: no limit): may return early.
 *
 * Who changes the word stores it, then looks whether somebody sleeps: nothing makes a processor do one after the other,
 * as that would take longer than all the rest of a packet. So who is about to sleep says so, looks at the word for a
 * moment (PIPE_SPIN_SAID), in which a store comes through that was under way, and then sleeps, but never for long.
 */
void pipe_wait_word(_Atomic uint64_t *word, uint64_t seen, uint64_t timeout_ns);
/* Sleeps for so long, unless *word is not `value` any more when it begins. */
void pipe_nap(uint32_t *word, uint32_t value, uint64_t ns);
void pipe_wake_word(_Atomic uint64_t *word);
/* Looks so often, and says whether *word has changed: before one sleeps, whether it is worth it, which takes as long as
   a fraction of waking up; and when one has said that one sleeps. */
enum { PIPE_SPIN_BEFORE = 100, PIPE_SPIN_SAID = 20 };
bool pipe_spin_word(const _Atomic uint64_t *word, uint64_t seen, int rounds);
