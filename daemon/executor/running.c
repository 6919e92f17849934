/* What runs now. */
#include "daemon/executor/running.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/executor/wait.h"
#include "daemon/executor/watchdog.h"
#include "proto/ring.h"

static struct {
    struct ring *ring;
    int event_fd;
    _Atomic uint64_t sequence, started_ns;
    const char *_Atomic kind, *_Atomic name;
    const struct running_slot *_Atomic slots;
    _Atomic uint32_t n_slots;
} running;

void running_init(struct ring *ring, int event_fd)
{
    running.ring = ring;
    running.event_fd = event_fd;
}

void running_begin(uint64_t sequence, const struct running_slot *slots, uint32_t n_slots)
{
    running_step("submission", "");
    atomic_store_explicit(&running.slots, slots, memory_order_relaxed);
    atomic_store_explicit(&running.n_slots, n_slots, memory_order_relaxed);
    atomic_store_explicit(&running.started_ns, wait_now_ns(), memory_order_relaxed);
    atomic_store(&running.sequence, sequence);
    watchdog_wake();
}

void running_step(const char *kind, const char *name)
{
    atomic_store_explicit(&running.kind, kind, memory_order_relaxed);
    atomic_store_explicit(&running.name, name, memory_order_release);
}

uint64_t running_sequence(uint64_t *started_ns)
{
    /* The time belongs to the sequence only if that is still the same afterwards. */
    for (;;) {
        uint64_t sequence = atomic_load(&running.sequence);
        *started_ns = atomic_load(&running.started_ns);
        if (atomic_load(&running.sequence) == sequence) return sequence;
    }
}

bool running_claim(uint64_t sequence)
{
    return atomic_compare_exchange_strong(&running.sequence, &sequence, 0);
}

bool running_take_over(uint64_t sequence)
{
    return sequence && sequence != RUNNING_ENDS &&
           atomic_compare_exchange_strong(&running.sequence, &sequence, RUNNING_ENDS);
}

void running_print(const char *text, size_t bytes, uint64_t dropped)
{
    char note[200] = "";
    bool fits = !bytes || ring_print(running.ring, text, bytes);
    if (!fits)
        snprintf(note, sizeof note,
                 "[printf: %zu bytes of a submission were dropped: the client has not taken what was printed before; "
                 "%d bytes are kept for it]\n",
                 bytes, RING_PRINT_BYTES);
    else if (dropped)
        snprintf(note, sizeof note, "[printf: %" PRIu64 " messages were dropped: a submission prints at most %d bytes]\n",
                 dropped, RING_PRINT_MOST);
    if (*note) ring_print(running.ring, note, strlen(note));
}

void running_complete(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object, const char *reason)
{
    ring_complete(running.ring, sequence, status, run_ns, object, reason);
    if (!atomic_load(&running.ring->wants_event)) return;
    /* Full: the other end is readable already. The client's end is another open file, so it cannot make this block. */
    send(running.event_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void running_fail(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object, const char *reason)
{
    ring_set_state(running.ring, RING_RESTARTING);
    running_complete(sequence, status, run_ns, object, reason);
}

void running_resume(void)
{
    ring_set_state(running.ring, RING_RUNNING);
}

void running_what(const char **kind, const char **name)
{
    *name = atomic_load(&running.name);
    *kind = atomic_load(&running.kind);
}

uint32_t running_slots(const struct running_slot **slots)
{
    *slots = atomic_load(&running.slots);
    return atomic_load(&running.n_slots);
}
