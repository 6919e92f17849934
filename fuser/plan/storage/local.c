/*
 * A block for each work-group, kept in its memory. All accesses add the same to the address for each work-group; what
 * local ids, constants and amounts within bounds add besides lies within a block, which the array gets the size of.
 * That reads of what another work-item wrote come behind a barrier is what the kernels were fused for.
 */
#include "fuser/plan/storage/local.h"

#include "fuser/access/affine.h"
#include "fuser/access/dependence.h"
#include "fuser/access/same_place.h"
#include "fuser/graph/range.h"

typedef unsigned long long ull;

enum { ALIGN = 16 }; /* of the largest vectors whose place in the buffer is known: see block_of() */

struct block {
    struct storage_search *l;
    int64_t first, end;
    ir_type elem;
    uint64_t elem_bytes;
};

/* ---- what the accesses touch ---- */

/* What a work-group adds to the address per dimension. */
static bool group_factor(const struct storage_search *l, const struct affine *a, unsigned d, int64_t *factor)
{
    return !__builtin_mul_overflow(a->factor[AFFINE_GLOBAL + d], (int64_t)l->range->local[d], factor) &&
           !__builtin_add_overflow(*factor, a->factor[AFFINE_GROUP + d], factor);
}

/* Not through sub-groups, where each work-item would have to find its own part. */
static bool is_by_items(const struct access_site *site)
{
    return !site_is_block(site) && !site->index.factor[AFFINE_SUB_GROUP] && !site->index.factor[AFFINE_LANE];
}

static bool has_same_base(const struct storage_search *l, const struct launched_access *a,
                          const struct launched_access *b)
{
    for (unsigned d = 0; d < 3; d++) {
        int64_t x, y;
        if (!group_factor(l, &a->site->index, d, &x) || !group_factor(l, &b->site->index, d, &y) || x != y)
            return false;
    }
    return same_place_scalars(a, b);
}

/* The bytes that the work-items of a group touch, without what the group adds. */
static bool span_of(const struct storage_search *l, const struct launched_access *side, int64_t *first, int64_t *end)
{
    const struct affine *a = &side->site->index;
    struct affine_bounds bounds = {{0}, {0}};
    struct affine rest = {.known = true, .constant = site_start(a, side->range), .low = a->low, .high = a->high};
    for (unsigned d = 0; d < 3; d++) {
        bounds.high[AFFINE_LOCAL + d] = (int64_t)l->range->local[d] - 1;
        if (__builtin_add_overflow(a->factor[AFFINE_GLOBAL + d], a->factor[AFFINE_LOCAL + d],
                                   &rest.factor[AFFINE_LOCAL + d]))
            return false;
    }
    return affine_range(&rest, &bounds, first, end) && *first > -MAX_OFFSET && *end < MAX_OFFSET &&
           (*end += (int64_t)side->site->bytes) > *first;
}

static bool add_site(struct block *w, const struct plan_use *use, const struct access_site *site)
{
    struct storage_search *l = w->l;
    struct launched_access side = id_mapping_access(l->mapping, use, site);
    int64_t first, end;
    char text[300];
    plan_line_text(&l->facts->graph->nodes[use->node], site->line, text, sizeof text);
    if (!storage_is_plain(l, use, site)) return false;
    if (!site->index.known || !site->found_one || !is_by_items(site) || !has_same_base(l, &l->side, &side) ||
        !span_of(l, &side, &first, &end))
        return storage_stays(
            l, "not_internalized_elements", use,
            "that %s stays inside a block of its work-group, the same as that of the first access in %s, "
            "is not proved",
            text, storage_node_name(l, l->first));
    if (first < w->first) w->first = first;
    if (end > w->end) w->end = end;
    if (site->bytes > w->elem_bytes) {
        w->elem_bytes = site->bytes;
        w->elem = site->type;
    }
    return true;
}

static bool block_of(struct block *w)
{
    struct storage_search *l = w->l;
    w->first = INT64_MAX;
    w->end = INT64_MIN;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct access_summary *s = id_mapping_summary(l->mapping, storage_use(l, i));
        for (uint32_t k = 0; k < s->n_sites; k++)
            if (!add_site(w, storage_use(l, i), &s->sites[k])) return false;
    }
    return true;
}

/* ---- size and contents ---- */

/* Addresses keep their place modulo the alignment of vectors. */
static bool set_size(const struct block *w, struct plan_storage *out)
{
    const struct storage_search *l = w->l;
    int64_t in_buffer = (int64_t)l->first->first + w->first;
    int64_t shift = ((in_buffer % ALIGN) + ALIGN) % ALIGN;
    out->elem = w->elem;
    out->local_first = w->first - shift;
    out->local_bytes = ((uint64_t)(w->end - out->local_first) + 63) / 64 * 64;
    if (out->local_bytes <= l->local_left) return true;
    return storage_stays(
        l, "not_internalized_local_memory", l->first,
        "it takes %llu bytes of work-group memory for each work-group, of which device %s has %llu left",
        (ull)out->local_bytes, l->ctx->options->device.name, (ull)l->local_left);
}

/* The first access is a store by all, to as many different bytes as the block has: none is left out. */
static bool fills_block(const struct block *w)
{
    const struct storage_search *l = w->l;
    const struct access_site *site = l->side.site;
    struct dependence_witness pair;
    int64_t first, end;
    uint64_t items = l->range->local[0] * l->range->local[1] * l->range->local[2];
    if (storage_uses_share_node(l, l->first) || !id_mapping_summary(l->mapping, l->first)->written_first ||
        !storage_all_execute(l, site) || !affine_is_exact(&site->index))
        return false;
    return span_of(l, &l->side, &first, &end) && first == w->first && end == w->end &&
           (uint64_t)(end - first) == items * site->bytes &&
           dependence_find(&l->side, &l->side, BETWEEN_ITEMS, l->range->local, &pair) == ACCESS_DEPENDENCE_NONE;
}

/* A work-item of the group passes the guard by its local id, whatever the group is. */
static bool passes(const struct access_guard *g, const int64_t local[3])
{
    const struct affine *a = g->margin.known ? &g->margin : &g->zero;
    if (!affine_is_exact(a) || a->n_symbols || a->jump) return false;
    int64_t sum = a->constant;
    for (unsigned k = 0; k < AFFINE_IDS; k++) {
        if (!a->factor[k]) continue;
        if (k < AFFINE_LOCAL || k >= AFFINE_GROUP || a->factor[k] > INT32_MAX || a->factor[k] < -INT32_MAX)
            return false;
        sum += a->factor[k] * local[k - AFFINE_LOCAL];
    }
    return a == &g->margin ? sum <= 0 : sum == 0;
}

static bool passes_all(const struct access_site *site, const int64_t local[3])
{
    for (const struct access_guard *g = site->guards; g; g = g->outer)
        if (!passes(g, local)) return false;
    return true;
}

static bool some_passes_all(const struct storage_search *l, const struct access_site *site)
{
    const uint64_t *n = l->range->local;
    for (uint64_t i = 0; i < n[0] * n[1] * n[2]; i++)
        if (passes_all(site, (int64_t[]){(int64_t)(i % n[0]), (int64_t)(i / n[0] % n[1]), (int64_t)(i / n[0] / n[1])}))
            return true;
    return false;
}

/* The block is one element, which some work-item of each group stores to in the first kernel, as the one with local id
   0. Whoever reads it in a later one waits for that at a barrier. */
static bool is_one_result(const struct block *w)
{
    const struct storage_search *l = w->l;
    const struct access_site *site = l->side.site;
    const struct access_summary *s = id_mapping_summary(l->mapping, l->first);
    int64_t first, end;
    if (storage_uses_share_node(l, l->first) || s->reads || site->atomic || site->unsure || !site->writes ||
        !affine_is_exact(&site->index) || !storage_all_may_execute(l, site))
        return false;
    return span_of(l, &l->side, &first, &end) && first == w->first && end == w->end &&
           (uint64_t)(end - first) == site->bytes && some_passes_all(l, site);
}

static bool is_initialized(const struct block *w)
{
    if (w->l->no_init || fills_block(w) || is_one_result(w)) return true;
    return storage_stays(w->l, "not_internalized_init", w->l->first,
                         "that each element is written before it is read is not proved; no_init would say so");
}

/* What was said of work-groups was said of others than the launch has. */
static bool has_other_groups(const struct storage_search *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (range_has_other_local(&l->facts->nodes[storage_use(l, i)->node].range, l->range)) return true;
    return l->linear;
}

bool local_array_find(struct storage_search *l, struct plan_storage *out)
{
    struct block w = {.l = l};
    *out = (struct plan_storage){.storage = FUSER_STORAGE_LOCAL};
    if (has_other_groups(l))
        return storage_stays(
            l, "not_internalized_local", l->first,
            "it could only be kept in work-group memory, but some kernel has its work-groups elsewhere");
    if (!storage_local_size(l))
        return storage_stays(l, "not_internalized_local", l->first,
                             "it could only be kept in work-group memory, but no local size was given");
    return block_of(&w) && storage_is_owned(l, BETWEEN_GROUPS, &out->assertion) && set_size(&w, out) &&
           is_initialized(&w);
}
