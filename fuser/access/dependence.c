/*
 * The search for two work-items that touch the same byte. The distance of the two accesses is a linear sum
 * over the places of the two work-items; a collision is a value of it within a small window. Largest factors
 * are chosen first, so that at each step only few values leave the window within reach.
 */
#include "fuser/access/dependence.h"

#include "fuser/access/same_place.h"

enum {
    MAX_PLACES = 6,             /* parts of a place: global id by dimension, or group and local id by dimension, or the
                                   groups, the sub-group and the id in it */
    MAX_PARTS = MAX_PLACES + 1, /* and the unknown amounts of the two sums, where they leave gaps */
    MAX_STEPS = 4096,
};

static const __int128 limit = (__int128)1 << 61; /* of distances: far from where addresses wrap */

/* How a work-item's place is written: per part the bounds on either side, and its factor in either access. */
struct part {
    int64_t low[2], high[2], factor[2];
    bool counts; /* places that differ in it are different in the sense asked for */
};

/* An unknown of the search: a part of the first place, of the second, or the distance between them. */
struct variable {
    unsigned part;
    enum { FIRST, SECOND, DISTANCE } what;
    int64_t factor, low, high;
    __int128 rest_low, rest_high; /* what the variables after it can add */
};

struct search {
    struct part parts[MAX_PARTS];
    unsigned n_parts;
    bool by_groups; /* places are groups and local ids */
    int64_t lanes;  /* local ids along x are sub-groups of so many work-items and ids in these; 0: they are one part */
    struct variable variables[2 * MAX_PARTS];
    unsigned n_variables;
    __int128 window_low, window_high;
    int64_t chosen[2 * MAX_PARTS];
    unsigned steps;
    int64_t place[2][MAX_PARTS]; /* the collision found */
};

/* ---- from sums to parts ---- */

static bool in_global_ids(const struct affine *a)
{
    for (unsigned i = AFFINE_LOCAL; i < AFFINE_IDS; i++)
        if (a->factor[i]) return false;
    return true;
}

static void use_global_ids(struct search *s, const struct launched_access *const side[2])
{
    s->n_parts = 3;
    for (unsigned d = 0; d < 3; d++) {
        struct part *p = &s->parts[d];
        p->counts = true;
        for (unsigned k = 0; k < 2; k++) {
            p->low[k] = side[k]->site->items.first[d];
            p->high[k] = side[k]->site->items.last[d];
            p->factor[k] = side[k]->site->index.factor[AFFINE_GLOBAL + d];
        }
    }
}

/* Global ids become group * size + local id + offset. Parts 0 to 2 are groups, 3 to 5 local ids. */
static bool use_groups(struct search *s, const struct launched_access *const side[2], const uint64_t local[3],
                       enum dependence_between between, int64_t constant[2])
{
    s->n_parts = MAX_PLACES;
    s->by_groups = true;
    for (unsigned k = 0; k < 2; k++) {
        const struct affine *a = &side[k]->site->index;
        const struct nd_range *r = side[k]->range;
        for (unsigned d = 0; d < 3; d++) {
            struct part *group = &s->parts[d], *item = &s->parts[3 + d];
            int64_t size = (int64_t)local[d], shift;
            group->counts = true;
            item->counts = between == BETWEEN_ITEMS;
            group->high[k] = (int64_t)((r->global[d] - 1) / local[d]);
            item->high[k] = (int64_t)(local[d] < r->global[d] ? local[d] : r->global[d]) - 1;
            if (__builtin_mul_overflow(a->factor[AFFINE_GLOBAL + d], size, &group->factor[k]) ||
                __builtin_add_overflow(group->factor[k], a->factor[AFFINE_GROUP + d], &group->factor[k]) ||
                __builtin_add_overflow(a->factor[AFFINE_GLOBAL + d], a->factor[AFFINE_LOCAL + d], &item->factor[k]) ||
                __builtin_mul_overflow(a->factor[AFFINE_GLOBAL + d], (int64_t)r->offset[d], &shift) ||
                __builtin_add_overflow(constant[k], shift, &constant[k]))
                return false;
        }
    }
    return true;
}

static bool in_sub_groups(const struct affine *a)
{
    return a->factor[AFFINE_SUB_GROUP] || a->factor[AFFINE_LANE];
}

/* Where work-groups are rows of whole sub-groups, local ids along x fall apart: part 3 is the sub-group, 4 the id
 * there. */
static bool use_sub_groups(struct search *s, const struct launched_access *const side[2], const uint64_t local[3],
                           enum dependence_between between)
{
    uint32_t size = side[0]->site->sub_group_size;
    if (!size || side[1]->site->sub_group_size != size || local[0] % size || local[1] != 1 || local[2] != 1)
        return false;
    s->lanes = size;
    s->n_parts = 5;
    for (unsigned k = 0; k < 2; k++) {
        const struct affine *a = &side[k]->site->index;
        const struct part items = s->parts[3];
        struct part *sub = &s->parts[3], *lane = &s->parts[4];
        sub->counts = lane->counts = between == BETWEEN_ITEMS;
        sub->high[k] = (int64_t)(local[0] / size) - 1;
        lane->high[k] = size - 1;
        if (__builtin_add_overflow(items.factor[k], a->factor[AFFINE_LANE], &lane->factor[k]) ||
            __builtin_mul_overflow(items.factor[k], (int64_t)size, &sub->factor[k]) ||
            __builtin_add_overflow(sub->factor[k], a->factor[AFFINE_SUB_GROUP], &sub->factor[k]))
            return false;
    }
    return true;
}

/* An amount that goes in steps wider than the access leaves gaps: a choice of the search. Any other makes the
   access wider. */
static bool has_gaps(const struct launched_access *s)
{
    const struct affine *a = &s->site->index;
    return a->step > 0 && (uint64_t)a->step > s->site->bytes && (__int128)a->high - a->low < limit;
}

static void use_amounts(struct search *s, const struct launched_access *const side[2])
{
    struct part *p = &s->parts[s->n_parts];
    if (!has_gaps(side[0]) && !has_gaps(side[1])) return;
    *p = (struct part){.counts = false};
    for (unsigned k = 0; k < 2; k++) {
        if (!has_gaps(side[k])) continue;
        const struct affine *a = &side[k]->site->index;
        p->factor[k] = a->step;
        p->high[k] = (a->high - a->low) / a->step;
    }
    s->n_parts++;
}

/* ---- the unknowns ---- */

static __int128 magnitude(__int128 x)
{
    return x < 0 ? -x : x;
}

static void add_variable(struct search *s, struct variable v)
{
    unsigned at = s->n_variables++;
    for (; at > 0 && magnitude(s->variables[at - 1].factor) < magnitude(v.factor); at--)
        s->variables[at] = s->variables[at - 1];
    s->variables[at] = v;
}

/* False where the distance of the two could leave the 64 bits of an address. */
static bool add_variables(struct search *s)
{
    for (unsigned i = 0; i < s->n_parts; i++) {
        const struct part *p = &s->parts[i];
        if (p->factor[0] == p->factor[1]) {
            add_variable(s, (struct variable){.part = i,
                                              .what = DISTANCE,
                                              .factor = p->factor[1],
                                              .low = p->low[1] - p->high[0],
                                              .high = p->high[1] - p->low[0]});
        } else {
            add_variable(s,
                         (struct variable){
                             .part = i, .what = FIRST, .factor = -p->factor[0], .low = p->low[0], .high = p->high[0]});
            add_variable(s,
                         (struct variable){
                             .part = i, .what = SECOND, .factor = p->factor[1], .low = p->low[1], .high = p->high[1]});
        }
    }
    __int128 low = 0, high = 0;
    for (unsigned i = s->n_variables; i-- > 0;) {
        struct variable *v = &s->variables[i];
        v->rest_low = low;
        v->rest_high = high;
        __int128 x = (__int128)v->factor * v->low, y = (__int128)v->factor * v->high;
        low += x < y ? x : y;
        high += x < y ? y : x;
    }
    return low > -limit && high < limit;
}

/* ---- the search ---- */

/* The places a complete choice stands for; false where they are not different. */
static bool read_choice(struct search *s)
{
    for (unsigned i = 0; i < s->n_variables; i++) {
        const struct variable *v = &s->variables[i];
        const struct part *p = &s->parts[v->part];
        if (v->what != DISTANCE) {
            s->place[v->what == SECOND][v->part] = s->chosen[i];
            continue;
        }
        int64_t first = p->low[1] - s->chosen[i];
        if (first < p->low[0]) first = p->low[0];
        s->place[0][v->part] = first;
        s->place[1][v->part] = first + s->chosen[i];
    }
    for (unsigned i = 0; i < s->n_parts; i++)
        if (s->parts[i].counts && s->place[0][i] != s->place[1][i]) return true;
    return false;
}

static __int128 divide_up(__int128 a, __int128 b)
{
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static __int128 divide_down(__int128 a, __int128 b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static enum access_dependence choose(struct search *s, unsigned at, __int128 sum);

static enum access_dependence try_value(struct search *s, unsigned at, __int128 sum, int64_t value)
{
    if (++s->steps > MAX_STEPS) return ACCESS_DEPENDENCE_POSSIBLE;
    s->chosen[at] = value;
    return choose(s, at + 1, sum + (__int128)s->variables[at].factor * value);
}

/* A variable that does not move the sum matters only in making the places different: three values are
   enough, whatever the others are. */
static enum access_dependence choose_any(struct search *s, unsigned at, __int128 sum)
{
    const struct variable *v = &s->variables[at];
    enum access_dependence worst = ACCESS_DEPENDENCE_NONE;
    int64_t middle = v->low <= 0 && v->high >= 0 ? 0 : v->low;
    int64_t values[3] = {middle, middle < v->high ? middle + 1 : middle, middle > v->low ? middle - 1 : middle};
    for (unsigned i = 0; i < 3; i++) {
        if (i && values[i] == middle) continue;
        enum access_dependence c = try_value(s, at, sum, values[i]);
        if (c == ACCESS_DEPENDENCE_PROVED) return c;
        if (c > worst) worst = c;
    }
    return worst;
}

static enum access_dependence choose(struct search *s, unsigned at, __int128 sum)
{
    if (at == s->n_variables)
        return sum >= s->window_low && sum <= s->window_high && read_choice(s) ? ACCESS_DEPENDENCE_PROVED
                                                                               : ACCESS_DEPENDENCE_NONE;
    const struct variable *v = &s->variables[at];
    if (v->factor == 0) return choose_any(s, at, sum);
    __int128 least = s->window_low - sum - v->rest_high, most = s->window_high - sum - v->rest_low;
    __int128 first = v->factor > 0 ? divide_up(least, v->factor) : divide_up(most, v->factor);
    __int128 last = v->factor > 0 ? divide_down(most, v->factor) : divide_down(least, v->factor);
    if (first < v->low) first = v->low;
    if (last > v->high) last = v->high;
    enum access_dependence worst = ACCESS_DEPENDENCE_NONE;
    for (__int128 x = first; x <= last; x++) {
        enum access_dependence c = try_value(s, at, sum, (int64_t)x);
        if (c == ACCESS_DEPENDENCE_PROVED || s->steps > MAX_STEPS) return c;
        if (c > worst) worst = c;
    }
    return worst;
}

/* ---- the question ---- */

static bool nobody(const struct access_items *items)
{
    return items->first[0] > items->last[0] || items->first[1] > items->last[1] || items->first[2] > items->last[2];
}

static bool is_certain(const struct launched_access *s)
{
    return affine_is_exact(&s->site->index) && !s->site->conditional;
}

static int64_t local_id(const struct search *s, unsigned k, unsigned d)
{
    if (!s->lanes) return s->place[k][3 + d];
    return d == 0 ? s->place[k][3] * s->lanes + s->place[k][4] : 0;
}

/* The global ids of the collision; false where one of them never gets there. */
static bool read_pair(const struct search *s, const struct launched_access *const side[2], const uint64_t *local,
                      struct dependence_witness *pair)
{
    for (unsigned k = 0; k < 2; k++) {
        int64_t *id = k ? pair->second : pair->first;
        for (unsigned d = 0; d < 3; d++) {
            id[d] = s->place[k][d];
            if (s->by_groups)
                id[d] = s->place[k][d] * (int64_t)local[d] + local_id(s, k, d) + (int64_t)side[k]->range->offset[d];
            if (id[d] < side[k]->site->items.first[d] || id[d] > side[k]->site->items.last[d]) return false;
        }
    }
    return true;
}

/* Where the access of the place found begins, of an exact sum. */
static __int128 start_of(const struct search *s, const struct launched_access *const side[2], unsigned k,
                         int64_t constant)
{
    __int128 at = (__int128)constant + side[k]->offset;
    for (unsigned i = 0; i < s->n_parts; i++) at += (__int128)s->parts[i].factor[k] * s->place[k][i];
    return at;
}

static int64_t common_byte(const struct search *s, const struct launched_access *const side[2],
                           const int64_t constant[2])
{
    __int128 x = start_of(s, side, 0, constant[0]), y = start_of(s, side, 1, constant[1]);
    return side[0]->site->index.n_symbols ? -1 : (int64_t)(x > y ? x : y);
}

enum access_dependence dependence_find(const struct launched_access *a, const struct launched_access *b,
                                       enum dependence_between between, const uint64_t *local,
                                       struct dependence_witness *pair)
{
    const struct launched_access *const side[2] = {a, b};
    const struct affine *x = &a->site->index, *y = &b->site->index;
    if (nobody(&a->site->items) || nobody(&b->site->items)) return ACCESS_DEPENDENCE_NONE;
    if (!x->known || !y->known || !a->site->bytes || !b->site->bytes || !same_place_scalars(a, b))
        return ACCESS_DEPENDENCE_POSSIBLE;

    struct search s = {0};
    int64_t constant[2] = {x->constant, y->constant};
    if (between == BETWEEN_ITEMS && in_global_ids(x) && in_global_ids(y)) {
        use_global_ids(&s, side);
    } else if (!local || !use_groups(&s, side, local, between, constant)) {
        return ACCESS_DEPENDENCE_POSSIBLE;
    }
    if ((in_sub_groups(x) || in_sub_groups(y)) && !use_sub_groups(&s, side, local, between))
        return ACCESS_DEPENDENCE_POSSIBLE;
    use_amounts(&s, side);
    if (!add_variables(&s)) return ACCESS_DEPENDENCE_POSSIBLE;
    /* The first covers [start, start + width), so does the second: they meet where the distance of the starts
       is above -width of the second and below the width of the first. */
    __int128 start[2], width[2];
    for (unsigned k = 0; k < 2; k++) {
        const struct access_site *site = side[k]->site;
        start[k] = (__int128)constant[k] + site->index.low + side[k]->offset;
        width[k] = (__int128)site->bytes;
        if (!has_gaps(side[k])) width[k] += (__int128)site->index.high - site->index.low;
    }
    if (magnitude(start[1] - start[0]) > limit || width[0] > limit || width[1] > limit)
        return ACCESS_DEPENDENCE_POSSIBLE;
    s.window_low = -(width[1] - 1) - (start[1] - start[0]);
    s.window_high = (width[0] - 1) - (start[1] - start[0]);
    enum access_dependence found = choose(&s, 0, 0);
    if (found != ACCESS_DEPENDENCE_PROVED) return found;
    if (!is_certain(a) || !is_certain(b) || !read_pair(&s, side, local, pair)) return ACCESS_DEPENDENCE_POSSIBLE;
    pair->byte = common_byte(&s, side, constant);
    return ACCESS_DEPENDENCE_PROVED;
}
