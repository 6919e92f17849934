/*
 * Bands, a thread for each: so what flows between launches stays in its core's own cache, and threads need not meet.
 * What a part of a band can depend on are earlier launches in earlier bands (the plan saw to that when it said which
 * rows are in which band), so a thread waits only until the bands before its own, which other threads are in, have done
 * the launches before the one that it comes to.
 */
#include "daemon/executor/devices/cpu/bands.h"

#include <inttypes.h>
#include <limits.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/cpu/compiled.h"
#include "daemon/executor/program/executables.h"
#include "daemon/executor/run/pool.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/wait.h"
#include "proto/include/fusiond/status.h"

enum { MOST_SPIN_NS = 32000, LEAST_SPIN_NS = 1000 };

struct progress {
    alignas(64) _Atomic uint32_t launches; /* of a band: so many are done */
    _Atomic uint32_t sleepers;             /* who wait for more of them */
};

struct run {
    struct executable *x;
    const struct program_bands *bands;
    struct launch_code **codes; /* by step */
    struct progress *progress;  /* by band */
    alignas(64) _Atomic uint32_t next;
};

/* Either who sleeps sees that there is another launch, or who has done it sees that somebody sleeps. */
static void sleep_while(struct progress *p, uint32_t done)
{
    atomic_fetch_add(&p->sleepers, 1);
    wait_on(&p->launches, done, 0);
    atomic_fetch_sub(&p->sleepers, 1);
}

static void tell(struct progress *p, uint32_t launches)
{
    atomic_store(&p->launches, launches);
    if (atomic_load(&p->sleepers)) wait_wake(&p->launches, INT_MAX);
}

/* Who does a band that others wait for may have lost its processor: then they do not hold on to theirs until it has
   come further, and spin for less the next time, as on a busy machine it mostly has; for more where spinning did. */
static void wait_for(struct progress *p, uint32_t launches, uint64_t *spin_ns)
{
    uint32_t done = atomic_load_explicit(&p->launches, memory_order_acquire);
    while (done < launches) {
        uint32_t seen = wait_spin(&p->launches, done, *spin_ns);
        if (seen != done && *spin_ns < MOST_SPIN_NS) *spin_ns *= 2;
        if (seen == done && *spin_ns > LEAST_SPIN_NS) *spin_ns /= 2;
        if (seen == done) sleep_while(p, done);
        done = atomic_load_explicit(&p->launches, memory_order_acquire);
    }
}

static void run_part(const struct run *r, uint32_t band, uint32_t step, unsigned thread)
{
    const struct program_bands *b = r->bands;
    uint64_t first = band ? b->ends[(uint64_t)(band - 1) * b->n_steps + step] : 0;
    uint64_t end = b->ends[(uint64_t)band * b->n_steps + step];
    uint32_t launch = r->x->program->steps[b->first_step + step].launch;
    if (first == end) return;
    running_here(r->x->program->launches[launch].name);
    compiled_run_here(r->codes[step], r->x, launch, first, end, thread);
}

/* Bands before `first_open` are over: of those behind it that come before this one, all launches before each. */
static void run_band(const struct run *r, uint32_t band, uint32_t first_open, unsigned thread, uint64_t *spin_ns)
{
    for (uint32_t step = 0; step < r->bands->n_steps; step++) {
        for (uint32_t before = first_open; before < band; before++) wait_for(&r->progress[before], step, spin_ns);
        run_part(r, band, step, thread);
        tell(&r->progress[band], step + 1);
    }
}

/* Bands are taken in their order, so the first that is not over waits for nobody. */
static void work(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    struct run *r = data;
    const struct program_bands *b = r->bands;
    uint32_t first_open = 0, band;
    uint64_t spin_ns = MOST_SPIN_NS;
    (void)first;
    (void)end;
    while ((band = atomic_fetch_add(&r->next, 1)) < b->n_bands) {
        for (; first_open + b->at_once <= band; first_open++) wait_for(&r->progress[first_open], b->n_steps, &spin_ns);
        run_band(r, band, first_open, thread, &spin_ns);
    }
    running_here(NULL);
}

/* The code of each launch, with memory for all threads; and how long all of it takes, about. */
static int prepare(struct run *r, unsigned threads, uint64_t *expected_ns, struct error *e)
{
    for (uint32_t i = 0; i < r->bands->n_steps; i++) {
        uint32_t launch = r->x->program->steps[r->bands->first_step + i].launch;
        r->codes[i] = executable_code(r->x, launch);
        if (!compiled_is_code(r->codes[i])) return 0;
        if (compiled_reserve(r->codes[i], r->x, launch, threads, e) != 0) return -1;
        *expected_ns += compiled_expected_ns(r->codes[i], r->x, launch);
    }
    return 1;
}

int bands_run(struct executable *x, const struct program_bands *bands, const struct launch_context *context,
              struct error *e)
{
    unsigned threads = pool_threads(context->pool);
    uint64_t expected_ns = 0;
    if (bands->at_once < 2 || threads < 2) return 0;
    struct run r = {.x = x, .bands = bands};
    r.codes = calloc(bands->n_steps, sizeof *r.codes);
    size_t bytes = bands->n_bands * sizeof *r.progress;
    r.progress = aligned_alloc(64, bytes);
    if (!r.codes || !r.progress) abort();
    memset(r.progress, 0, bytes);
    int result = prepare(&r, threads, &expected_ns, e);
    running_step("kernels in bands from", x->program->launches[x->program->steps[bands->first_step].launch].name);
    if (result == 1)
        pool_run(context->pool, work, &r, threads < bands->at_once ? threads : bands->at_once, expected_ns);
    free(r.codes);
    free(r.progress);
    return result;
}
