/* Runs the steps of a kernel over its work-items, batch by batch. */
#include "fuser/cpu/batch/batch.h"
#include "fuser/cpu/batch/evaluate.h"
#include "fuser/cpu/batch/frame.h"
#include "fuser/cpu/batch/groups.h"
#include "fuser/cpu/batch/ids.h"
#include "fuser/cpu/batch/items.h"

/* ---- masks ---- */

/* Its ends and number, after bytes from lo to before hi were written. */
static void measure(struct mask *m, uint32_t lo, uint32_t hi)
{
    const uint8_t *lanes = m->lanes + lo;
    uint32_t n = 0, size = hi - lo;
    for (uint32_t i = 0; i < size; i++) n += lanes[i];
    m->n = n;
    m->lo = lo;
    m->hi = hi;
    if (n == size) return;
    if (n == 0) {
        m->hi = lo;
        return;
    }
    m->lo = lo + (uint32_t)((const uint8_t *)memchr(lanes, 1, size) - lanes);
    m->hi = lo + (uint32_t)((const uint8_t *)memrchr(lanes, 1, size) - lanes) + 1;
}

static void split_lanes(uint8_t *restrict yes, uint8_t *restrict no, const uint8_t *of, const uint8_t *condition,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        yes[i] = of[i] & condition[i];
        no[i] = of[i] & (condition[i] ^ 1);
    }
}

static void join_lanes(uint8_t *restrict r, const uint8_t *a, const uint8_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) r[i] = a[i] | b[i];
}

static void add_lanes(uint8_t *restrict r, const uint8_t *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) r[i] |= a[i];
}

static void drop_lanes(uint8_t *restrict r, const uint8_t *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) r[i] &= a[i] ^ 1;
}

static void split(struct mask *yes, struct mask *no, const struct mask *of, const uint8_t *condition)
{
    uint32_t lo = of->lo;
    split_lanes(yes->lanes + lo, no->lanes + lo, of->lanes + lo, condition + lo, of->hi - lo);
    measure(yes, of->lo, of->hi);
    measure(no, of->lo, of->hi);
}

static void clear(struct mask *m, const struct mask *around)
{
    memset(m->lanes + around->lo, 0, around->hi - around->lo);
    m->lo = m->hi = around->lo;
    m->n = 0;
}

static void copy(struct mask *to, const struct mask *from)
{
    memcpy(to->lanes + from->lo, from->lanes + from->lo, from->hi - from->lo);
    to->lo = from->lo;
    to->hi = from->hi;
    to->n = from->n;
}

/* What two branches leave, which need not have written all bytes: one that ran has those of its own ends. */
static void merge(struct mask *of, const struct mask *yes, const struct mask *no)
{
    join_lanes(of->lanes + of->lo, yes->lanes + of->lo, no->lanes + of->lo, of->hi - of->lo);
    measure(of, of->lo, of->hi);
}

static void add(struct mask *to, const struct mask *more)
{
    add_lanes(to->lanes + more->lo, more->lanes + more->lo, more->hi - more->lo);
    if (to->n) {
        measure(to, to->lo < more->lo ? to->lo : more->lo, to->hi > more->hi ? to->hi : more->hi);
        return;
    }
    to->lo = more->lo;
    to->hi = more->hi;
    to->n = more->n;
}

static void drop(struct mask *m, const struct mask *gone)
{
    drop_lanes(m->lanes + m->lo, gone->lanes + m->lo, m->hi - m->lo);
    measure(m, m->lo, m->hi);
}

/* None of its bytes stay set. */
static void vanish(struct mask *m)
{
    memset(m->lanes + m->lo, 0, m->hi - m->lo);
    m->hi = m->lo;
    m->n = 0;
}

/* NULL: all between its ends. */
static const uint8_t *lanes_of(const struct mask *m)
{
    return m->n == m->hi - m->lo ? NULL : m->lanes + m->lo;
}

/* ---- steps ---- */

static const uint8_t *operand(const struct run *run, const struct step *s, unsigned i)
{
    return s->in[i] == NO_REG ? NULL : run_place(run, s->in[i]);
}

/* The lanes of the mask of a column; of a single number the one. */
static uint8_t *from_lane(uint8_t *place, batch_reg r, unsigned size, const struct mask *m)
{
    return r & UNIFORM_BIT ? place : place + ((uint64_t)m->lo << size);
}

static void by_number(const struct run *run, const struct step *s)
{
    const struct mask *m = run->now;
    bool single = s->r & UNIFORM_BIT;
    const void *in[4];
    for (unsigned i = 0; i < 4; i++)
        in[i] = s->in[i] == NO_REG ? NULL : from_lane(run_place(run, s->in[i]), s->in[i], s->in_size[i], m);
    void *r = from_lane(run_place(run, s->r), s->r, s->size, m);
    uint32_t n = single ? 1 : m->hi - m->lo;
    evaluate_step(s, r, in, n);
}

static void column(const struct run *run, const struct step *s)
{
    const struct mask *m = run->now;
    uint64_t width = run->width, lo = m->lo;
    uint8_t *base = run->columns;
    s->function(base + s->r * width + (lo << s->size), base + s->in[0] * width + (lo << s->in_size[0]),
                base + s->in[1] * width + (lo << s->in_size[1]), base + s->in[2] * width + (lo << s->in_size[2]),
                m->hi - m->lo);
}

static void single(const struct run *run, const struct step *s)
{
    s->function(run_place(run, s->r), operand(run, s, 0), operand(run, s, 1), operand(run, s, 2), 1);
}

static void move(const struct run *run, const struct step *s)
{
    const struct mask *m = run->now;
    uint8_t *r = run_place(run, s->r);
    const uint8_t *from = run_place(run, s->in[0]);
    uint64_t at = (uint64_t)m->lo << s->size;
    if (s->r & UNIFORM_BIT)
        memcpy(r, from, 8);
    else if (m->n == m->hi - m->lo)
        memcpy(r + at, from + at, (uint64_t)m->n << s->size);
    else
        run->batch->columns->blend[s->size](r + at, from + at, m->lanes + m->lo, m->hi - m->lo);
}

static uint64_t base_of(const struct run *run, const struct step *s)
{
    uint64_t base = s->in[0] == NO_REG ? 0 : run_get(run_place(run, s->in[0]), 3, 0);
    return base + (uint64_t)s->offset;
}

static const void *index_of(const struct run *run, const struct step *s)
{
    return from_lane(run_place(run, s->in[1]), s->in[1], s->in_size[1], run->now);
}

static void address(const struct run *run, const struct step *s)
{
    const struct mask *m = run->now;
    uint64_t base = base_of(run, s), *r = (uint64_t *)from_lane(run_place(run, s->r), s->r, 3, m);
    if (s->in[1] == NO_REG)
        *r = base;
    else
        run->batch->columns->address[s->in_size[1] - 2](r, base, index_of(run, s), s->scale,
                                                        s->r & UNIFORM_BIT ? 1 : m->hi - m->lo);
}

static void load(const struct run *run, const struct step *s)
{
    const struct mask *m = run->now;
    uint8_t *r = from_lane(run_place(run, s->r), s->r, s->size, m);
    const uint8_t *base = (const uint8_t *)(uintptr_t)base_of(run, s);
    if (s->in[1] == NO_REG)
        memcpy(r, base, (size_t)1 << s->size);
    else
        run->batch->columns->load[s->in_size[1] - 2][s->size](r, base, index_of(run, s), s->scale, lanes_of(m),
                                                              m->hi - m->lo);
}

/* Of lanes with one address the last stays. */
static void store(const struct run *run, const struct step *s)
{
    const struct mask *m = run->now;
    const uint8_t *value = from_lane(run_place(run, s->in[2]), s->in[2], s->size, m);
    uint8_t *base = (uint8_t *)(uintptr_t)base_of(run, s);
    if (s->in[1] != NO_REG)
        run->batch->columns->store[s->in_size[1] - 2][s->size](value, base, index_of(run, s), s->scale, lanes_of(m),
                                                               m->hi - m->lo);
    else if (s->in[2] & UNIFORM_BIT)
        memcpy(base, value, (size_t)1 << s->size);
    else
        memcpy(base, value + ((uint64_t)(m->hi - m->lo - 1) << s->size), (size_t)1 << s->size);
}

static bool any(const struct run *run, const struct step *s)
{
    const struct mask *m = run->now;
    const uint8_t *c = run_place(run, s->in[0]);
    uint8_t found = 0;
    const uint8_t *lanes = m->lanes;
    for (uint32_t i = m->lo; i < m->hi; i++) found |= lanes[i] & c[i];
    return found;
}

/* ---- control flow: the step that comes next ---- */

static const struct step *go_to(struct run *run, const struct step *s, struct mask *m)
{
    run->now = m;
    return m->n ? s + 1 : run->batch->steps + s->target;
}

static const struct step *control(struct run *run, const struct step *s)
{
    struct mask *a = &run->masks[s->mask[0]], *b = &run->masks[s->mask[1]], *c = &run->masks[s->mask[2]],
                *now = run->now;
    switch (s->kind) {
    case STEP_SPLIT: split(a, b, now, run_place(run, s->in[0])); return go_to(run, s, a);
    case STEP_ELSE: return go_to(run, s, a);
    case STEP_RESTORE: run->now = a; return s + 1;
    case STEP_MERGE: merge(a, b, c); return go_to(run, s, a);
    case STEP_BEGIN:
    case STEP_ENTER:
        copy(a, now);
        clear(b, now);
        run->now = a;
        return s + 1;
    case STEP_ROUND:
        if (!b->n) return run->batch->steps + s->target;
        copy(a, b);
        clear(b, a);
        run->now = a;
        return s + 1;
    case STEP_LEAVE:
        if (s->mask[1] != NO_MASK) add(b, now);
        vanish(now);
        return run->batch->steps + s->target;
    case STEP_DROP: drop(a, b); return go_to(run, s, a);
    case STEP_CALL:
        run->calls[run->n_calls].step = (uint32_t)(s - run->batch->steps) + 1;
        run->calls[run->n_calls++].mask = now;
        return run->batch->steps + s->target;
    default: /* STEP_RETURN */
        run->now = run->calls[--run->n_calls].mask;
        return run->batch->steps + run->calls[run->n_calls].step;
    }
}

static void run_steps(struct run *run)
{
    const struct step *s = run->batch->steps;
    for (;;) switch (s->kind) {
        case STEP_COLUMN: column(run, s++); break;
        case STEP_SINGLE: single(run, s++); break;
        case STEP_EVALUATE: by_number(run, s++); break;
        case STEP_SPLAT:
            s->function(run_place(run, s->r) + ((uint64_t)run->now->lo << s->size), run_place(run, s->in[0]), NULL,
                        NULL, run->now->hi - run->now->lo);
            s++;
            break;
        case STEP_MOVE: move(run, s++); break;
        case STEP_ADDRESS: address(run, s++); break;
        case STEP_LOAD: load(run, s++); break;
        case STEP_STORE: store(run, s++); break;
        case STEP_ATOMIC ... STEP_SPACE: items_step(run, s++); break;
        case STEP_COLLECTIVE ... STEP_BLOCK: groups_step(run, s++); break;
        case STEP_JUMP: s = run->batch->steps + s->target; break;
        case STEP_JUMP_UNLESS: s = *run_place(run, s->in[0]) ? s + 1 : run->batch->steps + s->target; break;
        case STEP_UNLESS_ANY: s = any(run, s) ? s + 1 : run->batch->steps + s->target; break;
        case STEP_TRAP: __builtin_trap();
        case STEP_END: return;
        default: s = control(run, s);
        }
}

/* ---- batches ---- */

enum { USUAL_WIDTH = 256, DIVERGENT_WIDTH = 128, LEAST_WIDTH = 64, MOST_BYTES = 1 << 20, SCRATCH_BYTES = 24 };

static uint64_t item_bytes(const struct batch *b)
{
    return b->column_bytes + b->private_bytes + (b->unit == UNIT_GROUP ? SCRATCH_BYTES : 0);
}

/* Lanes: of loops that work-items leave one by one fewer, since all are there until the last one leaves. */
static uint32_t width_of(const struct batch *b, uint64_t group_items)
{
    uint64_t whole = (group_items + 63) / 64 * 64, item = item_bytes(b);
    uint64_t width = b->has_divergent_loops ? DIVERGENT_WIDTH : USUAL_WIDTH;
    if (b->unit == UNIT_GROUP) return (uint32_t)whole;
    if (b->unit == UNIT_ITEMS && width > whole) width = whole;
    if (width * item > MOST_BYTES) width = MOST_BYTES / item / 64 * 64;
    return (uint32_t)(width < LEAST_WIDTH ? LEAST_WIDTH : width);
}

static uint64_t to_64(uint64_t n)
{
    return (n + 63) / 64 * 64;
}

uint64_t batch_frame_bytes(const struct batch *b, uint64_t group_items)
{
    uint64_t width = width_of(b, group_items);
    return to_64(b->single_bytes + 8) + to_64((b->n_masks + 2) * sizeof(struct mask)) + width * (item_bytes(b) + 1) +
           128;
}

static uint64_t input_value(const struct run *run, const struct input *in)
{
    switch (in->kind) {
    case INPUT_CONSTANT: return in->value;
    case INPUT_ARG: return run_get(run->args + in->value, in->size, 0);
    case INPUT_ARG_PLACE: return (uintptr_t)run->args + in->value;
    case INPUT_LOCAL_ARG: return (uintptr_t)run->local + run_get(run->args + in->value, 3, 0);
    case INPUT_LOCAL: return (uintptr_t)run->local + in->value;
    default: return ids_of_launch(run, (enum ir_op)in->op, in->dim);
    }
}

/* What stays from batch to batch. */
static void begin(struct run *run)
{
    const struct batch *b = run->batch;
    for (uint32_t i = 0; i < b->n_inputs; i++) {
        const struct input *in = &b->inputs[i];
        uint64_t v = input_value(run, in);
        memcpy(run_place(run, in->reg), &v, sizeof v);
        if (in->column != NO_REG) b->columns->splat[in->size](run_place(run, in->column), &v, NULL, NULL, run->width);
    }
    for (uint32_t i = 0; i < b->n_vars; i++) {
        uint64_t *at = (uint64_t *)run_place(run, b->vars[i].reg);
        uint64_t first = (uintptr_t)run->private + b->vars[i].at * run->width;
        for (uint32_t lane = 0; lane < run->width; lane++) at[lane] = first + lane * b->vars[i].bytes;
    }
    for (uint32_t i = 0; i < b->n_masks; i++)
        run->masks[i].lanes = run->columns + (uint64_t)(b->masks_at + i) * run->width;
    struct mask *all = &run->masks[b->n_masks];
    all->lanes = run->columns + b->column_bytes * run->width;
    memset(all->lanes, 1, run->width);
}

static void run_batch(struct run *run)
{
    struct mask *all = &run->masks[run->batch->n_masks];
    all->lo = 0;
    all->hi = all->n = run->n;
    run->now = all;
    run->n_calls = 0;
    run_steps(run);
    run->n = 0;
}

static struct segment segment_of(const struct run *run, uint64_t group)
{
    const struct kernel_launch *l = run->launch;
    struct segment s = {.items = 1};
    for (int d = 0; d < 3; d++) {
        s.group[d] = group % l->num_groups[d];
        group /= l->num_groups[d];
        uint64_t left = l->global_size[d] - s.group[d] * l->local_size[d];
        s.size[d] = left < l->local_size[d] ? left : l->local_size[d];
        s.items *= s.size[d];
    }
    return s;
}

static void run_group(struct run *run, uint64_t group)
{
    struct segment s = segment_of(run, group);
    for (uint64_t left = s.items; left; left -= s.n, s.first += s.n) {
        uint32_t room = run->width - run->n;
        s.n = left < room ? (uint32_t)left : room;
        s.lane = run->n;
        run->last = s;
        ids_fill(run, &s);
        run->n += s.n;
        if (run->n == run->width || run->batch->unit != UNIT_ANY) run_batch(run);
    }
}

void batch_run(const struct batch *b, const struct kernel_launch *launch, const void *args, uint64_t first,
               uint64_t end, void *local)
{
    uint64_t items = launch->local_size[0] * launch->local_size[1] * launch->local_size[2];
    uint8_t *frame = (uint8_t *)local + launch->local_bytes - batch_frame_bytes(b, items);
    struct run run = {.batch = b, .launch = launch, .args = args, .local = local, .singles = frame};
    run.width = width_of(b, items);
    run.local_bytes = (uint64_t)(frame - run.local);
    run.masks = (struct mask *)(frame + to_64(b->single_bytes + 8));
    run.columns = (uint8_t *)run.masks + to_64((b->n_masks + 2) * sizeof(struct mask));
    run.private = run.columns + to_64(run.width * (b->column_bytes + 1));
    run.scratch = run.private + to_64(run.width * b->private_bytes);
    begin(&run);
    for (uint64_t group = first; group < end; group++) run_group(&run, group);
    if (run.n) run_batch(&run);
}
