/* Launches: where the buffers of a group live, its kernel, and what each parameter gets. Where the kernel cannot be
   made, buffers go back to memory, then the group is cut. */
#include "fuser/plan/launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/graph/range.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/plan/graph/sub_group_size.h"
#include "fuser/plan/graph/traffic.h"
#include "fuser/plan/graph/uses.h"
#include "fuser/plan/launch/apart.h"
#include "fuser/plan/launch/attempt.h"
#include "fuser/plan/launch/flows.h"
#include "fuser/plan/launch/group_size.h"
#include "fuser/plan/launch/kernel.h"
#include "fuser/plan/launch/launch_traffic.h"
#include "fuser/plan/launch/pressure.h"
#include "fuser/plan/launch/remarks.h"
#include "fuser/plan/launch/together.h"
#include "fuser/plan/mapping/launch_range.h"
#include "fuser/plan/storage/storage.h"
#include "ir/base/arena.h"

typedef unsigned long long ull;

/* Times the registers: what a group may keep alive before it is cut. Values wait in the first-level cache at little
   cost; a buffer between launches costs more. */
enum { MAX_PRESSURE = 8 };

/* ---- one kernel ---- */

/* What was found when the group was formed holds for the part. */
static bool is_like_group(const struct launching *l, struct node_run run, const struct plan_group *group)
{
    struct node_run whole = run;
    run = attempt_first(group, whole);
    if (!run.n) return false; /* what runs in the last work-group comes behind others, or by itself */
    struct nd_range range = attempt_range(l, whole, group);
    const struct nd_range *all = &group->range;
    char why[256];
    if (run.n < whole.n && memcmp(range.offset, all->offset, sizeof range.offset) != 0) return false;
    if (whole.n == 1 || (range_same(&range, all) && memcmp(range.local, all->local, sizeof range.local) == 0))
        return true;
    if (attempt_n_barriers(group, run) && memcmp(range.offset, all->offset, sizeof range.offset) != 0) return false;
    if (range_is_uneven(&range) || !launch_range_keeps_ids(l->facts, run, all, &range)) return false;
    uint32_t size = sub_group_size_of_run(l->facts, run);
    for (uint32_t i = 0; i < run.n; i++) {
        uint32_t node = run.nodes[i];
        if (range_has_other_local(all, &range) && launch_range_takes_any_groups(l->facts, node)) return false;
        if (!launch_range_keeps_groups(l->facts, run.nodes[0], node, &range, size, why, sizeof why)) return false;
    }
    return true;
}

static void begin(struct attempt *r, struct node_run run, const struct plan_group *group)
{
    *r = (struct attempt){.run = run, .group = group};
}

static void prepare(struct launching *l, struct attempt *r)
{
    r->range = attempt_range(l, r->run, r->group);
    id_mapping_set(l->mapping, attempt_first(r->group, r->run), &r->range);
    params_find(l->ctx, l->facts, r->run, &r->params);
    flows_find(l, r);
    r->candidate = arena_alloc(l->ctx->arena, (r->params.n + 1) * sizeof *r->candidate);
    r->kept = arena_alloc(l->ctx->arena, r->params.n + 1);
}

/* What it is given fits into the block of arguments that a launch has. */
static bool takes_its_args(struct attempt *r)
{
    const struct ir_function *kernel = r->module->functions[0];
    uint32_t *offsets = arena_realloc(NULL, (kernel->n_params + 1) * sizeof *offsets);
    uint32_t bytes = ir_param_layout(kernel, offsets);
    free(offsets);
    if (bytes <= KERNEL_MAX_ARGS_BYTES) return true;
    snprintf(r->why, sizeof r->why, "%s takes %u bytes of arguments, at most %d are possible", kernel->name, bytes,
             KERNEL_MAX_ARGS_BYTES);
    ir_module_free(r->module);
    r->module = NULL;
    return false;
}

/* In work-groups that are long in the dimension, where nobody asked for a local size. */
static bool merge(struct launching *l, struct attempt *r, unsigned along)
{
    uint32_t n_first = attempt_n_first(r->group, r->run);
    r->launched = r->range;
    group_size_choose(l, r, along, &r->launched);
    if (n_first < r->run.n) r->launched.global[0] += r->launched.local[0];
    const struct launch_request request = {.facts = l->facts,
                                           .run = r->run,
                                           .range = &r->launched,
                                           .params = &r->params,
                                           .barriers = attempt_barriers(r->group, r->run),
                                           .n_first = n_first};
    r->module = launch_kernel(l->ctx, &request, r->kept, r->why, sizeof r->why);
    return r->module && takes_its_args(r);
}

static bool make_kernel(struct launching *l, struct attempt *r)
{
    if (!merge(l, r, 0)) return false;
    unsigned along = group_size_long_dimension(l, r);
    if (along) {
        ir_module_free(r->module);
        if (!merge(l, r, along)) return false;
    }
    memcpy(r->range.local, r->launched.local, sizeof r->range.local);
    return true;
}

/* Work-group memory that the kernels leave free. */
static uint64_t local_left(const struct launching *l, const struct attempt *r)
{
    uint64_t left = l->ctx->options->device.max_local_bytes;
    for (uint32_t i = 0; i < r->run.n; i++) {
        uint64_t bytes = uses_local_bytes(l->facts, r->run.nodes[i]);
        left = bytes < left ? left - bytes : 0;
    }
    return left;
}

/* No other parameter is a part of the same buffer. */
static bool is_one_param(const struct attempt *r, uint32_t param)
{
    for (uint32_t i = 0; i < r->params.n; i++)
        if (i != param && r->params.params[i].kind == FUSER_PARAM_BUFFER &&
            r->params.params[i].index == r->params.params[param].index)
            return false;
    return true;
}

static bool find_candidates(struct launching *l, struct attempt *r)
{
    bool any = false;
    uint64_t left = local_left(l, r);
    const struct storage_query query = attempt_query(l, r->run, r->group, &r->range);
    if (l->ctx->options->mode == FUSER_MODE_NONE || !l->ctx->options->device.can_fuse) return false;
    for (uint32_t i = 0; i < r->params.n; i++) {
        struct plan_param *param = &r->params.params[i];
        if (param->kind != FUSER_PARAM_BUFFER || !(param->reads || param->writes)) continue;
        if (l->facts->graph->buffers[param->index].image || program_scope_has(l->scope, param->index)) continue;
        struct plan_storage storage = {.storage = FUSER_STORAGE_MEMORY};
        param->unseen = is_one_param(r, i) && storage_is_unseen(&query, param->index);
        if (!storage_find(&query, param->index, left, &storage)) continue;
        r->candidate[i] = storage;
        if (storage.storage == FUSER_STORAGE_LOCAL) left -= storage.local_bytes;
        any = true;
    }
    return any;
}

static const struct plan_storage in_memory = {.storage = FUSER_STORAGE_MEMORY};

static void set_storage(struct attempt *r, bool lost)
{
    for (uint32_t i = 0; i < r->params.n; i++) r->params.params[i].storage = lost ? r->candidate[i] : in_memory;
}

/* Buffers are taken out of memory one by one, to find those that cannot be. */
static bool make_kernel_stepwise(struct launching *l, struct attempt *r)
{
    set_storage(r, false);
    if (!make_kernel(l, r)) return false;
    for (uint32_t i = 0; i < r->params.n; i++) {
        if (r->candidate[i].storage == FUSER_STORAGE_MEMORY) continue;
        struct ir_module *before = r->module;
        bool *kept_before = r->kept;
        r->kept = arena_alloc(l->ctx->arena, r->params.n + 1);
        r->params.params[i].storage = r->candidate[i];
        if (make_kernel(l, r)) {
            ir_module_free(before);
            continue;
        }
        r->module = before;
        r->kept = kept_before;
        r->params.params[i].storage = in_memory;
        plan_remark(l->ctx, "not_internalized_kernel", launch_node_name(l, r->run.nodes[0]), r->params.params[i].name,
                    "buffer %s stays in memory: %s", r->params.params[i].name, r->why);
    }
    return true;
}

/* The kernel takes a part of the buffer as a parameter. */
static bool is_kept(const struct attempt *r, uint32_t buffer)
{
    for (uint32_t i = 0; i < r->params.n; i++)
        if (r->kept[i] && r->params.params[i].kind == FUSER_PARAM_BUFFER && r->params.params[i].index == buffer)
            return true;
    return false;
}

/* Why it stays in memory was said before the kernel was made, from which nothing of it is left. */
static void withdraw_remarks(struct launching *l, uint32_t from, const char *buffer)
{
    struct fuser_remark *remarks = l->ctx->remarks;
    uint32_t n = from;
    for (uint32_t i = from; i < l->ctx->n_remarks; i++)
        if (strcmp(remarks[i].buffer, buffer) != 0) remarks[n++] = remarks[i];
    l->ctx->n_remarks = n;
}

/* Buffers that nobody else sees, and of which the kernel reads nothing any more, need no memory. */
static void leave_out_unseen(struct launching *l, struct attempt *r, uint32_t remarks)
{
    for (uint32_t i = 0; i < r->params.n; i++) {
        struct plan_param *param = &r->params.params[i];
        if (!param->unseen || param->storage.storage != FUSER_STORAGE_MEMORY || is_kept(r, param->index)) continue;
        param->storage.storage = FUSER_STORAGE_NOWHERE;
        withdraw_remarks(l, remarks, param->name);
    }
}

static bool make_run(struct launching *l, struct attempt *r)
{
    uint32_t remarks = l->ctx->n_remarks;
    prepare(l, r);
    bool any = find_candidates(l, r);
    set_storage(r, any);
    if (!make_kernel(l, r) && !(any && make_kernel_stepwise(l, r))) {
        l->ctx->n_remarks = remarks;
        return false;
    }
    leave_out_unseen(l, r, remarks);
    return true;
}

/* ---- the launch ---- */

/* What the nodes of the run move through each parameter when they are launches of their own. */
static uint64_t *traffic_apart(struct launching *l, const struct attempt *r)
{
    uint64_t *bytes = arena_alloc(l->ctx->arena, (r->params.n + 1) * sizeof *bytes);
    for (uint32_t i = 0; i < r->run.n; i++) {
        const struct plan_node *node = &l->facts->nodes[r->run.nodes[i]];
        for (uint32_t k = node->first_use; k < node->first_use + node->n_uses; k++)
            bytes[r->params.of_node[i][l->facts->uses[k].arg]] += traffic_of_use(l->facts, &l->facts->uses[k]);
    }
    return bytes;
}

static struct fuser_param launch_param(const struct launching *l, const struct plan_param *param)
{
    if (param->kind == FUSER_PARAM_BUFFER && program_scope_has(l->scope, param->index))
        return (struct fuser_param){FUSER_PARAM_PROGRAM_VARIABLE, param->index - l->scope->n_graph_buffers, 0, NULL};
    return (struct fuser_param){param->kind, param->index, param->kind == FUSER_PARAM_LOCAL ? param->end : param->first,
                                param->view};
}

static struct fuser_launch launch_of(const struct launching *l, const struct attempt *r)
{
    struct arena *arena = l->plan->arena;
    struct fuser_launch launch = {.module = r->module, .range = r->launched, .n_nodes = r->run.n};
    launch.last = attempt_n_first(r->group, r->run) < r->run.n;
    launch.kernel = r->module->functions[0];
    launch.work = cost_of_batches(r->module->functions[0], &r->launched);
    launch.params = arena_alloc(arena, (r->params.n + 1) * sizeof *launch.params);
    for (uint32_t i = 0; i < r->params.n; i++)
        if (r->kept[i]) launch.params[launch.n_params++] = launch_param(l, &r->params.params[i]);
    launch.nodes = arena_alloc(arena, r->run.n * sizeof *launch.nodes);
    memcpy(launch.nodes, r->run.nodes, r->run.n * sizeof *launch.nodes);
    launch.barriers = arena_alloc(arena, r->run.n * sizeof *launch.barriers);
    memcpy(launch.barriers, attempt_barriers(r->group, r->run), r->run.n * sizeof *launch.barriers);
    launch.barriers[0] = false;
    return launch;
}

static uint64_t traffic_of_attempt(struct launching *l, const struct attempt *r, const struct fuser_launch *launch)
{
    uint64_t *sizes = arena_alloc(l->ctx->arena, (r->params.n + 1) * sizeof *sizes), *most = traffic_apart(l, r);
    for (uint32_t i = 0, kept = 0; i < r->params.n; i++) {
        if (!r->kept[i]) continue;
        sizes[kept] = r->params.params[i].end - r->params.params[i].first;
        most[kept++] = most[i]; /* kept is at most i */
    }
    return traffic_of_launch(launch, sizes, most);
}

/* ---- where a condition does not hold ---- */

/* What proofs went by matters where kernels are one, or memory is left out. */
static bool is_conditional(const struct launching *l, const struct attempt *r)
{
    bool lost = false;
    for (uint32_t i = 0; i < r->params.n; i++) lost |= r->params.params[i].storage.storage != FUSER_STORAGE_MEMORY;
    for (uint32_t i = 0; i < r->run.n; i++) lost |= recompute_is_several(l->recomputed, r->run.nodes[i]);
    return r->params.n_conditions && (r->run.n > 1 || lost);
}

/* The node by itself, as if nothing were known of its values. False: it cannot be made. */
static bool add_spare(struct launching *l, uint32_t node)
{
    struct fuser_plan *plan = l->plan;
    struct attempt r;
    const struct plan_group alone = {.run = {&node, 1}, .range = l->facts->nodes[node].range};
    begin(&r, alone.run, &alone);
    prepare(l, &r);
    set_storage(&r, false);
    if (!make_kernel(l, &r))
        return plan_fail(l->ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", launch_node_name(l, node), "%s", r.why);
    plan->spares = arena_grow(plan->arena, plan->spares, plan->n_spares, sizeof *plan->spares);
    plan->spares[plan->n_spares++] = launch_of(l, &r);
    return true;
}

/* Of all nodes of the run as they were given. */
static bool add_spares(struct launching *l, struct node_run run)
{
    struct id_mapping mapping;
    struct launching given = *l;
    struct node_run nodes = recompute_given_nodes(l->recomputed, l->ctx->arena, run);
    given.facts = l->recomputed->given;
    given.mapping = &mapping;
    id_mapping_init(&mapping, given.facts, l->ctx->arena);
    for (uint32_t i = 0; i < nodes.n; i++)
        if (!add_spare(&given, nodes.nodes[i])) return false;
    return true;
}

/* With those that the homes of its buffers came to need; those on pipes stay. */
static void find_conditions(struct launching *l, struct attempt *r)
{
    struct plan_params now;
    params_find(l->ctx, l->facts, r->run, &now);
    for (uint32_t i = 0; i < r->params.n_conditions; i++) {
        if (!r->params.conditions[i].is_pipe) continue;
        now.conditions = arena_grow(l->ctx->arena, now.conditions, now.n_conditions, sizeof *now.conditions);
        now.conditions[now.n_conditions++] = r->params.conditions[i];
    }
    r->params.n_conditions = now.n_conditions;
    r->params.conditions = now.conditions;
    apart_add_conditions(l, r);
}

static bool add_conditions(struct launching *l, struct attempt *r, struct fuser_launch *launch)
{
    find_conditions(l, r);
    if (!is_conditional(l, r)) return true;
    launch->n_conditions = r->params.n_conditions;
    launch->conditions = arena_alloc(l->plan->arena, launch->n_conditions * sizeof *launch->conditions);
    memcpy(launch->conditions, r->params.conditions, launch->n_conditions * sizeof *launch->conditions);
    launch->first_spare = l->plan->n_spares;
    launch_remark_conditions(l, r);
    if (!add_spares(l, r->run)) return false;
    launch->n_spares = l->plan->n_spares - launch->first_spare;
    return true;
}

static bool add_launch(struct launching *l, struct attempt *r)
{
    struct fuser_plan *plan = l->plan;
    struct fuser_launch launch = launch_of(l, r);
    const struct cost_machine *machine = &l->ctx->options->device.machine;
    launch.traffic = traffic_of_attempt(l, r, &launch);
    if (machine->cores) {
        launch.operations = operations_of_launch(&launch, numbers_of_launch(l->facts, &launch, l->ctx->arena));
        launch.predicted_ns = cost_launch_ns(machine, launch.operations, launch.traffic);
    }
    plan->bytes_fused += launch.traffic;
    bool done = add_conditions(l, r, &launch);
    plan->launches = arena_grow(plan->arena, plan->launches, plan->n_launches, sizeof *plan->launches);
    plan->launches[plan->n_launches] = launch;
    plan->steps = arena_grow(plan->arena, plan->steps, plan->n_steps, sizeof *plan->steps);
    plan->steps[plan->n_steps++] = (struct fuser_step){.kind = FUSER_STEP_LAUNCH, .index = plan->n_launches++};
    return done;
}

/* ---- copies, fills, host tasks ---- */

static void add_command(struct launching *l, uint32_t node)
{
    struct fuser_plan *plan = l->plan;
    plan->steps = arena_grow(plan->arena, plan->steps, plan->n_steps, sizeof *plan->steps);
    plan->steps[plan->n_steps++] = (struct fuser_step){.kind = FUSER_STEP_NODE, .index = node};
    plan->bytes_fused += traffic_of_node(l->facts, node);
}

/* Copies and fills that could have been a part of a launch, and found none. */
static bool is_all_commands(const struct launching *l, struct node_run run)
{
    for (uint32_t i = 0; i < run.n; i++)
        if (!l->facts->graph->nodes[run.nodes[i]].command) return false;
    return true;
}

static uint32_t add_commands(struct launching *l, struct node_run run)
{
    for (uint32_t i = 0; i < run.n; i++) add_command(l, run.nodes[i]);
    return run.n;
}

/* ---- groups ---- */

/* Of the node's kernel alone, as it would be cleaned up. */
static uint64_t own_pressure(struct launching *l, uint32_t node)
{
    struct ir_module *m = ir_module_new("alone");
    struct ir_function *copy = ir_function_copy(m, l->facts->graph->nodes[node].kernel, NULL);
    pipeline_run(&pipeline_cleanup, copy);
    uint64_t bytes = register_pressure(copy);
    ir_module_free(m);
    return bytes;
}

/* Fused, the kernels have so much more to keep than each of them alone that it is hardly kept in registers. */
static bool spills(struct launching *l, struct attempt *r)
{
    uint64_t registers = l->ctx->options->device.register_bytes, alone = 0;
    if (!registers || r->run.n == 1) return false;
    uint64_t bytes = register_pressure(r->module->functions[0]);
    if (bytes <= MAX_PRESSURE * registers) return false;
    for (uint32_t i = 0; i < r->run.n; i++) {
        uint64_t own = own_pressure(l, r->run.nodes[i]);
        if (own > alone) alone = own;
    }
    snprintf(
        r->why, sizeof r->why,
        "together they keep %llu bytes of values for each work-item, alone %llu at most; device %s has registers for "
        "%llu; require_fusion fuses anyway",
        (ull)bytes, (ull)alone, l->ctx->options->device.name, (ull)registers);
    return bytes > 2 * alone;
}

/* What the user wants as one launch is one. */
static bool is_worth_it(struct launching *l, struct attempt *r)
{
    return l->ctx->options->mode == FUSER_MODE_REQUIRE || !spills(l, r);
}

/* Makes the run, for good or not. Else its module is gone, and code and why say what speaks against it. */
static bool try_run(struct launching *l, struct attempt *r, const char **code)
{
    uint32_t remarks = l->ctx->n_remarks;
    *code = "not_fused_kernel";
    if (!make_run(l, r)) return false;
    if (is_worth_it(l, r)) return true;
    *code = "not_fused_pressure";
    ir_module_free(r->module);
    r->module = NULL;
    l->ctx->n_remarks = remarks;
    return false;
}

/* How many of the run's first kernels can be one: between 1 and n - 1, as n cannot. Remarks of the attempts are
   dropped. */
static uint32_t longest_prefix(struct launching *l, struct node_run run, const struct plan_group *group)
{
    uint32_t good = 1, bad = run.n, remarks = l->ctx->n_remarks;
    while (bad - good > 1) {
        struct attempt r;
        const char *code;
        uint32_t middle = good + (bad - good) / 2;
        begin(&r, (struct node_run){run.nodes, middle}, group);
        if (try_run(l, &r, &code)) {
            good = middle;
        } else {
            bad = middle;
        }
        ir_module_free(r.module);
        l->ctx->n_remarks = remarks;
    }
    return good;
}

/* Makes launches of the run, which is a group or what is left of one, until the first kernel is found that cannot be
   with those before it. Returns how many are done; 0: failed. */
static uint32_t launch_part(struct launching *l, struct node_run run, const struct plan_group *group)
{
    struct attempt r;
    const char *code;
    if (is_all_commands(l, run)) return add_commands(l, run);
    begin(&r, run, group);
    if (!try_run(l, &r, &code)) {
        if (run.n > 1 && l->ctx->options->mode == FUSER_MODE_REQUIRE) {
            plan_fail(l->ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", launch_node_name(l, run.nodes[0]),
                      "the %u kernels from here on cannot be one: %s", run.n, r.why);
            return 0;
        }
        uint32_t prefix = run.n > 1 ? longest_prefix(l, run, group) : 1;
        if (run.n > 1)
            plan_remark(l->ctx, code, launch_node_name(l, run.nodes[prefix]), NULL,
                        "%s is not fused with the kernels before it: %s", launch_node_name(l, run.nodes[prefix]),
                        r.why);
        begin(&r, (struct node_run){run.nodes, prefix}, group);
        if (is_all_commands(l, r.run)) return add_commands(l, r.run);
        if (!make_run(l, &r)) {
            plan_fail(l->ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", launch_node_name(l, run.nodes[0]), "%s", r.why);
            return 0;
        }
    }
    launch_remark_run(l, &r);
    flows_remark(l, &r);
    return add_launch(l, &r) ? r.run.n : 0;
}

static bool launch_group(struct launching *l, const struct plan_group *group)
{
    struct node_run left = group->run;
    while (left.n) {
        struct node_run part = left;
        while (!is_like_group(l, part, group)) part.n--;
        if (part.n < left.n)
            plan_remark(l->ctx, "not_fused_range", launch_node_name(l, left.nodes[part.n]), NULL,
                        "%s is not fused with the kernels before it: other kernels of the group are not either, and "
                        "without them the same ids would be other work-items",
                        launch_node_name(l, left.nodes[part.n]));
        uint32_t done = launch_part(l, part, group);
        if (!done) return false;
        left = (struct node_run){left.nodes + done, left.n - done};
    }
    return true;
}

static bool make_all(struct launching *l, const struct plan_groups *groups)
{
    struct fuser_plan *plan = l->plan;
    const struct fuser_graph *graph = l->facts->graph;
    uint32_t group = 0;
    plan->storage = arena_alloc(plan->arena, (graph->n_buffers + 1) * sizeof *plan->storage);
    plan->saved = arena_alloc(plan->arena, (graph->n_buffers + 1) * sizeof *plan->saved);
    for (uint32_t at = 0; at < l->order->n;) {
        if (group < groups->n && groups->groups[group].run.nodes == &l->order->nodes[at]) {
            if (!launch_group(l, &groups->groups[group])) return false;
            at += groups->groups[group++].run.n;
        } else {
            add_command(l, l->order->nodes[at++]);
        }
    }
    return true;
}

static void forget_all(struct fuser_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_launches; i++) ir_module_free(plan->launches[i].module);
    for (uint32_t i = 0; i < plan->n_spares; i++) ir_module_free(plan->spares[i].module);
    plan->n_launches = plan->n_spares = plan->n_steps = 0;
    plan->bytes_fused = 0;
}

bool launches_make(struct launching *l, const struct plan_groups *groups)
{
    struct apart_buffers apart;
    uint32_t remarks = l->ctx->n_remarks;
    for (uint32_t i = 0; i < l->recomputed->given->graph->n_nodes; i++)
        l->plan->bytes_unfused += traffic_of_node(l->recomputed->given, i);
    apart_find(l, groups, &apart);
    bool made = make_all(l, groups);
    while (made && apart_drop_kept(&apart, l->plan)) {
        forget_all(l->plan);
        l->ctx->n_remarks = remarks;
        made = make_all(l, groups);
    }
    l->apart = NULL;
    if (made) launches_together(l);
    return made;
}
