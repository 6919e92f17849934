/* Whether kernels over different ND-ranges can share one. */
#include "fuser/graph/range.h"

#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

bool range_same(const struct nd_range *a, const struct nd_range *b)
{
    return a->dims == b->dims && memcmp(a->global, b->global, sizeof a->global) == 0 &&
           memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

bool range_has_local(const struct nd_range *r)
{
    return r->local[0] != 0;
}

bool range_is_uneven(const struct nd_range *r)
{
    for (unsigned d = 0; range_has_local(r) && d < 3; d++)
        if (r->global[d] % r->local[d]) return true;
    return false;
}

static const char *size_text(const struct nd_range *r, const uint64_t size[3], char *buf, size_t n)
{
    if (r->dims == 1) snprintf(buf, n, "%llu", (ull)size[0]);
    if (r->dims == 2) snprintf(buf, n, "%llu x %llu", (ull)size[0], (ull)size[1]);
    if (r->dims == 3) snprintf(buf, n, "%llu x %llu x %llu", (ull)size[0], (ull)size[1], (ull)size[2]);
    return buf;
}

bool range_is_box(const struct nd_range *part, const struct nd_range *launch)
{
    for (unsigned d = 0; d < 3; d++)
        if (part->offset[d] < launch->offset[d] ||
            part->offset[d] + part->global[d] > launch->offset[d] + launch->global[d])
            return false;
    return part->dims == launch->dims;
}

/* The smallest range that holds the work-items of both, by global id. */
static struct nd_range hull(const struct nd_range *a, const struct nd_range *b)
{
    struct nd_range all = *a;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t end[2] = {a->offset[d] + a->global[d], b->offset[d] + b->global[d]};
        if (b->offset[d] < all.offset[d]) all.offset[d] = b->offset[d];
        all.global[d] = (end[0] > end[1] ? end[0] : end[1]) - all.offset[d];
    }
    return all;
}

/* They have most of their global ids in common: no more idle work-items than others. As many work-items in another
   shape have their linear ids in common instead. */
static bool have_useful_hull(const struct nd_range *a, const struct nd_range *b)
{
    struct nd_range all = hull(a, b);
    unsigned __int128 items = (unsigned __int128)all.global[0] * all.global[1] * all.global[2];
    bool reshaped = range_items(a) == range_items(b) && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
    memcpy(all.local, range_has_local(a) ? a->local : b->local, sizeof all.local);
    return a->dims == b->dims && items <= range_items(a) + range_items(b) && !reshaped && !range_is_uneven(&all);
}

bool range_has_whole_groups(const struct nd_range *part, const struct nd_range *launch)
{
    return range_has_local(part) && !range_is_uneven(part) &&
           memcmp(part->offset, launch->offset, sizeof part->offset) == 0 &&
           memcmp(part->local, launch->local, sizeof part->local) == 0;
}

bool range_has_other_local(const struct nd_range *part, const struct nd_range *launch)
{
    return range_has_local(part) && range_has_local(launch) &&
           memcmp(part->local, launch->local, sizeof part->local) != 0;
}

uint64_t range_items(const struct nd_range *r)
{
    return r->global[0] * r->global[1] * r->global[2];
}

const char *range_text(const struct nd_range *r, char *buf, size_t size)
{
    char global[72], local[72];
    snprintf(buf, size, "%s in work-groups of %s", size_text(r, r->global, global, sizeof global),
             size_text(r, r->local, local, sizeof local));
    return buf;
}

/* ---- sub-groups ---- */

/* Work-groups are runs of linear ids: rows, planes, parts of these. */
static bool has_groups_in_line(const struct nd_range *r)
{
    bool whole = true;
    for (unsigned d = 0; d < 3; d++) {
        if (!whole && r->local[d] != 1) return false;
        whole &= r->local[d] == r->global[d];
    }
    return true;
}

/* Sub-groups are runs of linear ids that begin anew with each run of so many; 0: they are none. */
static uint64_t line_of_sub_groups(const struct nd_range *r, uint32_t size)
{
    uint64_t volume = r->local[0] * r->local[1] * r->local[2];
    if (r->local[0] % size == 0 && r->global[0] % size == 0) return size;
    if (!has_groups_in_line(r)) return 0;
    return volume % size == 0 ? size : volume;
}

/* Work-items of the same linear ids. */
static bool agree_in_line(const struct nd_range *part, const struct nd_range *launch, uint32_t size)
{
    uint64_t run = line_of_sub_groups(part, size), items = range_items(part);
    if (!run || run != line_of_sub_groups(launch, size)) return false;
    return items % run % size == 0 || items == range_items(launch);
}

static bool has_sub_groups_in_rows(const struct nd_range *r, uint32_t size)
{
    return r->local[0] % size == 0 && (r->global[0] % size == 0 || (r->local[1] == 1 && r->local[2] == 1));
}

/* Work-items of the same global ids. */
static bool agree_in_rows(const struct nd_range *part, const struct nd_range *launch, uint32_t size)
{
    uint64_t before = part->offset[0] - launch->offset[0];
    bool ends_with_row = before + part->global[0] == launch->global[0];
    return has_sub_groups_in_rows(part, size) && has_sub_groups_in_rows(launch, size) && before % size == 0 &&
           (part->global[0] % size == 0 || ends_with_row);
}

/* The same linear ids at the same global ids. */
static bool has_same_lines(const struct nd_range *a, const struct nd_range *b)
{
    for (uint32_t d = 0; d + 1 < a->dims; d++)
        if (a->global[d] != b->global[d]) return false;
    return memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

bool range_has_whole_sub_groups(const struct nd_range *part, const struct nd_range *launch, uint32_t size)
{
    if (!range_is_box(part, launch)) return agree_in_line(part, launch, size);
    return agree_in_rows(part, launch, size) || (has_same_lines(part, launch) && agree_in_line(part, launch, size));
}

static enum range_fit fit_of(const struct nd_range *sum, const struct nd_range *more, bool alike)
{
    if (range_is_box(more, sum)) return range_is_box(sum, more) ? RANGE_EQUAL : RANGE_SMALLER;
    if (range_is_box(sum, more) || have_useful_hull(sum, more)) return RANGE_LARGER;
    if (range_items(more) <= range_items(sum)) return RANGE_LINEAR;
    return alike ? RANGE_LINEAR_LARGER : RANGE_APART;
}

/* The range that holds both. */
static struct nd_range joined(const struct nd_range *sum, const struct nd_range *more, enum range_fit fit)
{
    struct nd_range all = *sum;
    if (fit == RANGE_LINEAR_LARGER) return *more;
    if (fit == RANGE_LINEAR) return all;
    if (fit == RANGE_LARGER) all = hull(sum, more);
    if (!range_has_local(&all)) memcpy(all.local, more->local, sizeof all.local);
    return all;
}

enum range_fit range_join(struct nd_range *sum, const struct nd_range *more, bool alike, char *why, size_t why_size)
{
    char a[72], b[72];
    enum range_fit fit = fit_of(sum, more, alike);
    if (fit == RANGE_APART) {
        snprintf(why, why_size, "global size %s, the kernels before have less, of different sizes: %s at most",
                 size_text(more, more->global, a, sizeof a), size_text(sum, sum->global, b, sizeof b));
        return fit;
    }
    struct nd_range all = joined(sum, more, fit);
    if (range_is_uneven(&all)) {
        snprintf(why, why_size, "local size %s does not divide global size %s", size_text(&all, all.local, a, sizeof a),
                 size_text(&all, all.global, b, sizeof b));
        return RANGE_UNEVEN;
    }
    *sum = all;
    return fit;
}
