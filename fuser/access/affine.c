/* Arithmetic on sums of ids; whatever cannot be kept exact becomes bounds, and then unknown. */
#include "fuser/access/affine.h"

#include <string.h>

#include "ir/core/assumptions.h"

static const struct affine unknown;

struct affine affine_constant(int64_t value)
{
    return (struct affine){.known = true, .constant = value};
}

struct affine affine_between(int64_t low, int64_t high)
{
    if (low == high) return affine_constant(low);
    return (struct affine){.known = true, .low = low, .high = high, .step = 1};
}

struct affine affine_id(unsigned id, int64_t factor)
{
    struct affine a = {.known = true};
    a.factor[id] = factor;
    return a;
}

struct affine affine_param(uint32_t param)
{
    return (struct affine){.known = true, .n_symbols = 1, .symbols = {{.param = param, .factor = 1}}};
}

static int compare_symbols(const struct affine_symbol *a, const struct affine_symbol *b)
{
    if (a->param != b->param) return a->param < b->param ? -1 : 1;
    return (int)a->extension - (int)b->extension;
}

/* Adds a symbol to the sorted list; false where it does not fit. */
static bool add_symbol(struct affine *a, struct affine_symbol s)
{
    uint32_t at = 0;
    while (at < a->n_symbols && compare_symbols(&a->symbols[at], &s) < 0) at++;
    if (at < a->n_symbols && compare_symbols(&a->symbols[at], &s) == 0) {
        if (__builtin_add_overflow(a->symbols[at].factor, s.factor, &a->symbols[at].factor)) return false;
        if (a->symbols[at].factor) return true;
        a->n_symbols--;
        memmove(&a->symbols[at], &a->symbols[at + 1], (a->n_symbols - at) * sizeof s);
        return true;
    }
    if (a->n_symbols == AFFINE_SYMBOLS) return false;
    memmove(&a->symbols[at + 1], &a->symbols[at], (a->n_symbols - at) * sizeof s);
    a->symbols[at] = s;
    a->n_symbols++;
    return true;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

struct affine affine_add(const struct affine *a, const struct affine *b)
{
    if (!a->known || !b->known) return unknown;
    struct affine sum = *a;
    bool lost = __builtin_add_overflow(a->constant, b->constant, &sum.constant);
    lost |= __builtin_add_overflow(a->low, b->low, &sum.low);
    lost |= __builtin_add_overflow(a->high, b->high, &sum.high);
    sum.step = common_divisor(a->step, b->step);
    sum.jump = common_divisor(a->jump, b->jump);
    for (unsigned i = 0; i < AFFINE_IDS; i++)
        lost |= __builtin_add_overflow(a->factor[i], b->factor[i], &sum.factor[i]);
    for (uint32_t i = 0; i < b->n_symbols; i++) lost |= !add_symbol(&sum, b->symbols[i]);
    return lost ? unknown : sum;
}

struct affine affine_scale(const struct affine *a, int64_t factor)
{
    if (!a->known) return unknown;
    if (factor == 0) return affine_constant(0);
    struct affine product = *a;
    int64_t ends[2];
    bool lost = __builtin_mul_overflow(a->constant, factor, &product.constant);
    lost |= __builtin_mul_overflow(a->low, factor, &ends[0]);
    lost |= __builtin_mul_overflow(a->high, factor, &ends[1]);
    lost |= __builtin_mul_overflow(a->step, factor, &product.step) || product.step == INT64_MIN;
    if (product.step < 0) product.step = -product.step;
    lost |= __builtin_mul_overflow(a->jump, factor, &product.jump) || product.jump == INT64_MIN;
    if (product.jump < 0) product.jump = -product.jump;
    product.low = ends[factor < 0];
    product.high = ends[factor > 0];
    for (unsigned i = 0; i < AFFINE_IDS; i++) lost |= __builtin_mul_overflow(a->factor[i], factor, &product.factor[i]);
    for (uint32_t i = 0; i < a->n_symbols; i++)
        lost |= __builtin_mul_overflow(a->symbols[i].factor, factor, &product.symbols[i].factor);
    return lost ? unknown : product;
}

bool affine_is_exact(const struct affine *a)
{
    return a->known && a->low == 0 && a->high == 0 && !a->jump;
}

bool affine_is_constant(const struct affine *a)
{
    if (!affine_is_exact(a) || a->n_symbols) return false;
    for (unsigned i = 0; i < AFFINE_IDS; i++)
        if (a->factor[i]) return false;
    return true;
}

bool affine_same_factors(const struct affine *a, const struct affine *b)
{
    if (!a->known || !b->known || a->n_symbols != b->n_symbols) return false;
    for (uint32_t i = 0; i < a->n_symbols; i++)
        if (compare_symbols(&a->symbols[i], &b->symbols[i]) != 0 || a->symbols[i].factor != b->symbols[i].factor)
            return false;
    return memcmp(a->factor, b->factor, sizeof a->factor) == 0;
}

bool affine_range(const struct affine *a, const struct affine_bounds *bounds, int64_t *low, int64_t *high)
{
    if (!a->known || a->n_symbols || a->jump) return false;
    __int128 least = (__int128)a->constant + a->low, most = (__int128)a->constant + a->high;
    for (unsigned i = 0; i < AFFINE_IDS; i++) {
        __int128 x = (__int128)a->factor[i] * bounds->low[i], y = (__int128)a->factor[i] * bounds->high[i];
        least += x < y ? x : y;
        most += x < y ? y : x;
    }
    if (least < INT64_MIN || most > INT64_MAX) return false;
    *low = (int64_t)least;
    *high = (int64_t)most;
    return true;
}

struct affine affine_either(const struct affine *a, const struct affine *b, const struct affine_bounds *bounds)
{
    if (affine_same_factors(a, b)) {
        struct affine shared = *a;
        int64_t low[2], high[2], distance;
        bool lost = __builtin_add_overflow(a->constant, a->low, &low[0]);
        lost |= __builtin_add_overflow(b->constant, b->low, &low[1]);
        lost |= __builtin_add_overflow(a->constant, a->high, &high[0]);
        lost |= __builtin_add_overflow(b->constant, b->high, &high[1]);
        shared.constant = low[0] < low[1] ? low[0] : low[1];
        shared.jump = common_divisor(a->jump, b->jump);
        shared.low = 0;
        lost |= __builtin_sub_overflow(high[0] > high[1] ? high[0] : high[1], shared.constant, &shared.high);
        lost |= __builtin_sub_overflow(low[0], low[1], &distance) || distance == INT64_MIN;
        if (!lost) shared.step = common_divisor(common_divisor(a->step, b->step), distance);
        return lost ? unknown : shared;
    }
    int64_t low[2], high[2];
    if (!affine_range(a, bounds, &low[0], &high[0]) || !affine_range(b, bounds, &low[1], &high[1])) return unknown;
    return affine_between(low[0] < low[1] ? low[0] : low[1], high[0] > high[1] ? high[0] : high[1]);
}

struct affine affine_jumping(const struct affine *a)
{
    struct affine jumping = *a;
    jumping.constant = (int32_t)a->constant;
    jumping.jump = common_divisor(a->jump, (int64_t)1 << 32);
    return jumping;
}

bool affine_leads_into_small(const struct affine *a, const struct affine_bounds *bounds)
{
    struct affine rest = *a;
    int64_t low, high;
    rest.n_symbols = 0;
    rest.jump = 0;
    if (!affine_range(&rest, bounds, &low, &high)) return false;
    __int128 least = low, most = high;
    for (uint32_t i = 0; i < a->n_symbols; i++) {
        const struct affine_symbol *s = &a->symbols[i];
        __int128 x = s->extension == AFFINE_SIGNED ? INT32_MIN : 0,
                 y = s->extension == AFFINE_SIGNED ? INT32_MAX : UINT32_MAX;
        if (s->extension == AFFINE_RAW) return false; /* of any width */
        x *= s->factor;
        y *= s->factor;
        least += x < y ? x : y;
        most += x < y ? y : x;
    }
    return most < a->jump && least >= (__int128)IR_SMALL_MEMORY - a->jump;
}

/* A scalar argument alone, still as it came. */
static bool is_bare_param(const struct affine *a)
{
    if (!affine_is_exact(a) || a->constant || a->n_symbols != 1) return false;
    for (unsigned i = 0; i < AFFINE_IDS; i++)
        if (a->factor[i]) return false;
    return a->symbols[0].factor == 1 && a->symbols[0].extension == AFFINE_RAW;
}

struct affine affine_extend(const struct affine *a, unsigned from, bool is_signed, unsigned param_bits,
                            const struct affine_bounds *bounds)
{
    if (from == 64 && is_signed) return *a; /* nothing is wider: it stays what it is modulo 2^64 */
    int64_t low, high;
    int64_t least = is_signed ? INT64_MIN >> (64 - from) : 0;
    int64_t most = is_signed ? ~least : from < 64 ? (int64_t)(UINT64_MAX >> (64 - from)) : INT64_MAX;
    if (affine_range(a, bounds, &low, &high) && low >= least && high <= most) return *a;
    if (a->known && is_bare_param(a) && param_bits == from) {
        struct affine extended = *a;
        extended.symbols[0].extension = is_signed ? AFFINE_SIGNED : AFFINE_UNSIGNED;
        return extended;
    }
    return from < 64 ? affine_between(least, most) : unknown;
}
