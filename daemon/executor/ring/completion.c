/* Completions. */
#include "daemon/executor/ring/completion.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/ring_wait.h"

static struct {
    struct ring *ring;
    int event_fd;
    _Atomic uint64_t oldest; /* of the submissions that are not complete */
} completion;

void completion_init(struct ring *ring, int event_fd)
{
    completion.ring = ring;
    completion.event_fd = event_fd;
}

void completion_print(const char *text, size_t bytes, uint64_t dropped)
{
    char note[200] = "";
    bool fits = !bytes || ring_print(completion.ring, text, bytes);
    if (!fits)
        snprintf(note, sizeof note,
                 "[printf: %zu bytes of a submission were dropped: the client has not taken what was printed before; "
                 "%d bytes are kept for it]\n",
                 bytes, RING_PRINT_BYTES);
    else if (dropped)
        snprintf(note, sizeof note,
                 "[printf: %" PRIu64 " messages were dropped: a submission prints at most %d bytes]\n", dropped,
                 RING_PRINT_MOST);
    if (*note) ring_print(completion.ring, note, strlen(note));
}

void completion_moved(uint64_t to_device, uint64_t from_device)
{
    atomic_store(&completion.ring->to_device, to_device);
    atomic_store(&completion.ring->from_device, from_device);
}

bool completion_wants_times(void)
{
    return atomic_load_explicit(&completion.ring->wants_times, memory_order_relaxed);
}

bool completion_is_cancelled(uint64_t sequence)
{
    return ring_is_cancelled(completion.ring, sequence);
}

void completion_time(const struct ring_time *time)
{
    ring_tell_time(completion.ring, time);
}

static void tell_event(void)
{
    if (!atomic_load(&completion.ring->wants_event)) return;
    /* Full: the other end is readable already. The client's end is another open file, so it cannot make this block. */
    send(completion.event_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void completion_oldest(uint64_t sequence)
{
    atomic_store_explicit(&completion.oldest, sequence, memory_order_relaxed);
}

void completion_tell(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object, const char *reason)
{
    if (sequence == atomic_load_explicit(&completion.oldest, memory_order_relaxed))
        ring_complete(completion.ring, sequence, status, run_ns, object, reason);
    else
        ring_settle(completion.ring, sequence, status, run_ns, object, reason);
    tell_event();
}

void completion_advance(uint64_t sequence)
{
    ring_advance(completion.ring, sequence);
    tell_event();
}

void completion_wake(void)
{
    ring_wake_executor(completion.ring);
}

void completion_tell_last(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object,
                          const char *reason)
{
    ring_set_state(completion.ring, RING_RESTARTING);
    completion_tell(sequence, status, run_ns, object, reason);
}

void completion_resume(void)
{
    ring_set_state(completion.ring, RING_RUNNING);
}
