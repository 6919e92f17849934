/* Kernels that check their accesses take the places of those that were given. */
#include "fuser/plan/bounds/checked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/bounds/checks.h"
#include "fuser/plan/graph/image_args.h"
#include "fuser/plan/graph/sub_group_size.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

static const char *name_of(const struct ir_param *param)
{
    return param->value->name ? param->value->name : "?";
}

static const char *text_of(struct plan_context *ctx, const char *what, uint32_t i, const char *name, uint64_t bytes)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s %u `%.40s` (%" PRIu64 " bytes)", what, i, name, bytes);
    const char *kept = arena_strndup(ctx->arena, text.text, text.size);
    free(text.text);
    return kept;
}

/* What the interpreter says of arguments: those of launches have the names of their buffers. */
static struct bounds_memory memory_of(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *n,
                                      uint32_t i)
{
    const struct ir_param *param = &n->kernel->params[i];
    const struct fuser_arg *arg = &n->args[i];
    struct bounds_memory m = {0};
    if (!ir_type_is_ptr(param->value->type)) return m;
    if (param->by_value) {
        m.bytes = ir_type_size(n->kernel->module, param->elem);
        m.text = text_of(ctx, "argument", i, name_of(param), m.bytes);
    } else if (arg->kind == FUSER_ARG_LOCAL) {
        m.bytes = arg->bytes;
        m.text = text_of(ctx, "local argument", i, name_of(param), m.bytes);
    } else if (arg->kind == FUSER_ARG_BUFFER) {
        m.bytes = g->buffers[arg->index].bytes - arg->offset;
        m.text = text_of(ctx, "argument", i, g->buffers[arg->index].name, m.bytes);
    }
    return m;
}

static void remark(struct plan_context *ctx, const struct fuser_node *n, const struct bounds_count *count)
{
    uint32_t all = count->proved + count->checked + count->unknown;
    plan_remark(ctx, "bounds", n->name, NULL,
                "of %u accesses of %s to memory %u are proved to be inside, and %u checked", all, n->name,
                count->proved, count->checked);
    if (count->unknown)
        plan_remark(ctx, "bounds_unknown", n->name, NULL,
                    "%u accesses of %s are not checked, the first in line %u: they go through pointers that are found "
                    "in memory or made of integers",
                    count->unknown, n->name, count->unknown_line);
}

/* Gives the kernel with checks; the module is NULL where it needs none. */
static struct ir_module *check(struct plan_context *ctx, const struct plan_facts *f, uint32_t node)
{
    const struct fuser_node *n = &f->graph->nodes[node];
    struct bounds_memory *memory = arena_alloc(ctx->arena, (n->n_args + 1) * sizeof *memory);
    for (uint32_t i = 0; i < n->n_args; i++) memory[i] = memory_of(ctx, f->graph, n, i);
    const struct bounds_launch launch = {.name = n->kernel->name,
                                         .number = node,
                                         .range = f->nodes[node].range,
                                         .sub_group_size = sub_group_size_of_kernel(f->device, n->kernel),
                                         .memory = memory};
    struct ir_module *module = ir_module_new(n->kernel->module->name);
    struct ir_function *copy = ir_function_copy(module, n->kernel, n->kernel->name);
    copy->has_compiled = false; /* what came with the module checks nothing */
    struct bounds_count count = bounds_add_checks(copy, &launch);
    remark(ctx, n, &count);
    if (count.checked) return module;
    ir_module_free(module);
    return NULL;
}

void checked_graph_make(struct plan_context *ctx, const struct plan_facts *f, struct checked_graph *out)
{
    const struct fuser_graph *g = f->graph;
    *out = (struct checked_graph){.graph = g};
    if (!ctx->options->bounds) return;
    struct fuser_graph *changed = arena_alloc(ctx->arena, sizeof *changed);
    *changed = *g;
    changed->nodes = arena_alloc(ctx->arena, (g->n_nodes + 1) * sizeof *changed->nodes);
    if (g->n_nodes) memcpy(changed->nodes, g->nodes, g->n_nodes * sizeof *changed->nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        struct ir_module *module = g->nodes[i].kind == FUSER_NODE_KERNEL ? check(ctx, f, i) : NULL;
        if (!module) continue;
        out->modules = arena_grow(ctx->arena, out->modules, out->n_modules, sizeof *out->modules);
        out->modules[out->n_modules++] = module;
        changed->nodes[i].kernel = ir_module_find(module, g->nodes[i].kernel->name);
    }
    if (out->n_modules) out->graph = changed;
}

void checked_graph_free(struct checked_graph *c)
{
    for (uint32_t i = 0; i < c->n_modules; i++) ir_module_free(c->modules[i]);
}
