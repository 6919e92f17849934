/* Bytes that go over global memory in one run: docs/fusion.md says what is counted. */
#include <stdlib.h>

#include "fuser/access/footprint.h"
#include "fuser/plan/planner.h"

uint64_t plan_use_traffic(const struct planner *p, const struct plan_use *use)
{
    uint64_t whole = use->end - use->first;
    const struct fuser_node *n = &p->graph->nodes[use->node];
    switch (n->kind) {
    case FUSER_NODE_KERNEL:
        if (plan_use_is_image(p, use)) return (use->reads + (uint64_t)use->writes) * whole;
        return footprint_bytes(&p->nodes[use->node].access->params[use->arg], &p->nodes[use->node].range, whole);
    case FUSER_NODE_HOST: return 0;
    default: return n->rows ? n->rows * n->bytes : whole;
    }
}

uint64_t plan_node_traffic(const struct planner *p, uint32_t node)
{
    uint64_t sum = 0;
    const struct plan_node *n = &p->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) sum += plan_use_traffic(p, &p->uses[i]);
    return sum;
}

uint64_t plan_launch_traffic(const struct fuser_launch *launch, const uint64_t *sizes, const uint64_t *most)
{
    uint64_t sum = 0;
    struct access_analysis *a = access_analyse(launch->kernel, &launch->range, 0);
    for (uint32_t i = 0; i < launch->n_params; i++) {
        if (launch->params[i].kind != FUSER_PARAM_BUFFER) continue;
        bool image = ir_type_kind(launch->kernel->params[i].value->type) == IR_KIND_IMAGE;
        uint64_t bytes = image ? most[i] : footprint_bytes(&a->params[i], &launch->range, sizes[i]);
        sum += bytes < most[i] ? bytes : most[i];
    }
    access_analysis_free(a);
    return sum;
}
