/* What follows from a summary over a range: whose an element is, how many bytes go over memory. */
#include "fuser/access/footprint.h"

#include <stdlib.h>

#include "fuser/access/dependence.h"
#include "ir/base/arena.h"

static const uint64_t *local_of(const struct nd_range *range)
{
    return range->local[0] ? range->local : NULL;
}

bool footprint_is_owned_by_item(const struct access_summary *s, const struct nd_range *range)
{
    if (s->escapes) return false;
    struct dependence_witness pair;
    for (uint32_t i = 0; i < s->n_sites; i++)
        for (uint32_t k = i; k < s->n_sites; k++) {
            struct launched_access a = {.site = &s->sites[i], .range = range},
                                   b = {.site = &s->sites[k], .range = range};
            if (dependence_find(&a, &b, BETWEEN_ITEMS, local_of(range), &pair) != ACCESS_DEPENDENCE_NONE) return false;
        }
    return true;
}

/* Bytes of one work-item, relative to where its ids put it. */
struct span {
    int64_t first, end;
};

static int compare_spans(const void *x, const void *y)
{
    const struct span *a = x, *b = y;
    return a->first < b->first ? -1 : a->first > b->first;
}

static uint64_t united(struct span *spans, uint32_t n)
{
    qsort(spans, n, sizeof *spans, compare_spans);
    uint64_t bytes = 0;
    int64_t end = INT64_MIN;
    for (uint32_t i = 0; i < n; i++) {
        int64_t first = spans[i].first > end ? spans[i].first : end;
        if (spans[i].end > first) bytes += (uint64_t)spans[i].end - (uint64_t)first;
        if (spans[i].end > end) end = spans[i].end;
    }
    return bytes;
}

static uint64_t items_in(const struct access_items *items)
{
    uint64_t n = 1;
    for (unsigned d = 0; d < 3; d++) {
        if (items->first[d] > items->last[d]) return 0;
        if (__builtin_mul_overflow(n, (uint64_t)(items->last[d] - items->first[d]) + 1, &n)) return UINT64_MAX;
    }
    return n;
}

static void widen(struct access_items *to, const struct access_items *from)
{
    if (!items_in(from)) return;
    for (unsigned d = 0; d < 3; d++) {
        if (from->first[d] < to->first[d]) to->first[d] = from->first[d];
        if (from->last[d] > to->last[d]) to->last[d] = from->last[d];
    }
}

static bool counted(const struct access_site *s, bool writing)
{
    return writing ? s->writes : s->reads;
}

static bool may_meet(const struct access_site *x, const struct access_site *y, const struct nd_range *range)
{
    struct dependence_witness pair;
    struct launched_access a = {.site = x, .range = range}, b = {.site = y, .range = range};
    return dependence_find(&a, &b, BETWEEN_ITEMS, local_of(range), &pair) != ACCESS_DEPENDENCE_NONE;
}

/* Where the accesses of all work-items lie; everywhere, where scalars take part. */
static struct span hull_of(const struct access_site *site, const struct nd_range *range)
{
    struct affine_bounds bounds = {0};
    int64_t low, high;
    for (unsigned d = 0; d < 3; d++) {
        bounds.low[d] = site->items.first[d];
        bounds.high[d] = site->items.last[d];
        bounds.high[AFFINE_LOCAL + d] = bounds.high[AFFINE_GROUP + d] = (int64_t)range->global[d] - 1;
    }
    bounds.high[AFFINE_LANE] = site->sub_group_size ? site->sub_group_size - 1 : (int64_t)range->global[0] - 1;
    if (!items_in(&site->items)) return (struct span){0, 0};
    if (!affine_range(&site->index, &bounds, &low, &high)) return (struct span){INT64_MIN / 4, INT64_MAX / 4};
    return (struct span){low, high + (int64_t)site->bytes};
}

/* Room for the spans of all sites. */
struct counting {
    bool *done;
    struct span *own, *hulls;
};

/* Bytes of the sites whose ids have the same factors as those of site `at`. */
static uint64_t bytes_alike(const struct access_summary *s, uint32_t at, const struct nd_range *range, bool writing,
                            const struct counting *c)
{
    const struct access_site *leader = &s->sites[at];
    struct access_items items = leader->items;
    uint32_t n = 0;
    bool meets = false;
    for (uint32_t i = at; i < s->n_sites; i++) {
        const struct access_site *site = &s->sites[i];
        if (c->done[i] || !counted(site, writing) || !affine_same_factors(&leader->index, &site->index)) continue;
        c->done[i] = true;
        widen(&items, &site->items);
        for (uint32_t k = at; !meets && k <= i; k++) meets = c->done[k] && may_meet(&s->sites[k], site, range);
        const struct affine *a = &site->index;
        c->hulls[n] = hull_of(site, range);
        c->own[n++] = (struct span){a->constant + a->low, a->constant + a->high + (int64_t)site->bytes};
    }
    uint64_t bytes, hull = united(c->hulls, n);
    if (__builtin_mul_overflow(united(c->own, n), items_in(&items), &bytes)) bytes = UINT64_MAX;
    return meets && hull < bytes ? hull : bytes;
}

static uint64_t bytes_of_sites(const struct access_summary *s, const struct nd_range *range, uint64_t whole,
                               bool writing)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->n_sites; i++)
        if (counted(&s->sites[i], writing) && (!s->sites[i].index.known || !s->sites[i].bytes)) return whole;
    struct counting c = {.done = arena_realloc(NULL, s->n_sites * sizeof *c.done),
                         .own = arena_realloc(NULL, s->n_sites * sizeof *c.own),
                         .hulls = arena_realloc(NULL, s->n_sites * sizeof *c.hulls)};
    for (uint32_t i = 0; i < s->n_sites; i++) c.done[i] = false;
    for (uint32_t i = 0; i < s->n_sites && total < whole; i++) {
        if (c.done[i] || !counted(&s->sites[i], writing)) continue;
        uint64_t bytes = bytes_alike(s, i, range, writing, &c);
        total = bytes < whole - total ? total + bytes : whole;
    }
    free(c.hulls);
    free(c.own);
    free(c.done);
    return total;
}

uint64_t footprint_bytes_one_way(const struct access_summary *s, const struct nd_range *range, uint64_t whole,
                                 bool writing)
{
    return s->escapes ? whole : bytes_of_sites(s, range, whole, writing);
}

uint64_t footprint_bytes(const struct access_summary *s, const struct nd_range *range, uint64_t whole)
{
    return footprint_bytes_one_way(s, range, whole, false) + footprint_bytes_one_way(s, range, whole, true);
}
