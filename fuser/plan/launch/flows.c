/* Pipes of a launch whose packets go from one of its kernels to another without them. */
#include "fuser/plan/launch/flows.h"

#include "fuser/plan/pipes/flow.h"
#include "ir/base/arena.h"

static const struct plan_use *use_in_run(const struct launching *l, struct node_run run, uint32_t place,
                                         uint32_t buffer)
{
    const struct plan_node *n = &l->facts->nodes[run.nodes[place]];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        if (l->facts->uses[i].buffer == buffer && facts_is_pipe(l->facts, &l->facts->uses[i]))
            return &l->facts->uses[i];
    return NULL;
}

static void find_flow(struct launching *l, struct attempt *r, struct plan_param *param)
{
    const struct plan_use *first = NULL;
    for (uint32_t i = 0; i < r->run.n; i++) {
        const struct plan_use *use = use_in_run(l, r->run, i, param->index);
        if (use && first) {
            param->flow = pipe_flow_find(l->ctx, l->mapping, first, use).kind;
            param->consumer = i;
            return;
        }
        if (!use) continue;
        first = use;
        param->producer = i;
    }
}

/* Whoever takes what it has put itself finds nothing else in the pipe. */
static void add_condition(struct launching *l, struct plan_params *params, uint32_t buffer)
{
    params->conditions =
        arena_grow(l->ctx->arena, params->conditions, params->n_conditions, sizeof *params->conditions);
    params->conditions[params->n_conditions++] =
        (struct fuser_condition){.is_pipe = true, .value = buffer - l->scope->n_graph_buffers};
}

void flows_find(struct launching *l, struct attempt *r)
{
    for (uint32_t i = 0; i < r->params.n && r->run.n > 1; i++) {
        struct plan_param *param = &r->params.params[i];
        if (ir_type_kind(param->type) != IR_KIND_PIPE) continue;
        find_flow(l, r, param);
        if (param->flow == FUSE_FLOW_REGISTERS) add_condition(l, &r->params, param->index);
    }
}

void flows_remark(struct launching *l, const struct attempt *r)
{
    for (uint32_t i = 0; i < r->params.n; i++) {
        const struct plan_param *param = &r->params.params[i];
        if (param->flow == FUSE_FLOW_NONE) continue;
        const char *from = launch_node_name(l, r->run.nodes[param->producer]),
                   *to = launch_node_name(l, r->run.nodes[param->consumer]);
        plan_remark(l->ctx, "pipe_in_registers", to, param->name,
                    "packets that %s puts into pipe %s go to %s in registers: %s takes each where %s makes it", from,
                    param->name, to, to, from);
    }
}
