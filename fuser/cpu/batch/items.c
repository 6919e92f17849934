/* Steps that go from work-item to work-item: atomics, copies, images, pipes and texts. */
#include "fuser/cpu/batch/items.h"

#include <stddef.h>

#include "fuser/cpu/batch/evaluate.h"

/* ---- atomics ---- */

static enum ir_op operation_of(enum ir_op op)
{
    static const uint16_t operations[] = {
        [IR_OP_ATOMIC_ADD] = IR_OP_ADD,   [IR_OP_ATOMIC_SUB] = IR_OP_SUB,   [IR_OP_ATOMIC_SMIN] = IR_OP_SMIN,
        [IR_OP_ATOMIC_UMIN] = IR_OP_UMIN, [IR_OP_ATOMIC_SMAX] = IR_OP_SMAX, [IR_OP_ATOMIC_UMAX] = IR_OP_UMAX,
        [IR_OP_ATOMIC_AND] = IR_OP_AND,   [IR_OP_ATOMIC_OR] = IR_OP_OR,     [IR_OP_ATOMIC_XOR] = IR_OP_XOR,
        [IR_OP_ATOMIC_FADD] = IR_OP_FADD, [IR_OP_ATOMIC_FMIN] = IR_OP_FMIN, [IR_OP_ATOMIC_FMAX] = IR_OP_FMAX,
    };
    return (enum ir_op)operations[op];
}

/* What is written where `old` is. */
static uint64_t updated(const struct step *s, uint64_t old, uint64_t x, uint64_t y)
{
    switch (s->op) {
    case IR_OP_ATOMIC_XCHG: return x;
    case IR_OP_ATOMIC_CMPXCHG: return old == x ? y : old;
    default: return evaluate_pair(operation_of((enum ir_op)s->op), s->details->kind, old, x);
    }
}

#define UPDATE(bits)                                                                                                   \
    static uint64_t update_##bits(const struct step *s, void *place, uint64_t x, uint64_t y)                           \
    {                                                                                                                  \
        uint##bits##_t *p = place, old, new;                                                                           \
        if (s->op == IR_OP_ATOMIC_ADD) return __atomic_fetch_add(p, (uint##bits##_t)x, __ATOMIC_SEQ_CST);              \
        if (s->op == IR_OP_ATOMIC_LOAD) return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                   \
        if (s->op == IR_OP_ATOMIC_STORE) {                                                                             \
            __atomic_store_n(p, (uint##bits##_t)x, __ATOMIC_SEQ_CST);                                                  \
            return 0;                                                                                                  \
        }                                                                                                              \
        old = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                                    \
        do new = (uint##bits##_t)updated(s, old, x, y);                                                                \
        while (!__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));                 \
        return old;                                                                                                    \
    }
UPDATE(8)
UPDATE(16)
UPDATE(32)
UPDATE(64)

static void flag(struct run *run, const struct step *s, uint32_t lane)
{
    uint32_t *p = (uint32_t *)(uintptr_t)run_operand(run, s, 0, lane);
    uint32_t old = __atomic_exchange_n(p, s->op == IR_OP_ATOMIC_TEST_SET, __ATOMIC_SEQ_CST);
    if (s->op == IR_OP_ATOMIC_TEST_SET) run_result(run, s, 0, lane, old != 0);
}

/* Vectors component by component, as the interpreter does. */
static void atomic(struct run *run, const struct step *s, uint32_t lane)
{
    static uint64_t (*const update[])(const struct step *, void *, uint64_t, uint64_t) = {update_8, update_16,
                                                                                          update_32, update_64};
    const struct step_details *d = s->details;
    if (s->op == IR_OP_ATOMIC_TEST_SET || s->op == IR_OP_ATOMIC_CLEAR) {
        flag(run, s, lane);
        return;
    }
    unsigned size = batch_size_of(d->kind);
    uint8_t *p = (uint8_t *)(uintptr_t)run_operand(run, s, 0, lane);
    for (uint32_t c = 0; c < d->lanes; c++) {
        uint64_t x = d->n_operands > 1 ? run_operand(run, s, 1 + c, lane) : 0;
        uint64_t y = d->n_operands > 1 + d->lanes ? run_operand(run, s, 1 + d->lanes + c, lane) : 0;
        uint64_t old = update[size](s, p + ((uint64_t)c << size), x, y);
        if (d->n_results) run_result(run, s, c, lane, old);
    }
}

/* Histograms and counters. */
static void add_words(struct run *run, const struct step *s)
{
    const batch_reg *more = s->details->more + s->details->n_results;
    const uint64_t *places = (const uint64_t *)run_place(run, more[0]);
    const uint32_t *numbers = (const uint32_t *)run_place(run, more[1]);
    uint32_t *old = (uint32_t *)run_place(run, s->details->more[0]);
    EACH_LANE(lane, run)
    old[lane] = __atomic_fetch_add((uint32_t *)(uintptr_t)places[lane], numbers[lane], __ATOMIC_SEQ_CST);
}

/* ---- memory ---- */

static void copy(struct run *run, const struct step *s, uint32_t lane)
{
    const struct step_details *d = s->details;
    unsigned unused = 64 - (8u << d->sizes[2]);
    int64_t count = (int64_t)(run_operand(run, s, 2, lane) << unused) >> unused;
    void *to = (void *)(uintptr_t)run_operand(run, s, 0, lane);
    if (count > 0) memmove(to, (const void *)(uintptr_t)run_operand(run, s, 1, lane), (uint64_t)count * d->bytes);
}

static bool in_span(uint64_t address, const void *first, uint64_t bytes)
{
    return address - (uintptr_t)first < bytes;
}

/* An address does not tell its space, but where private and work-group memory lie is known; the rest is global. */
static void space(struct run *run, const struct step *s, uint32_t lane)
{
    const struct batch *b = run->batch;
    uint64_t address = run_operand(run, s, 0, lane);
    bool is_private =
        in_span(address, run->private, b->private_bytes * run->width) || in_span(address, run->args, b->info.args_size);
    bool is_local = in_span(address, run->local, run->local_bytes), is;
    switch (s->details->attrs.space) {
    case IR_SPACE_PRIVATE: is = is_private; break;
    case IR_SPACE_LOCAL: is = is_local; break;
    default: is = !is_private && !is_local;
    }
    run_result(run, s, 0, lane, is ? address : 0);
}

/* ---- images ---- */

enum { AT_ONCE = 64 };

/* Lanes of the mask from `first` on, as bits, that have the same of an operand as the first of them. */
static uint64_t alike(const struct run *run, const struct step *s, uint32_t operand, uint32_t first, uint64_t bits)
{
    uint64_t one = run_operand(run, s, operand, first + (uint32_t)__builtin_ctzll(bits)), same = 0;
    for (uint64_t left = bits; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(left);
        if (run_operand(run, s, operand, first + lane) == one) same |= 1ull << lane;
    }
    return same;
}

static uint8_t *words_of(const struct run *run, const struct step *s, uint32_t more, uint32_t first)
{
    return run_more(run, s, more) + (uint64_t)first * sizeof(uint32_t);
}

/* Texels of one image: n lanes from `first` on, those whose bit is set. */
static void texels_of(struct run *run, const struct step *s, uint32_t first, uint32_t n, uint64_t bits)
{
    const struct step_details *d = s->details;
    uint32_t coordinates[3 * AT_ONCE], numbers[4 * AT_ONCE], operands = d->n_results, sampler = 1 + d->lanes;
    uint32_t lane = first + (uint32_t)__builtin_ctzll(bits), mode = d->mode;
    size_t bytes = n * sizeof(uint32_t);
    const struct ir_image *image = (const struct ir_image *)(uintptr_t)run_operand(run, s, 0, lane);
    for (uint32_t c = 0; c < d->lanes; c++)
        memcpy(coordinates + c * AT_ONCE, words_of(run, s, operands + 1 + c, first), bytes);
    if (s->op == IR_OP_IMAGE_WRITE) {
        for (uint32_t c = 0; c < 4; c++)
            memcpy(numbers + c * AT_ONCE, words_of(run, s, operands + sampler + c, first), bytes);
        run->launch->functions->image_write(image, mode, bits, AT_ONCE, coordinates, numbers);
        return;
    }
    if (mode & KERNEL_TEXEL_SAMPLED) mode |= run_operand(run, s, sampler, lane) & 0xffff;
    run->launch->functions->image_read(image, mode, bits, AT_ONCE, coordinates, numbers);
    for (uint32_t c = 0; c < 4; c++)
        for (uint64_t left = bits; left; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(left);
            run_result(run, s, c, first + i, numbers[c * AT_ONCE + i]);
        }
}

/* A call does as many lanes as have the same image and sampler: all of them, mostly. */
static void texels(struct run *run, const struct step *s)
{
    const struct mask *m = run->now;
    for (uint32_t first = m->lo; first < m->hi; first += AT_ONCE) {
        uint32_t n = m->hi - first < AT_ONCE ? m->hi - first : AT_ONCE;
        uint64_t left = 0, bits;
        for (uint32_t i = 0; i < n; i++) left |= (uint64_t)m->lanes[first + i] << i;
        for (; left; left &= ~bits) {
            bits = alike(run, s, 0, first, left);
            if (s->details->mode & KERNEL_TEXEL_SAMPLED) bits = alike(run, s, 1 + s->details->lanes, first, bits);
            texels_of(run, s, first, n, bits);
        }
    }
}

static void image_query(struct run *run, const struct step *s, uint32_t lane)
{
    const struct ir_image *image = (const struct ir_image *)(uintptr_t)run_operand(run, s, 0, lane);
    uint64_t v;
    switch (s->op) {
    case IR_OP_IMAGE_WIDTH: v = image->width; break;
    case IR_OP_IMAGE_HEIGHT: v = image->height; break;
    case IR_OP_IMAGE_DEPTH:
    case IR_OP_IMAGE_ARRAY_SIZE: v = image->slices; break;
    case IR_OP_IMAGE_CHANNEL_TYPE: v = image->channel_type; break;
    default: v = image->channel_order; break;
    }
    run_result(run, s, 0, lane, v);
}

/* ---- pipes and texts ---- */

static void pipe(struct run *run, const struct step *s, uint32_t lane)
{
    const struct kernel_functions *f = run->launch->functions;
    const struct step_details *d = s->details;
    uint64_t v[4] = {0}, r = 0;
    for (uint32_t i = 0; i < d->n_operands && i < 4; i++) v[i] = run_operand(run, s, i, lane);
    struct kernel_pipe *p = (struct kernel_pipe *)(uintptr_t)v[0];
    void *packet = (void *)(uintptr_t)v[1];
    switch (s->op) {
    case IR_OP_PIPE_READ: r = f->pipe_read(p, d->bytes, packet); break;
    case IR_OP_PIPE_WRITE: r = f->pipe_write(p, d->bytes, packet); break;
    case IR_OP_PIPE_READ_WAIT: f->pipe_read_wait(p, d->bytes, packet); return;
    case IR_OP_PIPE_WRITE_WAIT: f->pipe_write_wait(p, d->bytes, packet); return;
    case IR_OP_PIPE_READ_AT: r = f->pipe_read_at(p, d->bytes, packet, v[2], (uint32_t)v[3]); break;
    case IR_OP_PIPE_WRITE_AT: r = f->pipe_write_at(p, d->bytes, packet, v[2], (uint32_t)v[3]); break;
    case IR_OP_PIPE_RESERVE_READ: r = f->pipe_reserve(p, 0, (uint32_t)v[1]); break;
    case IR_OP_PIPE_RESERVE_WRITE: r = f->pipe_reserve(p, 1, (uint32_t)v[1]); break;
    case IR_OP_PIPE_COMMIT_READ: f->pipe_commit(p, 0, v[1]); return;
    case IR_OP_PIPE_COMMIT_WRITE: f->pipe_commit(p, 1, v[1]); return;
    case IR_OP_PIPE_NUM_PACKETS: r = f->pipe_packets(p); break;
    default: r = p->capacity; break;
    }
    run_result(run, s, 0, lane, r);
}

static void print(struct run *run, const struct step *s, uint32_t lane)
{
    if (s->op == IR_OP_FINDING) {
        run->launch->functions->finding(run->launch->printer, run_operand(run, s, 0, lane),
                                        (const char *)(uintptr_t)run_operand(run, s, 1, lane),
                                        (int64_t)run_operand(run, s, 2, lane));
        return;
    }
    const char *format = (const char *)(uintptr_t)run_operand(run, s, 1, lane);
    const void *args = (const void *)(uintptr_t)run_operand(run, s, 2, lane);
    int32_t r = run->launch->functions->print(run->launch->printer, run_operand(run, s, 0, lane), format,
                                              s->details->bytes, args);
    run_result(run, s, 0, lane, (uint32_t)r);
}

void items_step(struct run *run, const struct step *s)
{
    static void (*const steps[])(struct run *, const struct step *, uint32_t) = {
        [STEP_ATOMIC] = atomic, [STEP_COPY] = copy,   [STEP_IMAGE_QUERY] = image_query,
        [STEP_PIPE] = pipe,     [STEP_PRINT] = print, [STEP_SPACE] = space};
    if (s->kind == STEP_IMAGE) {
        texels(run, s);
        return;
    }
    if (s->op == IR_OP_ATOMIC_ADD && s->details->kind == IR_KIND_I32 && s->details->lanes == 1) {
        add_words(run, s);
        return;
    }
    EACH_LANE(lane, run) steps[s->kind](run, s, lane);
}
