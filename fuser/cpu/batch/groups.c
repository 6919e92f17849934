/* Operations of work-items together: each party's lanes come in the order of their ids. A batch is a work-group. */
#include "fuser/cpu/batch/groups.h"

#include "fuser/cpu/batch/evaluate.h"
#include "ir/eval/bits.h"
#include "ir/eval/float.h"
#include "ir/eval/float_format.h"

/* Those that go through an operation together. */
struct party {
    struct run *run;
    const struct step *step;
    const uint32_t *lanes;
    uint32_t n, first, size; /* first lane and number of lanes of the group, also of those that are not there */
};

static uint64_t operand(const struct party *p, uint32_t i, uint32_t who)
{
    return run_operand(p->run, p->step, i, p->lanes[who]);
}

static void give(const struct party *p, uint32_t component, uint32_t who, uint64_t v)
{
    bool single = p->step->details->more[component] & UNIFORM_BIT;
    run_result(p->run, p->step, component, single ? 0 : p->lanes[who], v);
}

static void give_all(const struct party *p, uint32_t component, uint64_t v)
{
    bool single = p->step->details->more[component] & UNIFORM_BIT;
    for (uint32_t i = 0; i < (single ? 1 : p->n); i++) give(p, component, i, v);
}

/* ---- votes ---- */

static uint64_t count_true(const struct party *p)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < p->n; i++) count += operand(p, 0, i);
    return count;
}

static void ballot(const struct party *p)
{
    uint64_t mask[4] = {0};
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t id = p->lanes[i] - p->first;
        if (id < 128) mask[id / 32] |= operand(p, 0, i) << id % 32;
    }
    for (uint32_t c = 0; c < 4; c++) give_all(p, c, mask[c]);
}

/* Floats compare as numbers. */
static bool all_equal(const struct party *p)
{
    const struct step_details *d = p->step->details;
    ir_type type = IR_TYPE(d->kind, 1, 0);
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t c = 0; c < d->lanes; c++) {
            uint64_t v[4] = {operand(p, c, 0), operand(p, c, i)}, same = 0;
            eval_compare(ir_type_is_float(type) ? IR_OP_FOEQ : IR_OP_IEQ, type, v, &same);
            if (!same) return false;
        }
    return true;
}

/* ---- reductions and scans ---- */

static bool is_float(enum ir_kind kind)
{
    return kind >= IR_KIND_F16 && kind <= IR_KIND_F64;
}

static enum ir_op operation_of(const struct step_details *d)
{
    static const enum ir_op ints[] = {IR_OP_ADD,  IR_OP_MUL, IR_OP_SMIN, IR_OP_UMIN, IR_OP_SMAX,
                                      IR_OP_UMAX, IR_OP_AND, IR_OP_OR,   IR_OP_XOR};
    static const enum ir_op floats[] = {IR_OP_FADD, IR_OP_FMUL, IR_OP_FMIN, IR_OP_FMIN, IR_OP_FMAX, IR_OP_FMAX};
    enum ir_group_op op = (enum ir_group_op)d->attrs.group_op;
    if (!is_float(d->kind)) return ints[op];
    return op <= IR_GROUP_UMAX ? floats[op] : IR_OP_FADD;
}

static uint64_t identity_of(const struct step_details *d)
{
    unsigned bits = 8u << batch_size_of(d->kind);
    double least = __builtin_inf();
    bool real = is_float(d->kind);
    switch (d->attrs.group_op) {
    case IR_GROUP_MUL: return real ? eval_from_double(d->kind, 1, IR_ROUND_RTE) : 1;
    case IR_GROUP_SMIN: return real ? eval_from_double(d->kind, least, IR_ROUND_RTE) : eval_mask(bits - 1);
    case IR_GROUP_UMIN: return real ? eval_from_double(d->kind, least, IR_ROUND_RTE) : eval_mask(bits);
    case IR_GROUP_SMAX: return real ? eval_from_double(d->kind, -least, IR_ROUND_RTE) : 1ull << (bits - 1);
    case IR_GROUP_UMAX: return real ? eval_from_double(d->kind, -least, IR_ROUND_RTE) : 0;
    case IR_GROUP_AND: return real ? 0 : eval_mask(bits);
    default: return 0;
    }
}

/* r[i] = op(a[i], b[i]); r is neither. */
static void combine(const struct party *p, uint8_t *r, const uint8_t *a, const uint8_t *b, uint32_t n)
{
    const struct step_details *d = p->step->details;
    enum ir_op op = operation_of(d);
    unsigned size = batch_size_of(d->kind);
    column_function *function = p->run->batch->columns->operation(op, d->kind);
    if (function) function(r, a, b, NULL, n);
    for (uint32_t i = 0; i < n && !function; i++)
        run_put(r, size, i, evaluate_pair(op, d->kind, run_get(a, size, i), run_get(b, size, i)));
}

/* By halves, as the interpreter (ir/interp/collective.c): each of the first d takes in the one d behind it. */
static void reduce(const struct party *p, uint32_t component)
{
    unsigned size = batch_size_of(p->step->details->kind);
    uint8_t *now = p->run->scratch, *next = now + ((uint64_t)p->run->width << 3);
    uint32_t n = p->n, d = 1;
    for (uint32_t i = 0; i < n; i++) run_put(now, size, i, operand(p, component, i));
    while (d * 2 < n) d *= 2;
    for (; n > 1; d /= 2) {
        combine(p, next, now, now + ((uint64_t)d << size), n - d);
        memcpy(next + ((uint64_t)(n - d) << size), now + ((uint64_t)(n - d) << size), (uint64_t)(2 * d - n) << size);
        uint8_t *old = now;
        now = next;
        next = old;
        n = d;
    }
    give_all(p, component, run_get(now, size, 0));
}

static void scan(const struct party *p, uint32_t component, bool inclusive)
{
    const struct step_details *d = p->step->details;
    unsigned size = batch_size_of(d->kind);
    uint64_t sum = identity_of(d);
    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t x = operand(p, component, i), next = x;
        if (i) combine(p, (uint8_t *)&next, (const uint8_t *)&sum, (const uint8_t *)&x, 1);
        next &= eval_mask(8u << size);
        give(p, component, i, inclusive ? next : sum);
        sum = next;
    }
}

/* ---- values of others ---- */

static void broadcast(const struct party *p)
{
    const struct step_details *d = p->step->details;
    const struct segment *s = &p->run->last;
    uint64_t from = operand(p, d->lanes, 0);
    if (d->attrs.scope != IR_SCOPE_SUB_GROUP) {
        from = 0;
        for (uint32_t dim = d->n_operands - d->lanes; dim-- > 0;) {
            uint64_t id = operand(p, d->lanes + dim, 0);
            from = id < s->size[dim] && from != UINT64_MAX ? from * s->size[dim] + id : UINT64_MAX;
        }
    }
    for (uint32_t c = 0; c < d->lanes; c++) give_all(p, c, from < p->n ? operand(p, c, (uint32_t)from) : 0);
}

/* Operand `from` of the one with that id, if it is there. */
static uint64_t fetch(const struct party *p, uint64_t id, uint32_t from)
{
    if (id >= p->size || !p->run->now->lanes[p->first + id]) return 0;
    const struct mask *m = p->run->now;
    uint32_t lane = p->first + (uint32_t)id;
    return lane < m->lo || lane >= m->hi ? 0 : run_operand(p->run, p->step, from, lane);
}

static uint64_t shuffled(const struct party *p, uint64_t id, uint32_t c, uint64_t x)
{
    uint64_t max = p->run->batch->sub_group_size;
    uint32_t second = p->step->details->lanes + c;
    switch (p->step->op) {
    case IR_OP_SUB_GROUP_SHUFFLE: return fetch(p, x, c);
    case IR_OP_SUB_GROUP_SHUFFLE_XOR: return fetch(p, id ^ x, c);
    case IR_OP_SUB_GROUP_ROTATE: return fetch(p, (id + x) % p->size, c);
    case IR_OP_SUB_GROUP_SHUFFLE_UP: return id >= x ? fetch(p, id - x, second) : fetch(p, id + max - x, c);
    default: return id + x < max ? fetch(p, id + x, c) : fetch(p, id + x - max, second);
    }
}

static void shuffle(const struct party *p)
{
    const struct step_details *d = p->step->details;
    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t x = operand(p, d->n_operands - 1, i);
        for (uint32_t c = 0; c < d->lanes; c++) give(p, c, i, shuffled(p, p->lanes[i] - p->first, c, x));
    }
}

/* ---- blocks ---- */

static void block(const struct party *p)
{
    const struct step_details *d = p->step->details;
    unsigned size = batch_size_of(d->kind);
    uint64_t max = p->run->batch->sub_group_size;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < d->lanes; k++) {
            uint64_t at = operand(p, 0, i) + ((k * max + p->lanes[i] - p->first) << size);
            uint8_t *memory = (uint8_t *)(uintptr_t)at;
            if (p->step->op == IR_OP_BLOCK_READ)
                give(p, k, i, run_get(memory, size, 0));
            else
                run_put(memory, size, 0, operand(p, 1 + k, i));
        }
}

static void image_block(const struct party *p)
{
    const struct step_details *d = p->step->details;
    const struct kernel_functions *f = p->run->launch->functions;
    unsigned size = batch_size_of(d->kind);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct ir_image *image = (const struct ir_image *)(uintptr_t)operand(p, 0, i);
        uint32_t at[3] = {(uint32_t)operand(p, 1, i), (uint32_t)operand(p, 2, i), p->lanes[i] - p->first};
        uint8_t numbers[IR_MAX_LANES * 8];
        if (p->step->op == IR_OP_IMAGE_BLOCK_WRITE) {
            for (uint32_t k = 0; k < d->lanes; k++) run_put(numbers, size, k, operand(p, 3 + k, i));
            f->image_block_write(image, 1u << size, d->lanes, 1, 1, at, numbers);
            continue;
        }
        f->image_block_read(image, 1u << size, d->lanes, 1, 1, at, numbers);
        for (uint32_t k = 0; k < d->lanes; k++) give(p, k, i, run_get(numbers, size, k));
    }
}

/* ---- parties ---- */

static void together(const struct party *p)
{
    const struct step_details *d = p->step->details;
    switch (p->step->op) {
    case IR_OP_GROUP_ALL: give_all(p, 0, count_true(p) == p->n); break;
    case IR_OP_GROUP_ANY: give_all(p, 0, count_true(p) > 0); break;
    case IR_OP_GROUP_BROADCAST: broadcast(p); break;
    case IR_OP_GROUP_REDUCE:
        for (uint32_t c = 0; c < d->lanes; c++) reduce(p, c);
        break;
    case IR_OP_GROUP_SCAN_INCL:
    case IR_OP_GROUP_SCAN_EXCL:
        for (uint32_t c = 0; c < d->lanes; c++) scan(p, c, p->step->op == IR_OP_GROUP_SCAN_INCL);
        break;
    case IR_OP_SUB_GROUP_ELECT:
        for (uint32_t i = 0; i < p->n; i++) give(p, 0, i, i == 0);
        break;
    case IR_OP_SUB_GROUP_BALLOT: ballot(p); break;
    case IR_OP_SUB_GROUP_ALL_EQUAL: give_all(p, 0, all_equal(p)); break;
    case IR_OP_SUB_GROUP_SHUFFLE ... IR_OP_SUB_GROUP_ROTATE: shuffle(p); break;
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: block(p); break;
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: image_block(p); break;
    default: break; /* a barrier: all are here, one step ends before the next begins */
    }
}

/* Lanes of the mask from `first` on. */
static void run_party(struct run *run, const struct step *s, uint32_t first, uint32_t size)
{
    uint32_t *lanes = (uint32_t *)(run->scratch + ((uint64_t)run->width << 4)), n = 0;
    for (uint32_t lane = first; lane < first + size; lane++)
        if (lane >= run->now->lo && lane < run->now->hi && run->now->lanes[lane]) lanes[n++] = lane;
    struct party p = {run, s, lanes, n, first, size};
    if (n) together(&p);
}

/* A work-group that is not whole at an operation of all is a program that goes wrong: it ends, as its code would. */
void groups_step(struct run *run, const struct step *s)
{
    bool whole = s->kind == STEP_COLLECTIVE && s->details->attrs.scope != IR_SCOPE_SUB_GROUP;
    uint32_t size = run->batch->sub_group_size;
    if (whole && run->now->n != run->n) __builtin_trap();
    if (whole) {
        run_party(run, s, 0, run->n);
        return;
    }
    if (s->op == IR_OP_BARRIER) return;
    for (uint32_t first = 0; first < run->n; first += size)
        run_party(run, s, first, run->n - first < size ? run->n - first : size);
}
