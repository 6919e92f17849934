/* Are the work-items of one access among those of another: by the boxes of ids that both are in, and guard by guard. */
#include "fuser/access/guards.h"

#include "fuser/access/same_place.h"

static bool in_global_ids(const struct affine *a)
{
    for (unsigned i = AFFINE_LOCAL; i < AFFINE_IDS; i++)
        if (a->factor[i]) return false;
    return true;
}

/* From what `known` keeps at 0 or below, the margin of `wanted` follows. */
static bool margin_follows(const struct launched_access *here, const struct access_guard *wanted,
                           const struct launched_access *there, const struct access_guard *known)
{
    const struct affine *x = &wanted->margin, *y = &known->margin;
    if (here->linear || there->linear || !affine_is_exact(x) || !affine_is_exact(y)) return false;
    return in_global_ids(x) && in_global_ids(y) && same_place_factors(here, x, there, y) && x->constant <= y->constant;
}

static bool follows(const struct launched_access *here, const struct access_guard *wanted,
                    const struct launched_access *there)
{
    for (const struct access_guard *known = there->site->guards; known; known = known->outer) {
        if (margin_follows(here, wanted, there, known)) return true;
        if (wanted->taken == known->taken && same_place_value(here, wanted->condition, there, known->condition))
            return true;
    }
    return false;
}

static bool is_inside(const struct access_items *inner, const struct access_items *outer)
{
    for (unsigned d = 0; d < 3; d++)
        if (inner->first[d] < outer->first[d] || inner->last[d] > outer->last[d]) return false;
    return true;
}

bool guards_let_pass(const struct launched_access *here, const struct launched_access *there)
{
    if (here->site->unsure || !is_inside(&there->site->items, &here->site->items)) return false;
    for (const struct access_guard *g = here->site->guards; g; g = g->outer)
        if (!follows(here, g, there)) return false;
    return true;
}
