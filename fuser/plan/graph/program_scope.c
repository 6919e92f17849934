/*
 * Program-scope variables and pipes as buffers of the graph: a kernel that uses some gets a parameter for each. Edges,
 * groups and launches then treat them like all memory, and kernels that share a variable share a buffer. What they hold
 * outlives the plan, so they are always in memory.
 */
#include "fuser/plan/graph/program_scope.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/passes/manager/pass_manager.h"
#include "fuser/passes/passes.h"
#include "ir/base/arena.h"

static const uint64_t max_variable_bytes = (uint64_t)1 << 30;

/* A kernel, and its copy that takes the program-scope variables it uses as arguments. */
struct lowered_kernel {
    const struct ir_function *kernel;
    struct ir_module *module; /* of the copy; NULL: it uses nothing */
    const struct ir_function *copy;
    uint32_t n_variables;
    uint32_t *variables; /* behind the kernel's own parameters */
    struct lowered_kernel *next;
};

static bool is_variable(const struct ir_global *g)
{
    if (g->linkage == IR_LINKAGE_IMPORT) return false; /* refused where code is made, by name */
    return g->space == IR_SPACE_GLOBAL || ir_type_kind(g->type) == IR_KIND_PIPE;
}

static bool has_variable(const struct ir_module *m)
{
    for (uint32_t i = 0; i < m->n_globals; i++)
        if (is_variable(m->globals[i])) return true;
    return false;
}

/* UINT64_MAX: too much to say. */
static uint64_t variable_bytes(const struct ir_module *m, const struct ir_global *g)
{
    uint64_t bytes = ir_type_size(m, g->type);
    if (ir_type_kind(g->type) != IR_KIND_PIPE) return bytes;
    return __builtin_mul_overflow(ir_type_size(m, g->packet), (uint64_t)g->capacity, &bytes) ? UINT64_MAX : bytes;
}

/* ---- the plan's variables ---- */

static uint32_t variable_index(struct program_scope *s, const struct ir_module *m, const char *name)
{
    const struct ir_global *g = ir_module_find_global(m, name);
    for (uint32_t i = 0; i < s->n_variables; i++)
        if (s->variables[i].global == g) return i;
    s->variables = arena_grow(s->ctx->kept, s->variables, s->n_variables, sizeof *s->variables);
    s->variables[s->n_variables] = (struct fuser_program_variable){m, g};
    return s->n_variables++;
}

static bool check_variables(struct program_scope *s, const struct fuser_node *node, const struct lowered_kernel *k)
{
    for (uint32_t i = 0; i < k->n_variables; i++) {
        const struct fuser_program_variable *v = &s->variables[k->variables[i]];
        uint64_t bytes = variable_bytes(v->module, v->global);
        if (v->global->n_addresses) /* of what has none before a kernel runs */
            return plan_fail(
                s->ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
                "kernel %s uses @%s, whose initial value holds the address of @%s; only constants can do that",
                node->kernel->name, v->global->name, v->global->addresses[0].target->name);
        if (bytes <= max_variable_bytes) continue;
        return plan_fail(s->ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
                         "kernel %s uses @%s of %llu bytes; a program-scope variable or pipe is limited to 1 GiB",
                         node->kernel->name, v->global->name, (unsigned long long)bytes);
    }
    return true;
}

/* ---- kernels ---- */

struct finding {
    uint32_t n;
    struct ir_inst **insts; /* that name a program-scope variable or pipe */
    bool calls;
};

static void find_variable(struct ir_inst *inst, void *data)
{
    struct finding *f = data;
    f->calls |= inst->op == IR_OP_CALL;
    if (inst->op != IR_OP_GLOBAL || !is_variable(inst->attrs.global)) return;
    f->insts = arena_realloc(f->insts, (f->n + 1) * sizeof(struct ir_inst *));
    f->insts[f->n++] = inst;
}

/* The parameter of a variable, added where the kernel has none yet. */
static struct ir_value *param_of(struct program_scope *s, struct lowered_kernel *k, struct ir_function *copy,
                                 const struct ir_inst *inst)
{
    const struct ir_global *g = inst->attrs.global;
    uint32_t variable = variable_index(s, k->kernel->module, g->name), first = k->kernel->n_params, i = 0;
    while (i < k->n_variables && k->variables[i] != variable) i++;
    if (i < k->n_variables) return copy->params[first + i].value;
    k->variables = arena_grow(s->ctx->arena, k->variables, k->n_variables, sizeof *k->variables);
    k->variables[k->n_variables++] = variable;
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
static void make_copy(struct program_scope *s, struct lowered_kernel *k)
{
    struct finding found = {0};
    struct ir_module *m = ir_module_new("lowered");
    struct ir_function *copy = ir_function_copy(m, k->kernel, NULL);
    pass_run(&pass_inline, copy);
    ir_walk(copy->body, find_variable, &found);
    if (found.n && !found.calls) {
        make_room(copy, found.n);
        for (uint32_t i = 0; i < found.n; i++) {
            struct ir_inst *inst = found.insts[i];
            ir_replace_uses(copy->body, inst->results[0], param_of(s, k, copy, inst));
            ir_inst_remove(inst);
        }
        k->module = m;
        k->copy = copy;
    } else {
        ir_module_free(m);
    }
    free(found.insts);
}

static const struct lowered_kernel *lowered(struct program_scope *s, const struct ir_function *kernel)
{
    for (const struct lowered_kernel *k = s->kernels; k; k = k->next)
        if (k->kernel == kernel) return k;
    struct lowered_kernel *k = arena_alloc(s->ctx->arena, sizeof *k);
    *k = (struct lowered_kernel){.kernel = kernel, .next = s->kernels};
    s->kernels = k;
    make_copy(s, k);
    return k;
}

void program_scope_free(struct program_scope *s)
{
    for (struct lowered_kernel *k = s->kernels; k; k = k->next) ir_module_free(k->module);
}

/* ---- the graph ---- */

static void add_args(struct program_scope *s, struct fuser_node *n, const struct lowered_kernel *k)
{
    struct fuser_arg *args = arena_alloc(s->ctx->arena, (n->n_args + k->n_variables) * sizeof *args);
    memcpy(args, n->args, n->n_args * sizeof *args);
    for (uint32_t i = 0; i < k->n_variables; i++)
        args[n->n_args + i] =
            (struct fuser_arg){.kind = FUSER_ARG_BUFFER, .index = s->n_graph_buffers + k->variables[i]};
    n->kernel = k->copy;
    n->args = args;
    n->n_args += k->n_variables;
}

static const char *buffer_name(struct program_scope *s, const struct ir_global *g)
{
    char *name = arena_alloc(s->ctx->arena, strlen(g->name) + 2);
    name[0] = '@';
    strcpy(name + 1, g->name);
    return name;
}

static void add_buffers(struct program_scope *s, struct fuser_graph *g)
{
    struct fuser_buffer *buffers = arena_alloc(s->ctx->arena, (g->n_buffers + s->n_variables) * sizeof *buffers);
    if (g->n_buffers) memcpy(buffers, g->buffers, g->n_buffers * sizeof *buffers);
    for (uint32_t i = 0; i < s->n_variables; i++) {
        const struct fuser_program_variable *v = &s->variables[i];
        uint64_t bytes = variable_bytes(v->module, v->global);
        buffers[g->n_buffers + i] =
            (struct fuser_buffer){.name = buffer_name(s, v->global), .bytes = bytes ? bytes : 1};
    }
    g->buffers = buffers;
    g->n_buffers += s->n_variables;
}

bool program_scope_lower(struct plan_context *ctx, const struct fuser_graph *graph, struct program_scope *s)
{
    struct fuser_graph *g = arena_alloc(ctx->arena, sizeof *g);
    *g = *graph;
    g->nodes = arena_alloc(ctx->arena, g->n_nodes * sizeof *g->nodes);
    if (g->n_nodes) memcpy(g->nodes, graph->nodes, g->n_nodes * sizeof *g->nodes);
    *s = (struct program_scope){.ctx = ctx, .graph = graph, .n_graph_buffers = g->n_buffers};
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        struct fuser_node *n = &g->nodes[i];
        if (n->kind != FUSER_NODE_KERNEL || !has_variable(n->kernel->module)) continue;
        const struct lowered_kernel *k = lowered(s, n->kernel);
        if (!k->copy) continue;
        if (!check_variables(s, n, k)) return false;
        add_args(s, n, k);
    }
    if (!s->n_variables) return true;
    add_buffers(s, g);
    s->graph = g;
    return true;
}
