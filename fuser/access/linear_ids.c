/* Accesses in linear ids: what kernels over different ND-ranges that run as one have in common. */
#include "fuser/access/linear_ids.h"

#include <string.h>

static const struct affine unknown;

static bool is_nobody(const struct access_items *items)
{
    return items->first[0] > items->last[0] || items->first[1] > items->last[1] || items->first[2] > items->last[2];
}

/* What the linear id grows by along a dimension. */
static int64_t stride_of(const struct nd_range *base, unsigned d)
{
    return (int64_t)(d == 0 ? 1 : d == 1 ? base->global[0] : base->global[0] * base->global[1]);
}

/* The factor of the linear id in a sum; false where the sum is none of it. */
static bool linear_factor(const struct affine *a, const struct nd_range *own, const struct nd_range *base,
                          int64_t *factor)
{
    bool found = false;
    *factor = 0;
    for (unsigned i = AFFINE_LOCAL; i < AFFINE_IDS; i++)
        if (a->factor[i]) return false;
    for (unsigned d = 0; d < 3; d++) {
        int64_t expected, own_factor = a->factor[AFFINE_GLOBAL + d], stride = stride_of(base, d);
        if (own->global[d] == 1) continue;
        if (!found && own_factor % stride) return false;
        if (!found) *factor = own_factor / stride;
        found = true;
        if (__builtin_mul_overflow(*factor, stride, &expected) || expected != own_factor) return false;
    }
    return true;
}

static struct affine linear_index(const struct affine *a, const struct nd_range *own, const struct nd_range *base)
{
    struct affine linear = *a;
    int64_t factor;
    if (!a->known || !linear_factor(a, own, base, &factor)) return unknown;
    memset(linear.factor, 0, sizeof linear.factor);
    linear.factor[AFFINE_GLOBAL] = factor;
    for (unsigned d = 0; d < 3; d++) {
        /* An id with one value is part of the constant already. */
        __int128 offset = (int64_t)base->offset[d], more = (__int128)a->factor[AFFINE_GLOBAL + d] * offset;
        if (own->global[d] == 1)
            more -= (__int128)factor * stride_of(base, d) * ((int64_t)own->offset[d] - (int64_t)base->offset[d]);
        if (more != (int64_t)more || __builtin_add_overflow(linear.constant, (int64_t)more, &linear.constant))
            return unknown;
    }
    return linear;
}

void linear_ids_of_site(struct access_site *site, const struct nd_range *own, const struct nd_range *base)
{
    struct access_items items = {{0}, {0}};
    __int128 n = 1;
    for (unsigned d = 0; d < 3; d++) {
        items.first[0] += (site->items.first[d] - (int64_t)base->offset[d]) * stride_of(base, d);
        items.last[0] += (site->items.last[d] - (int64_t)base->offset[d]) * stride_of(base, d);
        n *= site->items.last[d] - site->items.first[d] + 1;
    }
    if (is_nobody(&site->items)) {
        items.first[0] = 1;
        items.last[0] = 0;
    } else if (n != items.last[0] - items.first[0] + 1) {
        site->conditional = site->unsure = true; /* some of those in between */
    }
    site->items = items;
    site->index = linear_index(&site->index, own, base);
}
