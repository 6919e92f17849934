/* Which launches run band by band: runs of them as long as what they have in use fits into a cache, where that saves
   memory traffic. */
#include "fuser/plan/bands/bands.h"

#include <string.h>

#include "fuser/bands/reach.h"
#include "fuser/plan/bands/rings.h"
#include "fuser/plan/bands/schedule.h"
#include "fuser/plan/launch/launch_traffic.h"
#include "ir/base/arena.h"

enum {
    MOST_LAUNCHES = 64,
    MOST_ACCESSES = 192, /* of all launches of a run: each is compared with each */
    MOST_BANDS = 512,
    BANDS_PER_CORE = 8, /* so that none waits long for the others at the end */
    PAGE_BYTES = 4096,  /* rings are whole pages, */
    MOST_ROUNDS = 512,  /* which are at so many places at most: executors take no more than 1024 */
};

typedef unsigned long long ull;

/* A launch as bands see it. */
struct candidate {
    const struct fuser_launch *launch;
    const int64_t *numbers; /* by parameter, what integers are taken to be; 0: nothing */
    struct banded_launch banded;
    bool seen;
};

/* Bytes of a buffer that have no byte in common with what else is touched of it: a buffer, or a plane of it. */
struct region {
    uint32_t buffer; /* of the graph */
    int64_t first, end;
};

/* Steps that follow each other, all of them launches whose accesses are seen. */
struct band_run {
    struct launching *l;
    struct candidate *candidates; /* by step of the plan */
    uint32_t first, n;
    struct region *regions; /* by the run's numbers */
    struct band_schedule schedule;
    bool *rings; /* by the run's numbers */
};

static const struct cost_machine *machine_of(const struct launching *l)
{
    return &l->ctx->options->device.machine;
}

/* ---- what launches touch ---- */

/* In bytes of the buffer, and none outside of it. */
static struct banded_access access_of(const struct launching *l, const struct fuser_param *p,
                                      const struct band_reach *reach)
{
    int64_t bytes = (int64_t)l->facts->graph->buffers[p->index].bytes, offset = (int64_t)p->offset;
    struct line start = {0, 1, offset, offset};
    struct banded_access a = {p->index, reach->reads, reach->writes, {0, 1, 0, bytes}, 0, bytes};
    if (!line_add(&reach->at, &start, &a.at)) a.at = (struct line){0, 1, 0, bytes};
    if (reach->first > -offset) a.first = reach->first > bytes - offset ? bytes : reach->first + offset;
    if (reach->end < bytes - offset) a.end = reach->end < -offset ? 0 : reach->end + offset;
    return a;
}

static bool has_only_buffers(const struct fuser_launch *launch)
{
    for (uint32_t i = 0; i < launch->n_params; i++)
        if (launch->params[i].kind == FUSER_PARAM_PROGRAM_VARIABLE || launch->params[i].view) return false;
    return true;
}

static void look_at(const struct launching *l, struct candidate *c)
{
    struct band_reaches reaches;
    struct arena *arena = l->ctx->arena;
    c->numbers = numbers_of_launch(l->facts, c->launch, arena);
    if (c->launch->last || !has_only_buffers(c->launch) ||
        !band_reaches_find(c->launch->kernel, &c->launch->range, c->numbers, arena, &reaches))
        return;
    c->seen = true;
    c->banded = (struct banded_launch){.rows = reaches.rows, .groups_of_row = reaches.groups_of_row, .n = reaches.n};
    c->banded.accesses = arena_alloc(arena, (reaches.n + 1) * sizeof *c->banded.accesses);
    for (uint32_t i = 0; i < reaches.n; i++)
        c->banded.accesses[i] = access_of(l, &c->launch->params[reaches.reaches[i].param], &reaches.reaches[i]);
}

/* ---- a run ---- */

static bool is_in(const struct region *r, const struct banded_access *a)
{
    return r->buffer == a->buffer && a->first < r->end && r->first < a->end;
}

/* Regions that it has bytes of become one. */
static void add_region(struct band_run *r, const struct banded_access *a)
{
    struct region all = {a->buffer, a->first, a->end};
    uint32_t kept = 0, n = r->schedule.n_buffers;
    if (a->first >= a->end) return;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_in(&r->regions[i], a)) {
            r->regions[kept++] = r->regions[i];
            continue;
        }
        if (r->regions[i].first < all.first) all.first = r->regions[i].first;
        if (r->regions[i].end > all.end) all.end = r->regions[i].end;
    }
    r->regions = arena_grow(r->l->ctx->arena, r->regions, kept, sizeof *r->regions);
    r->regions[kept] = all;
    r->schedule.n_buffers = kept + 1;
}

/* The launch with the run's numbers, and without accesses that touch nothing. */
static const struct banded_launch *numbered(const struct band_run *r, const struct banded_launch *from)
{
    struct arena *arena = r->l->ctx->arena;
    struct banded_launch *to = arena_alloc(arena, sizeof *to);
    *to = *from;
    to->n = 0;
    to->accesses = arena_alloc(arena, (from->n + 1) * sizeof *to->accesses);
    for (uint32_t i = 0; i < from->n; i++)
        for (uint32_t k = 0; k < r->schedule.n_buffers; k++) {
            if (!is_in(&r->regions[k], &from->accesses[i])) continue;
            to->accesses[to->n] = from->accesses[i];
            to->accesses[to->n++].buffer = k;
        }
    return to;
}

static void begin_run(struct band_run *r, struct launching *l, struct candidate *candidates, uint32_t first, uint32_t n)
{
    const struct banded_launch **launches = arena_alloc(l->ctx->arena, n * sizeof *launches);
    *r = (struct band_run){.l = l, .candidates = candidates, .first = first, .n = n};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < candidates[first + i].banded.n; k++)
            add_region(r, &candidates[first + i].banded.accesses[k]);
    for (uint32_t i = 0; i < n; i++) launches[i] = numbered(r, &candidates[first + i].banded);
    r->schedule.launches = launches;
    r->schedule.n = n;
    schedule_begin(l->ctx->arena, &r->schedule);
}

/* As few bands as what is in use fits with, but some for each core; or more, as tuning chose. */
static bool fits_with(struct band_run *r, uint32_t at_once, uint64_t bytes)
{
    struct arena *arena = r->l->ctx->arena;
    uint32_t n = 2, more = r->l->ctx->tuned->more_bands;
    while (n <= MOST_BANDS &&
           (n < BANDS_PER_CORE * (at_once - 1) || !schedule_make(arena, &r->schedule, n, at_once, bytes)))
        n *= 2;
    if (n > MOST_BANDS || more < 2) return n <= MOST_BANDS;
    uint32_t tuned = n * more < MOST_BANDS ? n * more : MOST_BANDS;
    return schedule_make(arena, &r->schedule, tuned, at_once, bytes) ||
           schedule_make(arena, &r->schedule, n, at_once, bytes);
}

/* Into the caches that each core has for itself, or else into the one that all have together: then with a band for
   each core, or with one that they share. */
static bool fits(struct band_run *r)
{
    const struct cost_machine *m = machine_of(r->l);
    uint32_t cores = cost_bands_at_once(m);
    if (fits_with(r, cores, cost_own_caches(m)) || (cores > 1 && fits_with(r, cores, m->cache_bytes))) return true;
    return fits_with(r, 1, m->cache_bytes);
}

/* ---- whether it is worth it ---- */

static const struct fuser_launch *launch_at(const struct band_run *r, uint32_t i)
{
    return r->candidates[r->first + i].launch;
}

/* Nothing else of its buffer is touched. */
static bool is_whole(const struct band_run *r, uint32_t region)
{
    for (uint32_t i = 0; i < r->schedule.n_buffers; i++)
        if (i != region && r->regions[i].buffer == r->regions[region].buffer) return false;
    return true;
}

/* What is in use of the buffer is so little that a ring pays, and so much that it is not mapped too often. */
static bool is_small_part(const struct band_run *r, uint32_t region)
{
    uint64_t window = r->schedule.windows[region], bytes = r->l->facts->graph->buffers[r->regions[region].buffer].bytes;
    return 2 * window <= bytes && bytes / MOST_ROUNDS <= window;
}

static void find_rings(struct band_run *r)
{
    struct arena *arena = r->l->ctx->arena;
    const struct fuser_launch **launches = arena_alloc(arena, r->n * sizeof *launches);
    const int64_t **numbers = arena_alloc(arena, r->n * sizeof *numbers);
    for (uint32_t i = 0; i < r->n; i++) {
        launches[i] = launch_at(r, i);
        numbers[i] = r->candidates[r->first + i].numbers;
    }
    struct ring_request request = {r->l, launches, numbers, r->n};
    r->rings = arena_alloc(arena, r->schedule.n_buffers + 1);
    for (uint32_t b = 0; b < r->schedule.n_buffers; b++)
        r->rings[b] = is_small_part(r, b) && is_whole(r, b) && ring_is_possible(&request, r->regions[b].buffer);
}

/* What a launch, or the run (n launches), moves of a buffer over memory. Where it is in the cache when it is written,
   it was read before; launches by themselves write past the cache. */
static uint64_t traffic(const struct band_run *r, uint32_t buffer, uint32_t first, uint32_t n, bool cached)
{
    int64_t low = INT64_MAX, high = 0;
    bool reads = false, writes = false;
    for (uint32_t i = first; i < first + n; i++)
        for (uint32_t k = 0; k < r->schedule.launches[i]->n; k++) {
            const struct banded_access *a = &r->schedule.launches[i]->accesses[k];
            if (a->buffer != buffer) continue;
            reads |= a->reads;
            writes |= a->writes;
            if (a->first < low) low = a->first;
            if (a->end > high) high = a->end;
        }
    return high > low ? (uint64_t)(high - low) * ((reads || (writes && cached && n > 1)) + writes) : 0;
}

/* Does anybody but the launch that writes it touch the buffer? */
static bool is_shared(const struct band_run *r, uint32_t buffer)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) n += traffic(r, buffer, i, 1, false) != 0;
    return n > 1;
}

struct band_traffic {
    uint64_t apart, together;
};

static bool is_worth_it(const struct band_run *r, struct band_traffic *t)
{
    uint64_t apart = 0, together = 0;
    for (uint32_t b = 0; b < r->schedule.n_buffers; b++) {
        for (uint32_t i = 0; i < r->n; i++) apart += traffic(r, b, i, 1, false);
        if (!r->rings[b]) together += traffic(r, b, 0, r->n, is_shared(r, b));
    }
    *t = (struct band_traffic){apart, together};
    return cost_bands_pay(machine_of(r->l), apart, together);
}

/* ---- the result ---- */

static const char *name_of(const struct band_run *r, uint32_t i)
{
    return r->l->facts->graph->nodes[launch_at(r, i)->nodes[0]].name;
}

static void add_condition(struct launching *l, struct fuser_bands *bands, uint32_t value, int64_t number)
{
    for (uint32_t i = 0; i < bands->n_conditions; i++)
        if (bands->conditions[i].value == value) return;
    bands->conditions = arena_grow(l->plan->arena, bands->conditions, bands->n_conditions, sizeof *bands->conditions);
    bands->conditions[bands->n_conditions++] =
        (struct fuser_condition){.value = value, .like = value, .number = number};
}

static void remark(struct band_run *r, uint64_t saved)
{
    const struct fuser_graph *g = r->l->facts->graph;
    plan_remark(
        r->l->ctx, "banded", name_of(r, 0), NULL,
        "the %u launches from %s to %s run in %u bands of rows, %u at a time: what they have in use is %llu bytes, and "
        "%llu bytes of traffic are saved",
        r->n, name_of(r, 0), name_of(r, r->n - 1), r->schedule.n_bands, r->schedule.at_once, (ull)r->schedule.window,
        (ull)saved);
    for (uint32_t b = 0; b < r->schedule.n_buffers; b++)
        if (r->rings[b])
            plan_remark(r->l->ctx, "ring_memory", name_of(r, 0), g->buffers[r->regions[b].buffer].name,
                        "buffer %s has memory for %llu of its %llu bytes: no more are in use at a time",
                        g->buffers[r->regions[b].buffer].name, (ull)r->l->plan->rings[r->regions[b].buffer],
                        (ull)g->buffers[r->regions[b].buffer].bytes);
}

/* What is left of the traffic is theirs as all of it was. */
static void predict(struct band_run *r, const struct band_traffic *t)
{
    const struct cost_machine *m = machine_of(r->l);
    for (uint32_t i = 0; i < r->n; i++) {
        struct fuser_launch *launch = &r->l->plan->launches[r->l->plan->steps[r->first + i].index];
        double left = (double)launch->traffic * ((double)t->together / (double)t->apart);
        if (m->cores) launch->predicted_ns = cost_launch_ns(m, launch->operations, (uint64_t)left);
    }
}

static void add_bands(struct band_run *r, const struct band_traffic *t)
{
    struct fuser_plan *plan = r->l->plan;
    const struct band_schedule *s = &r->schedule;
    struct fuser_bands bands = {.first_step = r->first, .n_steps = r->n, .n_bands = s->n_bands, .at_once = s->at_once};
    uint64_t n = (uint64_t)s->n_bands * r->n;
    bands.ends = arena_alloc(plan->arena, n * sizeof *bands.ends);
    for (uint64_t i = 0; i < n; i++) bands.ends[i] = s->ends[i] * s->launches[i % r->n]->groups_of_row;
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t p = 0; p < launch_at(r, i)->n_params; p++) {
            int64_t number = r->candidates[r->first + i].numbers[p];
            if (number) add_condition(r->l, &bands, launch_at(r, i)->params[p].index, number);
        }
    for (uint32_t b = 0; b < s->n_buffers; b++) {
        if (!r->rings[b]) continue;
        plan->rings[r->regions[b].buffer] = (s->windows[b] + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        for (uint32_t i = 0; i < r->n; i++) plan->saved[r->regions[b].buffer] += traffic(r, b, i, 1, false);
    }
    plan->bands = arena_grow(plan->arena, plan->bands, plan->n_bands, sizeof *plan->bands);
    plan->bands[plan->n_bands++] = bands;
    predict(r, t);
    remark(r, t->apart > t->together ? t->apart - t->together : 0);
}

/* ---- all runs ---- */

/* first: a step, a launch. */
static void say_not(const struct launching *l, const struct candidate *candidates, uint32_t first, const char *why)
{
    const char *name = l->facts->graph->nodes[candidates[first].launch->nodes[0]].name;
    if (l->ctx->options->explain)
        plan_remark(l->ctx, "not_banded", name, NULL, "%s does not run in bands with the launches behind it: %s", name,
                    why);
}

/* The most launches from a step on that fit. */
static uint32_t longest_run(struct launching *l, struct candidate *candidates, uint32_t first, uint32_t n,
                            struct band_run *run)
{
    uint32_t good = 1, bad = n + 1;
    for (uint32_t next = n; bad - good > 1; next = good + (bad - good) / 2) {
        begin_run(run, l, candidates, first, next);
        if (fits(run))
            good = next;
        else
            bad = next;
    }
    if (good > 1 && run->n != good) {
        begin_run(run, l, candidates, first, good);
        fits(run);
    }
    return good;
}

/* How many from a step on are few enough to be compared. */
static uint32_t some_of(const struct candidate *candidates, uint32_t first, uint32_t n)
{
    uint32_t accesses = 0, i = 0;
    while (i < n && i < MOST_LAUNCHES && accesses <= MOST_ACCESSES) accesses += candidates[first + i++].banded.n;
    return i;
}

static void find_in(struct launching *l, struct candidate *candidates, uint32_t first, uint32_t n)
{
    while (n > 1) {
        struct band_run run;
        struct band_traffic traffic;
        uint32_t done = longest_run(l, candidates, first, some_of(candidates, first, n), &run);
        if (done > 1) find_rings(&run);
        if (done > 1 && is_worth_it(&run, &traffic))
            add_bands(&run, &traffic);
        else
            say_not(l, candidates, first, done > 1 ? "that saves too little" : "too much would be in use at a time");
        first += done;
        n -= done;
    }
}

/* Whether launches have so much memory between them that it does not stay in the cache anyway. */
static bool is_large(const struct launching *l, const struct fuser_launch *launch)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < launch->n_params; i++)
        if (launch->params[i].kind == FUSER_PARAM_BUFFER)
            bytes += l->facts->graph->buffers[launch->params[i].index].bytes;
    return bytes >= cost_own_caches(machine_of(l));
}

static bool is_launch(const struct fuser_plan *plan, uint32_t i)
{
    return i < plan->n_steps && plan->steps[i].kind == FUSER_STEP_LAUNCH && !plan->steps[i].together;
}

/* Whether the launch of a step is large, or stands between large ones with nothing but launches around it: what flows
   through it from one to the other has to go on in bands, too, as over the small levels of a pyramid. */
static bool is_between_large(const struct launching *l, uint32_t step)
{
    const struct fuser_plan *plan = l->plan;
    bool before = false, behind = false;
    for (uint32_t i = step; i != UINT32_MAX && is_launch(plan, i) && step - i < MOST_LAUNCHES && !before; i--)
        before = is_large(l, &plan->launches[plan->steps[i].index]);
    for (uint32_t i = step; is_launch(plan, i) && i - step < MOST_LAUNCHES && !behind; i++)
        behind = is_large(l, &plan->launches[plan->steps[i].index]);
    return before && behind;
}

static bool is_wanted(const struct launching *l)
{
    const struct fuser_options *o = l->ctx->options;
    return o->mode == FUSER_MODE_ENABLE && !l->ctx->tuned->no_bands && o->device.machine.cache_bytes && !o->debug &&
           l->plan->n_launches > 1;
}

void bands_find(struct launching *l)
{
    struct fuser_plan *plan = l->plan;
    plan->rings = arena_alloc(plan->arena, (l->facts->graph->n_buffers + 1) * sizeof *plan->rings);
    if (!is_wanted(l)) return;
    struct candidate *candidates = arena_alloc(l->ctx->arena, (plan->n_steps + 1) * sizeof *candidates);
    for (uint32_t i = 0, first = 0; i <= plan->n_steps; i++) {
        struct candidate *c = &candidates[i];
        if (is_launch(plan, i)) {
            c->launch = &plan->launches[plan->steps[i].index];
            if (is_between_large(l, i)) {
                look_at(l, c);
                if (!c->seen) say_not(l, candidates, i, "not all that it touches is seen");
            }
        }
        if (c->seen) continue;
        find_in(l, candidates, first, i - first);
        first = i + 1;
    }
}
