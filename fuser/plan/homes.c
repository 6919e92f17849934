/*
 * Homes: which buffers can live in registers. Needed are the user's word that nobody else reads the buffer
 * (fusion_internal_memory), all uses in one group, one element per work-item, the same at each access, that belongs
 * to that work-item alone, and a value in it before it is read. All but the first is proved where it can be.
 */
#include <stdarg.h>
#include <stdio.h>

#include "fuser/plan/planner.h"
#include "fuser/plan/props.h"
#include "fuser/plan/range.h"

struct look {
    struct planner *p;
    uint32_t buffer, group;
    const struct fuser_range *range; /* of the group */
    bool quiet;
    uint32_t n_uses;
    const uint32_t *uses;
    const struct plan_use *first; /* in linear order */
    struct conflict_side side;    /* its first site */
    bool no_init;                 /* each accessor has it */
    enum fuser_scope scope;       /* of the accessors together */
};

static const char *buffer_name(const struct look *l)
{
    return l->p->graph->buffers[l->buffer].name;
}

static const char *node_name(const struct look *l, const struct plan_use *use)
{
    return l->p->graph->nodes[use->node].name;
}

/* Says why the buffer stays in memory, unless nobody asked. False. */
__attribute__((format(printf, 4, 5))) static bool stays(const struct look *l, const char *code,
                                                        const struct plan_use *use, const char *format, ...)
{
    char why[640];
    va_list list;
    if (l->quiet) return false;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    plan_remark(l->p, code, node_name(l, use), buffer_name(l), "buffer %s stays in memory: %s", buffer_name(l), why);
    return false;
}

static const struct plan_use *use_at(const struct look *l, uint32_t i)
{
    return &l->p->uses[l->uses[i]];
}

/* Only kernels of this group use it. */
static bool is_inside(const struct look *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct plan_use *use = use_at(l, i);
        if (l->p->graph->nodes[use->node].kind != FUSER_NODE_KERNEL) {
            return stays(l, "not_internalized_command", use, "%s, which is no kernel, uses it", node_name(l, use));
        }
        if (l->p->nodes[use->node].group != l->group) {
            return stays(l, "not_internalized_groups", use, "%s and %s use it, which are not fused",
                         node_name(l, l->first), node_name(l, use));
        }
    }
    return true;
}

static bool accessors_agree(const struct look *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct plan_use *use = use_at(l, i);
        if (use->first == l->first->first && use->end == l->first->end) continue;
        return stays(l, "not_internalized_mismatch", use, "%s accesses its bytes %llu to %llu, %s %llu to %llu",
                     node_name(l, l->first), (unsigned long long)l->first->first, (unsigned long long)l->first->end,
                     node_name(l, use), (unsigned long long)use->first, (unsigned long long)use->end);
    }
    return true;
}

static bool is_plain(const struct look *l, const struct plan_use *use, const struct access_site *site)
{
    const struct access_site *leader = l->side.site;
    char place[300];
    plan_place(l->p, use->node, site->line, place, sizeof place);
    if (site->atomic || site->inst->attrs.is_volatile ||
        (site->inst->op != IR_OP_LOAD && site->inst->op != IR_OP_STORE)) {
        return stays(l, "not_internalized_operation", use, "%s uses %s on it", place, ir_op_info(site->inst->op)->text);
    }
    if (site->type != leader->type || !ir_type_is_number(site->type)) {
        return stays(l, "not_internalized_type", use, "%s accesses it as another type than %s does", place,
                     node_name(l, l->first));
    }
    struct conflict_side side = plan_side(l->p, use, site);
    if (!conflict_same_place(&l->side, &side)) {
        return stays(l, "not_internalized_elements", use,
                     "that %s is at the same element of its work-item as the first access in %s is "
                     "not proved",
                     place, node_name(l, l->first));
    }
    return true;
}

static bool sites_are_one_element(const struct look *l)
{
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct plan_use *use = use_at(l, i);
        const struct access_summary *s = plan_summary(l->p, use);
        if (s->escapes) {
            return stays(l, "not_internalized_escapes", use, "%s stores or passes on its address", node_name(l, use));
        }
        for (uint32_t k = 0; k < s->n_sites; k++)
            if (!is_plain(l, use, &s->sites[k])) return false;
    }
    return true;
}

/* No element belongs to two work-items: proved for the index that all sites share, or asserted. */
static bool is_owned(const struct look *l)
{
    struct access_site site = *l->side.site;
    struct conflict_side side = l->side;
    struct conflict_pair pair;
    for (unsigned d = 0; d < 3; d++) {
        site.items.first[d] = (int64_t)l->range->offset[d];
        site.items.last[d] = (int64_t)(l->range->offset[d] + l->range->global[d]) - 1;
    }
    site.conditional = false;
    side.site = &site;
    side.range = l->range;
    const uint64_t *local = range_has_local(l->range) ? l->range->local : NULL;
    enum conflict found = conflict_find(&side, &side, BETWEEN_ITEMS, local, &pair);
    if (found == CONFLICT_NONE || (found == CONFLICT_POSSIBLE && l->scope == FUSER_SCOPE_WORK_ITEM)) return true;
    if (found == CONFLICT_PROVED) {
        return stays(l, "not_internalized_shared", l->first, "several work-items of %s share an element",
                     node_name(l, l->first));
    } else if (l->scope == FUSER_SCOPE_WORK_GROUP) {
        return stays(l, "not_internalized_local", l->first,
                     "with access_scope_work_group it would need work-group memory; "
                     "access_scope_work_item would "
                     "let it be kept in registers");
    } else {
        return stays(l, "not_internalized_scope", l->first,
                     "that no element belongs to two work-items is not proved; access_scope_work_item "
                     "would say so");
    }
    return false;
}

/* Each work-item writes its element before it reads it: proved where the first kernel begins so, or asserted. */
static bool is_initialized(const struct look *l)
{
    const struct plan_node *node = &l->p->nodes[l->first->node];
    bool alone = true; /* the first kernel uses it through one argument */
    for (uint32_t i = 0; i < l->n_uses; i++) alone &= use_at(l, i) == l->first || use_at(l, i)->node != l->first->node;
    if (l->no_init) return true;
    if (alone && plan_summary(l->p, l->first)->written_first && range_same(&node->range, l->range)) return true;
    return stays(l, "not_internalized_init", l->first,
                 "that each work-item writes its element before it reads it is not proved; no_init "
                 "would say so");
}

static void gather(struct look *l)
{
    l->first = use_at(l, 0);
    l->no_init = true;
    l->scope = l->first->props.access_scope;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct plan_use *use = use_at(l, i);
        if (l->p->nodes[use->node].position < l->p->nodes[l->first->node].position) l->first = use;
        l->no_init &= use->props.no_init;
        l->scope = fuser_scope_merge(l->scope, use->props.access_scope);
    }
}

/* Nobody but the group may see it: each accessor says so. Returns the one that does not. */
static const struct plan_use *find_visible(const struct look *l, bool *some)
{
    const struct plan_use *visible = NULL;
    *some = false;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        if (use_at(l, i)->props.internal_memory) {
            *some = true;
        } else if (!visible) {
            visible = use_at(l, i);
        }
    }
    return visible;
}

static bool is_read_and_written(const struct look *l)
{
    bool reads = false, writes = false;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        reads |= use_at(l, i)->reads;
        writes |= use_at(l, i)->writes;
    }
    return reads && writes;
}

static bool fits(struct look *l)
{
    if (!is_inside(l) || !accessors_agree(l)) return false;
    const struct access_summary *s = plan_summary(l->p, l->first);
    if (s->n_sites) l->side = plan_side(l->p, l->first, &s->sites[0]);
    return s->n_sites && sites_are_one_element(l) && is_owned(l) && is_initialized(l);
}

bool plan_can_be_private(struct planner *p, uint32_t buffer, uint32_t group, const struct fuser_range *range,
                         ir_type *elem)
{
    struct look l = {.p = p, .buffer = buffer, .group = group, .range = range};
    l.n_uses = p->buffer_uses_start[buffer + 1] - p->buffer_uses_start[buffer];
    l.uses = &p->buffer_uses[p->buffer_uses_start[buffer]];
    gather(&l);
    bool some;
    const struct plan_use *visible = find_visible(&l, &some);
    l.quiet = !some || p->nodes[l.first->node].group != group; /* said once, where it is used first */
    if (visible && some)
        return stays(&l, "not_internalized_accessor", visible, "the accessor of %s lacks fusion_internal_memory",
                     node_name(&l, visible));
    if (visible) l.quiet = true;
    if (!fits(&l)) return false;
    *elem = l.side.site->type;
    if (!visible) return true;
    if (!some && is_read_and_written(&l))
        plan_remark(
            p, "internalization_possible", node_name(&l, l.first), buffer_name(&l),
            "buffer %s would be kept in registers with fusion_internal_memory, which says that nobody else reads it",
            buffer_name(&l));
    return false;
}
