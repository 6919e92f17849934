/* What runs now. */
#include "daemon/executor/run/running.h"

#include <stdatomic.h>
#include <stddef.h>

#include "daemon/executor/run/wait.h"

struct running {
    _Atomic uint64_t sequence, started_ns; /* sequence 0: there is none; ENDS: it was taken over */
    _Atomic uint64_t limit_ms;             /* its own; 0: none */
    _Atomic uint64_t rests_ns;             /* since then nothing of it runs; 0: something does */
    const char *_Atomic kind, *_Atomic name;
    const struct slot_memory *_Atomic slots;
    _Atomic uint32_t n_slots;
    uint64_t measured_ns;
};

static const uint64_t ENDS = UINT64_MAX;

static struct {
    running_failed *failed;
    struct running all[RUNNING_MOST];
    struct running *_Atomic now; /* that the thread that takes submissions runs, with its helpers */
    _Atomic bool ends;
} running;

/* What the calling thread runs beside it. */
static __thread struct {
    struct running *running;
    const char *kernel;
} beside;

void running_init(running_failed *failed)
{
    running.failed = failed;
}

/* ---- the thread that takes submissions ---- */

struct running *running_begin(uint64_t sequence, uint32_t limit_ms, const struct slot_memory *slots, uint32_t n_slots)
{
    struct running *r = running.all;
    while (r < running.all + RUNNING_MOST && atomic_load_explicit(&r->sequence, memory_order_relaxed)) r++;
    if (r == running.all + RUNNING_MOST) return NULL;
    atomic_store_explicit(&r->rests_ns, 0, memory_order_relaxed);
    running_go_on(r);
    running_step("submission", "");
    r->measured_ns = 0;
    atomic_store_explicit(&r->slots, slots, memory_order_relaxed);
    atomic_store_explicit(&r->n_slots, n_slots, memory_order_relaxed);
    atomic_store_explicit(&r->limit_ms, limit_ms, memory_order_relaxed);
    atomic_store_explicit(&r->started_ns, wait_now_ns(), memory_order_relaxed);
    atomic_store(&r->sequence, sequence);
    return r;
}

bool running_go_on(struct running *r)
{
    uint64_t rests = atomic_exchange(&r->rests_ns, 0);
    if (rests) atomic_fetch_add(&r->started_ns, wait_now_ns() - rests);
    atomic_store_explicit(&running.now, r, memory_order_relaxed);
    return rests != 0;
}

static struct running *now(void)
{
    return atomic_load_explicit(&running.now, memory_order_relaxed);
}

/* Drivers are tried before anything is submitted. */
void running_took(uint64_t ns)
{
    struct running *r = now();
    if (r) r->measured_ns += ns;
}

uint64_t running_measured(const struct running *r)
{
    return r->measured_ns;
}

void running_step(const char *kind, const char *name)
{
    atomic_store_explicit(&now()->kind, kind, memory_order_relaxed);
    atomic_store_explicit(&now()->name, name, memory_order_release);
}

bool running_claim(struct running *r)
{
    uint64_t sequence = atomic_load(&r->sequence);
    return sequence != ENDS && atomic_compare_exchange_strong(&r->sequence, &sequence, 0);
}

/* ---- other threads ---- */

void running_rest(struct running *r)
{
    atomic_store(&r->rests_ns, wait_now_ns());
}

void running_beside(struct running *r, const char *kernel)
{
    beside.kernel = kernel;
    beside.running = r;
}

void running_here(const char *kernel)
{
    running_beside(kernel ? now() : NULL, kernel);
}

/* ---- ending it ---- */

bool running_see(struct running *r, struct running_seen *seen)
{
    /* The time belongs to the sequence only if that is still the same afterwards. */
    seen->running = r;
    do {
        seen->sequence = atomic_load(&r->sequence);
        seen->started_ns = atomic_load(&r->started_ns);
        seen->limit_ms = atomic_load(&r->limit_ms);
    } while (atomic_load(&r->sequence) != seen->sequence);
    return seen->sequence && seen->sequence != ENDS;
}

bool running_see_own(struct running_seen *seen)
{
    struct running *r = beside.running ? beside.running : now();
    return r && running_see(r, seen);
}

/* limit_ms: of those without a shorter one. */
static uint64_t due_of(uint64_t started_ns, uint64_t own_ms, uint64_t limit_ms)
{
    enum { MS = 1000000 };
    if (own_ms && (!limit_ms || own_ms < limit_ms)) limit_ms = own_ms;
    return limit_ms ? started_ns + limit_ms * MS : UINT64_MAX;
}

uint64_t running_due(const struct running *r, uint64_t limit_ms)
{
    return due_of(atomic_load_explicit(&r->started_ns, memory_order_relaxed),
                  atomic_load_explicit(&r->limit_ms, memory_order_relaxed), limit_ms);
}

bool running_see_due(uint64_t limit_ms, struct running_seen *seen, uint64_t *due_ns)
{
    struct running_seen one;
    *due_ns = UINT64_MAX;
    for (unsigned i = 0; i < RUNNING_MOST; i++) {
        if (!running_see(&running.all[i], &one) || atomic_load(&running.all[i].rests_ns)) continue;
        uint64_t due = due_of(one.started_ns, one.limit_ms, limit_ms);
        if (due >= *due_ns) continue;
        *seen = one;
        *due_ns = due;
    }
    return *due_ns != UINT64_MAX;
}

bool running_take_over(struct running_seen *seen, unsigned n)
{
    bool any = false;
    if (atomic_exchange(&running.ends, true)) return false;
    for (unsigned i = 0; i < n; i++) {
        uint64_t sequence = seen[i].sequence;
        if (atomic_compare_exchange_strong(&seen[i].running->sequence, &sequence, ENDS))
            any = true;
        else
            seen[i].sequence = 0;
    }
    if (!any) atomic_store(&running.ends, false);
    return any;
}

bool running_ends(void)
{
    return atomic_load(&running.ends);
}

void running_what(const struct running_seen *seen, const char **kind, const char **name)
{
    *name = atomic_load(&seen->running->name);
    *kind = atomic_load(&seen->running->kind);
    if (beside.running != seen->running) return;
    *kind = "kernel";
    *name = beside.kernel;
}

uint32_t running_slots(const struct running_seen *seen, const struct slot_memory **slots)
{
    *slots = atomic_load(&seen->running->slots);
    return atomic_load(&seen->running->n_slots);
}

void running_fail(const struct running_seen *seen, fusion_status status, const char *object, const char *reason)
{
    if (seen->sequence) running.failed(seen->sequence, status, wait_now_ns() - seen->started_ns, object, reason);
}
