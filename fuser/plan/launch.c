/* Launches: the homes of a group's buffers, its kernel, and what each parameter gets. Where the kernel cannot be
   made, buffers go back to memory, then the group is cut. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/graph/local_size.h"
#include "fuser/graph/range.h"
#include "fuser/merge/merge.h"
#include "fuser/passes/pipelines.h"
#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

typedef unsigned long long ull;

/* Times the registers: what a group may keep alive before it is cut. Values wait in the first-level cache at little
   cost; a buffer between launches costs more. */
enum { MAX_PRESSURE = 8 };

/* A run of the linear order that is to be one launch. */
struct run {
    uint32_t first, n;
    uint32_t group;
    const struct nd_range *group_range; /* of the group that it is, or is a part of */
    struct nd_range range;
    struct plan_params params;
    struct plan_home *candidate; /* by parameter: a home of a buffer outside of memory, if any */
    bool *kept;
    struct ir_module *module;
    char why[400];
};

static const char *name_at(const struct planner *p, uint32_t at)
{
    return p->graph->nodes[p->plan->order[at]].name;
}

static void names_text(const struct planner *p, uint32_t first, uint32_t n, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (uint32_t i = 0; i < n && used < size; i++) {
        const char *name = name_at(p, first + i);
        if (used + strlen(name) + 24 > size) {
            snprintf(buf + used, size - used, " and %u more", n - i);
            return;
        }
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", name);
    }
}

/* ---- one kernel ---- */

/* The range of a part of a group. What a barrier orders holds in the work-groups that the group has. */
static struct nd_range range_of(const struct planner *p, uint32_t first, uint32_t n, const struct nd_range *group)
{
    struct nd_range range = plan_run_range(p, first, n);
    if (n > 1 && p->options->insert_barriers && !range_has_local(&range))
        memcpy(range.local, group->local, sizeof range.local);
    return range;
}

/* What was found when the group was formed holds for the part. */
static bool is_like_group(const struct planner *p, uint32_t first, uint32_t n, const struct nd_range *group)
{
    struct nd_range range = range_of(p, first, n, group);
    char why[256];
    if (n == 1 || (range_same(&range, group) && memcmp(range.local, group->local, sizeof range.local) == 0))
        return true;
    if (p->options->insert_barriers && memcmp(range.offset, group->offset, sizeof range.offset) != 0) return false;
    if (range_is_uneven(&range) || !plan_keeps_ids(p, first, n, group, &range)) return false;
    uint32_t size = plan_launch_sub_group_size(p, first, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = p->plan->order[first + i];
        if (range_has_other_local(group, &range) && plan_takes_any_groups(p, node)) return false;
        if (!plan_sees_own_groups(p, first, node, &range, size, why, sizeof why)) return false;
    }
    return true;
}

static void prepare(struct planner *p, struct run *r)
{
    r->range = range_of(p, r->first, r->n, r->group_range);
    plan_place_run(p, r->first, r->n, &r->range);
    for (uint32_t i = 0; i < r->n; i++) p->nodes[p->plan->order[r->first + i]].group = r->group;
    plan_params(p, r->first, r->n, &r->params);
    r->candidate = arena_alloc(p->arena, (r->params.n + 1) * sizeof *r->candidate);
    r->kept = arena_alloc(p->arena, r->params.n + 1);
}

/* What it is given fits into the block of arguments that a launch has. */
static bool takes_its_args(struct run *r)
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

static bool make_kernel(struct planner *p, struct run *r)
{
    struct nd_range range = r->range;
    local_size_choose(&range, &p->options->device, p->graph->nodes[p->plan->order[r->first]].kernel);
    r->module = plan_kernel(p, r->first, r->n, &range, &r->params, r->kept, r->why, sizeof r->why);
    if (!r->module || !takes_its_args(r)) return false;
    r->range = range;
    return true;
}

/* Work-group memory that the kernels leave free. */
static uint64_t local_left(const struct planner *p, const struct run *r)
{
    uint64_t left = p->options->device.max_local_bytes;
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t bytes = plan_local_bytes(p, p->plan->order[r->first + i]);
        left = bytes < left ? left - bytes : 0;
    }
    return left;
}

static bool find_candidates(struct planner *p, struct run *r)
{
    bool any = false;
    uint64_t left = local_left(p, r);
    if (p->options->mode == FUSER_MODE_NONE || !p->options->device.can_fuse) return false;
    for (uint32_t i = 0; i < r->params.n; i++) {
        struct plan_param *param = &r->params.params[i];
        if (param->kind != FUSER_PARAM_BUFFER || !(param->reads || param->writes)) continue;
        if (p->graph->buffers[param->index].image || plan_is_state(p, param->index)) continue;
        struct plan_home home = {.home = FUSER_STORAGE_MEMORY};
        if (!plan_find_home(p, param->index, r->group, &r->range, left, &home)) continue;
        r->candidate[i] = home;
        if (home.home == FUSER_STORAGE_LOCAL) left -= home.local_bytes;
        any = true;
    }
    return any;
}

static const struct plan_home in_memory = {.home = FUSER_STORAGE_MEMORY};

static void set_homes(struct run *r, bool lost)
{
    for (uint32_t i = 0; i < r->params.n; i++) r->params.params[i].lives = lost ? r->candidate[i] : in_memory;
}

/* Homes are taken one by one, to find those that cannot be. */
static bool make_kernel_stepwise(struct planner *p, struct run *r)
{
    set_homes(r, false);
    if (!make_kernel(p, r)) return false;
    for (uint32_t i = 0; i < r->params.n; i++) {
        if (r->candidate[i].home == FUSER_STORAGE_MEMORY) continue;
        struct ir_module *before = r->module;
        bool *kept_before = r->kept;
        r->kept = arena_alloc(p->arena, r->params.n + 1);
        r->params.params[i].lives = r->candidate[i];
        if (make_kernel(p, r)) {
            ir_module_free(before);
            continue;
        }
        r->module = before;
        r->kept = kept_before;
        r->params.params[i].lives = in_memory;
        plan_remark(p, "not_internalized_kernel", name_at(p, r->first), r->params.params[i].name,
                    "buffer %s stays in memory: %s", r->params.params[i].name, r->why);
    }
    return true;
}

static bool make_run(struct planner *p, struct run *r)
{
    uint32_t remarks = p->plan->n_remarks;
    prepare(p, r);
    bool any = find_candidates(p, r);
    set_homes(r, any);
    if (make_kernel(p, r) || (any && make_kernel_stepwise(p, r))) return true;
    p->plan->n_remarks = remarks;
    return false;
}

/* ---- what is said of it ---- */

static void home_text(const struct plan_home *home, char *buf, size_t size)
{
    uint64_t elements = 0;
    for (uint32_t i = 0; i < home->n_pieces; i++) elements += home->pieces[i].count;
    if (home->home == FUSER_STORAGE_LOCAL) {
        snprintf(buf, size, "work-group memory, %llu bytes for each work-group,", (ull)home->local_bytes);
    } else if (elements > 1) {
        snprintf(buf, size, "registers, %llu elements for each work-item,", (ull)elements);
    } else {
        snprintf(buf, size, "registers");
    }
}

static void remark_homes(struct planner *p, const struct run *r, const char *names)
{
    char where[96];
    for (uint32_t i = 0; i < r->params.n; i++) {
        const struct plan_param *param = &r->params.params[i];
        if (param->lives.home == FUSER_STORAGE_MEMORY) continue;
        uint64_t traffic = 0;
        for (uint32_t k = p->buffer_uses_start[param->index]; k < p->buffer_uses_start[param->index + 1]; k++)
            traffic += plan_use_traffic(p, &p->uses[p->buffer_uses[k]]);
        bool local = param->lives.home == FUSER_STORAGE_LOCAL;
        const char *word = param->lives.word;
        p->plan->storage[param->index] = param->lives.home;
        p->plan->saved[param->index] = traffic;
        home_text(&param->lives, where, sizeof where);
        plan_remark(p, local ? "internalized_local" : "internalized_private", name_at(p, r->first), param->name,
                    "buffer %s is kept in %s of %s: saves %llu bytes of memory and %llu bytes of traffic%s%s%s",
                    param->name, where, names, (ull)p->graph->buffers[param->index].bytes, (ull)traffic,
                    word ? "; that no element belongs to two work-" : "",
                    word ? (local ? "groups is not proved and taken on the word of "
                                  : "items is not proved and taken on the word of ")
                         : "",
                    word ? word : "");
    }
}

static void remark_run(struct planner *p, const struct run *r)
{
    char names[512];
    names_text(p, r->first, r->n, names, sizeof names);
    if (r->n > 1)
        plan_remark(p, "fused", name_at(p, r->first), NULL, "%u kernels are one launch%s: %s", r->n,
                    p->options->insert_barriers ? ", with a work-group barrier between each two" : "", names);
    remark_homes(p, r, names);
}

/* ---- the launch ---- */

/* What the nodes of the run move through each parameter when they are launches of their own. */
static uint64_t *traffic_apart(struct planner *p, const struct run *r)
{
    uint64_t *bytes = arena_alloc(p->arena, (r->params.n + 1) * sizeof *bytes);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct plan_node *node = &p->nodes[p->plan->order[r->first + i]];
        for (uint32_t k = node->first_use; k < node->first_use + node->n_uses; k++)
            bytes[r->params.of_node[i][p->uses[k].arg]] += plan_use_traffic(p, &p->uses[k]);
    }
    return bytes;
}

static struct fuser_param launch_param(const struct planner *p, const struct plan_param *param)
{
    if (param->kind == FUSER_PARAM_BUFFER && plan_is_state(p, param->index))
        return (struct fuser_param){FUSER_PARAM_STATE, param->index - p->n_own_buffers, 0, NULL};
    return (struct fuser_param){param->kind, param->index, param->kind == FUSER_PARAM_LOCAL ? param->end : param->first,
                                param->view};
}

static void add_launch(struct planner *p, struct run *r)
{
    struct fuser_plan *plan = p->plan;
    struct fuser_launch launch = {.module = r->module, .range = r->range, .n_nodes = r->n};
    launch.kernel = r->module->functions[0];
    launch.params = arena_alloc(plan->arena, (r->params.n + 1) * sizeof *launch.params);
    uint64_t *sizes = arena_alloc(p->arena, (r->params.n + 1) * sizeof *sizes), *most = traffic_apart(p, r);
    for (uint32_t i = 0; i < r->params.n; i++) {
        const struct plan_param *param = &r->params.params[i];
        if (!r->kept[i]) continue;
        sizes[launch.n_params] = param->end - param->first;
        most[launch.n_params] = most[i]; /* n_params is at most i */
        launch.params[launch.n_params++] = launch_param(p, param);
    }
    launch.nodes = arena_alloc(plan->arena, r->n * sizeof *launch.nodes);
    memcpy(launch.nodes, &plan->order[r->first], r->n * sizeof *launch.nodes);
    plan->bytes_fused += plan_launch_traffic(&launch, sizes, most);
    plan->launches = arena_grow(plan->arena, plan->launches, plan->n_launches, sizeof *plan->launches);
    plan->launches[plan->n_launches] = launch;
    plan->steps = arena_grow(plan->arena, plan->steps, plan->n_steps, sizeof *plan->steps);
    plan->steps[plan->n_steps++] = (struct fuser_step){FUSER_STEP_LAUNCH, plan->n_launches++};
}

/* ---- groups ---- */

static void new_run(struct planner *p, struct run *r, uint32_t first, uint32_t n, const struct nd_range *group)
{
    *r = (struct run){.first = first, .n = n, .group = p->n_groups++, .group_range = group};
}

/* Of the node's kernel alone, as it would be cleaned up. */
static uint64_t own_pressure(struct planner *p, uint32_t node)
{
    struct ir_module *m = ir_module_new("alone");
    struct ir_function *copy = ir_function_copy(m, p->graph->nodes[node].kernel, NULL);
    pipeline_run(&pipeline_cleanup, copy);
    uint64_t bytes = plan_pressure(copy);
    ir_module_free(m);
    return bytes;
}

/* Fused, the kernels have so much more to keep than each of them alone that it is hardly kept in registers. */
static bool spills(struct planner *p, struct run *r)
{
    uint64_t registers = p->options->device.register_bytes, alone = 0;
    if (!registers || r->n == 1) return false;
    uint64_t bytes = plan_pressure(r->module->functions[0]);
    if (bytes <= MAX_PRESSURE * registers) return false;
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t own = own_pressure(p, p->plan->order[r->first + i]);
        if (own > alone) alone = own;
    }
    snprintf(
        r->why, sizeof r->why,
        "together they keep %llu bytes of values for each work-item, alone %llu at most; device %s has registers for "
        "%llu; require_fusion fuses anyway",
        (ull)bytes, (ull)alone, p->options->device.name, (ull)registers);
    return bytes > 2 * alone;
}

/* What the user wants as one launch is one. */
static bool is_worth_it(struct planner *p, struct run *r)
{
    return p->options->mode == FUSER_MODE_REQUIRE || !spills(p, r);
}

/* Makes the run, for good or not. Else its module is gone, and code and why say what speaks against it. */
static bool try_run(struct planner *p, struct run *r, const char **code)
{
    uint32_t remarks = p->plan->n_remarks;
    *code = "not_fused_kernel";
    if (!make_run(p, r)) return false;
    if (is_worth_it(p, r)) return true;
    *code = "not_fused_pressure";
    ir_module_free(r->module);
    r->module = NULL;
    p->plan->n_remarks = remarks;
    return false;
}

/* How many kernels from `first` can be one: between 1 and n - 1, as n cannot. Remarks of the attempts are dropped. */
static uint32_t longest_prefix(struct planner *p, uint32_t first, uint32_t n, const struct nd_range *group)
{
    uint32_t good = 1, bad = n, remarks = p->plan->n_remarks;
    while (bad - good > 1) {
        struct run r;
        const char *code;
        uint32_t middle = good + (bad - good) / 2;
        new_run(p, &r, first, middle, group);
        if (try_run(p, &r, &code)) {
            good = middle;
        } else {
            bad = middle;
        }
        ir_module_free(r.module);
        p->plan->n_remarks = remarks;
    }
    return good;
}

/* Makes launches of order[first .. first + n), which are a group or what is left of one, until the first of them is
   found that cannot be with those before it. Returns how many are done; 0: failed. */
static uint32_t launch_part(struct planner *p, uint32_t first, uint32_t n, const struct nd_range *group)
{
    struct run r;
    const char *code;
    new_run(p, &r, first, n, group);
    if (!try_run(p, &r, &code)) {
        if (n > 1 && p->options->mode == FUSER_MODE_REQUIRE) {
            plan_fail(p, FUSER_KERNEL_NOT_SUPPORTED, "node", name_at(p, first),
                      "the %u kernels from here on cannot be one: %s", n, r.why);
            return 0;
        }
        uint32_t prefix = n > 1 ? longest_prefix(p, first, n, group) : 1;
        for (uint32_t i = prefix; i < n; i++) p->nodes[p->plan->order[first + i]].group = NO_GROUP;
        if (n > 1)
            plan_remark(p, code, name_at(p, first + prefix), NULL, "%s is not fused with the kernels before it: %s",
                        name_at(p, first + prefix), r.why);
        new_run(p, &r, first, prefix, group);
        if (!make_run(p, &r)) {
            plan_fail(p, FUSER_KERNEL_NOT_SUPPORTED, "node", name_at(p, first), "%s", r.why);
            return 0;
        }
    }
    remark_run(p, &r);
    add_launch(p, &r);
    return r.n;
}

static bool launch_group(struct planner *p, uint32_t first, uint32_t n, const struct nd_range *group)
{
    uint32_t end = first + n;
    while (first < end) {
        uint32_t part = end - first;
        while (!is_like_group(p, first, part, group)) part--;
        for (uint32_t i = first + part; i < end; i++) p->nodes[p->plan->order[i]].group = NO_GROUP;
        if (first + part < end)
            plan_remark(p, "not_fused_range", name_at(p, first + part), NULL,
                        "%s is not fused with the kernels before it: of those they were to be fused with some are not, "
                        "and without them the same ids are other work-items",
                        name_at(p, first + part));
        uint32_t done = launch_part(p, first, part, group);
        if (!done) return false;
        first += done;
    }
    return true;
}

static void add_command(struct planner *p, uint32_t node)
{
    struct fuser_plan *plan = p->plan;
    plan->steps = arena_grow(plan->arena, plan->steps, plan->n_steps, sizeof *plan->steps);
    plan->steps[plan->n_steps++] = (struct fuser_step){FUSER_STEP_NODE, node};
    plan->bytes_fused += plan_node_traffic(p, node);
}

bool plan_launches(struct planner *p)
{
    struct fuser_plan *plan = p->plan;
    uint32_t n_groups = p->n_groups, group = 0;
    plan->storage = arena_alloc(plan->arena, (p->graph->n_buffers + 1) * sizeof *plan->storage);
    plan->saved = arena_alloc(plan->arena, (p->graph->n_buffers + 1) * sizeof *plan->saved);
    for (uint32_t i = 0; i < p->graph->n_nodes; i++) plan->bytes_unfused += plan_node_traffic(p, i);
    for (uint32_t at = 0; at < plan->n_order;) {
        if (group < n_groups && p->groups[group].first == at) {
            if (!launch_group(p, at, p->groups[group].n, &p->groups[group].range)) return false;
            at += p->groups[group++].n;
        } else {
            add_command(p, plan->order[at++]);
        }
    }
    return true;
}
