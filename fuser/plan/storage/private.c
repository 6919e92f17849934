/*
 * Several elements for each work-item, kept in its registers. All accesses add the same factors of ids and scalars to
 * the address; what they add besides, constants and amounts within bounds, says which of the work-item's bytes they
 * touch. Bytes that are touched together become a variable, or an array where an access varies.
 */
#include "fuser/plan/storage/private.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/access/same_place.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"

enum { MAX_BYTES = 1024, MAX_SITES = 4096 };

/* An access without the ids. */
struct place {
    const struct plan_use *use;
    uint32_t from, number; /* which use, which of its sites */
    const struct access_site *site;
    int64_t first, last; /* where it may start */
    int64_t end;         /* of the last byte it may touch */
};

struct places {
    struct storage_search *l;
    uint32_t n;
    struct place *places; /* in the order the work-item comes to them */
    struct place *sorted; /* by first */
};

/* ---- the places ---- */

static bool has_same_base(const struct launched_access *a, const struct launched_access *b)
{
    return memcmp(a->site->index.factor, b->site->index.factor, sizeof a->site->index.factor) == 0 &&
           same_place_scalars(a, b);
}

static bool add_place(struct places *s, uint32_t from, uint32_t number)
{
    struct storage_search *l = s->l;
    const struct plan_use *use = storage_use(l, from);
    const struct access_site *site = &id_mapping_summary(l->mapping, use)->sites[number];
    struct launched_access side = id_mapping_access(l->mapping, use, site);
    const struct affine *a = &site->index;
    char text[300];
    plan_line_text(&l->facts->graph->nodes[use->node], site->line, text, sizeof text);
    if (!storage_is_plain(l, use, site)) return false;
    if (!a->known || !site->found_one || !has_same_base(&l->side, &side))
        return storage_stays(l, "not_internalized_elements", use,
                             "that %s is at the same element of its work-item as the first access in %s is not proved",
                             text, storage_node_name(l, l->first));
    int64_t start = site_start(a, side.range);
    struct place place = {
        .use = use, .from = from, .number = number, .site = site, .first = start + a->low, .last = start + a->high};
    place.end = place.last + (int64_t)site->bytes;
    if (place.first < -MAX_OFFSET || place.end > MAX_OFFSET || s->n == MAX_SITES)
        return storage_stays(l, "not_internalized_elements", use, "%s is too far from the other accesses", text);
    s->places = arena_grow(l->ctx->arena, s->places, s->n, sizeof *s->places);
    s->places[s->n++] = place;
    return true;
}

static int by_first(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return a->end < b->end ? 1 : a->end > b->end ? -1 : 0;
}

static bool find_places(struct places *s)
{
    struct storage_search *l = s->l;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct access_summary *summary = id_mapping_summary(l->mapping, storage_use(l, i));
        for (uint32_t k = 0; k < summary->n_sites; k++)
            if (!add_place(s, i, k)) return false;
    }
    s->sorted = arena_alloc(l->ctx->arena, s->n * sizeof *s->sorted);
    memcpy(s->sorted, s->places, s->n * sizeof *s->sorted);
    qsort(s->sorted, s->n, sizeof *s->sorted, by_first);
    return true;
}

/* ---- the slices ---- */

static bool of_another_type(const struct places *s, const struct place *place)
{
    char text[300];
    plan_line_text(&s->l->facts->graph->nodes[place->use->node], place->site->line, text, sizeof text);
    return storage_stays(s->l, "not_internalized_type", place->use,
                         "%s touches a part of an element of another access, or more than one", text);
}

static uint64_t lane_bytes(ir_type type)
{
    return (ir_type_bits(type) + 7) / 8;
}

/* Places from..to: one variable of the longest access's type, of which others may touch a lane. */
static bool make_variable(const struct places *s, uint32_t from, uint32_t to, struct fuse_slice *slice)
{
    const struct place *whole = &s->sorted[from]; /* the longest of those that start first */
    ir_type type = whole->site->type;
    for (uint32_t i = from; i < to; i++) {
        const struct place *part = &s->sorted[i];
        uint64_t at = (uint64_t)(part->first - whole->first);
        bool same = at == 0 && pass_same_bits(type, part->site->type);
        bool lane = ir_type_is_vector(type) && !ir_type_is_bool(type) && !ir_type_is_vector(part->site->type) &&
                    pass_same_bits(ir_type_element(type), part->site->type) && at % lane_bytes(type) == 0 &&
                    at / lane_bytes(type) < ir_type_lanes(type);
        if (!same && !lane) return of_another_type(s, part);
    }
    *slice = (struct fuse_slice){.first = whole->first, .type = type, .stride = whole->site->bytes, .count = 1};
    return true;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Places from..to, of which one varies at least: an array. */
static bool make_array(const struct places *s, uint32_t from, uint32_t to, int64_t end, struct fuse_slice *slice)
{
    const struct place *leader = &s->sorted[from];
    uint64_t stride = 0, size = leader->site->bytes;
    for (uint32_t i = from; i < to; i++) {
        const struct place *place = &s->sorted[i];
        if (!pass_same_bits(leader->site->type, place->site->type)) return of_another_type(s, place);
        stride = divisor(divisor(stride, (uint64_t)place->site->index.step), (uint64_t)(place->first - leader->first));
    }
    if (stride < size) return of_another_type(s, leader);
    *slice = (struct fuse_slice){.first = leader->first,
                                 .type = leader->site->type,
                                 .stride = stride,
                                 .count = ((uint64_t)(end - leader->first) - size) / stride + 1};
    return true;
}

static bool make_slices(const struct places *s, struct plan_storage *out)
{
    struct fuse_slice *slices = arena_alloc(s->l->ctx->arena, s->n * sizeof *slices);
    uint64_t bytes = 0;
    for (uint32_t from = 0, to; from < s->n; from = to) {
        bool varies = false;
        int64_t end = s->sorted[from].end;
        for (to = from; to < s->n && s->sorted[to].first < end; to++) {
            varies |= !affine_is_exact(&s->sorted[to].site->index);
            if (s->sorted[to].end > end) end = s->sorted[to].end;
        }
        struct fuse_slice *slice = &slices[out->n_slices++];
        if (!(varies ? make_array(s, from, to, end, slice) : make_variable(s, from, to, slice))) return false;
        if (__builtin_mul_overflow(slice->count, s->sorted[from].site->bytes, &end) || slice->count > MAX_BYTES ||
            (bytes += (uint64_t)end) > MAX_BYTES)
            return storage_stays(s->l, "not_internalized_size", s->sorted[from].use,
                                 "more than %d bytes of it belong to each work-item", MAX_BYTES);
    }
    out->slices = slices;
    out->elem = slices[0].type;
    return true;
}

/* ---- whether they are written before they are read ---- */

/* Bytes that each work-item has written for sure, in no order. */
struct written {
    uint32_t n;
    struct {
        int64_t first, end;
    } * spans;
};

static bool is_covered(const struct written *w, int64_t first, int64_t end)
{
    while (first < end) {
        int64_t reached = first;
        for (uint32_t i = 0; i < w->n; i++)
            if (w->spans[i].first <= first && w->spans[i].end > reached) reached = w->spans[i].end;
        if (reached == first) return false;
        first = reached;
    }
    return true;
}

/* Each element that the access may be at. */
static bool is_place_covered(const struct written *w, const struct place *place)
{
    int64_t step = place->site->index.step, bytes = (int64_t)place->site->bytes;
    if (step <= bytes) return is_covered(w, place->first, place->end);
    for (int64_t at = place->first; at <= place->last; at += step)
        if (!is_covered(w, at, at + bytes)) return false;
    return true;
}

/* What the work-items that come to place number i have written. Reads of a node that has the buffer twice may come
   before its writes: those count for later nodes only. */
static void find_written(const struct places *s, uint32_t i, struct written *w)
{
    w->n = 0;
    for (uint32_t k = 0; k < i; k++) {
        const struct place *before = &s->places[k];
        if (!before->site->writes || !affine_is_exact(&before->site->index) ||
            !storage_is_passed(s->l, before->from, before->number, s->places[i].from, s->places[i].number))
            continue;
        w->spans[w->n].first = before->first;
        w->spans[w->n++].end = before->end;
    }
}

static bool is_initialized(const struct places *s)
{
    struct written w = {.spans = arena_alloc(s->l->ctx->arena, s->n * sizeof *w.spans)};
    if (s->l->no_init) return true;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct place *place = &s->places[i];
        if (!place->site->reads) continue;
        find_written(s, i, &w);
        if (!is_place_covered(&w, place))
            return storage_stays(s->l, "not_internalized_init", place->use,
                                 "that each work-item writes its elements before it reads them is not proved; no_init "
                                 "would say so");
    }
    return true;
}

static bool is_owned(const struct places *s, const char **assertion)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!affine_is_exact(&s->places[i].site->index) || s->places[i].first != s->places[0].first ||
            s->places[i].end != s->places[0].end)
            return storage_is_owned(s->l, BETWEEN_ITEMS, assertion);
    return storage_one_is_owned(s->l, assertion);
}

bool private_slices_find(struct storage_search *l, struct plan_storage *out)
{
    struct places s = {.l = l};
    *out = (struct plan_storage){.storage = FUSER_STORAGE_PRIVATE};
    return find_places(&s) && is_owned(&s, &out->assertion) && make_slices(&s, out) && is_initialized(&s);
}
