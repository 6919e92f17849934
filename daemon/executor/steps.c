/* Running the steps of an executable. */
#include "daemon/executor/steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/executor/objects.h"
#include "daemon/executor/pool.h"
#include "daemon/executor/reference.h"
#include "daemon/executor/running.h"
#include "daemon/executor/wait.h"
#include "daemon/executor/watched.h"
#include "ir/printf/printer.h"
#include "proto/include/fusiond/status.h"

enum {
    INLINE_NS = 20000,            /* less than that is not worth waking a thread */
    CHUNK_NS = 10000,             /* a chunk takes that long at least, so that sharing out costs nothing */
    CHUNKS_PER_THREAD = 32,       /* work-items may differ a lot in what they take: the last chunk should be small */
    COPY_CHUNK_BYTES = 256 << 10, /* a multiple of every pattern's size */
};

/* What our threads can keep in the caches: the last level is shared with other processors of the machine
   that we may not run on, so it counts as no more than eight times our second level. */
uint64_t steps_cache_bytes(unsigned threads)
{
    long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE), l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    uint64_t ours = (uint64_t)(l2 > 0 ? l2 : 1 << 20) * 8 * threads;
    return l3 > 0 && (uint64_t)l3 < ours ? (uint64_t)l3 : ours;
}

void steps_init(struct steps *s, struct pool *pool, struct buffers *buffers, struct ir_printer *printer)
{
    *s = (struct steps){.pool = pool, .buffers = buffers, .printer = printer};
}

/* ---- launches ---- */

struct job {
    kernel_entry *entry;
    const struct kernel_launch *record;
    const void *args;
    uint8_t *local;
    uint64_t local_bytes;
    _Atomic uint64_t busy_ns;
};

static void run_groups(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    struct job *j = data;
    uint64_t began = wait_now_ns();
    j->entry(j->record, j->args, first, end, j->local + thread * j->local_bytes);
    atomic_fetch_add_explicit(&j->busy_ns, wait_now_ns() - began, memory_order_relaxed);
}

/* Work-groups of a chunk: all of them where that is soon done. Until a launch has been measured, a
   work-item counts as a nanosecond. */
static uint64_t chunk_groups(const struct program_launch *p, uint64_t busy_ns, unsigned threads)
{
    uint64_t groups = p->n_groups;
    double ns = busy_ns ? (double)busy_ns : (double)groups * (double)p->group_items;
    if (ns < INLINE_NS) return groups;
    uint64_t fair = groups / (threads * CHUNKS_PER_THREAD), least = (uint64_t)((double)groups * CHUNK_NS / ns);
    uint64_t chunk = fair > least ? fair : least;
    return chunk ? chunk : 1;
}

static int reserve_local(struct steps *s, uint64_t bytes, const struct program_launch *p, struct error *e)
{
    if (bytes <= s->local_bytes) return 0;
    free(s->local);
    s->local_bytes = 0;
    s->local = aligned_alloc(64, bytes * pool_threads(s->pool));
    if (!s->local)
        return error_set(e, FUSION_OUT_OF_MEMORY, p->name, "%" PRIu64 " bytes of work-group memory for %u threads",
                         bytes, pool_threads(s->pool));
    s->local_bytes = bytes;
    return 0;
}

static int run_code(struct steps *s, const struct program_launch *p, struct executable_launch *l, struct error *e)
{
    if (reserve_local(s, l->local_bytes, p, e) != 0) return -1;
    struct job job = {l->object->entry, l->record, l->args, s->local, s->local_bytes, 0};
    pool_run(s->pool, run_groups, &job, p->n_groups, chunk_groups(p, l->busy_ns, pool_threads(s->pool)));
    l->busy_ns = job.busy_ns;
    return 0;
}

static int run_launch(struct steps *s, struct executable *x, uint32_t index, const struct running_slot *slots,
                      struct error *e)
{
    const struct program_launch *p = &x->program->launches[index];
    running_step("kernel", p->name);
    struct executable_launch *l = &x->launches[index];
    int result = l->kernel ? reference_run(p, l, slots, s->buffers, watched_watch(x->watched), s->printer, e)
                           : run_code(s, p, l, e);
    ir_printer_end_launch(s->printer);
    return result;
}

/* ---- copies and fills ---- */

struct transfer {
    uint8_t *to;
    const uint8_t *from; /* COPY */
    const struct program_step *step;
};

static void copy_bytes(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    (void)thread;
    const struct transfer *t = data;
    memcpy(t->to + first, t->from + first, end - first);
}

static void fill_bytes(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    (void)thread;
    const struct transfer *t = data;
    uint8_t block[64];
    for (size_t i = 0; i < sizeof block; i++) block[i] = t->step->pattern[i % t->step->pattern_size];
    for (uint64_t at = first; at < end; at += sizeof block)
        memcpy(t->to + at, block, end - at < sizeof block ? end - at : sizeof block);
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
    const struct transfer *t = data;
    for (uint64_t i = first; i < end; i++) {
        uint64_t at = program_row(t->step, i, t->step->to_pitch, t->step->to_slice_pitch);
        struct transfer row = {.to = t->to + at, .step = t->step};
        fill_bytes(&row, 0, t->step->bytes, thread);
    }
}

static uint64_t chunk_rows(const struct program_step *step)
{
    return COPY_CHUNK_BYTES / step->bytes + 1;
}

static void run_copy(struct steps *s, const struct program_step *step, const struct running_slot *slots)
{
    struct transfer t = {slots[step->to].memory + step->to_offset, slots[step->from].memory + step->from_offset, step};
    running_step("copy into buffer", slots[step->to].name);
    if (step->rows)
        pool_run(s->pool, copy_rows, &t, step->rows, chunk_rows(step));
    else if (t.from + step->bytes <= t.to || t.to + step->bytes <= t.from)
        pool_run(s->pool, copy_bytes, &t, step->bytes, COPY_CHUNK_BYTES);
    else
        memmove(t.to, t.from, step->bytes);
}

static void run_fill(struct steps *s, const struct program_step *step, const struct running_slot *slots)
{
    struct transfer t = {slots[step->to].memory + step->to_offset, NULL, step};
    running_step("fill of buffer", slots[step->to].name);
    if (step->rows)
        pool_run(s->pool, fill_rows, &t, step->rows, chunk_rows(step));
    else
        pool_run(s->pool, fill_bytes, &t, step->bytes, COPY_CHUNK_BYTES);
}

void steps_tell_prints(struct steps *s)
{
    size_t bytes;
    uint64_t dropped;
    const char *text = ir_printer_take(s->printer, &bytes, &dropped);
    if (bytes || dropped) running_print(text, bytes, dropped);
}

int steps_run(struct steps *s, struct executable *x, uint32_t part, const struct running_slot *slots,
              struct error *e)
{
    const struct program *p = x->program;
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->n_steps && at <= part; i++) {
        const struct program_step *step = &p->steps[i];
        if (step->kind == PROGRAM_STEP_HOST) {
            at++;
            continue;
        }
        if (at != part) continue;
        switch ((enum program_step_kind)step->kind) {
        case PROGRAM_STEP_LAUNCH:
            if (run_launch(s, x, step->launch, slots, e) != 0) return -1;
            break;
        case PROGRAM_STEP_COPY:
            run_copy(s, step, slots);
            watched_step(x, step);
            break;
        case PROGRAM_STEP_FILL:
            run_fill(s, step, slots);
            watched_step(x, step);
            break;
        case PROGRAM_STEP_HOST:
        case PROGRAM_STEP_COUNT: break;
        }
    }
    return 0;
}
