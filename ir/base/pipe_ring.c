/* Rings of host pipes. */
#include "ir/base/pipe_ring.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void pipe_ring_init(struct pipe_ring *r, uint32_t packet_size, uint32_t capacity)
{
    r->magic = PIPE_RING_MAGIC;
    r->version = PIPE_RING_VERSION;
    r->packet_size = packet_size;
    r->capacity = capacity;
}

const char *pipe_ring_check(const struct pipe_ring *r, uint64_t bytes, uint32_t packet_size, uint32_t capacity)
{
    if (bytes < pipe_ring_bytes(packet_size, capacity)) return "has too little memory for its packets";
    if (r->magic != PIPE_RING_MAGIC || r->version != PIPE_RING_VERSION) return "is in memory that holds no ring";
    if (r->packet_size != packet_size || r->capacity != capacity) return "has other packets in its ring";
    return NULL;
}

bool pipe_ring_open(struct pipe_ring_port *p, struct pipe_ring *r, uint32_t packet_size, uint32_t capacity,
                    enum pipe_ring_end end)
{
    *p = (struct pipe_ring_port){
        .ring = r, .packets = r->packets, .packet_size = packet_size, .capacity = capacity, .end = end};
    p->own = atomic_load(&r->side[end].done);
    p->other = p->own; /* known soon */
    if (end == PIPE_RING_WRITER) p->other -= capacity;
    pipe_ring_look(p);
    return !p->broken;
}

uint32_t pipe_ring_look(struct pipe_ring_port *p)
{
    bool writes = p->end == PIPE_RING_WRITER;
    uint64_t other = atomic_load_explicit(&p->ring->side[!p->end].done, memory_order_acquire);
    uint64_t ready = writes ? p->capacity - (p->own - other) : other - p->own;
    p->broken |= ready > p->capacity;
    if (!p->broken) p->other = other;
    return pipe_ring_ready(p);
}

void pipe_ring_wake(struct pipe_ring_port *p, uint64_t slept_at)
{
    p->woken_at = slept_at;
    pipe_wake_word(&p->ring->side[p->end].done);
}

bool pipe_ring_spin(const struct pipe_ring_port *p)
{
    return pipe_spin_word(&p->ring->side[!p->end].done, p->other, PIPE_SPIN_BEFORE);
}

void pipe_ring_sleep(struct pipe_ring_port *p, uint64_t timeout_ns)
{
    struct pipe_ring_side *other = &p->ring->side[!p->end];
    atomic_store(&other->slept_at, p->other + 1);
    if (!pipe_spin_word(&other->done, p->other, PIPE_SPIN_SAID)) pipe_wait_word(&other->done, p->other, timeout_ns);
}

void pipe_ring_renew(struct pipe_ring *r)
{
    atomic_fetch_add(&r->run, 1);
    for (int i = 0; i < 2; i++) pipe_wake_word(&r->side[i].done);
}

/* ---- words ---- */

/* The kernel looks at 32 bits. */
static uint32_t *low_half(_Atomic uint64_t *word)
{
    return (uint32_t *)(void *)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

void pipe_nap(uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec t = {0, (long)ns};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

void pipe_wait_word(_Atomic uint64_t *word, uint64_t seen, uint64_t timeout_ns)
{
    enum { MOST_NS = 100000000 };
    struct timespec t = {0, (long)(timeout_ns && timeout_ns < MOST_NS ? timeout_ns : MOST_NS)};
    if (atomic_load(word) != seen) return;
    syscall(SYS_futex, low_half(word), FUTEX_WAIT, (uint32_t)seen, &t, NULL, 0);
}

void pipe_wake_word(_Atomic uint64_t *word)
{
    syscall(SYS_futex, low_half(word), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool pipe_spin_word(const _Atomic uint64_t *word, uint64_t seen, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != seen) return true;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    return false;
}
