/*
 * Variables and pipes of the program as buffers of the graph: a kernel that uses some gets a parameter for each. Edges,
 * groups and launches then treat them like all memory, and kernels that share a variable share a buffer. What they hold
 * outlives the plan, so they are always in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/pass_manager.h"
#include "fuser/passes/passes.h"
#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

static const uint64_t max_state_bytes = (uint64_t)1 << 30;

/* A kernel, and its copy that takes what it uses of the program as arguments. */
struct plan_stated {
    const struct ir_function *kernel;
    struct ir_module *module; /* of the copy; NULL: it uses nothing */
    const struct ir_function *copy;
    uint32_t n_states;
    uint32_t *states; /* behind the kernel's own parameters */
    struct plan_stated *next;
};

static bool is_state(const struct ir_global *g)
{
    if (g->linkage == IR_LINKAGE_IMPORT) return false; /* refused where code is made, by name */
    return g->space == IR_SPACE_GLOBAL || ir_type_kind(g->type) == IR_KIND_PIPE;
}

static bool has_state(const struct ir_module *m)
{
    for (uint32_t i = 0; i < m->n_globals; i++)
        if (is_state(m->globals[i])) return true;
    return false;
}

/* UINT64_MAX: too much to say. */
static uint64_t state_bytes(const struct ir_module *m, const struct ir_global *g)
{
    uint64_t bytes = ir_type_size(m, g->type);
    if (ir_type_kind(g->type) != IR_KIND_PIPE) return bytes;
    return __builtin_mul_overflow(ir_type_size(m, g->packet), (uint64_t)g->capacity, &bytes) ? UINT64_MAX : bytes;
}

/* ---- the plan's variables ---- */

static uint32_t state_index(struct planner *p, const struct ir_module *m, const char *name)
{
    struct fuser_plan *plan = p->plan;
    const struct ir_global *g = ir_module_find_global(m, name);
    for (uint32_t i = 0; i < plan->n_states; i++)
        if (plan->states[i].global == g) return i;
    plan->states = arena_grow(plan->arena, plan->states, plan->n_states, sizeof *plan->states);
    plan->states[plan->n_states] = (struct fuser_state){m, g};
    return plan->n_states++;
}

static bool check_states(struct planner *p, const struct fuser_node *node, const struct plan_stated *k)
{
    for (uint32_t i = 0; i < k->n_states; i++) {
        const struct fuser_state *s = &p->plan->states[k->states[i]];
        uint64_t bytes = state_bytes(s->module, s->global);
        if (s->global->n_addresses) /* of what has none before a kernel runs */
            return plan_fail(
                p, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
                "kernel %s uses @%s, whose initial value holds the address of @%s; only constants can do that",
                node->kernel->name, s->global->name, s->global->addresses[0].target->name);
        if (bytes <= max_state_bytes) continue;
        return plan_fail(p, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
                         "kernel %s uses @%s of %llu bytes; a variable or pipe of the program is limited to 1 GiB",
                         node->kernel->name, s->global->name, (unsigned long long)bytes);
    }
    return true;
}

/* ---- kernels ---- */

struct finding {
    uint32_t n;
    struct ir_inst **insts; /* that name a variable or pipe of the program */
    bool calls;
};

static void see(struct ir_inst *inst, void *data)
{
    struct finding *f = data;
    f->calls |= inst->op == IR_OP_CALL;
    if (inst->op != IR_OP_GLOBAL || !is_state(inst->attrs.global)) return;
    f->insts = arena_realloc(f->insts, (f->n + 1) * sizeof(struct ir_inst *));
    f->insts[f->n++] = inst;
}

/* The parameter of a variable, added where the kernel has none yet. */
static struct ir_value *param_of(struct planner *p, struct plan_stated *k, struct ir_function *copy,
                                 const struct ir_inst *inst)
{
    const struct ir_global *g = inst->attrs.global;
    uint32_t state = state_index(p, k->kernel->module, g->name), first = k->kernel->n_params, i = 0;
    while (i < k->n_states && k->states[i] != state) i++;
    if (i < k->n_states) return copy->params[first + i].value;
    k->states = arena_grow(p->arena, k->states, k->n_states, sizeof *k->states);
    k->states[k->n_states++] = state;
    ir_function_set_param(copy, copy->n_params++, g->name, inst->results[0]->type);
    return copy->params[first + i].value;
}

static void make_room(struct ir_function *f, uint32_t more)
{
    struct ir_param *params = ir_alloc(f->module, (f->n_params + more) * sizeof *params);
    if (f->n_params) memcpy(params, f->params, f->n_params * sizeof *params);
    f->params = params;
}

/* A kernel with calls that could not be put in place stays as it is: it is refused where kernels are made. */
static void make_copy(struct planner *p, struct plan_stated *k)
{
    struct finding found = {0};
    struct ir_module *m = ir_module_new("stated");
    struct ir_function *copy = ir_function_copy(m, k->kernel, NULL);
    pass_run(&pass_inline, copy);
    ir_walk(copy->body, see, &found);
    if (found.n && !found.calls) {
        make_room(copy, found.n);
        for (uint32_t i = 0; i < found.n; i++) {
            struct ir_inst *inst = found.insts[i];
            ir_replace_uses(copy->body, inst->results[0], param_of(p, k, copy, inst));
            ir_inst_remove(inst);
        }
        k->module = m;
        k->copy = copy;
    } else {
        ir_module_free(m);
    }
    free(found.insts);
}

static const struct plan_stated *stated(struct planner *p, const struct ir_function *kernel)
{
    for (const struct plan_stated *k = p->stated; k; k = k->next)
        if (k->kernel == kernel) return k;
    struct plan_stated *k = arena_alloc(p->arena, sizeof *k);
    *k = (struct plan_stated){.kernel = kernel, .next = p->stated};
    p->stated = k;
    make_copy(p, k);
    return k;
}

void plan_stated_free(struct plan_stated *k)
{
    for (; k; k = k->next) ir_module_free(k->module);
}

/* ---- the graph ---- */

static void take_states(struct planner *p, struct fuser_node *n, const struct plan_stated *k)
{
    struct fuser_arg *args = arena_alloc(p->arena, (n->n_args + k->n_states) * sizeof *args);
    memcpy(args, n->args, n->n_args * sizeof *args);
    for (uint32_t i = 0; i < k->n_states; i++)
        args[n->n_args + i] = (struct fuser_arg){.kind = FUSER_ARG_BUFFER, .index = p->n_own_buffers + k->states[i]};
    n->kernel = k->copy;
    n->args = args;
    n->n_args += k->n_states;
}

static const char *buffer_name(struct planner *p, const struct ir_global *g)
{
    char *name = arena_alloc(p->arena, strlen(g->name) + 2);
    name[0] = '@';
    strcpy(name + 1, g->name);
    return name;
}

static void add_buffers(struct planner *p, struct fuser_graph *g)
{
    struct fuser_buffer *buffers = arena_alloc(p->arena, (g->n_buffers + p->plan->n_states) * sizeof *buffers);
    if (g->n_buffers) memcpy(buffers, g->buffers, g->n_buffers * sizeof *buffers);
    for (uint32_t i = 0; i < p->plan->n_states; i++) {
        const struct fuser_state *s = &p->plan->states[i];
        uint64_t bytes = state_bytes(s->module, s->global);
        buffers[g->n_buffers + i] =
            (struct fuser_buffer){.name = buffer_name(p, s->global), .bytes = bytes ? bytes : 1};
    }
    g->buffers = buffers;
    g->n_buffers += p->plan->n_states;
}

bool plan_states(struct planner *p)
{
    struct fuser_graph *g = arena_alloc(p->arena, sizeof *g);
    *g = *p->graph;
    g->nodes = arena_alloc(p->arena, g->n_nodes * sizeof *g->nodes);
    if (g->n_nodes) memcpy(g->nodes, p->graph->nodes, g->n_nodes * sizeof *g->nodes);
    p->n_own_buffers = g->n_buffers;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        struct fuser_node *n = &g->nodes[i];
        if (n->kind != FUSER_NODE_KERNEL || !has_state(n->kernel->module)) continue;
        const struct plan_stated *k = stated(p, n->kernel);
        if (!k->copy) continue;
        if (!check_states(p, n, k)) return false;
        take_states(p, n, k);
    }
    if (!p->plan->n_states) return true;
    add_buffers(p, g);
    p->graph = g;
    return true;
}
