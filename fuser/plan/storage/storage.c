/*
 * Storage: which buffers can do without memory. Needed are the user's assertion that nobody else reads the buffer
 * (fusion_internal_memory), all uses in one launch, elements that belong to one work-item alone, or to one work-group,
 * and a value in each before it is read. All but the first is proved where it can be.
 */
#include "fuser/plan/storage/storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/access/same_place.h"
#include "fuser/graph/props.h"
#include "fuser/graph/range.h"
#include "fuser/plan/graph/image_args.h"
#include "fuser/plan/storage/local.h"
#include "fuser/plan/storage/private.h"
#include "ir/base/arena.h"

/* Only kernels of this group use it. */
static bool is_inside(const struct storage_search *l)
{
    for (uint32_t i = 0; i < l->n_all; i++) {
        const struct plan_use *use = &l->facts->uses[l->all[i]];
        if (l->facts->graph->nodes[use->node].kind != FUSER_NODE_KERNEL) {
            return storage_stays(l, "not_internalized_command", use, "%s, which is no kernel, uses it",
                                 storage_node_name(l, use));
        }
        if (image_arg_is_use(l->facts->graph, use))
            return storage_stays(l, "not_internalized_image", use, "%s takes it as an image",
                                 storage_node_name(l, use));
        if (!order_run_has(l->order, l->run, use->node)) {
            return storage_stays(l, "not_internalized_groups", use, "%s and %s use it, which are not fused",
                                 storage_node_name(l, l->first), storage_node_name(l, use));
        }
    }
    return true;
}

static ir_type param_type(const struct storage_search *l, const struct plan_use *use)
{
    return l->facts->graph->nodes[use->node].kernel->params[use->arg].value->type;
}

static bool accessors_agree(const struct storage_search *l)
{
    for (uint32_t i = 0; i < l->n_all; i++) {
        const struct plan_use *use = &l->facts->uses[l->all[i]];
        if (param_type(l, use) != param_type(l, l->first))
            return storage_stays(l, "not_internalized_mismatch", use,
                                 "%s and %s take it as parameters of different address spaces",
                                 storage_node_name(l, l->first), storage_node_name(l, use));
        if (use->first == l->first->first && use->end == l->first->end) continue;
        return storage_stays(l, "not_internalized_mismatch", use, "%s accesses its bytes %llu to %llu, %s %llu to %llu",
                             storage_node_name(l, l->first), (unsigned long long)l->first->first,
                             (unsigned long long)l->first->end, storage_node_name(l, use),
                             (unsigned long long)use->first, (unsigned long long)use->end);
    }
    return true;
}

/* At the element that all others are at. */
static bool is_same_element(const struct storage_search *l, const struct plan_use *use, const struct access_site *site)
{
    char place[300];
    plan_line_text(&l->facts->graph->nodes[use->node], site->line, place, sizeof place);
    if (!storage_is_plain(l, use, site)) return false;
    if (site->type != l->side.site->type)
        return storage_stays(l, "not_internalized_type", use, "%s accesses it as another type than %s does", place,
                             storage_node_name(l, l->first));
    struct launched_access side = id_mapping_access(l->mapping, use, site);
    if (!same_place(&l->side, &side))
        return storage_stays(l, "not_internalized_elements", use,
                             "that %s is at the same element of its work-item as the first access in %s is not proved",
                             place, storage_node_name(l, l->first));
    return true;
}

static bool is_known(const struct storage_search *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (id_mapping_summary(l->mapping, storage_use(l, i))->escapes)
            return storage_stays(l, "not_internalized_escapes", storage_use(l, i), "%s stores or passes on its address",
                                 storage_node_name(l, storage_use(l, i)));
    return true;
}

static bool sites_are_one_element(const struct storage_search *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct access_summary *s = id_mapping_summary(l->mapping, storage_use(l, i));
        for (uint32_t k = 0; k < s->n_sites; k++)
            if (!is_same_element(l, storage_use(l, i), &s->sites[k])) return false;
    }
    return true;
}

/* ---- whether it is written before it is read ---- */

/* Each work-item writes its element before it reads it: proved where whoever reads has passed a store, or asserted. */
static bool is_initialized(const struct storage_search *l)
{
    bool all = true;
    for (uint32_t i = 0; i < l->n_uses && all && !l->no_init; i++) {
        const struct access_summary *s = id_mapping_summary(l->mapping, storage_use(l, i));
        for (uint32_t k = 0; k < s->n_sites && all; k++) all = !s->sites[k].reads || storage_one_is_written(l, i, k);
    }
    if (all) return true;
    return storage_stays(
        l, "not_internalized_init", l->first,
        "that each work-item writes its element before it reads it is not proved; no_init would say so");
}

/* ---- the look ---- */

static int by_position(const void *x, const void *y, void *data)
{
    const struct storage_search *l = data;
    const uint32_t *position = l->order->position;
    const struct plan_use *a = &l->facts->uses[*(const uint32_t *)x], *b = &l->facts->uses[*(const uint32_t *)y];
    if (a->node != b->node) return position[a->node] < position[b->node] ? -1 : 1;
    return a->arg < b->arg ? -1 : a->arg > b->arg;
}

static void sort_uses(struct storage_search *l)
{
    uint32_t *uses = arena_alloc(l->ctx->arena, (l->n_uses + 1) * sizeof *uses);
    memcpy(uses, l->uses, l->n_uses * sizeof *uses);
    qsort_r(uses, l->n_uses, sizeof *uses, by_position, l);
    l->uses = uses;
}

/* All uses, or those in the group where no others matter. */
static void gather_all(struct storage_search *l, const struct storage_query *q)
{
    const struct plan_facts *f = l->facts;
    const uint32_t *all = &f->buffer_uses[f->buffer_uses_start[l->buffer]];
    uint32_t n = f->buffer_uses_start[l->buffer + 1] - f->buffer_uses_start[l->buffer];
    uint32_t *uses = arena_alloc(l->ctx->arena, (n + 1) * sizeof *uses);
    bool apart = q->apart && q->apart[l->buffer];
    for (uint32_t i = 0; i < n; i++)
        if (!apart || order_run_has(l->order, q->group, f->uses[all[i]].node)) uses[l->n_all++] = all[i];
    l->all = uses;
}

static void gather(struct storage_search *l, const struct storage_query *q)
{
    const struct plan_facts *f = l->facts;
    const uint32_t *position = l->order->position;
    gather_all(l, q);
    uint32_t *uses = arena_alloc(l->ctx->arena, (l->n_all + 1) * sizeof *uses);
    for (uint32_t i = 0; i < l->n_all; i++)
        if (f->uses[l->all[i]].reads || f->uses[l->all[i]].writes) uses[l->n_uses++] = l->all[i];
    l->uses = uses;
    l->first = storage_use(l, 0);
    l->no_init = true;
    l->scope = l->first->props.access_scope;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        if (position[storage_use(l, i)->node] < position[l->first->node]) l->first = storage_use(l, i);
        l->no_init &= storage_use(l, i)->props.no_init;
        l->scope = fuser_scope_merge(l->scope, storage_use(l, i)->props.access_scope);
    }
}

/* Nobody but the group may see it: each accessor says so. Returns the one that does not. */
static const struct plan_use *find_visible(const struct storage_search *l, bool *some)
{
    const struct plan_use *visible = NULL;
    *some = false;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        if (storage_use(l, i)->props.internal_memory) {
            *some = true;
        } else if (!visible) {
            visible = storage_use(l, i);
        }
    }
    return visible;
}

static bool is_read(const struct storage_search *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (storage_use(l, i)->reads) return true;
    return false;
}

static bool is_written(const struct storage_search *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (storage_use(l, i)->writes) return true;
    return false;
}

/* ---- the choice of a storage ---- */

static bool fits(struct storage_search *l, struct plan_storage *out);

/* Tries what the user could say besides, the least first; *with is the look that then succeeds. */
static bool fits_with_more(const struct storage_search *l, struct storage_search *with, struct plan_storage *found)
{
    static const struct {
        enum fuser_scope scope;
        bool no_init;
    } tries[] = {{FUSER_SCOPE_NONE, true},
                 {FUSER_SCOPE_WORK_GROUP, false},
                 {FUSER_SCOPE_WORK_ITEM, false},
                 {FUSER_SCOPE_WORK_GROUP, true},
                 {FUSER_SCOPE_WORK_ITEM, true}};
    for (unsigned i = 0; i < sizeof tries / sizeof *tries; i++) {
        *with = *l;
        with->quiet = true;
        if (tries[i].scope != FUSER_SCOPE_NONE) with->scope = tries[i].scope;
        with->no_init |= tries[i].no_init;
        if (fits(with, found)) return true;
    }
    return false;
}

static bool in_one_variable(struct storage_search *l, struct plan_storage *out)
{
    *out = (struct plan_storage){.storage = FUSER_STORAGE_PRIVATE, .elem = l->side.site->type};
    return sites_are_one_element(l) && storage_one_is_owned(l, &out->assertion) && is_initialized(l);
}

enum { IN_SLICES, IN_ONE_VARIABLE, IN_GROUP };

/* The one that it could have with more properties; else the group's, where the user speaks of groups. */
static unsigned nearest_storage(const struct storage_search *l)
{
    struct storage_search with, look = *l;
    struct plan_storage found;
    look.quiet = true;
    bool one = sites_are_one_element(&look);
    bool by_group = l->scope == FUSER_SCOPE_WORK_GROUP || (!one && storage_local_size(l) && l->barriers);
    if (fits_with_more(l, &with, &found)) by_group = found.storage == FUSER_STORAGE_LOCAL;
    return by_group ? IN_GROUP : one || !l->side.site->index.known ? IN_ONE_VARIABLE : IN_SLICES;
}

static bool has_arrays(const struct plan_storage *storage)
{
    for (uint32_t i = 0; i < storage->n_slices; i++)
        if (storage->slices[i].count > 1) return true;
    return false;
}

/* What a work-item keeps over a barrier is memory anyway, and of an array neighbours' elements would lie apart there.
   In the work-group's they are neighbours. */
static void prefer_array_of_group(const struct storage_search *l, struct plan_storage *storage)
{
    struct storage_search look = *l;
    struct plan_storage in_group;
    if (l->barriers && has_arrays(storage) && local_array_find(&look, &in_group)) *storage = in_group;
}

/* Registers before work-group memory. Said is why the storage that comes nearest cannot be. */
static bool choose(struct storage_search *l, struct plan_storage *out)
{
    static bool (*const attempts[])(struct storage_search * l, struct plan_storage * out) = {
        [IN_SLICES] = private_slices_find, [IN_ONE_VARIABLE] = in_one_variable, [IN_GROUP] = local_array_find};
    bool quiet = l->quiet;
    l->quiet = true;
    for (unsigned i = 0; i < 3; i++)
        if (attempts[i](l, out)) {
            prefer_array_of_group(l, out);
            l->quiet = quiet;
            return true;
        }
    l->quiet = quiet;
    return !quiet && attempts[nearest_storage(l)](l, out);
}

/* What nobody writes comes from outside, whatever no_init says. */
static bool is_made_inside(const struct storage_search *l)
{
    return is_written(l) || storage_stays(l, "not_internalized_init", l->first, "no kernel writes it");
}

static bool fits(struct storage_search *l, struct plan_storage *out)
{
    if (!is_inside(l) || !accessors_agree(l) || !is_known(l) || !is_made_inside(l)) return false;
    sort_uses(l);
    const struct access_summary *s = id_mapping_summary(l->mapping, l->first);
    if (s->n_sites) l->side = id_mapping_access(l->mapping, l->first, &s->sites[0]);
    return s->n_sites && choose(l, out);
}

/* ---- what would change it ---- */

/* Said on a buffer that stays: the least that has to be true. scope, no_init: what is missing of them. */
static void remark_possible(const struct storage_search *l, const struct plan_storage *storage, enum fuser_scope scope,
                            bool no_init)
{
    char with[96] = "";
    if (scope != FUSER_SCOPE_NONE) snprintf(with, sizeof with, "%s", fuser_scope_name(scope));
    if (no_init) snprintf(with + strlen(with), sizeof with - strlen(with), "%sno_init", *with ? " and " : "");
    if (l->visible)
        snprintf(with + strlen(with), sizeof with - strlen(with), "%sfusion_internal_memory", *with ? " and " : "");
    plan_remark(l->ctx, "internalization_possible", storage_node_name(l, l->first), storage_buffer_name(l),
                "buffer %s would be kept in %s with %s%s", storage_buffer_name(l),
                storage->storage == FUSER_STORAGE_LOCAL ? "work-group memory" : "registers", with,
                l->visible ? ", which says that nobody else reads it" : "");
}

static void find_properties(struct storage_search *l)
{
    struct plan_storage found;
    struct storage_search with;
    if (!fits_with_more(l, &with, &found)) return;
    remark_possible(l, &found, with.scope == l->scope ? FUSER_SCOPE_NONE : with.scope, with.no_init && !l->no_init);
}

/* Said once, where the buffer is used first, and to those who asked. */
static bool is_quiet(const struct storage_search *l, bool some)
{
    return !order_run_has(l->order, l->run, l->first->node) || !(some || l->ctx->options->explain);
}

static const struct nd_range *linear_range(const struct storage_query *q)
{
    struct nd_range *linear = arena_alloc(q->ctx->arena, sizeof *linear);
    *linear = (struct nd_range){.dims = 1, .global = {range_items(q->range), 1, 1}};
    return linear;
}

static struct storage_search search_of(const struct storage_query *q, uint32_t buffer, uint64_t local_left)
{
    struct storage_search l = {.ctx = q->ctx,
                               .facts = q->facts,
                               .order = q->order,
                               .mapping = q->mapping,
                               .run = q->run,
                               .buffer = buffer,
                               .range = q->range,
                               .barriers = q->barriers,
                               .local_left = local_left,
                               .taken = arena_alloc(q->ctx->arena, sizeof *l.taken)};
    gather(&l, q);
    l.linear = q->mapping->nodes[l.first->node].linear;
    if (l.linear) l.range = linear_range(q);
    return l;
}

bool storage_is_unseen(const struct storage_query *q, uint32_t buffer)
{
    bool some;
    const char *assertion;
    struct storage_search l = search_of(q, buffer, 0);
    l.quiet = true;
    return !find_visible(&l, &some) && is_inside(&l) && is_known(&l) && is_written(&l) &&
           storage_is_owned(&l, BETWEEN_ITEMS, &assertion);
}

bool storage_is_made_again(const struct storage_query *q, uint32_t buffer, bool keep)
{
    bool some;
    struct plan_storage storage;
    struct storage_search l = search_of(q, buffer, 0);
    l.quiet = true;
    l.no_init = false; /* that is said of what was there before the graph, not before the group */
    if (find_visible(&l, &some) || !fits(&l, &storage)) return false;
    if (keep) guards_keep(l.taken);
    return true;
}

bool storage_find(const struct storage_query *q, uint32_t buffer, uint64_t local_left, struct plan_storage *out)
{
    struct storage_search l = search_of(q, buffer, local_left);
    bool some;
    const struct plan_use *visible = find_visible(&l, &some);
    l.visible = visible != NULL;
    l.quiet = is_quiet(&l, some);
    if (visible && some)
        return storage_stays(&l, "not_internalized_accessor", visible,
                             "the accessor of %s lacks fusion_internal_memory", storage_node_name(&l, visible));
    if (visible && !is_read(&l) && is_written(&l))
        return storage_stays(&l, "not_internalized_result", l.first,
                             "no kernel reads it: what is written there is a result");
    bool flows = is_read(&l) && is_written(&l), found = fits(&l, out);
    if (found && !visible) {
        guards_keep(l.taken);
        return true;
    }
    if (found && flows)
        remark_possible(&l, out, FUSER_SCOPE_NONE, false); /* but for the assertion that nobody else reads it */
    if (!found && flows && !l.quiet) find_properties(&l);
    return false;
}
