/* Compares what two ways of running a kernel made of a buffer. */
#include <math.h>
#include <string.h>

#include "tests/corpus/corpus.h"

/* The reference is itself rounded: a result may be so much further away. */
static const double slack = 1;

static uint64_t bits_at(const void *data, uint32_t size, uint64_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)data + i * size, size);
    return bits;
}

static double value_of(uint64_t bits, uint32_t size)
{
    float f;
    double d;
    memcpy(&f, &bits, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return size == 4 ? (double)f : d;
}

/* The place of a number among all of its type: neighbours differ by 1, infinity is next to the largest. */
static double place_of(uint64_t bits, uint32_t size)
{
    uint64_t magnitude = size == 4 ? bits & 0x7fffffff : bits & 0x7fffffffffffffff;
    bool negative = size == 4 ? bits >> 31 & 1 : bits >> 63;
    return negative ? -(double)magnitude : (double)magnitude;
}

/* In units in the last place. Exact for numbers of one sign, whose places need more bits than a double has. */
static double distance(uint64_t a, uint64_t b, uint32_t size)
{
    uint64_t sign = size == 4 ? 1ull << 31 : 1ull << 63;
    if ((a & sign) == (b & sign)) return (double)(a > b ? a - b : b - a);
    return fabs(place_of(a, size)) + fabs(place_of(b, size));
}

static bool same_float(uint64_t want, uint64_t got, uint32_t size, const struct corpus_bound *bound)
{
    double w = value_of(want, size), g = value_of(got, size);
    if (isnan(w) || isnan(g)) return isnan(w) && isnan(g);
    if (bound->near > 0 && fabs(w - g) <= bound->near * fmax(1, fabs(w))) return true;
    if (w == 0 && g == 0) return bound->any_zero || bound->near > 0;
    return bound->ulp > 0 && distance(want, got, size) <= bound->ulp + slack;
}

/* It is known that the two differ here. */
static bool left_out(const char *rule, uint64_t want, uint64_t got, uint32_t size, const struct corpus_kernel *differs)
{
    bool zeros = value_of(want, size) == 0 && value_of(got, size) == 0;
    for (uint32_t i = 0; differs && i < differs->n_differs; i++)
        if (strcmp(differs->differs[i].rule, rule) == 0) return zeros || !differs->differs[i].only_zeros;
    return false;
}

static void describe(const struct corpus_arg *a, const char *rule, uint64_t i, uint64_t want, uint64_t got, char *text,
                     size_t size)
{
    if (a->type->is_float)
        snprintf(text, size, "%s: element %llu is %a (0x%llx), not %a (0x%llx)", rule, (unsigned long long)i,
                 value_of(got, a->type->size), (unsigned long long)got, value_of(want, a->type->size),
                 (unsigned long long)want);
    else
        snprintf(text, size, "%s: element %llu is 0x%llx, not 0x%llx", rule, (unsigned long long)i,
                 (unsigned long long)got, (unsigned long long)want);
}

uint64_t corpus_compare(const struct corpus_arg *a, const void *want, const void *got,
                        const struct corpus_kernel *differs, char *text, size_t text_size)
{
    uint32_t size = a->type->size, parts = a->n_rules ? a->n_rules : 1;
    uint64_t part = a->size / size / parts, wrong = 0;
    for (uint64_t i = 0; i < part * parts; i++) {
        const char *rule = a->n_rules ? a->rules[i / part] : "exact";
        uint64_t w = bits_at(want, size, i), g = bits_at(got, size, i);
        struct corpus_bound bound;
        corpus_bound(rule, size, &bound);
        if (bound.nothing || (bound.three_of_four && i % 4 == 3)) continue;
        if (bound.zero) w = 0;
        if (w == g || (a->type->is_float && same_float(w, g, size, &bound)) || left_out(rule, w, g, size, differs))
            continue;
        if (!wrong++) describe(a, rule, i % part, w, g, text, text_size);
    }
    return wrong;
}
