/*
 * Kernels that wait for pipes and follow each other run at the same time, as long as nothing but pipes says that one is
 * before the other: neither the graph nor memory.
 */
#include "fuser/plan/launch/together.h"

#include "fuser/plan/pipes/at_once.h"
#include "ir/analysis/pipe_uses.h"

static bool may_run_with(const struct plan_facts *f, const struct fuser_launch *before, const struct fuser_launch *l)
{
    for (uint32_t i = 0; i < before->n_nodes; i++)
        for (uint32_t k = 0; k < l->n_nodes; k++)
            if (!nodes_may_run_at_once(f, before->nodes[i], l->nodes[k])) return false;
    return true;
}

/* Of a launch that may run by its spares, which then are so many. */
static uint32_t most_at_once(const struct fuser_launch *l)
{
    return l->n_spares > 1 ? l->n_spares : 1;
}

static bool spares_run_at_once(struct launching *l, const struct fuser_launch *first, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (!may_run_with(l->recomputed->given, &first[k], &first[i])) return false;
    return true;
}

/* Spares of a launch, as if they were steps that follow each other. */
static void spares_together(struct launching *l, const struct fuser_launch *launch)
{
    struct fuser_launch *spares = &l->plan->spares[launch->first_spare];
    uint32_t first = 0;
    for (uint32_t i = 0; i < launch->n_spares; i++) {
        if (!ir_waits_for_pipes(spares[i].kernel)) {
            first = i + 1;
            continue;
        }
        spares[i].together =
            first < i && i - first < FUSER_MOST_TOGETHER && spares_run_at_once(l, &spares[first], i - first);
        if (!spares[i].together) first = i;
    }
}

void launches_together(struct launching *l)
{
    struct fuser_plan *p = l->plan;
    uint32_t first = 0, n = 0; /* of the steps that run together; step i is none of them where it is i */
    for (uint32_t i = 0; i < p->n_launches; i++) spares_together(l, &p->launches[i]);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        struct fuser_step *step = &p->steps[i];
        const struct fuser_launch *launch = step->kind == FUSER_STEP_LAUNCH ? &p->launches[step->index] : NULL;
        if (!launch || !ir_waits_for_pipes(launch->kernel)) {
            first = i + 1;
            continue;
        }
        bool together = first < i && n + most_at_once(launch) <= FUSER_MOST_TOGETHER;
        for (uint32_t k = first; k < i && together; k++)
            together = may_run_with(l->facts, &p->launches[p->steps[k].index], launch);
        step->together = together;
        if (!together) {
            first = i;
            n = 0;
        }
        n += most_at_once(launch);
    }
}
