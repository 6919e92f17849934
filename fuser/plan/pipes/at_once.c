/* Kernels that may run at the same time, as nothing but pipes says that one is before the other. */
#include "fuser/plan/pipes/at_once.h"

static bool depends(const struct fuser_graph *g, uint32_t node, uint32_t on)
{
    for (uint32_t i = 0; i < g->nodes[node].n_deps; i++)
        if (g->nodes[node].deps[i] == on) return true;
    return false;
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
            if (one->buffer == other->buffer && (one->writes || other->writes) && !facts_is_pipe(f, one)) return true;
        }
    }
    return false;
}

bool nodes_may_run_at_once(const struct plan_facts *f, uint32_t before, uint32_t node)
{
    return !depends(f->graph, node, before) && !touch_each_other(f, &f->nodes[before], &f->nodes[node]);
}
