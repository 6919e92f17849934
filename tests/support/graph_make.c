/* Building graphs for the fuser in a few words. */
#include "tests/support/graph_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/text/parse/parse.h"

struct test_graph *test_graph_of(struct ir_module *module)
{
    struct arena *arena = arena_new();
    struct test_graph *g = arena_alloc(arena, sizeof *g);
    g->arena = arena;
    g->module = module;
    g->options = (struct fuser_options){.mode = FUSER_MODE_ENABLE,
                                        .device = {.name = "cpu",
                                                   .aspects = UINT64_MAX,
                                                   .max_work_group_size = 1024,
                                                   .max_local_bytes = 65536,
                                                   .n_sub_group_sizes = 2,
                                                   .sub_group_sizes = {8, 16},
                                                   .primary_sub_group_size = 16,
                                                   .can_fuse = true}};
    return g;
}

struct test_graph *test_graph_new(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *module = ir_parse(text, strlen(text), "test.fk", &list);
    if (!module) {
        fprintf(stderr, "%s\n", diag_format(&list));
        abort();
    }
    return test_graph_of(module);
}

void test_graph_free(struct test_graph *g)
{
    if (!g) return;
    ir_module_free(g->module);
    arena_free(g->arena);
}

static const char *copied(struct test_graph *g, const char *name)
{
    return arena_strndup(g->arena, name, strlen(name));
}

uint32_t test_buffer(struct test_graph *g, const char *name, ir_type elem, uint64_t count, struct fuser_props props)
{
    struct fuser_graph *graph = &g->graph;
    graph->buffers = arena_grow(g->arena, graph->buffers, graph->n_buffers, sizeof *graph->buffers);
    graph->buffers[graph->n_buffers] = (struct fuser_buffer){
        .name = copied(g, name), .bytes = count * ir_type_size(g->module, elem), .elem = elem, .props = props};
    return graph->n_buffers++;
}

uint32_t test_value(struct test_graph *g, uint32_t bytes)
{
    struct fuser_graph *graph = &g->graph;
    graph->values = arena_grow(g->arena, graph->values, graph->n_values, sizeof *graph->values);
    graph->values[graph->n_values] = (struct fuser_value){bytes};
    return graph->n_values++;
}

static uint32_t add_node(struct test_graph *g, struct fuser_node node, const char *name, const struct fuser_arg *args,
                         uint32_t n_args)
{
    struct fuser_graph *graph = &g->graph;
    node.name = copied(g, name);
    if (n_args) {
        node.n_args = n_args;
        node.args = arena_alloc(g->arena, n_args * sizeof *args);
        memcpy(node.args, args, n_args * sizeof *args);
    }
    graph->nodes = arena_grow(g->arena, graph->nodes, graph->n_nodes, sizeof *graph->nodes);
    graph->nodes[graph->n_nodes] = node;
    return graph->n_nodes++;
}

uint32_t test_kernel(struct test_graph *g, const char *name, const char *kernel, struct nd_range range,
                     const struct fuser_arg *args, uint32_t n_args)
{
    return add_node(g, (struct fuser_node){.kernel = ir_module_find(g->module, kernel), .range = range}, name, args,
                    n_args);
}

uint32_t test_copy(struct test_graph *g, const char *name, uint32_t from, uint32_t to, uint64_t bytes)
{
    return add_node(
        g, (struct fuser_node){.kind = FUSER_NODE_COPY, .from = {.buffer = from}, .to = {.buffer = to}, .bytes = bytes},
        name, NULL, 0);
}

uint32_t test_fill(struct test_graph *g, const char *name, uint32_t to, uint64_t bytes, uint8_t byte)
{
    return add_node(
        g,
        (struct fuser_node){
            .kind = FUSER_NODE_FILL, .to = {.buffer = to}, .bytes = bytes, .pattern = {byte}, .pattern_size = 1},
        name, NULL, 0);
}

void test_in_rows(struct test_graph *g, uint32_t node, uint32_t rows)
{
    struct fuser_node *n = &g->graph.nodes[node];
    n->rows = rows;
    n->from.pitch = n->to.pitch = n->bytes;
}

uint32_t test_host(struct test_graph *g, const char *name, const struct fuser_arg *args, uint32_t n_args)
{
    return add_node(g, (struct fuser_node){.kind = FUSER_NODE_HOST}, name, args, n_args);
}

void test_depends(struct test_graph *g, uint32_t node, uint32_t on)
{
    struct fuser_node *n = &g->graph.nodes[node];
    n->deps = arena_grow(g->arena, n->deps, n->n_deps, sizeof *n->deps);
    n->deps[n->n_deps++] = on;
}

struct nd_range test_range(uint64_t global, uint64_t local)
{
    return (struct nd_range){.dims = 1, .global = {global, 1, 1}, .local = {local, local != 0, local != 0}};
}

struct nd_range test_range_2d(uint64_t x, uint64_t y)
{
    return (struct nd_range){.dims = 2, .global = {x, y, 1}};
}

struct fuser_arg test_arg_buffer(uint32_t buffer)
{
    return (struct fuser_arg){.kind = FUSER_ARG_BUFFER, .index = buffer};
}

struct fuser_arg test_arg_value(uint32_t value)
{
    return (struct fuser_arg){.kind = FUSER_ARG_VALUE, .index = value};
}

struct fuser_arg test_arg_local(uint64_t bytes)
{
    return (struct fuser_arg){.kind = FUSER_ARG_LOCAL, .bytes = bytes};
}
