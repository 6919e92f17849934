/* Planning a graph: the stages in their order, what each takes and gives. */
#include "fuser/plan/plan.h"

#include <string.h>

#include "fuser/plan/bands/bands.h"
#include "fuser/plan/bounds/checked.h"
#include "fuser/plan/commands/commands.h"
#include "fuser/plan/graph/edges.h"
#include "fuser/plan/graph/endless_loops.h"
#include "fuser/plan/graph/left_out.h"
#include "fuser/plan/graph/outside.h"
#include "fuser/plan/graph/overwritten.h"
#include "fuser/plan/graph/program_scope.h"
#include "fuser/plan/graph/unneeded.h"
#include "fuser/plan/graph/uses.h"
#include "fuser/plan/graph/validate.h"
#include "fuser/plan/grouping/groups.h"
#include "fuser/plan/launch/launch.h"
#include "fuser/plan/order/order.h"
#include "fuser/plan/recompute/recompute.h"
#include "ir/base/arena.h"

/* What the stages give. */
struct stages {
    struct left_out empty;        /* the graph without nodes in which nothing happens */
    struct left_out unneeded;     /* and without those whose writing nobody reads */
    struct program_scope scope;   /* that graph, program-scope variables being buffers of it */
    struct checked_graph checked; /* that graph, kernels checking their accesses where that was asked for */
    struct commands commands;     /* that graph, copies and fills that kernels could do being kernels */
    struct plan_facts given;      /* what each node does with each buffer */
    struct recomputed recomputed; /* the graph in which some nodes do the work of others */
    struct plan_facts facts;      /* of that graph */
    struct plan_edges edges;
    struct plan_order order;
    struct id_mapping mapping;
    struct plan_groups groups; /* runs of the order */
};

static bool look(struct plan_context *ctx, const struct fuser_graph *graph, struct stages *s)
{
    return program_scope_lower(ctx, graph, &s->scope) && uses_find(ctx, s->scope.graph, &s->given);
}

static void remark_unneeded(struct plan_context *ctx, const struct fuser_graph *g, uint32_t node, uint32_t overwriter)
{
    const char *name = g->nodes[node].name;
    if (overwriter == NO_OVERWRITER) {
        plan_remark(ctx, "unneeded", name, NULL, "%s does not run: nobody reads what it writes", name);
    } else {
        plan_remark(ctx, "overwritten", name, g->buffers[g->nodes[node].to.buffer].name,
                    "%s does not run: %s writes all of it again before anybody reads it", name,
                    g->nodes[overwriter].name);
    }
}

/* Again without nodes that are not needed, if there are some. */
static bool leave_out_unneeded(struct plan_context *ctx, uint32_t remarks, struct stages *s)
{
    const uint32_t *overwriters = overwriters_find(ctx, &s->given);
    const bool *out = unneeded_nodes(ctx, &s->given, overwriters);
    s->unneeded = (struct left_out){.graph = s->empty.graph};
    if (!out) return true;
    ctx->n_remarks = remarks;
    for (uint32_t i = 0; i < s->empty.graph->n_nodes; i++)
        if (out[i]) remark_unneeded(ctx, s->empty.graph, i, overwriters ? overwriters[i] : NO_OVERWRITER);
    uses_free(&s->given);
    program_scope_free(&s->scope);
    s->given = (struct plan_facts){0};
    s->scope = (struct program_scope){0};
    return left_out_without(ctx, s->empty.graph, out, &s->unneeded) && look(ctx, s->unneeded.graph, s);
}

/* Facts of a graph in which some kernels are others; what was found of those before was said. */
static bool look_again(struct plan_context *ctx, const struct fuser_graph *graph, struct stages *s)
{
    if (graph == s->given.graph) return true;
    ctx->quiet = true;
    bool found = uses_find(ctx, graph, &s->given);
    ctx->quiet = false;
    return found;
}

static bool add_checks(struct plan_context *ctx, struct stages *s)
{
    checked_graph_make(ctx, &s->given, &s->checked);
    return look_again(ctx, s->checked.graph, s);
}

static bool make_commands_kernels(struct plan_context *ctx, struct stages *s)
{
    return commands_make_kernels(ctx, &s->given, &s->commands) && look_again(ctx, s->commands.graph, s);
}

static bool find_facts(struct plan_context *ctx, const struct fuser_graph *graph, struct stages *s)
{
    if (!validate_graph(ctx, graph) || !left_out_empty(ctx, graph, &s->empty)) return false;
    endless_loops_remark(ctx, s->empty.graph);
    uint32_t remarks = ctx->n_remarks;
    if (!look(ctx, s->empty.graph, s) || !leave_out_unneeded(ctx, remarks, s)) return false;
    if (!outside_check(ctx, &s->given) || !add_checks(ctx, s) || !make_commands_kernels(ctx, s)) return false;
    unneeded_make_internal(ctx, &s->given);
    return true;
}

static bool order_nodes(struct plan_context *ctx, struct stages *s)
{
    edges_find(ctx, &s->facts, &s->edges);
    return order_find(ctx, &s->facts, &s->edges, &s->order);
}

/* Where readers change, facts, edges and order are those of the graph with the changed ones; analyses of the other
   kernels stay. */
static bool recompute(struct plan_context *ctx, struct stages *s)
{
    s->facts = s->given;
    if (!order_nodes(ctx, s)) return false;
    if (!recompute_find(ctx, &s->given, &s->edges, &s->order, &s->recomputed)) return false;
    if (s->recomputed.graph == s->given.graph) return true;
    return uses_find(ctx, s->recomputed.graph, &s->facts) && order_nodes(ctx, s);
}

static bool group_kernels(struct plan_context *ctx, struct stages *s)
{
    struct grouping g = {
        .ctx = ctx, .scope = &s->scope, .facts = &s->facts, .edges = &s->edges, .mapping = &s->mapping};
    id_mapping_init(&s->mapping, &s->facts, ctx->arena);
    return groups_find(&g, &s->order, &s->groups);
}

static bool make_launches(struct plan_context *ctx, struct stages *s, struct fuser_plan *plan)
{
    struct launching l = {.ctx = ctx,
                          .scope = &s->scope,
                          .facts = &s->facts,
                          .order = &s->order,
                          .mapping = &s->mapping,
                          .recomputed = &s->recomputed,
                          .plan = plan};
    if (!launches_make(&l, &s->groups)) return false;
    bands_find(&l);
    return true;
}

/* What stages before the launches found and the plan keeps. */
static void keep_results(const struct plan_context *ctx, const struct stages *s, struct fuser_plan *plan)
{
    plan->n_order = s->order.n;
    plan->order = arena_alloc(plan->arena, (s->order.n + 1) * sizeof *plan->order);
    if (s->order.n) memcpy(plan->order, s->order.nodes, s->order.n * sizeof *plan->order);
    plan->n_remarks = ctx->n_remarks;
    plan->remarks = ctx->remarks;
    plan->n_program_variables = s->scope.n_variables;
    plan->program_variables = s->scope.variables;
    recompute_number_as_given(&s->recomputed, plan);
    left_out_number_as_given(&s->unneeded, plan);
    left_out_number_as_given(&s->empty, plan);
}

static void take_choices(struct plan_context *ctx, const struct fuser_graph *graph)
{
    static const struct fuser_choices none;
    const struct fuser_options *o = ctx->options;
    ctx->tuned = o->mode == FUSER_MODE_ENABLE && !o->debug ? &o->choices : &none;
    if (ctx->tuned->text && *ctx->tuned->text)
        plan_remark(ctx, "tuned", NULL, NULL, "this is planned as tuning chose: %s", ctx->tuned->text);
    for (uint32_t i = 0; i < ctx->tuned->n_cuts; i++)
        ctx->cuts[i] = ctx->tuned->cuts[i] < graph->n_nodes ? graph->nodes[ctx->tuned->cuts[i]].name : "";
}

struct fuser_plan *fuser_plan_new(const struct fuser_graph *graph, const struct fuser_options *options,
                                  struct error *error)
{
    struct arena *kept = arena_new();
    struct fuser_plan *plan = arena_alloc(kept, sizeof *plan);
    plan->arena = kept;
    struct plan_context ctx = {.options = options, .error = error, .arena = arena_new(), .kept = kept};
    struct stages s = {0};
    if (error) error_clear(error);
    take_choices(&ctx, graph);
    bool done =
        find_facts(&ctx, graph, &s) && recompute(&ctx, &s) && group_kernels(&ctx, &s) && make_launches(&ctx, &s, plan);
    if (done) keep_results(&ctx, &s, plan);
    uses_free(&s.given);
    recompute_free(&s.recomputed);
    commands_free(&s.commands);
    checked_graph_free(&s.checked);
    program_scope_free(&s.scope);
    arena_free(ctx.arena);
    if (done) return plan;
    fuser_plan_free(plan);
    return NULL;
}

void fuser_plan_free(struct fuser_plan *plan)
{
    if (!plan) return;
    for (uint32_t i = 0; i < plan->n_launches; i++) ir_module_free(plan->launches[i].module);
    for (uint32_t i = 0; i < plan->n_spares; i++) ir_module_free(plan->spares[i].module);
    arena_free(plan->arena);
}
