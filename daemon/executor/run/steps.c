/* Running the steps of an executable. */
#include "daemon/executor/run/steps.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/executables.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/program/states.h"
#include "daemon/executor/run/pool.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/wait.h"
#include "ir/base/arena.h"
#include "ir/printf/printer.h"
#include "proto/include/fusiond/status.h"
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
    } while (result == 0 && next < end && !(context->cancelled && context->cancelled(context->sequence)));
    return result;
}

/* Of launches that have ended: did one find an access outside of its memory? */
static int take_finding(const struct launch_context *context, struct error *e)
{
    const char *text = ir_printer_take_finding(context->printer), *reason = text ? strchr(text, '\n') : NULL;
    if (!reason) return 0;
    error_set(e, FUSION_KERNEL_FAULT, NULL, "%s", reason + 1);
    return error_about(e, "%.*s", (int)(reason - text), text);
}

static int run_code(const struct launch_context *context, struct executable *x, uint32_t index, struct error *e)
{
    const struct program_launch *launch = &x->program->launches[index];
    uint64_t n = launch->n_groups, first = launch->last && n > 1 ? n - 1 : n;
    int result = run_groups(context, x, index, 0, first, e);
    if (result == 0 && first < n) result = run_groups(context, x, index, first, n, e);
    ir_printer_end_launch(context->printer);
    return result == 0 ? take_finding(context, e) : result;
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

/* ---- launches that wait for pipes ---- */

/* How many of the sequence from the next on run at the same time. */
static uint32_t count_together(const struct program *p, const struct sequence *s)
{
    uint32_t n = 1;
    while (s->begun + n < s->n && s->together[s->begun + n] && p->launches[s->launches[s->begun + n]].waits &&
           n < PROTO_MAX_TOGETHER)
        n++;
    return n;
}

/* Unless there are no threads for them now. */
static void begin_beside(struct steps *s)
{
    struct sequence *q = &s->sequence;
    uint32_t n = count_together(s->x->program, q);
    running_step(n > 1 ? "kernels that run together with" : "kernel",
                 s->x->program->launches[q->launches[q->begun]].name);
    if (!s->x->program->device->run_beside(s->x, q->launches + q->begun, n, s->context, &s->beside)) return;
    q->begun += n;
    s->waits = true;
}

static bool runs_beside(const struct program *p, uint32_t launch)
{
    return p->device->run_beside && p->launches[launch].waits;
}

static enum steps_state run_sequence(struct steps *s, struct error *e)
{
    struct sequence *q = &s->sequence;
    while (q->begun < q->n) {
        uint32_t launch = q->launches[q->begun];
        if (runs_beside(s->x->program, launch)) {
            begin_beside(s);
            return STEPS_WAIT;
        }
        q->begun++;
        if (run_code(s->context, s->x, launch, e) != 0) return STEPS_FAILED;
    }
    return STEPS_DONE;
}

/* A step's launches, and those of the steps that run together with it. Gives how many steps. */
static uint32_t make_sequence(struct steps *s)
{
    const struct program *p = s->x->program;
    struct sequence *q = &s->sequence;
    uint32_t steps = 1;
    while (s->next + steps < p->n_steps && p->steps[s->next + steps].together) steps++;
    q->launches = arena_realloc(q->launches, (steps + p->n_launches) * sizeof *q->launches);
    q->together = arena_realloc(q->together, (steps + p->n_launches) * sizeof *q->together);
    q->n = q->begun = 0;
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t n = list_launches(s->x, s->next + i, 1, q->launches + q->n);
        for (uint32_t k = 0; k < n; k++)
            q->together[q->n + k] = k ? p->launches[q->launches[q->n + k]].together : p->steps[s->next + i].together;
        q->n += n;
    }
    return steps;
}

/* What ran beside has ended; false: it failed. */
static bool end_beside(struct steps *s, struct error *e)
{
    s->waits = false;
    ir_printer_end_launch(s->context->printer);
    if (s->beside.result != 0) *e = s->beside.error;
    return s->beside.result == 0 && take_finding(s->context, e) == 0;
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
    const struct device *device = x->program->device;
    int done = device->run_bands ? device->run_bands(x, b, context, e) : 0;
    if (done < 0) return 0;
    for (uint32_t band = 0; !done && band < b->n_bands; band++)
        if (run_band(context, x, b, band, e) != 0) return 0;
    ir_printer_end_launch(context->printer);
    return take_finding(context, e) == 0 ? b->n_steps : 0;
}

/* ---- launches that a device takes together ---- */

/* It has pipes whose packets are moved for its kernels. */
static bool has_moved_pipes(const struct executable *x, uint32_t launch)
{
    const struct program_launch *l = &x->program->launches[launch];
    for (uint32_t i = 0; i < l->n_params; i++)
        if (l->params[i].kind == PROGRAM_PARAM_STATE && state_is_moved(x->states[l->params[i].index])) return true;
    return false;
}

static int move_packets(struct executable *x, uint32_t launch, bool to_rings, struct error *e)
{
    const struct program_launch *l = &x->program->launches[launch];
    for (uint32_t i = 0; i < l->n_params; i++) {
        if (l->params[i].kind != PROGRAM_PARAM_STATE) continue;
        struct state *state = x->states[l->params[i].index];
        const struct program_state *what = &x->program->states[l->params[i].index];
        if (!state_is_moved(state)) continue;
        if ((to_rings ? state_to_ring(state, what, e) : state_from_ring(state, e)) != 0) return -1;
    }
    return 0;
}

/* One that has a host pipe is by itself, so that the host sees its packets before the next begins. */
static int run_list(const struct launch_context *context, struct executable *x, const uint32_t *list, uint32_t n,
                    struct error *e)
{
    const struct device *device = x->program->device;
    for (uint32_t at = 0, k; at < n; at += k) {
        bool moves = has_moved_pipes(x, list[at]);
        for (k = 1; !moves && at + k < n && !has_moved_pipes(x, list[at + k]); k++) continue;
        running_step("kernel", x->program->launches[list[at]].name);
        if (moves && move_packets(x, list[at], false, e) != 0) return -1;
        if (device->run_launches(x, list + at, k, context, e) != 0 || take_finding(context, e) != 0) return -1;
        if (moves && move_packets(x, list[at], true, e) != 0) return -1;
    }
    return 0;
}

/* The launches from the next step on, as many as the device takes at once. Gives how many steps; 0: the error. */
static uint32_t run_launches(struct steps *s, struct error *e)
{
    const struct launch_context *context = s->context;
    struct executable *x = s->x;
    const struct program *p = x->program;
    uint32_t first = s->next, steps = 1;
    const struct program_bands *bands = bands_at(x, first);
    if (bands) return run_bands(context, x, bands, e);
    uint32_t launch = p->steps[first].launch;
    if (runs_beside(p, launch) || (!p->device->run_launches && x->launches[launch].by_spares)) return make_sequence(s);
    if (!p->device->run_launches) return run_code(context, x, launch, e) == 0;
    while (is_launch(p, first + steps)) steps++;
    uint32_t *list = arena_realloc(NULL, (steps + p->n_launches) * sizeof *list);
    uint32_t n = list_launches(x, first, steps, list);
    int result = run_list(context, x, list, n, e);
    free(list);
    return result == 0 ? steps : 0;
}

/* ---- all of them ---- */

void steps_begin(struct steps *s, const struct launch_context *context, struct executable *x, uint32_t part,
                 struct running *running)
{
    *s = (struct steps){.context = context, .x = x, .part = part, .beside = {.running = running}};
}

void steps_end(struct steps *s)
{
    if (s->sequence.n && s->x->program->device->end_beside) s->x->program->device->end_beside(s->x);
    free(s->sequence.launches);
    free(s->sequence.together);
    s->sequence = (struct sequence){0};
}

bool steps_sleep_for(const struct steps *s, const struct executable *x)
{
    const struct device *device = s->x->program->device;
    return device->sleeps_for && device->sleeps_for(s->x, x);
}

/* Gives how many steps; 0: the error. */
static uint32_t run_step(struct steps *s, struct error *e)
{
    const struct program_step *step = &s->x->program->steps[s->next];
    if (step->kind == PROGRAM_STEP_HOST) {
        s->at++;
        return 1;
    }
    if (s->at != s->part) return 1;
    if (s->context->timed) s->time = (struct step_time){s->next, 1, wait_now_ns()};
    if (step->kind != PROGRAM_STEP_LAUNCH) return run_transfer(s->context, s->x, step, e) == 0;
    s->time.n_steps = run_launches(s, e);
    return s->time.n_steps;
}

/* The step that began last is over, and with it what ran as one with it. */
static void tell_time(struct steps *s)
{
    struct step_time *t = &s->time;
    if (s->context->timed && t->n_steps)
        s->context->timed(s->context->sequence, t->step, t->n_steps, t->began_ns, wait_now_ns());
    t->n_steps = 0;
}

/* What has run of it has left what it wrote; its loops have ended early. */
static bool is_cancelled(const struct steps *s, struct error *e)
{
    const struct launch_context *c = s->context;
    if (!c->cancelled || !c->cancelled(c->sequence)) return false;
    error_set_id(e, FUSION_CANCELLED, "submission", c->sequence, "it was cancelled while it ran");
    return true;
}

enum steps_state steps_go_on(struct steps *s, struct error *e)
{
    if (s->waits && !atomic_load(&s->beside.ended)) return STEPS_WAIT;
    if (s->waits && !end_beside(s, e)) return STEPS_FAILED;
    if (s->context->pool) pool_set_stop(s->context->pool, s->context->cancelled, s->context->sequence);
    for (;;) {
        enum steps_state state = run_sequence(s, e);
        if (state == STEPS_DONE) tell_time(s);
        if (state == STEPS_DONE && is_cancelled(s, e)) return STEPS_FAILED;
        if (state != STEPS_DONE || s->next == s->x->program->n_steps || s->at > s->part) return state;
        uint32_t done = run_step(s, e);
        if (!done) return STEPS_FAILED;
        s->next += done;
    }
}
