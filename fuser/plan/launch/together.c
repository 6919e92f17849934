/*
 * Kernels that wait for pipes and follow each other run at the same time, as long as nothing but pipes says that one is
 * before the other: neither the graph nor memory.
 */
#include "fuser/plan/launch/together.h"

#include "ir/analysis/pipe_uses.h"

static bool depends(const struct fuser_graph *g, uint32_t node, uint32_t on)
{
    for (uint32_t i = 0; i < g->nodes[node].n_deps; i++)
        if (g->nodes[node].deps[i] == on) return true;
    return false;
}

static bool is_pipe(const struct plan_facts *f, const struct plan_use *use)
{
    const struct fuser_node *n = &f->graph->nodes[use->node];
    return ir_type_kind(n->kernel->params[use->arg].value->type) == IR_KIND_PIPE;
}

/* By memory other than pipes. */
static bool touch_each_other(const struct plan_facts *f, const struct plan_node *a, const struct plan_node *b)
{
    const struct access_analysis *x = a->access, *y = b->access;
    if (x->unknown_reads || x->unknown_writes || y->unknown_reads || y->unknown_writes) return true;
    for (uint32_t i = a->first_use; i < a->first_use + a->n_uses; i++) {
        const struct plan_use *one = &f->uses[i];
        for (uint32_t k = b->first_use; k < b->first_use + b->n_uses; k++) {
            const struct plan_use *other = &f->uses[k];
            if (one->buffer == other->buffer && (one->writes || other->writes) && !is_pipe(f, one)) return true;
        }
    }
    return false;
}

static bool may_run_with(const struct plan_facts *f, const struct fuser_launch *before, const struct fuser_launch *l)
{
    for (uint32_t i = 0; i < before->n_nodes; i++)
        for (uint32_t k = 0; k < l->n_nodes; k++)
            if (depends(f->graph, l->nodes[k], before->nodes[i]) ||
                touch_each_other(f, &f->nodes[before->nodes[i]], &f->nodes[l->nodes[k]]))
                return false;
    return true;
}

void launches_together(struct launching *l)
{
    struct fuser_plan *p = l->plan;
    uint32_t first = 0; /* of the steps that run together; step i is none of them where it is i */
    for (uint32_t i = 0; i < p->n_steps; i++) {
        struct fuser_step *step = &p->steps[i];
        const struct fuser_launch *launch = step->kind == FUSER_STEP_LAUNCH ? &p->launches[step->index] : NULL;
        if (!launch || !ir_waits_for_pipes(launch->kernel)) {
            first = i + 1;
            continue;
        }
        bool together = first < i && i - first < FUSER_MOST_TOGETHER;
        for (uint32_t k = first; k < i && together; k++)
            together = may_run_with(l->facts, &p->launches[p->steps[k].index], launch);
        step->together = together;
        if (!together) first = i;
    }
}
