/*
 * Kernels that are connected by pipes are one where packets go from one to the other without the pipe. What then lacks
 * is the room in it, in which the first could put packets while the second waits for something else. Where the two are
 * connected otherwise, too, by other kernels or by the program, somebody may need that room.
 */
#include "fuser/plan/grouping/pipe_flows.h"

#include "fuser/plan/pipes/at_once.h"
#include "fuser/plan/pipes/flow.h"
#include "ir/analysis/pipe_uses.h"
#include "ir/base/arena.h"

struct joint {
    const struct grouping *g;
    const struct group_builder *b;
    const struct plan_use *first, *second; /* of the pipe, by a kernel of the group and by the one behind it */
    struct refusal *r;
};

static const struct member_use *members(const struct group_builder *b, uint32_t buffer)
{
    return b->stamp[buffer] == b->generation ? b->by_buffer[buffer] : NULL;
}

bool pipe_flows_connect(const struct grouping *g, const struct group_builder *b)
{
    const struct plan_node *n = &g->facts->nodes[group_builder_next(b)];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        if (facts_is_pipe(g->facts, &g->facts->uses[i]) && members(b, g->facts->uses[i].buffer)) return true;
    return false;
}

/* Who never waits does not wait for room. */
static bool waits(const struct plan_facts *f, uint32_t node)
{
    return ir_waits_for_pipes(f->nodes[node].access->kernel);
}

/* Those who never wait find something in the pipe or not, which require_fusion may leave open. */
static bool stays(const struct joint *j, const char *why)
{
    const struct plan_facts *f = j->g->facts;
    if (j->g->ctx->options->mode == FUSER_MODE_REQUIRE && !waits(f, j->first->node) && !waits(f, j->second->node)) {
        plan_remark(j->g->ctx, "vouched_by_require", grouping_node_name(j->g, j->second->node),
                    f->graph->buffers[j->first->buffer].name,
                    "%.100s is fused with %.100s and packets stay in the pipe between them, though %.300s: asserted by "
                    "require_fusion",
                    grouping_node_name(j->g, j->second->node), grouping_node_name(j->g, j->first->node), why);
        return true;
    }
    j->r->buffer = j->g->facts->graph->buffers[j->first->buffer].name;
    return refuse(j->r, "not_fused_pipe", "%.100s is not fused with %.100s, packets stay in pipe %.80s: %.300s",
                  grouping_node_name(j->g, j->second->node), grouping_node_name(j->g, j->first->node), j->r->buffer,
                  why);
}

/* ---- what moves when a loop goes on later ---- */

/* The producer puts packets for one kernel of the launch only. */
static bool feeds_one(const struct joint *j)
{
    const struct plan_facts *f = j->g->facts;
    const struct plan_node *n = &f->nodes[j->first->node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        const struct plan_use *use = &f->uses[i];
        if (!facts_is_pipe(f, use) || use->buffer == j->first->buffer) continue;
        const struct access_summary *s = id_mapping_summary(j->g->mapping, use);
        if (!s->n_packets || !s->packets[0].puts) continue;
        for (const struct member_use *m = members(j->b, use->buffer); m; m = m->next)
            if (f->uses[m->use].node != use->node) return stays(j, "kernels of the launch take from two of its pipes");
        for (uint32_t k = f->buffer_uses_start[use->buffer]; k < f->buffer_uses_start[use->buffer + 1]; k++)
            if (f->uses[f->buffer_uses[k]].node == j->second->node) return stays(j, "two pipes connect them");
    }
    return true;
}

/* What is left of the producer comes behind the kernels in between. */
static bool may_be_late(const struct joint *j)
{
    const struct node_run run = j->b->group.run;
    uint32_t at = 0;
    while (run.nodes[at] != j->first->node) at++;
    for (uint32_t i = at + 1; i < run.n; i++)
        if (!nodes_may_run_at_once(j->g->facts, j->first->node, run.nodes[i]))
            return stays(j, "a kernel between them depends on the first one otherwise");
    return true;
}

/* ---- whether somebody may need the room ---- */

struct reached {
    const struct plan_facts *facts;
    bool *nodes;
    uint32_t n, *stack;
    bool outside;
};

static void reach(struct reached *r, uint32_t node)
{
    if (r->nodes[node]) return;
    r->nodes[node] = true;
    r->stack[r->n++] = node;
}

static bool is_of_one(const struct plan_facts *f, const struct plan_use *use)
{
    return f->buffer_uses_start[use->buffer + 1] - f->buffer_uses_start[use->buffer] == 1;
}

/* Who else has an end of the pipe: kernels, or somebody outside of the graph, who may have ends of others, too. */
static void reach_through(struct reached *r, const struct plan_use *use)
{
    const struct plan_facts *f = r->facts;
    const uint32_t *start = &f->buffer_uses_start[use->buffer];
    for (uint32_t i = start[0]; i < start[1]; i++) reach(r, f->uses[f->buffer_uses[i]].node);
    if (r->outside || !is_of_one(f, use)) return;
    r->outside = true;
    for (uint32_t i = 0; i < f->n_uses; i++)
        if (facts_is_pipe(f, &f->uses[i]) && is_of_one(f, &f->uses[i])) reach(r, f->uses[i].node);
}

static bool are_connected_otherwise(const struct joint *j)
{
    const struct plan_facts *f = j->g->facts;
    uint32_t n = f->graph->n_nodes;
    struct reached r = {.facts = f,
                        .nodes = arena_alloc(j->g->ctx->arena, n + 1),
                        .stack = arena_alloc(j->g->ctx->arena, (n + 1) * sizeof *r.stack)};
    reach(&r, j->first->node);
    while (r.n) {
        const struct plan_node *node = &f->nodes[r.stack[--r.n]];
        for (uint32_t i = node->first_use; i < node->first_use + node->n_uses; i++)
            if (facts_is_pipe(f, &f->uses[i]) && f->uses[i].buffer != j->first->buffer) reach_through(&r, &f->uses[i]);
    }
    return r.nodes[j->second->node];
}

static bool room_is_spare(const struct joint *j)
{
    const struct grouping *g = j->g;
    if (!waits(g->facts, j->first->node) && !waits(g->facts, j->second->node)) return true;
    const char *pipe = g->facts->graph->buffers[j->first->buffer].name;
    if (!are_connected_otherwise(j)) return true;
    if (g->ctx->options->mode != FUSER_MODE_REQUIRE)
        return stays(j, "they are connected by other pipes, too, and who has those may need the room in it; "
                        "require_fusion fuses anyway");
    plan_remark(g->ctx, "vouched_by_require", grouping_node_name(g, j->second->node), pipe,
                "%s and %s are connected by other pipes than %s, too; that nobody needs the room in it is asserted by "
                "require_fusion",
                grouping_node_name(g, j->first->node), grouping_node_name(g, j->second->node), pipe);
    return true;
}

/* ---- all pipes ---- */

static bool joint_fits(const struct joint *j)
{
    struct pipe_flow flow = pipe_flow_find(j->g->ctx, j->g->mapping, j->first, j->second);
    if (flow.kind == FUSE_FLOW_NONE) return stays(j, flow.why);
    if (flow.kind == FUSE_FLOW_PULLED && !(feeds_one(j) && may_be_late(j))) return false;
    return room_is_spare(j);
}

bool pipe_flows_fit(const struct grouping *g, const struct group_builder *b, struct refusal *r)
{
    const struct plan_facts *f = g->facts;
    const struct plan_node *n = &f->nodes[group_builder_next(b)];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        const struct plan_use *use = &f->uses[i];
        if (!facts_is_pipe(f, use)) continue;
        for (const struct member_use *m = members(b, use->buffer); m; m = m->next) {
            const struct joint j = {.g = g, .b = b, .first = &f->uses[m->use], .second = use, .r = r};
            if (!joint_fits(&j)) return false;
        }
    }
    return true;
}
