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

static const char *size_text(const struct fuser_range *r, const uint64_t size[3], char *buf, size_t n)
{
    if (r->dims == 1) snprintf(buf, n, "%llu", (ull)size[0]);
    if (r->dims == 2) snprintf(buf, n, "%llu x %llu", (ull)size[0], (ull)size[1]);
    if (r->dims == 3) snprintf(buf, n, "%llu x %llu x %llu", (ull)size[0], (ull)size[1], (ull)size[2]);
    return buf;
}

bool range_is_box(const struct fuser_range *part, const struct fuser_range *launch)
{
    for (unsigned d = 0; d < 3; d++)
        if (part->offset[d] < launch->offset[d] ||
            part->offset[d] + part->global[d] > launch->offset[d] + launch->global[d])
            return false;
    return part->dims == launch->dims;
}

/* The smallest range that holds the work-items of both, by global id. */
static struct fuser_range hull(const struct fuser_range *a, const struct fuser_range *b)
{
    struct fuser_range all = *a;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t end[2] = {a->offset[d] + a->global[d], b->offset[d] + b->global[d]};
        if (b->offset[d] < all.offset[d]) all.offset[d] = b->offset[d];
        all.global[d] = (end[0] > end[1] ? end[0] : end[1]) - all.offset[d];
    }
    return all;
}

/* They have most of their global ids in common: no more idle work-items than others. As many work-items in another
   shape have their linear ids in common instead. */
static bool have_useful_hull(const struct fuser_range *a, const struct fuser_range *b)
{
    struct fuser_range all = hull(a, b);
    unsigned __int128 items = (unsigned __int128)all.global[0] * all.global[1] * all.global[2];
    bool reshaped = range_items(a) == range_items(b) && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
    memcpy(all.local, range_has_local(a) ? a->local : b->local, sizeof all.local);
    return a->dims == b->dims && items <= range_items(a) + range_items(b) && !reshaped && !range_is_uneven(&all);
}

bool range_has_whole_groups(const struct fuser_range *part, const struct fuser_range *launch)
{
    return range_has_local(part) && !range_is_uneven(part) &&
           memcmp(part->offset, launch->offset, sizeof part->offset) == 0 &&
           memcmp(part->local, launch->local, sizeof part->local) == 0;
}

uint64_t range_items(const struct fuser_range *r)
{
    return r->global[0] * r->global[1] * r->global[2];
}

static enum range_fit fit_of(const struct fuser_range *sum, const struct fuser_range *more, bool alike)
{
    if (range_is_box(more, sum)) return range_is_box(sum, more) ? RANGE_EQUAL : RANGE_SMALLER;
    if (range_is_box(sum, more) || have_useful_hull(sum, more)) return RANGE_LARGER;
    if (range_items(more) <= range_items(sum)) return RANGE_LINEAR;
    return alike ? RANGE_LINEAR_LARGER : RANGE_APART;
}

/* The range that holds both. */
static struct fuser_range joined(const struct fuser_range *sum, const struct fuser_range *more, enum range_fit fit)
{
    struct fuser_range all = *sum;
    if (fit == RANGE_LINEAR_LARGER) return *more;
    if (fit == RANGE_LINEAR) return all;
    if (fit == RANGE_LARGER) all = hull(sum, more);
    if (!range_has_local(&all)) memcpy(all.local, more->local, sizeof all.local);
    return all;
}

enum range_fit range_join(struct fuser_range *sum, const struct fuser_range *more, bool alike, char *why,
                          size_t why_size)
{
    char a[72], b[72];
    if (range_has_local(more) && range_has_local(sum) && memcmp(more->local, sum->local, sizeof sum->local) != 0) {
        snprintf(why, why_size, "local size %s, the kernels before have %s", size_text(more, more->local, a, sizeof a),
                 size_text(sum, sum->local, b, sizeof b));
        return RANGE_LOCAL;
    }
    enum range_fit fit = fit_of(sum, more, alike);
    if (fit == RANGE_APART) {
        snprintf(why, why_size, "global size %s, the kernels before have less, of different sizes: %s at most",
                 size_text(more, more->global, a, sizeof a), size_text(sum, sum->global, b, sizeof b));
        return fit;
    }
    struct fuser_range all = joined(sum, more, fit);
    if (range_is_uneven(&all)) {
        snprintf(why, why_size, "local size %s does not divide global size %s", size_text(&all, all.local, a, sizeof a),
                 size_text(&all, all.global, b, sizeof b));
        return RANGE_UNEVEN;
    }
    *sum = all;
    return fit;
}
