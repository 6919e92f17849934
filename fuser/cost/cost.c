/* What takes how long, and what pays. */
#include "fuser/cost/cost.h"

#include <string.h>

/* What machines of these years have, where nothing was measured: nanoseconds of a core do some 150 operations, or move
   some 10 bytes. */
enum { USUAL_OPERATIONS = 150000, USUAL_BYTES = 10000, USUAL_LAUNCH_NS = 5000 };
/* Whatever was measured, a byte over memory takes as long as so many operations. */
enum { LEAST_OF_A_BYTE = 8, USUAL_OF_A_BYTE = 16, MOST_OF_A_BYTE = 32 };

enum {
    NEARER = 4, /* times as fast is a byte that one launch in a band hands on to the next */
    MOST_AT_ONCE = 16,
    LARGE = 8,        /* less memory than so many times the cores' own caches is not worth bands */
    SHORT_LAUNCH = 4, /* times what waking takes: what is longer is better by itself, */
    LONG_LAUNCH = 16, /* and beside what is so long one launch more does not matter */
    FULL_ROW = 16,    /* work-items: a vector of the widest registers */
};

/* ---- the machine ---- */

enum { FIGURES = 3 };
_Static_assert(FIGURES * sizeof(uint64_t) == COST_FIGURES_BYTES, "three numbers of 64 bits");

void cost_figures_write(const struct cost_machine *m, uint8_t out[COST_FIGURES_BYTES])
{
    const uint64_t figures[FIGURES] = {m->operations, m->bytes, m->launch_ns};
    memcpy(out, figures, sizeof figures);
}

bool cost_figures_read(struct cost_machine *m, const void *bytes, size_t size)
{
    uint64_t figures[FIGURES];
    if (size != sizeof figures) return false;
    memcpy(figures, bytes, sizeof figures);
    for (int i = 0; i < FIGURES; i++)
        if (figures[i] == 0 || figures[i] > UINT32_MAX) return false;
    m->operations = figures[0];
    m->bytes = figures[1];
    m->launch_ns = figures[2];
    return true;
}

static uint64_t cores_of(const struct cost_machine *m)
{
    return m->cores ? m->cores : 1;
}

/* Of all cores, in a microsecond. */
static uint64_t operations_of(const struct cost_machine *m)
{
    return cores_of(m) * (m->operations ? m->operations : USUAL_OPERATIONS);
}

static uint64_t bytes_of(const struct cost_machine *m)
{
    return m->bytes ? m->bytes : USUAL_BYTES;
}

static uint64_t operations_of_a_byte(const struct cost_machine *m)
{
    if (!m->operations || !m->bytes) return USUAL_OF_A_BYTE;
    uint64_t n = operations_of(m) / m->bytes;
    return n < LEAST_OF_A_BYTE ? LEAST_OF_A_BYTE : n < MOST_OF_A_BYTE ? n : MOST_OF_A_BYTE;
}

uint32_t cost_bands_at_once(const struct cost_machine *m)
{
    return cores_of(m) < MOST_AT_ONCE ? (uint32_t)cores_of(m) : MOST_AT_ONCE;
}

uint64_t cost_own_caches(const struct cost_machine *m)
{
    uint64_t bytes = m->own_bytes * cost_bands_at_once(m);
    return bytes && bytes < m->cache_bytes ? bytes : m->cache_bytes;
}

/* ---- time ---- */

/* Memory moves while cores compute. */
uint64_t cost_launch_ns(const struct cost_machine *m, uint64_t operations, uint64_t bytes)
{
    double compute = (double)operations / (double)operations_of(m), memory = (double)bytes / (double)bytes_of(m);
    return (m->launch_ns ? m->launch_ns : USUAL_LAUNCH_NS) + (uint64_t)(1e3 * (compute > memory ? compute : memory));
}

/* ---- what pays ---- */

/* Where launches may run in bands, a byte between them is not over memory. */
bool cost_recomputing_pays(const struct cost_machine *m, uint64_t more, uint64_t less, uint64_t bytes)
{
    uint64_t of_a_byte = operations_of_a_byte(m);
    if (m->cache_bytes) of_a_byte /= NEARER;
    return more <= less || (more - less) / of_a_byte <= bytes;
}

bool cost_bands_pay(const struct cost_machine *m, uint64_t apart, uint64_t together)
{
    return together <= apart / 4 * 3 && apart >= LARGE * cost_own_caches(m);
}

static bool is_shorter(const struct cost_machine *m, const struct cost_work *w, uint64_t launches)
{
    return cost_launch_ns(m, w->operations, w->bytes) < (launches + 1) * cost_launch_ns(m, 0, 0);
}

/* Beside a long launch a short one more is nothing; with another's code in between the long one may lose far more. */
bool cost_launch_pays(const struct cost_machine *m, const struct cost_work *fewer, const struct cost_work *more)
{
    return !is_shorter(m, fewer, SHORT_LAUNCH) || !is_shorter(m, more, LONG_LAUNCH);
}

/* Where kernels meet, each work-group is computed by itself, region by region: vectors do not go on in the next group.
   Of rows that fill vectors nothing is lost; of short ones as much may be as a launch costs, or more. */
bool cost_barrier_pays(uint64_t row)
{
    return row >= FULL_ROW;
}
