/* What runs now. */
#include "daemon/executor/run/running.h"

#include <stdatomic.h>

#include "daemon/executor/run/wait.h"

static struct {
    running_failed *failed;
    _Atomic uint64_t sequence, started_ns;
    const char *_Atomic kind, *_Atomic name;
    const struct slot_memory *_Atomic slots;
    _Atomic uint32_t n_slots;
    uint64_t measured_ns;
} running;

void running_init(running_failed *failed)
{
    running.failed = failed;
}

void running_begin(uint64_t sequence, const struct slot_memory *slots, uint32_t n_slots)
{
    running_step("submission", "");
    running.measured_ns = 0;
    atomic_store_explicit(&running.slots, slots, memory_order_relaxed);
    atomic_store_explicit(&running.n_slots, n_slots, memory_order_relaxed);
    atomic_store_explicit(&running.started_ns, wait_now_ns(), memory_order_relaxed);
    atomic_store(&running.sequence, sequence);
}

void running_took(uint64_t ns)
{
    running.measured_ns += ns;
}

uint64_t running_measured(void)
{
    return running.measured_ns;
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

void running_what(const char **kind, const char **name)
{
    *name = atomic_load(&running.name);
    *kind = atomic_load(&running.kind);
}

uint32_t running_slots(const struct slot_memory **slots)
{
    *slots = atomic_load(&running.slots);
    return atomic_load(&running.n_slots);
}

void running_fail(uint64_t sequence, fusion_status status, uint64_t run_ns, const char *object, const char *reason)
{
    running.failed(sequence, status, run_ns, object, reason);
}
