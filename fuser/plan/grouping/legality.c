/* Fusion legality: whether a kernel can run with those of a group. Ranges, sub-groups, resources, what they touch. */
#include "fuser/plan/grouping/legality.h"

#include <stdio.h>
#include <string.h>

#include "fuser/graph/props.h"
#include "fuser/graph/range.h"
#include "fuser/plan/graph/image_args.h"
#include "fuser/plan/graph/sub_group_size.h"
#include "fuser/plan/graph/uses.h"
#include "fuser/plan/grouping/barriers.h"
#include "fuser/plan/grouping/kernel_dependence.h"
#include "fuser/plan/grouping/last_group.h"
#include "fuser/plan/grouping/pipe_flows.h"
#include "fuser/plan/grouping/pixel_dependence.h"
#include "fuser/plan/grouping/unlike.h"
#include "fuser/plan/mapping/launch_range.h"

enum { MAX_OPERATIONS = 2048, MAX_LARGE = 16384 }; /* of a group: docs/fusion.md */

typedef unsigned long long ull;

/* ---- what kernels are, whatever they touch ---- */

static bool apart(const struct grouping *g, const struct group_builder *b, struct refusal *r, const char *code,
                  const char *why)
{
    uint32_t node = group_builder_next(b);
    return refuse(r, code, "%s is not fused with %s%s: %s", grouping_node_name(g, node),
                  grouping_node_name(g, b->group.run.nodes[0]),
                  b->group.run.n > 1 ? " and the kernels fused with it" : "", why);
}

/* What barriers order depends on which work-items are a group. */
static bool moves_groups(const struct group_builder *b, const struct nd_range *joined, enum range_fit fit)
{
    if (!b->ordered || !range_has_local(&b->group.range)) return false;
    return fit == RANGE_LINEAR_LARGER || range_has_other_local(&b->group.range, joined) ||
           memcmp(joined->offset, b->group.range.offset, sizeof joined->offset) != 0;
}

static bool sub_groups_fit(const struct grouping *g, const struct group_builder *b, struct refusal *r)
{
    uint32_t node = group_builder_next(b);
    uint32_t size = sub_group_size_of_node(g->facts, node);
    if (size == 0 || b->sub_group_size == 0 || b->sub_group_size == size) return true;
    return refuse(r, "not_fused_sub_group_size",
                  "%s is not fused with the kernels before it: its sub-groups have %u work-items, theirs %u",
                  grouping_node_name(g, node), size, b->sub_group_size);
}

/* Each kernel of the group sees the work-groups and sub-groups that it sees alone. */
static bool groups_fit(const struct grouping *g, const struct group_builder *b, const struct nd_range *joined,
                       struct refusal *r)
{
    char why[400];
    struct node_run run = b->group.run;
    uint32_t node = group_builder_next(b), own = sub_group_size_of_node(g->facts, node);
    uint32_t size = b->sub_group_size ? b->sub_group_size : own ? own : g->ctx->options->device.primary_sub_group_size;
    bool other_local = range_has_other_local(&b->group.range, joined);
    const char *code = range_has_other_local(&g->facts->nodes[node].range, joined) || other_local
                           ? "not_fused_local_size"
                           : "not_fused_range";
    if (!launch_range_keeps_groups(g->facts, run.nodes[0], node, joined, size, why, sizeof why))
        return apart(g, b, r, code, why);
    if (range_same(&b->group.range, joined) && !other_local && size == b->sub_group_size) return true;
    for (uint32_t i = 0; i < b->group.run.n; i++) {
        uint32_t member = run.nodes[i];
        if (other_local && launch_range_takes_any_groups(g->facts, member))
            return apart(g, b, r, "not_fused_local_size",
                         "its local size differs, and one that gave none looks at its work-group");
        if (!launch_range_keeps_groups(g->facts, run.nodes[0], member, joined, size, why, sizeof why))
            return apart(g, b, r, code, why);
    }
    return true;
}

/* Barriers between kernels are of the work-groups that both have. */
static bool barriers_fit(const struct grouping *g, const struct group_builder *b, struct refusal *r)
{
    uint32_t node = group_builder_next(b);
    char why[400], more[160], sum[160];
    const struct nd_range *own = &g->facts->nodes[node].range;
    if (!g->ctx->options->insert_barriers || !range_has_other_local(own, &b->group.range)) return true;
    snprintf(
        why, sizeof why,
        "insert_barriers wants the work-groups of all kernels to be the same, and it has %s, the kernels before %s",
        range_text(own, more, sizeof more), range_text(&b->group.range, sum, sizeof sum));
    return apart(g, b, r, "not_fused_local_size", why);
}

static bool ranges_fit(const struct grouping *g, const struct group_builder *b, struct nd_range *joined,
                       struct refusal *r)
{
    char why[400];
    if (!barriers_fit(g, b, r)) return false;
    *joined = b->group.range;
    enum range_fit fit =
        launch_range_join(g->facts, b->group.run, group_builder_next(b), b->alike, joined, why, sizeof why);
    if (fit == RANGE_APART) return apart(g, b, r, "not_fused_range", why);
    if (fit == RANGE_UNEVEN) return apart(g, b, r, "not_fused_uneven", why);
    if (moves_groups(b, joined, fit))
        return apart(
            g, b, r, range_has_other_local(&b->group.range, joined) ? "not_fused_local_size" : "not_fused_range",
            "the work-groups would change, and the barriers between the kernels order only the work-items of one "
            "work-group");
    if (!b->alike && !launch_range_keeps_ids(g->facts, b->group.run, &b->group.range, joined))
        return apart(g, b, r, "not_fused_range",
                     "the launch would grow, which changes the ids of kernels that get theirs from the linear id");
    return groups_fit(g, b, joined, r);
}

/* Of very long code less is made of each operation (scalar code, and none in the end), which costs more than the memory
   saved. A kernel that is long by itself may take short ones along, while that is sure to leave it its code. */
static bool size_fits(const struct grouping *g, const struct group_builder *b, struct refusal *r)
{
    uint32_t node = group_builder_next(b);
    uint64_t own = g->facts->nodes[node].operations, sum = b->operations + own,
             largest = own > b->largest ? own : b->largest;
    if (g->ctx->options->mode == FUSER_MODE_REQUIRE || sum <= MAX_OPERATIONS) return true;
    if (sum <= MAX_LARGE && sum <= largest + largest / 4) return true;
    return refuse(
        r, "not_fused_size",
        "%s is not fused with the kernels before it: it has %llu operations, they have %llu, and of more than %d "
        "together the code is worse; require_fusion fuses anyway",
        grouping_node_name(g, node), (ull)own, (ull)b->operations, MAX_OPERATIONS);
}

static bool resources_fit(const struct grouping *g, const struct group_builder *b, struct refusal *r)
{
    uint32_t node = group_builder_next(b);
    uint64_t more = uses_local_bytes(g->facts, node), most = g->ctx->options->device.max_local_bytes;
    if (b->group.run.n == GROUP_MOST_KERNELS)
        return refuse(r, "not_fused_limit",
                      "%s is not fused with the kernels before it: those are %d already, the most of a group",
                      grouping_node_name(g, node), GROUP_MOST_KERNELS);
    if (!size_fits(g, b, r)) return false;
    if (more == 0 || b->local_bytes + more <= most) return true;
    return refuse(
        r, "not_fused_local_memory",
        "%s is not fused with the kernels before it: it takes %llu bytes of work-group memory, they take %llu, "
        "device %s has %llu",
        grouping_node_name(g, node), (ull)more, (ull)b->local_bytes, g->ctx->options->device.name, (ull)most);
}

/* ---- what kernels touch ---- */

/* Inside work-groups a barrier would do. */
static const char *barrier_helps(const struct grouping *g, const struct plan_use *a, const struct plan_use *b,
                                 const uint64_t *local)
{
    if (g->ctx->options->insert_barriers || !local) return "";
    enum dependence kind = kernel_dependence(g->mapping, a, b, local, true).kind;
    return kind == DEPENDENCE_GROUP ? "; insert_barriers would order it" : "";
}

/* As plan_line_text(), but a long name does not push out the line. */
static const char *short_place(const struct grouping *g, uint32_t node, uint32_t line, char *buf, size_t size)
{
    int used = snprintf(buf, size, "%.80s", grouping_node_name(g, node));
    if (line) snprintf(buf + used, size - (size_t)used, " (line %u)", line);
    return buf;
}

/* What both touch, where that does not depend on scalar arguments. */
static const char *element_text(const struct grouping *g, const struct plan_use *use, const struct dependence_report *d,
                                char *buf, size_t size)
{
    ir_type elem = g->facts->graph->buffers[use->buffer].elem;
    uint64_t bytes = elem == IR_VOID ? d->bytes : (ir_type_bits(elem) + 7) / 8;
    buf[0] = 0;
    if (d->pair.byte >= 0 && bytes)
        snprintf(buf, size, ", element %llu (byte %llu)", (ull)d->pair.byte / bytes, (ull)d->pair.byte);
    return buf;
}

static bool report_race(const struct grouping *g, const struct plan_use *a, const struct plan_use *b,
                        const struct dependence_report *d, const uint64_t *local, struct refusal *r)
{
    char first[120], second[120], item[2][72], where[64];
    int64_t id[2][3];
    memcpy(id[0], d->pair.first, sizeof id[0]);
    memcpy(id[1], d->pair.second, sizeof id[1]);
    id_mapping_own_ids(g->mapping, a->node, id[0]);
    id_mapping_own_ids(g->mapping, b->node, id[1]);
    plan_ids_text(&g->facts->nodes[a->node].range, id[0], item[0], sizeof item[0]);
    plan_ids_text(&g->facts->nodes[b->node].range, id[1], item[1], sizeof item[1]);
    r->buffer = g->facts->graph->buffers[b->buffer].name;
    return refuse(r, "not_fused_race",
                  "%.80s and %.80s cannot run as one kernel: work-item %s of %s %s of buffer %.80s by work-item %s of "
                  "%s%s%s",
                  grouping_node_name(g, a->node), grouping_node_name(g, b->node), item[0],
                  short_place(g, a->node, d->lines[0], first, sizeof first), d->what, r->buffer, item[1],
                  short_place(g, b->node, d->lines[1], second, sizeof second),
                  element_text(g, b, d, where, sizeof where), barrier_helps(g, a, b, local));
}

/* The property that would let the two be fused. */
static const char *way_out(const struct grouping *g, uint32_t buffer, const uint64_t *local)
{
    if (program_scope_has(g->scope, buffer))
        return "it is a program-scope variable, of which only what is proved counts";
    if (!g->ctx->options->insert_barriers)
        return "access_scope_work_item on the buffer would say that each element belongs to one work-item";
    if (!local)
        return "access_scope_work_item would say that each element belongs to one work-item, access_scope_work_group "
               "with a local size given that it belongs to one work-group";
    return "access_scope_work_item or access_scope_work_group on the buffer would say to whom each element belongs";
}

/* Whether what b needs of a is ordered when both run as one kernel. */
struct asked {
    const struct plan_use *a, *b;
    const uint64_t *local; /* of the work-groups of both; NULL: not known */
    bool barrier;          /* stands between the two */
};

/* Remarks on what the user asserts. */
static void remark_assertion(const struct grouping *g, const char *code, const struct asked *q,
                             const struct dependence_report *d, const char *assertion)
{
    const struct plan_use *a = q->a, *b = q->b;
    char first[300], second[300];
    plan_remark(g->ctx, code, grouping_node_name(g, b->node), g->facts->graph->buffers[b->buffer].name,
                "%s %s by %s through buffer %s; that it stays inside one %s is not proved, but asserted by %s",
                plan_line_text(&g->facts->graph->nodes[a->node], d->lines[0], first, sizeof first), d->what,
                plan_line_text(&g->facts->graph->nodes[b->node], d->lines[1], second, sizeof second),
                g->facts->graph->buffers[b->buffer].name, q->barrier ? "work-group" : "work-item", assertion);
}

static bool images_fit(const struct grouping *g, const struct asked *q, struct refusal *r)
{
    const struct plan_use *a = q->a, *b = q->b;
    if (pixels_are_own(g->mapping, a, b)) return true;
    r->buffer = g->facts->graph->buffers[b->buffer].name;
    return refuse(r, "not_fused_image",
                  "%.200s is not fused with %.200s: both use %s %s and one writes it, and that each work-item "
                  "is at its own pixel is not proved",
                  grouping_node_name(g, b->node), grouping_node_name(g, a->node),
                  g->facts->graph->buffers[b->buffer].image ? "image" : "buffer, as an image,", r->buffer);
}

static void remark_barrier(const struct grouping *g, const struct asked *q, const char *code, const char *what)
{
    const char *buffer = g->facts->graph->buffers[q->b->buffer].name, *second = grouping_node_name(g, q->b->node);
    plan_remark(g->ctx, code, second, buffer,
                "%s and %s depend on each other through buffer %s across work-items, but inside work-groups: %s",
                grouping_node_name(g, q->a->node), second, buffer, what);
}

/* What is not proved, but that the buffer's properties assert. */
static bool is_asserted(const struct grouping *g, const struct asked *q, const struct dependence_report *d)
{
    enum fuser_scope scope = fuser_scope_merge(q->a->props.access_scope, q->b->props.access_scope);
    bool asserted = scope == FUSER_SCOPE_WORK_ITEM ||
                    (scope == FUSER_SCOPE_WORK_GROUP && g->ctx->options->insert_barriers && q->local);
    if (asserted) remark_assertion(g, "vouched_by_scope", q, d, fuser_scope_name(scope));
    return asserted;
}

/* A barrier that does not stand yet would order it. */
static bool barrier_would_do(const struct grouping *g, const struct asked *q)
{
    if (q->barrier || !q->local || !barriers_may_be_put(g->ctx->options)) return false;
    return kernel_dependence(g->mapping, q->a, q->b, q->local, true).kind == DEPENDENCE_GROUP;
}

static bool put_barrier(const struct grouping *g, const struct group_builder *b, const struct asked *q,
                        struct joining *with, struct refusal *r)
{
    if (!barriers_pay(g, b, &with->range)) {
        r->buffer = g->facts->graph->buffers[q->b->buffer].name;
        return refuse(r, "not_fused_barrier",
                      "%.200s is not fused with %.200s: what they do with buffer %s a work-group barrier would order, "
                      "but in work-groups whose rows are %llu work-items it costs more than a launch; insert_barriers "
                      "fuses anyway",
                      grouping_node_name(g, q->b->node), grouping_node_name(g, q->a->node), r->buffer,
                      (ull)barriers_row(&with->range));
    }
    with->barrier = true;
    remark_barrier(g, q, "barrier_inserted", "a barrier before the second one orders it");
    return true;
}

static bool refuse_open(const struct grouping *g, const struct asked *q, const struct dependence_report *d,
                        struct refusal *r)
{
    char first[300], second[300];
    const struct plan_use *a = q->a, *b = q->b;
    r->buffer = g->facts->graph->buffers[b->buffer].name;
    return refuse(r, "not_fused_dependence",
                  "%.200s is not fused with %.200s: %s %s by %s through buffer %s, perhaps by another work-item; %s%s",
                  grouping_node_name(g, b->node), grouping_node_name(g, a->node),
                  plan_line_text(&g->facts->graph->nodes[a->node], d->lines[0], first, sizeof first), d->what,
                  plan_line_text(&g->facts->graph->nodes[b->node], d->lines[1], second, sizeof second), r->buffer,
                  way_out(g, b->buffer, q->local), barrier_helps(g, a, b, q->local));
}

static bool pair_fits(const struct grouping *g, const struct group_builder *b, const struct asked *q,
                      struct joining *with, struct refusal *r)
{
    if (!q->a->writes && !q->b->writes) return true;
    if (image_args_have(g->facts->graph, q->b->buffer)) return images_fit(g, q, r);
    struct dependence_report d = kernel_dependence(g->mapping, q->a, q->b, q->local, q->barrier);
    if (d.kind < DEPENDENCE_GROUP) return true;
    if (d.kind == DEPENDENCE_GROUP) {
        remark_barrier(g, q, "barrier_orders", "the barrier between them orders it");
        return true;
    }
    if (d.kind == DEPENDENCE_OPEN) kernel_dependence_recorded(g->mapping, q->a, q->b, q->local, q->barrier, &d);
    if (d.kind == DEPENDENCE_OPEN && is_asserted(g, q, &d)) return true;
    if (barrier_would_do(g, q)) return put_barrier(g, b, q, with, r);
    if (d.kind == DEPENDENCE_RACE) return report_race(g, q->a, q->b, &d, q->local, r);
    if (g->ctx->options->mode != FUSER_MODE_REQUIRE) return refuse_open(g, q, &d, r);
    remark_assertion(g, "vouched_by_require", q, &d, "require_fusion");
    return true;
}

static bool uses_fit(const struct grouping *g, const struct group_builder *b, const uint64_t *local,
                     struct joining *with, struct refusal *r)
{
    uint32_t node = group_builder_next(b);
    const struct plan_node *n = &g->facts->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        uint32_t buffer = g->facts->uses[i].buffer;
        if (b->stamp[buffer] != b->generation) continue;
        for (const struct member_use *m = b->by_buffer[buffer]; m; m = m->next) {
            const struct asked q = {.a = &g->facts->uses[m->use],
                                    .b = &g->facts->uses[i],
                                    .local = local,
                                    .barrier = with->barrier || m->place < b->ordered};
            if (!pair_fits(g, b, &q, with, r)) return false;
        }
    }
    return true;
}

/* The kernels both have memory that nothing is known of; NULL: not both. */
static const char *both_hide(const struct grouping *g, const struct group_builder *b, uint32_t *other)
{
    uint32_t node = group_builder_next(b);
    const struct access_analysis *a = g->facts->nodes[node].access;
    bool follows = a->unknown_reads || a->unknown_writes;
    *other = b->state_node;
    if (a->prints && b->prints) return "both print, each after the other";
    if (a->shared_state && b->shared_state && !pipe_flows_connect(g, b))
        return "both use program-scope pipes, or print";
    if (a->unknown_writes || (follows && b->writes)) {
        *other = b->writing_node != NO_USE ? b->writing_node : b->group.run.nodes[0];
        return "it follows pointers that it finds in memory";
    }
    *other = b->pointer_node;
    if (b->unknown_writes || (b->follows_pointers && uses_write(g->facts, node)))
        return "that follows pointers that it finds in memory";
    return NULL;
}

static bool hidden_memory_fits(const struct grouping *g, const struct group_builder *b, struct refusal *r)
{
    uint32_t node = group_builder_next(b), other;
    const char *what = both_hide(g, b, &other);
    if (!what) return true;
    if (g->ctx->options->mode == FUSER_MODE_REQUIRE) {
        plan_remark(g->ctx, "vouched_by_require", grouping_node_name(g, node), NULL,
                    "%s is fused with %s though %s, and nothing is proved about those: asserted by require_fusion",
                    grouping_node_name(g, node), grouping_node_name(g, other), what);
        return true;
    }
    return refuse(r, "not_fused_hidden_memory", "%s is not fused with %s: %s, and nothing is proved about those",
                  grouping_node_name(g, node), grouping_node_name(g, other), what);
}

static bool joins_all(const struct grouping *g, const struct group_builder *b, struct joining *with, struct refusal *r)
{
    uint32_t node = group_builder_next(b);
    struct node_run all = {b->group.run.nodes, b->group.run.n + 1};
    struct nd_range *joined = &with->range;
    uint32_t before = g->ctx->n_remarks;
    const struct nd_range *alone = &g->facts->nodes[b->group.run.nodes[0]].range;
    if (range_is_uneven(alone))
        return refuse(r, "not_fused_uneven",
                      "%s is not fused with %s, whose local size does not divide its global size",
                      grouping_node_name(g, node), grouping_node_name(g, b->group.run.nodes[0]));
    if (!sub_groups_fit(g, b, r) || !ranges_fit(g, b, joined, r) || !resources_fit(g, b, r)) return false;
    if (!unlike_ranges_pay(g, b, joined))
        return apart(g, b, r, "not_fused_range",
                     "one has fewer than half of the other's work-items, nothing flows between them, and by itself it "
                     "takes longer than the launch that would be saved; require_fusion fuses anyway");
    bool linear = id_mapping_set(g->mapping, all, joined);
    const uint64_t *local = range_has_local(joined) && !linear ? joined->local : NULL;
    char why[400];
    bool cheap = g->ctx->options->mode == FUSER_MODE_REQUIRE || id_mapping_is_cheap(g->mapping, all, why, sizeof why) ||
                 apart(g, b, r, "not_fused_range", why);
    with->barrier = g->ctx->options->insert_barriers;
    if (cheap && hidden_memory_fits(g, b, r) && pipe_flows_fit(g, b, r) && uses_fit(g, b, local, with, r)) return true;
    g->ctx->n_remarks = before; /* what was found on the way has no meaning without the group */
    id_mapping_set(g->mapping, b->group.run, &b->group.range);
    return false;
}

static bool joins_last(const struct grouping *g, const struct group_builder *b, struct joining *with)
{
    struct refusal why = {0};
    if (!last_group_takes(g, b) || !sub_groups_fit(g, b, &why) || !resources_fit(g, b, &why)) return false;
    *with = (struct joining){.range = b->group.range, .barrier = b->group.last_from != 0, .last = true};
    last_group_remark(g, b);
    return true;
}

static bool is_cut(const struct grouping *g, uint32_t node)
{
    for (uint32_t i = 0; i < g->ctx->tuned->n_cuts; i++)
        if (strcmp(g->ctx->cuts[i], grouping_node_name(g, node)) == 0) return true;
    return false;
}

bool legality_joins(const struct grouping *g, const struct group_builder *b, struct joining *with, struct refusal *r)
{
    *with = (struct joining){0};
    if (is_cut(g, group_builder_next(b)))
        return refuse(r, "not_fused_tuned", "%s begins a launch: tuning found that better",
                      grouping_node_name(g, group_builder_next(b)));
    if (b->group.last_from)
        apart(g, b, r, "not_fused_last_group",
              "behind what runs in the last work-group of a launch comes only what runs there, too");
    else if (joins_all(g, b, with, r))
        return true;
    if (!joins_last(g, b, with)) return false;
    *r = (struct refusal){0};
    return true;
}
