/* Planning a graph: the stages in their order, and the plan's life. */
#include "fuser/plan/plan.h"

#include <string.h>

#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

static bool run_stages(struct planner *p)
{
    if (!plan_validate(p) || !plan_leave_out_empty(p)) return false;
    plan_find_endless(p);
    return plan_states(p) && plan_analyse(p) && plan_edges(p) && plan_order(p) && plan_groups(p) &&
           plan_launches(p);
}

struct fuser_plan *fuser_plan_new(const struct fuser_graph *graph, const struct fuser_options *options,
                                  struct fuser_error *error)
{
    struct arena *kept = arena_new();
    struct fuser_plan *plan = arena_alloc(kept, sizeof *plan);
    struct fuser_error ignored;
    plan->arena = kept;
    struct planner p = {
        .graph = graph, .options = options, .error = error ? error : &ignored, .plan = plan, .arena = arena_new()};
    memset(p.error, 0, sizeof *p.error);
    bool done = run_stages(&p);
    if (done) plan_number_as_given(&p);
    plan_analyses_free(p.analyses);
    plan_stated_free(p.stated);
    arena_free(p.arena);
    if (done) return plan;
    fuser_plan_free(plan);
    return NULL;
}

void fuser_plan_free(struct fuser_plan *plan)
{
    if (!plan) return;
    for (uint32_t i = 0; i < plan->n_launches; i++) ir_module_free(plan->launches[i].module);
    arena_free(plan->arena);
}
