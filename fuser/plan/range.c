/* Whether kernels over different ND-ranges can share one. */
#include "fuser/plan/range.h"

#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

bool range_same(const struct fuser_range *a, const struct fuser_range *b)
{
    return a->dims == b->dims && memcmp(a->global, b->global, sizeof a->global) == 0 &&
           memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

bool range_has_local(const struct fuser_range *r)
{
    return r->local[0] != 0;
}

bool range_is_uneven(const struct fuser_range *r)
{
    for (unsigned d = 0; range_has_local(r) && d < 3; d++)
        if (r->global[d] % r->local[d]) return true;
    return false;
}

/* Each global size of a is at most b's. */
static bool is_inside(const struct fuser_range *a, const struct fuser_range *b)
{
    for (unsigned d = 0; d < 3; d++)
        if (a->global[d] > b->global[d]) return false;
    return true;
}

static const char *size_text(const struct fuser_range *r, const uint64_t size[3], char *buf, size_t n)
{
    if (r->dims == 1) snprintf(buf, n, "%llu", (ull)size[0]);
    if (r->dims == 2) snprintf(buf, n, "%llu x %llu", (ull)size[0], (ull)size[1]);
    if (r->dims == 3) snprintf(buf, n, "%llu x %llu x %llu", (ull)size[0], (ull)size[1], (ull)size[2]);
    return buf;
}

enum range_fit range_join(struct fuser_range *sum, const struct fuser_range *more, char *why, size_t why_size)
{
    char a[72], b[72];
    if (more->dims != sum->dims) {
        snprintf(why, why_size, "%u dimensions, the kernels before have %u", more->dims, sum->dims);
        return RANGE_APART;
    }
    if (memcmp(more->offset, sum->offset, sizeof sum->offset) != 0) {
        snprintf(why, why_size, "global offset %s, the kernels before have %s",
                 size_text(more, more->offset, a, sizeof a), size_text(sum, sum->offset, b, sizeof b));
        return RANGE_APART;
    }
    if (range_has_local(more) && range_has_local(sum) && memcmp(more->local, sum->local, sizeof sum->local) != 0) {
        snprintf(why, why_size, "local size %s, the kernels before have %s", size_text(more, more->local, a, sizeof a),
                 size_text(sum, sum->local, b, sizeof b));
        return RANGE_LOCAL;
    }
    enum range_fit fit = range_same(more, sum) ? RANGE_EQUAL : is_inside(more, sum) ? RANGE_SMALLER : RANGE_LARGER;
    bool offset = sum->offset[0] || sum->offset[1] || sum->offset[2];
    if (fit != RANGE_EQUAL && (offset || (fit == RANGE_LARGER && !is_inside(sum, more)))) {
        snprintf(why, why_size, "global size %s, the kernels before have %s%s",
                 size_text(more, more->global, a, sizeof a), size_text(sum, sum->global, b, sizeof b),
                 offset ? ", and there is a global offset" : ": neither holds the other");
        return RANGE_APART;
    }
    struct fuser_range joined = fit == RANGE_LARGER ? *more : *sum;
    if (!range_has_local(&joined))
        memcpy(joined.local, range_has_local(more) ? more->local : sum->local, sizeof joined.local);
    if (range_is_uneven(&joined)) {
        snprintf(why, why_size, "local size %s does not divide global size %s",
                 size_text(&joined, joined.local, a, sizeof a), size_text(&joined, joined.global, b, sizeof b));
        return RANGE_UNEVEN;
    }
    *sum = joined;
    return fit;
}
