/*
 * Homes: which buffers can do without memory. Needed are the user's word that nobody else reads the buffer
 * (fusion_internal_memory), all uses in one group, elements that belong to one work-item alone, or to one work-group,
 * and a value in each before it is read. All but the first is proved where it can be.
 */
#include "fuser/plan/homes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/access/dependence.h"
#include "fuser/access/same_place.h"
#include "fuser/graph/props.h"
#include "fuser/graph/range.h"
#include "ir/base/arena.h"

enum { MAX_PAIRS = 65536 }; /* of accesses that are compared; beyond it nothing is proved */

const char *home_buffer_name(const struct home_look *l)
{
    return l->p->graph->buffers[l->buffer].name;
}

const char *home_node_name(const struct home_look *l, const struct plan_use *use)
{
    return l->p->graph->nodes[use->node].name;
}

bool home_stays(const struct home_look *l, const char *code, const struct plan_use *use, const char *format, ...)
{
    char why[640];
    va_list list;
    if (l->quiet) return false;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    plan_remark(l->p, code, home_node_name(l, use), home_buffer_name(l), "buffer %s stays in memory: %s",
                home_buffer_name(l), why);
    return false;
}

/* Only kernels of this group use it. */
static bool is_inside(const struct home_look *l)
{
    for (uint32_t i = 0; i < l->n_all; i++) {
        const struct plan_use *use = &l->p->uses[l->all[i]];
        if (l->p->graph->nodes[use->node].kind != FUSER_NODE_KERNEL) {
            return home_stays(l, "not_internalized_command", use, "%s, which is no kernel, uses it",
                              home_node_name(l, use));
        }
        if (plan_use_is_image(l->p, use))
            return home_stays(l, "not_internalized_image", use, "%s takes it as an image", home_node_name(l, use));
        if (l->p->nodes[use->node].group != l->group) {
            return home_stays(l, "not_internalized_groups", use, "%s and %s use it, which are not fused",
                              home_node_name(l, l->first), home_node_name(l, use));
        }
    }
    return true;
}

static ir_type param_type(const struct home_look *l, const struct plan_use *use)
{
    return l->p->graph->nodes[use->node].kernel->params[use->arg].value->type;
}

static bool accessors_agree(const struct home_look *l)
{
    for (uint32_t i = 0; i < l->n_all; i++) {
        const struct plan_use *use = &l->p->uses[l->all[i]];
        if (param_type(l, use) != param_type(l, l->first))
            return home_stays(l, "not_internalized_mismatch", use,
                              "%s and %s take it as parameters of different address spaces",
                              home_node_name(l, l->first), home_node_name(l, use));
        if (use->first == l->first->first && use->end == l->first->end) continue;
        return home_stays(l, "not_internalized_mismatch", use, "%s accesses its bytes %llu to %llu, %s %llu to %llu",
                          home_node_name(l, l->first), (unsigned long long)l->first->first,
                          (unsigned long long)l->first->end, home_node_name(l, use), (unsigned long long)use->first,
                          (unsigned long long)use->end);
    }
    return true;
}

bool home_is_plain(const struct home_look *l, const struct plan_use *use, const struct access_site *site)
{
    char place[300];
    plan_place(l->p, use->node, site->line, place, sizeof place);
    if (site->atomic || site->inst->attrs.is_volatile ||
        (site->inst->op != IR_OP_LOAD && site->inst->op != IR_OP_STORE && !site_is_block(site)))
        return home_stays(l, "not_internalized_operation", use, "%s uses %s on it", place,
                          ir_op_info(site->inst->op)->text);
    if (!ir_type_is_number(site->type))
        return home_stays(l, "not_internalized_type", use, "%s accesses it as neither numbers nor vectors", place);
    return true;
}

/* At the element that all others are at. */
static bool is_same_element(const struct home_look *l, const struct plan_use *use, const struct access_site *site)
{
    char place[300];
    plan_place(l->p, use->node, site->line, place, sizeof place);
    if (!home_is_plain(l, use, site)) return false;
    if (site->type != l->side.site->type)
        return home_stays(l, "not_internalized_type", use, "%s accesses it as another type than %s does", place,
                          home_node_name(l, l->first));
    struct launched_access side = plan_side(l->p, use, site);
    if (!same_place(&l->side, &side))
        return home_stays(l, "not_internalized_elements", use,
                          "that %s is at the same element of its work-item as the first access in %s is not proved",
                          place, home_node_name(l, l->first));
    return true;
}

static bool is_known(const struct home_look *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (plan_summary(l->p, home_use(l, i))->escapes)
            return home_stays(l, "not_internalized_escapes", home_use(l, i), "%s stores or passes on its address",
                              home_node_name(l, home_use(l, i)));
    return true;
}

static bool sites_are_one_element(const struct home_look *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct access_summary *s = plan_summary(l->p, home_use(l, i));
        for (uint32_t k = 0; k < s->n_sites; k++)
            if (!is_same_element(l, home_use(l, i), &s->sites[k])) return false;
    }
    return true;
}

/* ---- to whom an element belongs ---- */

const uint64_t *home_local_size(const struct home_look *l)
{
    return range_has_local(l->range) ? l->range->local : NULL;
}

/* What is found between any two accesses: the worst of it. */
static enum access_dependence conflict_of_all(const struct home_look *l, enum dependence_between between)
{
    enum access_dependence worst = ACCESS_DEPENDENCE_NONE;
    struct dependence_witness pair;
    uint32_t n_pairs = 0;
    for (uint32_t i = 0; i < l->n_uses; i++)
        for (uint32_t k = i; k < l->n_uses; k++) {
            const struct plan_use *x = home_use(l, i), *y = home_use(l, k);
            const struct access_summary *s = plan_summary(l->p, x), *t = plan_summary(l->p, y);
            for (uint32_t m = 0; m < s->n_sites; m++)
                for (uint32_t n = i == k ? m : 0; n < t->n_sites; n++) {
                    struct launched_access a = plan_side(l->p, x, &s->sites[m]), b = plan_side(l->p, y, &t->sites[n]);
                    if (++n_pairs > MAX_PAIRS) return ACCESS_DEPENDENCE_POSSIBLE;
                    enum access_dependence found = dependence_find(&a, &b, between, home_local_size(l), &pair);
                    if (found == ACCESS_DEPENDENCE_PROVED) return found;
                    if (found > worst) worst = found;
                }
        }
    return worst;
}

/* Of an element that all accesses share: that of the first one, by whatever work-item. */
static enum access_dependence conflict_of_one(const struct home_look *l)
{
    struct access_site site = *l->side.site;
    struct launched_access side = l->side;
    struct dependence_witness pair;
    for (unsigned d = 0; d < 3; d++) {
        site.items.first[d] = (int64_t)l->range->offset[d];
        site.items.last[d] = (int64_t)(l->range->offset[d] + l->range->global[d]) - 1;
    }
    site.conditional = false;
    side.site = &site;
    side.range = l->range;
    return dependence_find(&side, &side, BETWEEN_ITEMS, home_local_size(l), &pair);
}

static bool say_owned(const struct home_look *l, enum access_dependence found, enum dependence_between between, const char **word)
{
    const char *owners = between == BETWEEN_GROUPS ? "work-groups" : "work-items";
    const char *scope = between == BETWEEN_GROUPS ? "access_scope_work_group" : "access_scope_work_item";
    bool asserted =
        l->scope == FUSER_SCOPE_WORK_ITEM || (between == BETWEEN_GROUPS && l->scope == FUSER_SCOPE_WORK_GROUP);
    if (found == ACCESS_DEPENDENCE_NONE) return true;
    if (found == ACCESS_DEPENDENCE_POSSIBLE && asserted) {
        *word = fuser_scope_name(l->scope);
        return true;
    }
    if (found == ACCESS_DEPENDENCE_PROVED)
        return home_stays(l, "not_internalized_shared", l->first, "several %s of %s share an element", owners,
                          home_node_name(l, l->first));
    return home_stays(l, "not_internalized_scope", l->first,
                      "that no element belongs to two %s is not proved; %s would say so", owners, scope);
}

bool home_is_owned(const struct home_look *l, enum dependence_between between, const char **word)
{
    return say_owned(l, conflict_of_all(l, between), between, word);
}

bool home_one_is_owned(const struct home_look *l, const char **word)
{
    return say_owned(l, conflict_of_one(l), BETWEEN_ITEMS, word);
}

/* ---- whether it is written before it is read ---- */

bool home_uses_share_node(const struct home_look *l, const struct plan_use *use)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (home_use(l, i) != use && home_use(l, i)->node == use->node) return true;
    return false;
}

bool home_all_execute(const struct home_look *l, const struct access_site *site)
{
    for (unsigned d = 0; d < 3; d++)
        if (site->items.last[d] - site->items.first[d] + 1 != (int64_t)l->range->global[d]) return false;
    return !site->conditional;
}

/* Each work-item writes its element before it reads it: proved where the first kernel begins so, or asserted. */
static bool is_initialized(const struct home_look *l)
{
    const struct access_summary *s = plan_summary(l->p, l->first);
    if (l->no_init) return true;
    if (!home_uses_share_node(l, l->first) && s->written_first && home_all_execute(l, &s->sites[0])) return true;
    return home_stays(l, "not_internalized_init", l->first,
                      "that each work-item writes its element before it reads it is not proved; no_init would say so");
}

/* ---- the look ---- */

static int by_position(const void *x, const void *y, void *data)
{
    const struct planner *p = data;
    const struct plan_use *a = &p->uses[*(const uint32_t *)x], *b = &p->uses[*(const uint32_t *)y];
    if (a->node != b->node) return p->nodes[a->node].position < p->nodes[b->node].position ? -1 : 1;
    return a->arg < b->arg ? -1 : a->arg > b->arg;
}

static void sort_uses(struct home_look *l)
{
    uint32_t *uses = arena_alloc(l->p->arena, (l->n_uses + 1) * sizeof *uses);
    memcpy(uses, l->uses, l->n_uses * sizeof *uses);
    qsort_r(uses, l->n_uses, sizeof *uses, by_position, l->p);
    l->uses = uses;
}

static void gather(struct home_look *l)
{
    struct planner *p = l->p;
    l->n_all = p->buffer_uses_start[l->buffer + 1] - p->buffer_uses_start[l->buffer];
    l->all = &p->buffer_uses[p->buffer_uses_start[l->buffer]];
    uint32_t *uses = arena_alloc(p->arena, (l->n_all + 1) * sizeof *uses);
    for (uint32_t i = 0; i < l->n_all; i++)
        if (p->uses[l->all[i]].reads || p->uses[l->all[i]].writes) uses[l->n_uses++] = l->all[i];
    l->uses = uses;
    l->first = home_use(l, 0);
    l->no_init = true;
    l->scope = l->first->props.access_scope;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        if (p->nodes[home_use(l, i)->node].position < p->nodes[l->first->node].position) l->first = home_use(l, i);
        l->no_init &= home_use(l, i)->props.no_init;
        l->scope = fuser_scope_merge(l->scope, home_use(l, i)->props.access_scope);
    }
}

/* Nobody but the group may see it: each accessor says so. Returns the one that does not. */
static const struct plan_use *find_visible(const struct home_look *l, bool *some)
{
    const struct plan_use *visible = NULL;
    *some = false;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        if (home_use(l, i)->props.internal_memory) {
            *some = true;
        } else if (!visible) {
            visible = home_use(l, i);
        }
    }
    return visible;
}

static bool is_read(const struct home_look *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (home_use(l, i)->reads) return true;
    return false;
}

static bool is_written(const struct home_look *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (home_use(l, i)->writes) return true;
    return false;
}

/* ---- the choice of a home ---- */

static bool fits(struct home_look *l, struct plan_home *out);

/* Tries what the user could say besides, the least first; *with is the look that then succeeds. */
static bool fits_with_more(const struct home_look *l, struct home_look *with, struct plan_home *home)
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
        if (fits(with, home)) return true;
    }
    return false;
}

static bool in_one_variable(struct home_look *l, struct plan_home *out)
{
    *out = (struct plan_home){.home = FUSER_STORAGE_PRIVATE, .elem = l->side.site->type};
    return sites_are_one_element(l) && home_one_is_owned(l, &out->word) && is_initialized(l);
}

enum { IN_PIECES, IN_ONE_VARIABLE, IN_GROUP };

/* The one that it could have with more properties; else the group's, where the user speaks of groups. */
static unsigned nearest_home(const struct home_look *l)
{
    struct home_look with, look = *l;
    struct plan_home home;
    look.quiet = true;
    bool one = sites_are_one_element(&look);
    bool by_group =
        l->scope == FUSER_SCOPE_WORK_GROUP || (!one && home_local_size(l) && l->p->options->insert_barriers);
    if (fits_with_more(l, &with, &home)) by_group = home.home == FUSER_STORAGE_LOCAL;
    return by_group ? IN_GROUP : one || !l->side.site->index.known ? IN_ONE_VARIABLE : IN_PIECES;
}

/* Registers before work-group memory. Said is why the home that comes nearest cannot be. */
static bool choose(struct home_look *l, struct plan_home *out)
{
    static bool (*const homes[])(struct home_look * l, struct plan_home * out) = {
        [IN_PIECES] = home_in_pieces, [IN_ONE_VARIABLE] = in_one_variable, [IN_GROUP] = home_in_group};
    bool quiet = l->quiet;
    l->quiet = true;
    for (unsigned i = 0; i < 3; i++)
        if (homes[i](l, out)) {
            l->quiet = quiet;
            return true;
        }
    l->quiet = quiet;
    return !quiet && homes[nearest_home(l)](l, out);
}

/* What nobody writes comes from outside, whatever no_init says. */
static bool is_made_inside(const struct home_look *l)
{
    return is_written(l) || home_stays(l, "not_internalized_init", l->first, "no kernel writes it");
}

static bool fits(struct home_look *l, struct plan_home *out)
{
    if (!is_inside(l) || !accessors_agree(l) || !is_known(l) || !is_made_inside(l)) return false;
    sort_uses(l);
    const struct access_summary *s = plan_summary(l->p, l->first);
    if (s->n_sites) l->side = plan_side(l->p, l->first, &s->sites[0]);
    return s->n_sites && choose(l, out);
}

/* ---- what would change it ---- */

/* Said on a buffer that stays: the least that has to be true. scope, no_init: what is missing of them. */
static void remark_possible(const struct home_look *l, const struct plan_home *home, enum fuser_scope scope,
                            bool no_init)
{
    char with[96] = "";
    if (scope != FUSER_SCOPE_NONE) snprintf(with, sizeof with, "%s", fuser_scope_name(scope));
    if (no_init) snprintf(with + strlen(with), sizeof with - strlen(with), "%sno_init", *with ? " and " : "");
    if (l->visible)
        snprintf(with + strlen(with), sizeof with - strlen(with), "%sfusion_internal_memory", *with ? " and " : "");
    plan_remark(l->p, "internalization_possible", home_node_name(l, l->first), home_buffer_name(l),
                "buffer %s would be kept in %s with %s%s", home_buffer_name(l),
                home->home == FUSER_STORAGE_LOCAL ? "work-group memory" : "registers", with,
                l->visible ? ", which says that nobody else reads it" : "");
}

static void find_properties(struct home_look *l)
{
    struct plan_home home;
    struct home_look with;
    if (!fits_with_more(l, &with, &home)) return;
    remark_possible(l, &home, with.scope == l->scope ? FUSER_SCOPE_NONE : with.scope, with.no_init && !l->no_init);
}

/* Said once, where the buffer is used first, and to those who asked. */
static bool is_quiet(const struct home_look *l, bool some)
{
    return l->p->nodes[l->first->node].group != l->group || !(some || l->p->options->explain);
}

bool plan_find_home(struct planner *p, uint32_t buffer, uint32_t group, const struct nd_range *range,
                    uint64_t local_left, struct plan_home *out)
{
    struct home_look l = {.p = p, .buffer = buffer, .group = group, .range = range, .local_left = local_left};
    struct nd_range linear = {.dims = 1, .global = {range_items(range), 1, 1}};
    gather(&l);
    l.linear = p->nodes[l.first->node].linear;
    if (l.linear) l.range = &linear;
    bool some;
    const struct plan_use *visible = find_visible(&l, &some);
    l.visible = visible != NULL;
    l.quiet = is_quiet(&l, some);
    if (visible && some)
        return home_stays(&l, "not_internalized_accessor", visible, "the accessor of %s lacks fusion_internal_memory",
                          home_node_name(&l, visible));
    if (visible && !is_read(&l) && is_written(&l))
        return home_stays(&l, "not_internalized_result", l.first,
                          "no kernel reads it: what is written there is a result");
    bool flows = is_read(&l) && is_written(&l), found = fits(&l, out);
    if (found && !visible) return true;
    if (found && flows)
        remark_possible(&l, out, FUSER_SCOPE_NONE, false); /* but for the word that nobody else reads it */
    if (!found && flows && !l.quiet) find_properties(&l);
    return false;
}
