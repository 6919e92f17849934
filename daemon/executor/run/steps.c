/* Running the steps of an executable. */
#include "daemon/executor/run/steps.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/executables.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/run/pool.h"
#include "daemon/executor/run/running.h"
#include "ir/base/arena.h"
#include "ir/printf/printer.h"
#include "proto/limits.h"

enum {
    BLOCK_BYTES = 4096, /* copies and fills are shared out in blocks of it; a multiple of every pattern's size */
    BYTES_PER_NS = 10,  /* of one thread, about */
};

/* So many work-groups of the launch from the first on. */
static int run_groups(const struct launch_context *context, struct executable *x, uint32_t index, uint64_t first,
                      uint64_t end, struct error *e)
{
    uint64_t next = first;
    int result;
    running_step("kernel", x->program->launches[index].name);
    do {
        struct launch_code *code = executable_code(x, index);
        result = code->run(code, x, index, &next, end, context, e);
    } while (result == 0 && next < end);
    return result;
}

static int run_code(const struct launch_context *context, struct executable *x, uint32_t index, struct error *e)
{
    int result = run_groups(context, x, index, 0, x->program->launches[index].n_groups, e);
    ir_printer_end_launch(context->printer);
    return result;
}

/* ---- copies and fills ---- */

struct transfer {
    uint8_t *to;
    const uint8_t *from; /* COPY */
    const struct program_step *step;
};

static uint64_t n_blocks(const struct program_step *step)
{
    return (step->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

/* Where a block begins; behind the last one, the end. */
static uint64_t block_at(const struct program_step *step, uint64_t block)
{
    return block < n_blocks(step) ? block * BLOCK_BYTES : step->bytes;
}

static void copy_blocks(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    (void)thread;
    const struct transfer *t = data;
    uint64_t at = block_at(t->step, first);
    memcpy(t->to + at, t->from + at, block_at(t->step, end) - at);
}

static void fill_bytes(const struct transfer *t, uint64_t first, uint64_t end)
{
    uint8_t block[64];
    for (size_t i = 0; i < sizeof block; i++) block[i] = t->step->pattern[i % t->step->pattern_size];
    for (uint64_t at = first; at < end; at += sizeof block)
        memcpy(t->to + at, block, end - at < sizeof block ? end - at : sizeof block);
}

static void fill_blocks(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    (void)thread;
    const struct transfer *t = data;
    fill_bytes(t, block_at(t->step, first), block_at(t->step, end));
}

/* The same for rectangles: first and end count rows. */
static void copy_rows(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    (void)thread;
    const struct transfer *t = data;
    const struct program_step *step = t->step;
    for (uint64_t i = first; i < end; i++)
        memmove(t->to + program_row(step, i, step->to_pitch, step->to_slice_pitch),
                t->from + program_row(step, i, step->from_pitch, step->from_slice_pitch), step->bytes);
}

static void fill_rows(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    (void)thread;
    const struct transfer *t = data;
    for (uint64_t i = first; i < end; i++) {
        uint64_t at = program_row(t->step, i, t->step->to_pitch, t->step->to_slice_pitch);
        struct transfer row = {.to = t->to + at, .step = t->step};
        fill_bytes(&row, 0, t->step->bytes);
    }
}

static void share_out(const struct launch_context *context, struct transfer *t, pool_body *blocks, pool_body *rows)
{
    const struct program_step *step = t->step;
    if (step->rows)
        pool_run(context->pool, rows, t, step->rows, step->rows * step->bytes / BYTES_PER_NS);
    else
        pool_run(context->pool, blocks, t, n_blocks(step), step->bytes / BYTES_PER_NS);
}

static void run_copy(const struct launch_context *context, const struct program_step *step)
{
    const struct slot_memory *slots = context->slots;
    struct transfer t = {slots[step->to].memory + step->to_offset, slots[step->from].memory + step->from_offset, step};
    running_step("copy into buffer", slots[step->to].name);
    if (step->rows || t.from + step->bytes <= t.to || t.to + step->bytes <= t.from)
        share_out(context, &t, copy_blocks, copy_rows);
    else
        memmove(t.to, t.from, step->bytes);
}

static void run_fill(const struct launch_context *context, const struct program_step *step)
{
    const struct slot_memory *slots = context->slots;
    struct transfer t = {slots[step->to].memory + step->to_offset, NULL, step};
    running_step("fill of buffer", slots[step->to].name);
    share_out(context, &t, fill_blocks, fill_rows);
}

/* Before the host copies or fills. */
static int bring_back(const struct launch_context *context, const struct program_step *step, struct error *e)
{
    const struct slot_memory *slots = context->slots;
    if (step->kind == PROGRAM_STEP_COPY && buffer_bring_back(slots[step->from].buffer, false, e) != 0) return -1;
    return buffer_bring_back(slots[step->to].buffer, true, e);
}

static int run_transfer(const struct launch_context *context, struct executable *x, const struct program_step *step,
                        struct error *e)
{
    const struct device *device = x->program->device;
    int done = device->run_transfer ? device->run_transfer(step, context->slots, e) : 0;
    if (done != 0) return done < 0 ? -1 : 0;
    if (bring_back(context, step, e) != 0) return -1;
    if (step->kind == PROGRAM_STEP_COPY)
        run_copy(context, step);
    else
        run_fill(context, step);
    if (x->program->debug) device->debug_transfer(x, step);
    return 0;
}

static bool is_launch(const struct program *p, uint32_t step)
{
    return step < p->n_steps && p->steps[step].kind == PROGRAM_STEP_LAUNCH;
}

/* The launches of so many steps; of one that runs by its spares, those. */
static uint32_t list_launches(const struct executable *x, uint32_t first, uint32_t steps, uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < first + steps; i++) {
        uint32_t index = x->program->steps[i].launch;
        const struct program_launch *launch = &x->program->launches[index];
        if (!x->launches[index].by_spares) list[n++] = index;
        for (uint32_t k = 0; k < launch->n_spares && x->launches[index].by_spares; k++)
            list[n++] = launch->first_spare + k;
    }
    return n;
}

/* Launches that wait for pipes, at the same time. */
static int run_together(const struct launch_context *context, struct executable *x, const uint32_t *list, uint32_t n,
                        struct error *e)
{
    running_step(n > 1 ? "kernels that run together with" : "kernel", x->program->launches[list[0]].name);
    int result = x->program->device->run_together(x, list, n, context, e);
    ir_printer_end_launch(context->printer);
    return result;
}

/* Launches, or their spares, one after another, but for those that run together. */
struct sequence {
    uint32_t n;
    uint32_t *launches;
    bool *together; /* with the one before */
};

/* How many from there on run at the same time. */
static uint32_t count_together(const struct program *p, const struct sequence *s, uint32_t at)
{
    uint32_t n = 1;
    if (!p->launches[s->launches[at]].waits) return 1;
    while (at + n < s->n && s->together[at + n] && p->launches[s->launches[at + n]].waits && n < PROTO_MAX_TOGETHER)
        n++;
    return n;
}

static int run_sequence(const struct launch_context *context, struct executable *x, const struct sequence *s,
                        struct error *e)
{
    const struct program *p = x->program;
    int result = 0;
    for (uint32_t at = 0, n; at < s->n && result == 0; at += n) {
        n = p->device->run_together ? count_together(p, s, at) : 1;
        bool waits = p->device->run_together && p->launches[s->launches[at]].waits;
        result = waits ? run_together(context, x, &s->launches[at], n, e) : run_code(context, x, s->launches[at], e);
    }
    return result;
}

/* A step, and those that run together with it. Gives how many steps; 0: the error. */
static uint32_t run_steps_together(const struct launch_context *context, struct executable *x, uint32_t first,
                                   struct error *e)
{
    const struct program *p = x->program;
    uint32_t steps = 1;
    while (first + steps < p->n_steps && p->steps[first + steps].together) steps++;
    struct sequence s = {.launches = arena_realloc(NULL, (steps + p->n_launches) * sizeof *s.launches),
                         .together = arena_realloc(NULL, (steps + p->n_launches) * sizeof *s.together)};
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t n = list_launches(x, first + i, 1, s.launches + s.n);
        for (uint32_t k = 0; k < n; k++)
            s.together[s.n + k] = k ? p->launches[s.launches[s.n + k]].together : p->steps[first + i].together;
        s.n += n;
    }
    int result = run_sequence(context, x, &s, e);
    free(s.launches);
    free(s.together);
    return result == 0 ? steps : 0;
}

/* ---- launches band by band ---- */

static int run_band(const struct launch_context *context, struct executable *x, const struct program_bands *b,
                    uint32_t band, struct error *e)
{
    const uint64_t *ends = &b->ends[(uint64_t)band * b->n_steps];
    for (uint32_t i = 0; i < b->n_steps; i++) {
        uint64_t first = band ? b->ends[(uint64_t)(band - 1) * b->n_steps + i] : 0;
        uint32_t launch = x->program->steps[b->first_step + i].launch;
        if (first < ends[i] && run_groups(context, x, launch, first, ends[i], e) != 0) return -1;
    }
    return 0;
}

/* Those that begin with the step; NULL: none do, or not in this submission. */
static const struct program_bands *bands_at(const struct executable *x, uint32_t step)
{
    for (uint32_t i = 0; x->in_bands && i < x->program->n_bands; i++)
        if (x->program->bands[i].first_step == step) return &x->program->bands[i];
    return NULL;
}

/* Gives how many steps; 0: the error. */
static uint32_t run_bands(const struct launch_context *context, struct executable *x, const struct program_bands *b,
                          struct error *e)
{
    for (uint32_t band = 0; band < b->n_bands; band++)
        if (run_band(context, x, b, band, e) != 0) return 0;
    return b->n_steps;
}

/* The launches from a step on, as many as the device takes at once. Gives how many steps; 0: the error. */
static uint32_t run_launches(const struct launch_context *context, struct executable *x, uint32_t first,
                             struct error *e)
{
    const struct program *p = x->program;
    uint32_t steps = 1;
    const struct program_bands *bands = bands_at(x, first);
    if (bands) return run_bands(context, x, bands, e);
    uint32_t launch = p->steps[first].launch;
    if ((p->launches[launch].waits && p->device->run_together) ||
        (!p->device->run_launches && x->launches[launch].by_spares))
        return run_steps_together(context, x, first, e);
    if (!p->device->run_launches) return run_code(context, x, launch, e) == 0;
    while (is_launch(p, first + steps)) steps++;
    uint32_t *list = arena_realloc(NULL, (steps + p->n_launches) * sizeof *list);
    uint32_t n = list_launches(x, first, steps, list);
    running_step("kernel", p->launches[p->steps[first].launch].name);
    int result = p->device->run_launches(x, list, n, context, e);
    free(list);
    return result == 0 ? steps : 0;
}

int steps_run(const struct launch_context *context, struct executable *x, uint32_t part, struct error *e)
{
    const struct program *p = x->program;
    uint32_t at = 0, done;
    for (uint32_t i = 0; i < p->n_steps && at <= part; i += done) {
        const struct program_step *step = &p->steps[i];
        done = 1;
        if (step->kind == PROGRAM_STEP_HOST)
            at++;
        else if (at != part)
            continue;
        else if (step->kind != PROGRAM_STEP_LAUNCH)
            done = run_transfer(context, x, step, e) == 0;
        else
            done = run_launches(context, x, i, e);
        if (!done) return -1;
    }
    return 0;
}
