/* The worker threads. They live as long as the process. */
#include "daemon/executor/run/pool.h"

#include <limits.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/executor/run/fault.h"
#include "daemon/executor/run/wait.h"

/* A worker looks for the next loop that long before it sleeps: waking up costs about as much. */
static const uint64_t spin_ns = 30000;

struct worker {
    struct pool *pool;
    unsigned index; /* 1 ... ; 0 is the caller of pool_run() */
};

struct pool {
    unsigned threads;
    struct worker *workers;
    /* the loop; written while the gate is closed and no worker is inside */
    pool_body *body;
    void *data;
    uint64_t total, chunk;
    alignas(64) _Atomic uint64_t next;
    /* bit 0: open, workers may come in; above it: how many are inside */
    alignas(64) _Atomic uint32_t gate;
    _Atomic uint32_t owner_sleeps;
    alignas(64) _Atomic uint32_t epoch; /* counts loops; idle workers watch it */
    _Atomic uint32_t sleepers;
};

enum { GATE_OPEN = 1, GATE_WORKER = 2 };

static void work(struct pool *p, unsigned thread)
{
    for (;;) {
        uint64_t first = atomic_fetch_add_explicit(&p->next, p->chunk, memory_order_relaxed);
        if (first >= p->total) return;
        uint64_t rest = p->total - first;
        p->body(p->data, first, first + (rest < p->chunk ? rest : p->chunk), thread);
    }
}

static bool enter(struct pool *p)
{
    uint32_t gate = atomic_load_explicit(&p->gate, memory_order_acquire);
    while (gate & GATE_OPEN)
        if (atomic_compare_exchange_weak(&p->gate, &gate, gate + GATE_WORKER)) return true;
    return false;
}

static void leave(struct pool *p)
{
    bool last = atomic_fetch_sub(&p->gate, GATE_WORKER) == GATE_WORKER; /* closed, and nobody else inside */
    if (last && atomic_load(&p->owner_sleeps)) wait_wake(&p->gate, 1);
}

static uint32_t wait_for_loop(struct pool *p, uint32_t seen)
{
    uint32_t epoch = wait_spin(&p->epoch, seen, spin_ns);
    while (epoch == seen) {
        atomic_fetch_add(&p->sleepers, 1);
        wait_on(&p->epoch, seen, 0);
        atomic_fetch_sub(&p->sleepers, 1);
        epoch = atomic_load(&p->epoch);
    }
    return epoch;
}

static void *worker_main(void *data)
{
    struct worker *w = data;
    fault_thread_init();
    uint32_t seen = 0;
    for (;;) {
        seen = wait_for_loop(w->pool, seen);
        if (!enter(w->pool)) continue;
        work(w->pool, w->index);
        leave(w->pool);
    }
    return NULL;
}

/* The loop is over when the workers that came in are out; those still asleep are not waited for. */
static void wait_for_workers(struct pool *p)
{
    uint32_t gate = atomic_fetch_and(&p->gate, ~(uint32_t)GATE_OPEN) & ~(uint32_t)GATE_OPEN;
    while (gate) {
        gate = wait_spin(&p->gate, gate, spin_ns);
        if (!gate) break;
        atomic_store(&p->owner_sleeps, 1);
        wait_on(&p->gate, gate, 0);
        atomic_store(&p->owner_sleeps, 0);
        gate = atomic_load_explicit(&p->gate, memory_order_acquire);
    }
}

struct pool *pool_new(unsigned threads)
{
    struct pool *p = aligned_alloc(64, sizeof *p);
    if (!p) return NULL;
    *p = (struct pool){.threads = threads};
    p->workers = calloc(threads, sizeof *p->workers);
    if (!p->workers) return NULL;
    for (unsigned i = 1; i < threads; i++) {
        pthread_t id;
        p->workers[i] = (struct worker){p, i};
        if (pthread_create(&id, NULL, worker_main, &p->workers[i])) {
            p->threads = i; /* fewer threads do */
            break;
        }
        pthread_detach(id);
    }
    return p;
}

unsigned pool_threads(const struct pool *p)
{
    return p->threads;
}

void pool_run(struct pool *p, pool_body *body, void *data, uint64_t total, uint64_t chunk)
{
    if (p->threads == 1 || total <= chunk) {
        if (total) body(data, 0, total, 0);
        return;
    }
    p->body = body;
    p->data = data;
    p->total = total;
    p->chunk = chunk;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    atomic_store(&p->gate, GATE_OPEN);
    atomic_fetch_add(&p->epoch, 1);
    uint64_t useful = (total - 1) / chunk; /* chunks that are left beside the caller's first */
    if (atomic_load(&p->sleepers)) wait_wake(&p->epoch, useful < INT_MAX ? (int)useful : INT_MAX);
    work(p, 0);
    wait_for_workers(p);
}
