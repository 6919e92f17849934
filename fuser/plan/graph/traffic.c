/* Bytes that go over global memory in one run: docs/fusion.md says what is counted. */
#include "fuser/plan/graph/traffic.h"

#include "fuser/access/footprint.h"
#include "fuser/plan/graph/image_args.h"

uint64_t traffic_of_use(const struct plan_facts *f, const struct plan_use *use)
{
    uint64_t whole = use->end - use->first;
    const struct fuser_node *n = &f->graph->nodes[use->node];
    switch (n->kind) {
    case FUSER_NODE_KERNEL:
        if (image_arg_is_use(f->graph, use)) return (use->reads + (uint64_t)use->writes) * whole;
        return footprint_bytes(&f->nodes[use->node].access->params[use->arg], &f->nodes[use->node].range, whole);
    case FUSER_NODE_HOST: return 0;
    default: return n->rows ? n->rows * n->bytes : whole;
    }
}

uint64_t traffic_of_node(const struct plan_facts *f, uint32_t node)
{
    uint64_t sum = 0;
    const struct plan_node *n = &f->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) sum += traffic_of_use(f, &f->uses[i]);
    return sum;
}
