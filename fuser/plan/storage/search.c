/* What has to hold of the uses of a buffer that is to lose its memory: plain accesses, elements of one owner. */
#include "fuser/plan/storage/search.h"

#include <stdarg.h>
#include <stdio.h>

#include "fuser/access/guards.h"
#include "fuser/graph/props.h"
#include "fuser/graph/range.h"

enum { MAX_PAIRS = 65536 }; /* of accesses that are compared; beyond it nothing is proved */

const char *storage_buffer_name(const struct storage_search *l)
{
    return l->facts->graph->buffers[l->buffer].name;
}

const char *storage_node_name(const struct storage_search *l, const struct plan_use *use)
{
    return l->facts->graph->nodes[use->node].name;
}

bool storage_stays(const struct storage_search *l, const char *code, const struct plan_use *use, const char *format,
                   ...)
{
    char why[640];
    va_list list;
    if (l->quiet) return false;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    plan_remark(l->ctx, code, storage_node_name(l, use), storage_buffer_name(l), "buffer %s stays in memory: %s",
                storage_buffer_name(l), why);
    return false;
}

bool storage_is_plain(const struct storage_search *l, const struct plan_use *use, const struct access_site *site)
{
    char place[300];
    plan_line_text(&l->facts->graph->nodes[use->node], site->line, place, sizeof place);
    if (site->atomic || site->inst->attrs.is_volatile ||
        (site->inst->op != IR_OP_LOAD && site->inst->op != IR_OP_STORE && !site_is_block(site)))
        return storage_stays(l, "not_internalized_operation", use, "%s uses %s on it", place,
                             ir_op_info(site->inst->op)->text);
    if (!ir_type_is_number(site->type))
        return storage_stays(l, "not_internalized_type", use, "%s accesses it as neither numbers nor vectors", place);
    return true;
}

const uint64_t *storage_local_size(const struct storage_search *l)
{
    return range_has_local(l->range) ? l->range->local : NULL;
}

/* What is found between any two accesses: the worst of it. */
static enum access_dependence dependence_of_all(const struct storage_search *l, enum dependence_between between)
{
    enum access_dependence worst = ACCESS_DEPENDENCE_NONE;
    struct dependence_witness pair;
    uint32_t n_pairs = 0;
    for (uint32_t i = 0; i < l->n_uses; i++)
        for (uint32_t k = i; k < l->n_uses; k++) {
            const struct plan_use *x = storage_use(l, i), *y = storage_use(l, k);
            const struct access_summary *s = id_mapping_summary(l->mapping, x), *t = id_mapping_summary(l->mapping, y);
            for (uint32_t m = 0; m < s->n_sites; m++)
                for (uint32_t n = i == k ? m : 0; n < t->n_sites; n++) {
                    struct launched_access a = id_mapping_access(l->mapping, x, &s->sites[m]),
                                           b = id_mapping_access(l->mapping, y, &t->sites[n]);
                    if (++n_pairs > MAX_PAIRS) return ACCESS_DEPENDENCE_POSSIBLE;
                    enum access_dependence found = dependence_find(&a, &b, between, storage_local_size(l), &pair);
                    if (found == ACCESS_DEPENDENCE_PROVED) return found;
                    if (found > worst) worst = found;
                }
        }
    return worst;
}

static bool is_nobody(const struct access_items *items)
{
    return items->first[0] > items->last[0] || items->first[1] > items->last[1] || items->first[2] > items->last[2];
}

/* A box around the work-items of all accesses. */
static struct access_items all_items(const struct storage_search *l)
{
    struct access_items all = l->side.site->items;
    for (uint32_t i = 0; i < l->n_uses; i++) {
        const struct access_summary *s = id_mapping_summary(l->mapping, storage_use(l, i));
        for (uint32_t k = 0; k < s->n_sites; k++) {
            const struct access_items *items = &s->sites[k].items;
            if (is_nobody(&all)) all = *items;
            for (unsigned d = 0; d < 3 && !is_nobody(items); d++) {
                if (items->first[d] < all.first[d]) all.first[d] = items->first[d];
                if (items->last[d] > all.last[d]) all.last[d] = items->last[d];
            }
        }
    }
    return all;
}

/* Of an element that all accesses share: that of the first one, by whatever work-item gets to any. */
static enum access_dependence dependence_of_one(const struct storage_search *l)
{
    struct access_site site = *l->side.site;
    struct launched_access side = l->side;
    struct dependence_witness pair;
    site.items = all_items(l);
    site.conditional = false;
    side.site = &site;
    side.range = l->range;
    return dependence_find(&side, &side, BETWEEN_ITEMS, storage_local_size(l), &pair);
}

static bool say_owned(const struct storage_search *l, enum access_dependence found, enum dependence_between between,
                      const char **assertion)
{
    const char *owners = between == BETWEEN_GROUPS ? "work-groups" : "work-items";
    const char *scope = between == BETWEEN_GROUPS ? "access_scope_work_group" : "access_scope_work_item";
    bool asserted =
        l->scope == FUSER_SCOPE_WORK_ITEM || (between == BETWEEN_GROUPS && l->scope == FUSER_SCOPE_WORK_GROUP);
    if (found == ACCESS_DEPENDENCE_NONE) return true;
    if (found == ACCESS_DEPENDENCE_POSSIBLE && asserted) {
        *assertion = fuser_scope_name(l->scope);
        return true;
    }
    if (found == ACCESS_DEPENDENCE_PROVED)
        return storage_stays(l, "not_internalized_shared", l->first, "several %s of %s share an element", owners,
                             storage_node_name(l, l->first));
    return storage_stays(l, "not_internalized_scope", l->first,
                         "that no element belongs to two %s is not proved; %s would say so", owners, scope);
}

bool storage_is_owned(const struct storage_search *l, enum dependence_between between, const char **assertion)
{
    return say_owned(l, dependence_of_all(l, between), between, assertion);
}

bool storage_one_is_owned(const struct storage_search *l, const char **assertion)
{
    return say_owned(l, dependence_of_one(l), BETWEEN_ITEMS, assertion);
}

bool storage_uses_share_node(const struct storage_search *l, const struct plan_use *use)
{
    for (uint32_t i = 0; i < l->n_uses; i++)
        if (storage_use(l, i) != use && storage_use(l, i)->node == use->node) return true;
    return false;
}

static struct launched_access access_of(const struct storage_search *l, uint32_t use, uint32_t site)
{
    const struct plan_use *u = storage_use(l, use);
    return id_mapping_access(l->mapping, u, &id_mapping_summary(l->mapping, u)->sites[site]);
}

bool storage_comes_first(const struct storage_search *l, uint32_t k, uint32_t w, uint32_t i, uint32_t r)
{
    if (k > i || (k == i && w > r) || (k != i && storage_use(l, k)->node == storage_use(l, i)->node)) return false;
    return access_of(l, k, w).site->writes;
}

bool storage_is_passed(const struct storage_search *l, uint32_t k, uint32_t w, uint32_t i, uint32_t r)
{
    struct launched_access here = access_of(l, k, w), there = access_of(l, i, r);
    return storage_comes_first(l, k, w, i, r) && guards_let_pass(&here, 1, &there, l->taken);
}

bool storage_one_is_written(const struct storage_search *l, uint32_t i, uint32_t r)
{
    enum { MOST = 16 };
    struct launched_access here[MOST], there = access_of(l, i, r);
    uint32_t n = 0;
    for (uint32_t k = 0; k <= i; k++)
        for (uint32_t w = 0; w < id_mapping_summary(l->mapping, storage_use(l, k))->n_sites && n < MOST; w++)
            if (storage_comes_first(l, k, w, i, r)) here[n++] = access_of(l, k, w);
    return guards_let_pass(here, n, &there, l->taken);
}

bool storage_all_may_execute(const struct storage_search *l, const struct access_site *site)
{
    for (unsigned d = 0; d < 3; d++)
        if (site->items.last[d] - site->items.first[d] + 1 != (int64_t)l->range->global[d]) return false;
    return true;
}

bool storage_all_execute(const struct storage_search *l, const struct access_site *site)
{
    return storage_all_may_execute(l, site) && !site->conditional;
}
