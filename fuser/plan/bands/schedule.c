/*
 * In each band the launches that nobody waits for do an even part of their rows, and all others what the later ones
 * need by then: so nothing is done long before it is used. A row needs all rows of an earlier launch that begin to
 * touch a buffer before the last byte which the row touches, if one of the two writes.
 */
#include "fuser/plan/bands/schedule.h"

#include <string.h>

#include "ir/base/arena.h"

static bool may_meet(const struct banded_access *a, const struct banded_access *b)
{
    return a->buffer == b->buffer && (a->writes || b->writes) && a->first < b->end && b->first < a->end;
}

static void add_waits(struct arena *arena, struct band_schedule *s, uint32_t before, uint32_t after)
{
    const struct banded_launch *a = s->launches[before], *b = s->launches[after];
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < b->n; k++) {
            if (!may_meet(&a->accesses[i], &b->accesses[k])) continue;
            s->waits = arena_grow(arena, s->waits, s->n_waits, sizeof *s->waits);
            s->waits[s->n_waits++] = (struct band_wait){before, after, &a->accesses[i], &b->accesses[k]};
        }
}

void schedule_begin(struct arena *arena, struct band_schedule *s)
{
    s->n_waits = 0;
    s->waits = NULL;
    for (uint32_t before = s->n; before-- > 0;)
        for (uint32_t after = before + 1; after < s->n; after++) add_waits(arena, s, before, after);
    s->windows = arena_alloc(arena, (s->n_buffers + 1) * sizeof *s->windows);
}

/* ---- rows ---- */

static int64_t between(__int128 v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : (int64_t)v;
}

/* The first byte that any row from this one on touches. */
static int64_t begin_of(const struct banded_access *a, uint64_t row)
{
    return a->at.num > 0 ? between(line_low(&a->at, (int64_t)row), a->first, a->end) : a->first;
}

/* The end of what the rows before this one touch. */
static int64_t end_of(const struct banded_access *a, uint64_t rows)
{
    if (!rows) return a->first;
    return a->at.num > 0 ? between(line_high(&a->at, (int64_t)rows - 1), a->first, a->end) : a->end;
}

/* So many rows of the launch have to be done before another one touches bytes before `end`: those that begin there. */
static uint64_t rows_before(const struct banded_access *a, uint64_t rows, int64_t end)
{
    if (a->first >= end) return 0;
    if (a->at.num <= 0) return rows;
    __int128 room = (__int128)(end - 1) * a->at.den - a->at.low;
    if (room < 0) return 0;
    return room / a->at.num < (int64_t)rows ? (uint64_t)(room / a->at.num) + 1 : rows;
}

static uint64_t even_part(uint64_t rows, uint32_t band, uint32_t n_bands)
{
    return (uint64_t)((unsigned __int128)rows * (band + 1) / n_bands);
}

/* Waits are sorted by who is waited for, the last launch first. */
static void make_band(struct band_schedule *s, uint32_t band)
{
    uint64_t *ends = &s->ends[(uint64_t)band * s->n];
    const uint64_t *before = band ? ends - s->n : NULL;
    uint32_t wait = 0;
    for (uint32_t i = s->n; i-- > 0;) {
        uint64_t rows = s->launches[i]->rows, end = 0;
        bool is_last = true;
        for (; wait < s->n_waits && s->waits[wait].before == i; wait++) {
            const struct band_wait *w = &s->waits[wait];
            uint64_t need = ends[w->after] ? rows_before(w->first, rows, end_of(w->second, ends[w->after])) : 0;
            if (need > end) end = need;
            is_last = false;
        }
        if (is_last) end = even_part(rows, band, s->n_bands);
        if (band + 1 == s->n_bands) end = rows;
        ends[i] = before && before[i] > end ? before[i] : end;
    }
}

/* ---- bytes ---- */

static void widen(int64_t *windows, const struct banded_access *a, uint64_t from, uint64_t to, uint64_t rows)
{
    int64_t *first = &windows[2 * a->buffer], *end = first + 1;
    int64_t low = from < rows ? begin_of(a, from) : a->end, high = end_of(a, to);
    if (low < *first) *first = low;
    if (to && high > *end) *end = high;
}

/* From where the band begins to where the last one ends that is in work with it. */
static void measure_band(struct band_schedule *s, uint32_t band, int64_t *windows)
{
    uint64_t all = 0;
    uint32_t last = band + s->at_once <= s->n_bands ? band + s->at_once - 1 : s->n_bands - 1;
    const uint64_t *done = band ? &s->ends[(uint64_t)(band - 1) * s->n] : NULL;
    const uint64_t *ends = &s->ends[(uint64_t)last * s->n];
    for (uint32_t b = 0; b < s->n_buffers; b++) {
        windows[2 * b] = INT64_MAX;
        windows[2 * b + 1] = 0;
    }
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < s->launches[i]->n; k++)
            widen(windows, &s->launches[i]->accesses[k], done ? done[i] : 0, ends[i], s->launches[i]->rows);
    for (uint32_t b = 0; b < s->n_buffers; b++) {
        if (windows[2 * b + 1] <= windows[2 * b]) continue;
        uint64_t bytes = (uint64_t)(windows[2 * b + 1] - windows[2 * b]);
        if (bytes > s->windows[b]) s->windows[b] = bytes;
        all += bytes;
    }
    if (all > s->window) s->window = all;
}

bool schedule_make(struct arena *arena, struct band_schedule *s, uint32_t n_bands, uint32_t at_once, uint64_t most)
{
    int64_t *windows = arena_alloc(arena, (s->n_buffers + 1) * 2 * sizeof *windows);
    s->n_bands = n_bands;
    s->at_once = at_once;
    s->window = 0;
    s->ends = arena_alloc(arena, ((uint64_t)n_bands * s->n + 1) * sizeof *s->ends);
    memset(s->windows, 0, (s->n_buffers + 1) * sizeof *s->windows);
    for (uint32_t band = 0; band < n_bands + at_once - 1 && s->window <= most; band++) {
        if (band < n_bands) make_band(s, band);
        if (band + 1 >= at_once) measure_band(s, band + 1 - at_once, windows);
    }
    return s->window <= most;
}
