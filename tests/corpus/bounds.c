/* How far results may be from the exact ones: the error bounds of OpenCL C 3.0 for the full profile, in one table. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "tests/corpus/corpus.h"

/* Functions that are not here have exact results. Bounds that grow with the length of a vector are those of 4 lanes. */
static const struct {
    const char *name;
    double ulp_f32, ulp_f64;
    double near;   /* an absolute error instead, for operands up to 1 */
    bool any_zero; /* the sign of a zero is left open */
} bounds[] = {
    {"acos", 4, 4},
    {"acosh", 4, 4},
    {"acospi", 5, 5},
    {"asin", 4, 4},
    {"asinh", 4, 4},
    {"asinpi", 5, 5},
    {"atan", 5, 5},
    {"atan2", 6, 6},
    {"atan2pi", 6, 6},
    {"atanh", 5, 5},
    {"atanpi", 5, 5},
    {"cbrt", 2, 2},
    {"cos", 4, 4},
    {"cosh", 4, 4},
    {"cospi", 4, 4},
    {"cross", 0, 0, 3 * (double)FLT_EPSILON},
    {"degrees", 2, 2},
    {"distance", 10.5, 13.5},
    {"divide", 2.5, 0},
    {"dot", 0, 0, 7 * (double)FLT_EPSILON},
    {"erf", 16, 16},
    {"erfc", 16, 16},
    {"exp", 3, 3},
    {"exp10", 3, 3},
    {"exp2", 3, 3},
    {"expm1", 3, 3},
    {"fast_distance", 8192, 8192},
    {"fast_length", 8192, 8192},
    {"fast_normalize", 8192, 8192},
    {"fmax", .any_zero = true},
    {"fmin", .any_zero = true},
    {"half", 8192, 8192},
    {"hypot", 4, 4},
    {"length", 4.75, 9.5},
    {"lgamma", 16, 16, 1e-5}, /* the specification leaves it open */
    {"log", 3, 3},
    {"log10", 3, 3},
    {"log1p", 2, 2},
    {"log2", 3, 3},
    {"maxmag", .any_zero = true},
    {"minmag", .any_zero = true},
    {"mix", 0, 0, 1e-3},
    {"native", 8192, 8192, 1e-4}, /* likewise */
    {"normalize", 6, 8.5},
    {"pow", 16, 16},
    {"pown", 16, 16},
    {"powr", 16, 16},
    {"radians", 2, 2},
    {"recip", 2.5, 0},
    {"rootn", 16, 16},
    {"rsqrt", 2, 2},
    {"sin", 4, 4},
    {"sinh", 4, 4},
    {"sinpi", 4, 4},
    {"smoothstep", 0, 0, 1e-5},
    {"sqrt", 3, 0},
    {"tan", 5, 5},
    {"tanh", 5, 5},
    {"tanpi", 6, 6},
    {"tgamma", 16, 16},
};

/* The number behind "word:"; false where the rule does not begin so. */
static bool with_number(const char *rule, const char *word, double *to)
{
    size_t n = strlen(word);
    char *end;
    if (strncmp(rule, word, n) != 0 || rule[n] != ':') return false;
    *to = strtod(rule + n + 1, &end);
    return end != rule + n + 1 && !*end;
}

bool corpus_bound(const char *rule, uint32_t float_size, struct corpus_bound *bound)
{
    *bound = (struct corpus_bound){0};
    bound->three_of_four = strcmp(rule, "xyz") == 0;
    bound->nothing = strcmp(rule, "unset") == 0;
    bound->zero = strcmp(rule, "zero") == 0;
    if (bound->three_of_four || bound->nothing || bound->zero) return true;
    if (strcmp(rule, "exact") == 0 || strncmp(rule, "exact:", 6) == 0) return true;
    if (with_number(rule, "ulp", &bound->ulp) || with_number(rule, "near", &bound->near)) return true;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (strcmp(bounds[i].name, rule) != 0) continue;
        bound->ulp = float_size == 4 ? bounds[i].ulp_f32 : bounds[i].ulp_f64;
        bound->near = bounds[i].near;
        bound->any_zero = bounds[i].any_zero;
        return true;
    }
    return false;
}
