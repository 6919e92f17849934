/* Whether a kernel can run with those of a group: ranges, sub-groups, resources, and what they touch. */
#include "fuser/plan/forming.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuser/graph/props.h"
#include "fuser/graph/range.h"
#include "ir/base/arena.h"

enum { MAX_KERNELS = 128, MAX_OPERATIONS = 2048, MAX_LARGE = 16384 }; /* of a group: docs/fusion.md */

typedef unsigned long long ull;

/* A use of a buffer by a kernel of the group that is being formed. */
struct member_use {
    uint32_t use;
    struct member_use *next;
};

bool cut(struct cut *c, const char *code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(c->text, sizeof c->text, format, list);
    va_end(list);
    c->code = code;
    return false;
}

static const char *name_of(const struct planner *p, uint32_t node)
{
    return p->graph->nodes[node].name;
}

/* ---- what kernels are, whatever they touch ---- */

static bool apart(const struct planner *p, const struct forming *f, uint32_t node, struct cut *c, const char *code,
                  const char *why)
{
    return cut(c, code, "%s is not fused with %s%s: %s", name_of(p, node), name_of(p, p->plan->order[f->group.first]),
               f->group.n > 1 ? " and the kernels fused with it" : "", why);
}

/* What barriers order depends on which work-items are a group. */
static bool moves_groups(const struct planner *p, const struct forming *f, const struct nd_range *joined,
                         enum range_fit fit)
{
    if (!p->options->insert_barriers || f->group.n < 2 || !range_has_local(&f->group.range)) return false;
    return fit == RANGE_LINEAR_LARGER || memcmp(joined->offset, f->group.range.offset, sizeof joined->offset) != 0;
}

static bool sub_groups_fit(const struct planner *p, const struct forming *f, uint32_t node, struct cut *c)
{
    uint32_t size = plan_sub_group_size(p, node);
    if (size == 0 || f->sub_group_size == 0 || f->sub_group_size == size) return true;
    return cut(c, "not_fused_sub_group_size",
               "%s is not fused with the kernels before it: its sub-groups have %u work-items, theirs %u",
               name_of(p, node), size, f->sub_group_size);
}

/* Each kernel of the group sees the work-groups and sub-groups that it sees alone. */
static bool groups_fit(const struct planner *p, const struct forming *f, uint32_t node,
                       const struct nd_range *joined, struct cut *c)
{
    char why[400];
    uint32_t first = f->group.first, own = plan_sub_group_size(p, node);
    uint32_t size = f->sub_group_size ? f->sub_group_size : own ? own : p->options->device.primary_sub_group_size;
    bool other_local = range_has_other_local(&f->group.range, joined);
    const char *code = range_has_other_local(&p->nodes[node].range, joined) || other_local ? "not_fused_local_size"
                                                                                           : "not_fused_range";
    if (!plan_sees_own_groups(p, first, node, joined, size, why, sizeof why)) return apart(p, f, node, c, code, why);
    if (range_same(&f->group.range, joined) && !other_local && size == f->sub_group_size) return true;
    for (uint32_t i = 0; i < f->group.n; i++) {
        uint32_t member = p->plan->order[first + i];
        if (other_local && plan_takes_any_groups(p, member))
            return apart(p, f, node, c, "not_fused_local_size",
                         "its local size differs, and one that gave none looks at its work-group");
        if (!plan_sees_own_groups(p, first, member, joined, size, why, sizeof why))
            return apart(p, f, node, c, code, why);
    }
    return true;
}

/* Barriers between kernels are of the work-groups that both have. */
static bool barriers_fit(const struct planner *p, const struct forming *f, uint32_t node, struct cut *c)
{
    char why[400], more[160], sum[160];
    const struct nd_range *own = &p->nodes[node].range;
    if (!p->options->insert_barriers || !range_has_other_local(own, &f->group.range)) return true;
    snprintf(
        why, sizeof why,
        "insert_barriers wants the work-groups of all kernels to be the same, and it has %s, the kernels before %s",
        range_text(own, more, sizeof more), range_text(&f->group.range, sum, sizeof sum));
    return apart(p, f, node, c, "not_fused_local_size", why);
}

static bool ranges_fit(const struct planner *p, const struct forming *f, uint32_t node, struct nd_range *joined,
                       struct cut *c)
{
    char why[400];
    if (!barriers_fit(p, f, node, c)) return false;
    *joined = f->group.range;
    enum range_fit fit = plan_join_range(p, f->group.first, f->group.n, node, f->alike, joined, why, sizeof why);
    if (fit == RANGE_APART) return apart(p, f, node, c, "not_fused_range", why);
    if (fit == RANGE_UNEVEN) return apart(p, f, node, c, "not_fused_uneven", why);
    if (moves_groups(p, f, joined, fit))
        return apart(p, f, node, c, "not_fused_range",
                     "the work-groups would be other ones, and the barriers between the kernels order only what stays "
                     "inside of those there are");
    if (!f->alike && !plan_keeps_ids(p, f->group.first, f->group.n, &f->group.range, joined))
        return apart(p, f, node, c, "not_fused_range",
                     "the launch would grow, which changes the ids of kernels that get theirs from the linear id");
    return groups_fit(p, f, node, joined, c);
}

/* Of very long code less is made of each operation (scalar code, and none in the end), which costs more than the memory
   saved. A kernel that is long by itself may take short ones along, while that is sure to leave it its code. */
static bool size_fits(const struct planner *p, const struct forming *f, uint32_t node, struct cut *c)
{
    uint64_t own = p->nodes[node].operations, sum = f->operations + own, largest = own > f->largest ? own : f->largest;
    if (p->options->mode == FUSER_MODE_REQUIRE || sum <= MAX_OPERATIONS) return true;
    if (sum <= MAX_LARGE && sum <= largest + largest / 4) return true;
    return cut(c, "not_fused_size",
               "%s is not fused with the kernels before it: it has %llu operations, they have %llu, and of more than %d "
               "together the code is worse; require_fusion fuses anyway",
               name_of(p, node), (ull)own, (ull)f->operations, MAX_OPERATIONS);
}

static bool resources_fit(const struct planner *p, const struct forming *f, uint32_t node, struct cut *c)
{
    uint64_t more = plan_local_bytes(p, node), most = p->options->device.max_local_bytes;
    if (f->group.n == MAX_KERNELS)
        return cut(c, "not_fused_limit",
                   "%s is not fused with the kernels before it: those are %d already, the most of a group",
                   name_of(p, node), MAX_KERNELS);
    if (!size_fits(p, f, node, c)) return false;
    if (more == 0 || f->local_bytes + more <= most) return true;
    return cut(c, "not_fused_local_memory",
               "%s is not fused with the kernels before it: it takes %llu bytes of work-group memory, they take %llu, "
               "device %s has %llu",
               name_of(p, node), (ull)more, (ull)f->local_bytes, p->options->device.name, (ull)most);
}

/* ---- what kernels touch ---- */

static void ids_text(const struct nd_range *r, const int64_t id[3], char *buf, size_t size)
{
    if (r->dims == 1) snprintf(buf, size, "%lld", (long long)id[0]);
    if (r->dims == 2) snprintf(buf, size, "(%lld, %lld)", (long long)id[0], (long long)id[1]);
    if (r->dims == 3) snprintf(buf, size, "(%lld, %lld, %lld)", (long long)id[0], (long long)id[1], (long long)id[2]);
}

/* Inside work-groups a barrier would do. */
static const char *barrier_helps(const struct planner *p, const struct plan_use *a, const struct plan_use *b,
                                 const uint64_t *local)
{
    if (p->options->insert_barriers || !local) return "";
    enum dependence kind = plan_dependence(p, a, b, local, true).kind;
    return kind == DEPENDENCE_GROUP ? "; insert_barriers would order it" : "";
}

/* As plan_place(), but a long name does not push out the line. */
static const char *short_place(const struct planner *p, uint32_t node, uint32_t line, char *buf, size_t size)
{
    int used = snprintf(buf, size, "%.80s", name_of(p, node));
    if (line) snprintf(buf + used, size - (size_t)used, " (line %u)", line);
    return buf;
}

/* What both touch, where that does not depend on scalar arguments. */
static const char *element_text(const struct planner *p, const struct plan_use *use, const struct dependence_report *d,
                                char *buf, size_t size)
{
    ir_type elem = p->graph->buffers[use->buffer].elem;
    uint64_t bytes = elem == IR_VOID ? d->bytes : (ir_type_bits(elem) + 7) / 8;
    buf[0] = 0;
    if (d->pair.byte >= 0 && bytes)
        snprintf(buf, size, ", element %llu (byte %llu)", (ull)d->pair.byte / bytes, (ull)d->pair.byte);
    return buf;
}

static bool report_race(const struct planner *p, const struct plan_use *a, const struct plan_use *b,
                        const struct dependence_report *d, const uint64_t *local, struct cut *c)
{
    char first[120], second[120], item[2][72], where[64];
    int64_t id[2][3];
    memcpy(id[0], d->pair.first, sizeof id[0]);
    memcpy(id[1], d->pair.second, sizeof id[1]);
    plan_own_ids(p, a->node, id[0]);
    plan_own_ids(p, b->node, id[1]);
    ids_text(&p->nodes[a->node].range, id[0], item[0], sizeof item[0]);
    ids_text(&p->nodes[b->node].range, id[1], item[1], sizeof item[1]);
    c->buffer = p->graph->buffers[b->buffer].name;
    return cut(c, "not_fused_race",
               "%.80s and %.80s cannot run as one kernel: work-item %s of %s %s of buffer %.80s by work-item %s of "
               "%s%s%s",
               name_of(p, a->node), name_of(p, b->node), item[0],
               short_place(p, a->node, d->lines[0], first, sizeof first), d->what, c->buffer, item[1],
               short_place(p, b->node, d->lines[1], second, sizeof second), element_text(p, b, d, where, sizeof where),
               barrier_helps(p, a, b, local));
}

/* The property that would let the two be fused. */
static const char *way_out(const struct planner *p, uint32_t buffer, const uint64_t *local)
{
    if (plan_is_state(p, buffer)) return "it is a variable of the program, of which only what is proved counts";
    if (!p->options->insert_barriers)
        return "access_scope_work_item on the buffer would say that each element belongs to one work-item";
    if (!local)
        return "access_scope_work_item would say that each element belongs to one work-item, access_scope_work_group "
               "with a local size given that it belongs to one work-group";
    return "access_scope_work_item or access_scope_work_group on the buffer would say to whom each element belongs";
}

/* Remarks on what is taken on the user's word. */
static void remark_word(struct planner *p, const char *code, const struct plan_use *a, const struct plan_use *b,
                        const struct dependence_report *d, const char *word)
{
    char first[300], second[300];
    plan_remark(p, code, name_of(p, b->node), p->graph->buffers[b->buffer].name,
                "%s %s by %s through buffer %s; that it stays inside one %s is not proved and taken on the word of %s",
                plan_place(p, a->node, d->lines[0], first, sizeof first), d->what,
                plan_place(p, b->node, d->lines[1], second, sizeof second), p->graph->buffers[b->buffer].name,
                p->options->insert_barriers ? "work-group" : "work-item", word);
}

/* Is what b needs of a ordered when both run as one kernel? */
static bool pair_fits(struct planner *p, const struct plan_use *a, const struct plan_use *b, const uint64_t *local,
                      struct cut *c)
{
    if (!a->writes && !b->writes) return true;
    if (plan_holds_texels(p, b->buffer)) {
        c->buffer = p->graph->buffers[b->buffer].name;
        return cut(c, "not_fused_image",
                   "%.200s is not fused with %.200s: both use %s %s and one writes it, and pixels are not followed "
                   "from work-item to work-item",
                   name_of(p, b->node), name_of(p, a->node),
                   p->graph->buffers[b->buffer].image ? "image" : "buffer, as an image,", c->buffer);
    }
    struct dependence_report d = plan_dependence(p, a, b, local, p->options->insert_barriers);
    switch (d.kind) {
    case DEPENDENCE_NONE:
    case DEPENDENCE_ITEM: return true;
    case DEPENDENCE_GROUP:
        plan_remark(p, "barrier_orders", name_of(p, b->node), p->graph->buffers[b->buffer].name,
                    "what %s and %s do to buffer %s crosses work-items, but not work-groups: the barrier between them "
                    "orders it",
                    name_of(p, a->node), name_of(p, b->node), p->graph->buffers[b->buffer].name);
        return true;
    case DEPENDENCE_RACE: return report_race(p, a, b, &d, local, c);
    case DEPENDENCE_OPEN: break;
    }
    enum fuser_scope scope = fuser_scope_merge(a->props.access_scope, b->props.access_scope);
    bool barrier = p->options->insert_barriers && local;
    if (scope == FUSER_SCOPE_WORK_ITEM || (scope == FUSER_SCOPE_WORK_GROUP && barrier)) {
        remark_word(p, "vouched_by_scope", a, b, &d, fuser_scope_name(scope));
        return true;
    }
    if (p->options->mode == FUSER_MODE_REQUIRE) {
        remark_word(p, "vouched_by_require", a, b, &d, "require_fusion");
        return true;
    }
    char first[300], second[300];
    c->buffer = p->graph->buffers[b->buffer].name;
    return cut(c, "not_fused_dependence",
               "%.200s is not fused with %.200s: %s %s by %s through buffer %s, perhaps by another work-item; %s%s",
               name_of(p, b->node), name_of(p, a->node), plan_place(p, a->node, d.lines[0], first, sizeof first),
               d.what, plan_place(p, b->node, d.lines[1], second, sizeof second), c->buffer,
               way_out(p, b->buffer, local), barrier_helps(p, a, b, local));
}

static bool uses_fit(struct planner *p, const struct forming *f, uint32_t node, const uint64_t *local, struct cut *c)
{
    const struct plan_node *n = &p->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        uint32_t buffer = p->uses[i].buffer;
        if (f->stamp[buffer] != f->generation) continue;
        for (const struct member_use *m = f->by_buffer[buffer]; m; m = m->next)
            if (!pair_fits(p, &p->uses[m->use], &p->uses[i], local, c)) return false;
    }
    return true;
}

static bool writes_memory(const struct planner *p, uint32_t node)
{
    const struct plan_node *n = &p->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        if (p->uses[i].writes) return true;
    return n->access->unknown_writes;
}

/* What nothing is known of: pipes, pointers that come from memory. */
static bool hidden_memory_fits(struct planner *p, const struct forming *f, uint32_t node, struct cut *c)
{
    const struct access_analysis *a = p->nodes[node].access;
    bool loose = a->unknown_reads || a->unknown_writes;
    uint32_t other;
    const char *what;
    if (a->shared_state && f->shared_state) {
        other = f->state_node;
        what = a->prints && p->nodes[other].access->prints ? "both print, each after the other"
                                                           : "both use pipes of the program, or print";
    } else if (a->unknown_writes || (loose && f->writes)) {
        other = f->writing_node != NO_USE ? f->writing_node : p->plan->order[f->group.first];
        what = "it follows pointers that it finds in memory";
    } else if (f->unknown_writes || (f->loose && writes_memory(p, node))) {
        other = f->loose_node;
        what = "that follows pointers that it finds in memory";
    } else {
        return true;
    }
    if (p->options->mode == FUSER_MODE_REQUIRE) {
        plan_remark(
            p, "vouched_by_require", name_of(p, node), NULL,
            "%s is fused with %s though %s, and nothing is proved about those: taken on the word of require_fusion",
            name_of(p, node), name_of(p, other), what);
        return true;
    }
    return cut(c, "not_fused_hidden_memory", "%s is not fused with %s: %s, and nothing is proved about those",
               name_of(p, node), name_of(p, other), what);
}

/* ---- forming ---- */

void forming_init(const struct planner *p, struct forming *f)
{
    *f = (struct forming){.by_buffer = arena_alloc(p->arena, (p->graph->n_buffers + 1) * sizeof *f->by_buffer),
                          .stamp = arena_alloc(p->arena, (p->graph->n_buffers + 1) * sizeof *f->stamp)};
}

static void add_uses(struct planner *p, struct forming *f, uint32_t node)
{
    const struct plan_node *n = &p->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        uint32_t buffer = p->uses[i].buffer;
        struct member_use *m = arena_alloc(p->arena, sizeof *m);
        m->use = i;
        m->next = f->stamp[buffer] == f->generation ? f->by_buffer[buffer] : NULL;
        f->by_buffer[buffer] = m;
        f->stamp[buffer] = f->generation;
    }
}

static void add_kernel(struct planner *p, struct forming *f, uint32_t node)
{
    struct plan_node *n = &p->nodes[node];
    uint32_t size = plan_sub_group_size(p, node);
    f->group.n++;
    if (n->access->shared_state) {
        f->shared_state = true;
        f->state_node = node;
    }
    if (n->access->unknown_reads || n->access->unknown_writes) {
        f->loose = true;
        f->loose_node = node;
    }
    f->unknown_writes |= n->access->unknown_writes;
    if (writes_memory(p, node)) {
        f->writes = true;
        f->writing_node = node;
    }
    if (size) f->sub_group_size = size;
    f->local_bytes += plan_local_bytes(p, node);
    f->operations += n->operations;
    if (n->operations > f->largest) f->largest = n->operations;
    n->group = p->n_groups;
    add_uses(p, f, node);
}

void forming_open(struct planner *p, struct forming *f, uint32_t at)
{
    uint32_t node = p->plan->order[at];
    *f = (struct forming){.group = {.first = at, .range = p->nodes[node].range},
                          .alike = true,
                          .writing_node = NO_USE,
                          .by_buffer = f->by_buffer,
                          .stamp = f->stamp,
                          .generation = f->generation + 1};
    plan_place_run(p, at, 1, &f->group.range);
    add_kernel(p, f, node);
}

void forming_add(struct planner *p, struct forming *f, uint32_t node, const struct nd_range *joined)
{
    f->alike &= range_same(&f->group.range, joined) && range_same(joined, &p->nodes[node].range);
    f->group.range = *joined;
    add_kernel(p, f, node);
}

void forming_remove(struct planner *p, struct forming *f, uint32_t node, const struct forming *before)
{
    const struct plan_node *n = &p->nodes[node];
    for (uint32_t i = n->first_use + n->n_uses; i-- > n->first_use;) {
        uint32_t buffer = p->uses[i].buffer;
        f->by_buffer[buffer] = f->by_buffer[buffer]->next;
        if (!f->by_buffer[buffer]) f->stamp[buffer] = 0;
    }
    *f = *before;
    plan_place_run(p, f->group.first, f->group.n, &f->group.range);
}

bool forming_joins(struct planner *p, const struct forming *f, uint32_t node, struct nd_range *joined, struct cut *c)
{
    uint32_t before = p->plan->n_remarks;
    const struct nd_range *alone = &p->nodes[p->plan->order[f->group.first]].range;
    if (range_is_uneven(alone))
        return cut(c, "not_fused_uneven", "%s is not fused with %s, whose local size does not divide its global size",
                   name_of(p, node), name_of(p, p->plan->order[f->group.first]));
    if (!sub_groups_fit(p, f, node, c) || !ranges_fit(p, f, node, joined, c) || !resources_fit(p, f, node, c))
        return false;
    bool linear = plan_place_run(p, f->group.first, f->group.n + 1, joined);
    const uint64_t *local = range_has_local(joined) && !linear ? joined->local : NULL;
    char why[400];
    bool cheap = p->options->mode == FUSER_MODE_REQUIRE ||
                 plan_is_cheap(p, f->group.first, f->group.n + 1, why, sizeof why) ||
                 apart(p, f, node, c, "not_fused_range", why);
    if (cheap && hidden_memory_fits(p, f, node, c) && uses_fit(p, f, node, local, c)) return true;
    p->plan->n_remarks = before; /* what was found on the way has no meaning without the group */
    plan_place_run(p, f->group.first, f->group.n, &f->group.range);
    return false;
}
