/* From a run of kernel nodes to the request for one fused kernel. */
#include "fuser/plan/launch/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/merge/merge.h"
#include "fuser/passes/contract.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/plan/graph/sub_group_size.h"
#include "fuser/plan/mapping/launch_range.h"
#include "ir/base/arena.h"

enum { MAX_NAME = 96 };

/* The kernel's pointer parameters moved: parameter i is `delta[i]` bytes further than what it will get. */
static struct ir_function *rebased(struct ir_module *into, const struct ir_function *kernel, const uint64_t *delta)
{
    struct ir_function *copy = ir_function_copy(into, kernel, NULL);
    copy->linkage = IR_LINKAGE_KERNEL;
    for (uint32_t i = 0; i < copy->n_params; i++) {
        if (!delta[i]) continue;
        struct ir_builder b = ir_builder_before(copy->body->first);
        struct ir_value *param = copy->params[i].value;
        struct ir_inst *elem =
            ir_build(&b, IR_OP_ELEM, IR_I8, (struct ir_value *[]){param, ir_const_int(into, IR_I64, delta[i])}, 2);
        ir_replace_uses(copy->body, param, elem->results[0]);
        elem->operands[0] = param;
    }
    return copy;
}

/* The kernel of a node, as it must be for its parameters: itself, or a copy in *scratch, made when needed. */
static const struct ir_function *kernel_for(struct plan_context *ctx, const struct plan_facts *f, uint32_t node,
                                            const uint32_t *to, const struct plan_params *params,
                                            struct ir_module **scratch)
{
    const struct fuser_node *n = &f->graph->nodes[node];
    uint64_t *delta = arena_alloc(ctx->arena, (n->n_args + 1) * sizeof *delta);
    bool moved = false;
    for (uint32_t i = 0; i < n->n_args; i++) {
        if (n->args[i].kind != FUSER_ARG_BUFFER) continue;
        delta[i] = n->args[i].offset - params->params[to[i]].first;
        moved |= delta[i] != 0;
    }
    bool contract = ctx->options->device.fma && contract_possible(n->kernel);
    if (!moved && !contract) return n->kernel;
    if (!*scratch) *scratch = ir_module_new("rebased");
    struct ir_function *copy = rebased(*scratch, n->kernel, delta);
    if (contract) pipeline_run(&pipeline_contract, copy);
    return copy;
}

static const char *name_of(const struct plan_facts *f, struct node_run run, char *buf)
{
    size_t used = (size_t)snprintf(buf, MAX_NAME, "%s", run.n > 1 ? "fused" : "");
    for (uint32_t i = 0; i < run.n && used < MAX_NAME - 1; i++) {
        const char *name = f->graph->nodes[run.nodes[i]].kernel->name;
        used += (size_t)snprintf(buf + used, MAX_NAME - used, "%s%s", run.n > 1 ? "_" : "", name);
    }
    return buf;
}

static enum ir_access access_of(const struct plan_param *param)
{
    if (param->reads) return param->writes ? IR_ACCESS_READ_WRITE : IR_ACCESS_READ;
    return param->writes ? IR_ACCESS_WRITE : IR_ACCESS_UNKNOWN;
}

/* Memory that one kernel of the run reads as constant and another writes cannot be told apart from two buffers. */
static bool constants_hold(const struct plan_params *params, char *why, size_t why_size)
{
    for (uint32_t i = 0; i < params->n; i++)
        for (uint32_t k = 0; k < params->n; k++) {
            const struct plan_param *a = &params->params[i], *b = &params->params[k];
            if (a->kind != FUSER_PARAM_BUFFER || b->kind != FUSER_PARAM_BUFFER || a->index != b->index) continue;
            if (a->type == b->type || !b->writes || a->first >= b->end || b->first >= a->end) continue;
            snprintf(why, why_size, "buffer %s is constant memory for one kernel and is written by another", a->name);
            return false;
        }
    return true;
}

/* Coarse, so that launches of many sizes share their code. No submission can make them false: neither ranges nor how
   many bytes of a buffer kernels may touch change after planning. */
static uint32_t assumptions_of(const struct plan_facts *f, const struct nd_range *range,
                               const struct plan_params *params)
{
    bool small = true;
    for (uint32_t i = 0; i < params->n; i++)
        if (params->params[i].kind == FUSER_PARAM_BUFFER)
            small = small && f->graph->buffers[params->params[i].index].bytes <= IR_SMALL_MEMORY;
    return (nd_range_is_small(range) ? IR_ASSUME_SMALL_IDS : 0) | (small ? IR_ASSUME_SMALL_MEMORY : 0);
}

/* What proofs took the node's scalars to be, for what is computed from the same sums. */
static const int64_t *numbers_of(struct plan_context *ctx, const struct plan_facts *f, uint32_t node)
{
    const struct access_analysis *a = f->nodes[node].access;
    int64_t *numbers = arena_alloc(ctx->arena, (a->n_params + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < a->n_params; i++) numbers[i] = a->params[i].number;
    return numbers;
}

/* Where there is a last work-group by itself, those before are whole ones, also of kernels that gave no local size. */
static struct nd_range range_of_part(const struct launch_request *launch, uint32_t i)
{
    struct nd_range own = launch_range_of_part(launch->facts, launch->run.nodes[i], launch->range);
    bool whole = own.global[0] % launch->range->local[0] == 0;
    if (i < launch->n_first && launch->n_first < launch->run.n && !range_has_local(&own) && whole)
        memcpy(own.local, launch->range->local, sizeof own.local);
    return own;
}

struct ir_module *launch_kernel(struct plan_context *ctx, const struct launch_request *launch, bool *kept, char *why,
                                size_t why_size)
{
    const struct plan_facts *f = launch->facts;
    struct node_run run = launch->run;
    const struct nd_range *range = launch->range;
    const struct plan_params *params = launch->params;
    char name[MAX_NAME];
    if (run.n > 1 && !constants_hold(params, why, why_size)) return NULL;
    struct fuse_part *parts = arena_alloc(ctx->arena, run.n * sizeof *parts);
    struct fuse_param *fused = arena_alloc(ctx->arena, (params->n + 1) * sizeof *fused);
    struct ir_module *scratch = NULL;
    for (uint32_t i = 0; i < run.n; i++) {
        uint32_t node = run.nodes[i];
        parts[i] = (struct fuse_part){.kernel = kernel_for(ctx, f, node, params->of_node[i], params, &scratch),
                                      .range = range_of_part(launch, i),
                                      .params = params->of_node[i],
                                      .numbers = numbers_of(ctx, f, node),
                                      .barrier = launch->barriers[i] && i != launch->n_first,
                                      .last = i >= launch->n_first};
    }
    for (uint32_t i = 0; i < params->n; i++) {
        const struct plan_param *param = &params->params[i];
        fused[i] = (struct fuse_param){.name = param->name,
                                       .storage = param->storage.storage,
                                       .elem = param->storage.elem,
                                       .n_slices = param->storage.n_slices,
                                       .slices = param->storage.slices,
                                       .local_first = param->storage.local_first,
                                       .local_bytes = param->storage.local_bytes,
                                       .type = param->type,
                                       .access = access_of(param),
                                       .number = run.n > 1 ? params_number(params, i) : 0,
                                       .flow = param->flow,
                                       .producer = param->producer,
                                       .consumer = param->consumer,
                                       .unseen = param->unseen};
    }
    struct fuse_request request = {.name = name_of(f, run, name),
                                   .range = *range,
                                   .assumes = assumptions_of(f, range, params),
                                   .n_parts = run.n,
                                   .n_params = params->n,
                                   .parts = parts,
                                   .params = fused,
                                   .sub_group_size = sub_group_size_of_run(f, run)};
    struct ir_module *module = fuse_kernels(&request, kept, why, why_size);
    if (module && !request.sub_group_size) module->functions[0]->sub_group_size = 0; /* automatic: nobody looks */
    ir_module_free(scratch);
    return module;
}
