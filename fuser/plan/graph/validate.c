/* Is the graph well formed: indices, names, sizes, properties. What it means is looked at later. */
#include "fuser/plan/graph/validate.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/graph/props.h"
#include "fuser/plan/graph/rows.h"
#include "fuser/plan/graph/validate_barriers.h"
#include "fuser/plan/graph/validate_kernel.h"
#include "ir/base/arena.h"

/* Limits of a graph: docs/fusion.md. */
enum {
    MAX_NODES = 100000,
    MAX_BUFFERS = 100000,
    MAX_VALUES = 1000000,
    MAX_ARGS = 1024,
    MAX_DEPS = 1000000,
    MAX_NAME = 255
};
#define MAX_BYTES ((uint64_t)1 << 46)

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool check_name(struct plan_context *ctx, const char *what, uint32_t index, const char *name)
{
    if (!name || !*name) return plan_fail(ctx, FUSER_INVALID, what, NULL, "%s number %u has no name", what, index);
    if (strlen(name) > MAX_NAME)
        return plan_fail(ctx, FUSER_INVALID, what, NULL,
                         "the name of %s number %u has %zu bytes, at most %d are allowed", what, index, strlen(name),
                         MAX_NAME);
    return true;
}

static bool check_unique(struct plan_context *ctx, const char *what, const char **names, uint32_t n)
{
    qsort(names, n, sizeof *names, compare_names);
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return plan_fail(ctx, FUSER_INVALID, what, names[i], "two of the graph have this name");
    return true;
}

static bool check_limits(struct plan_context *ctx, const struct fuser_graph *g)
{
    if (g->n_nodes > MAX_NODES)
        return plan_fail(ctx, FUSER_INVALID, "graph", NULL, "%u nodes, at most %d are allowed", g->n_nodes, MAX_NODES);
    if (g->n_buffers > MAX_BUFFERS)
        return plan_fail(ctx, FUSER_INVALID, "graph", NULL, "%u buffers, at most %d are allowed", g->n_buffers,
                         MAX_BUFFERS);
    if (g->n_values > MAX_VALUES)
        return plan_fail(ctx, FUSER_INVALID, "graph", NULL, "%u values, at most %d are allowed", g->n_values,
                         MAX_VALUES);
    return true;
}

static bool check_names(struct plan_context *ctx, const struct fuser_graph *g)
{
    uint32_t most = g->n_nodes > g->n_buffers ? g->n_nodes : g->n_buffers;
    const char **names = arena_alloc(ctx->arena, (most + 1) * sizeof *names);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (!check_name(ctx, "node", i, g->nodes[i].name)) return false;
        names[i] = g->nodes[i].name;
    }
    if (!check_unique(ctx, "node", names, g->n_nodes)) return false;
    for (uint32_t i = 0; i < g->n_buffers; i++) {
        if (!check_name(ctx, "buffer", i, g->buffers[i].name)) return false;
        names[i] = g->buffers[i].name;
    }
    return check_unique(ctx, "buffer", names, g->n_buffers);
}

static bool check_buffers(struct plan_context *ctx, const struct fuser_graph *g)
{
    for (uint32_t i = 0; i < g->n_buffers; i++) {
        const struct fuser_buffer *b = &g->buffers[i];
        if (b->bytes == 0 || b->bytes > MAX_BYTES)
            return plan_fail(ctx, FUSER_INVALID, "buffer", b->name, "%llu bytes; it must be 1 to %llu",
                             (unsigned long long)b->bytes, (unsigned long long)MAX_BYTES);
        if (b->props.access_scope > FUSER_SCOPE_WORK_ITEM)
            return plan_fail(ctx, FUSER_INVALID, "buffer", b->name, "access scope %d is none",
                             (int)b->props.access_scope);
    }
    return true;
}

/* A run of bytes inside a buffer. */
static bool check_piece(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node,
                        uint32_t buffer, uint64_t offset, uint64_t bytes)
{
    if (buffer >= g->n_buffers)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "buffer number %u, but the graph has %u", buffer,
                         g->n_buffers);
    const struct fuser_buffer *b = &g->buffers[buffer];
    if (offset > b->bytes || bytes > b->bytes - offset)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "bytes %llu to %llu of buffer %s, which has %llu",
                         (unsigned long long)offset, (unsigned long long)(offset + bytes), b->name,
                         (unsigned long long)b->bytes);
    return true;
}

static bool check_accessor(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node,
                           uint32_t i)
{
    const struct fuser_arg *arg = &node->args[i];
    if (!check_piece(ctx, g, node, arg->index, arg->offset, arg->bytes)) return false;
    const struct fuser_buffer *b = &g->buffers[arg->index];
    if (arg->offset == b->bytes)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "argument %u starts at the end of buffer %s (%llu bytes)", i, b->name,
                         (unsigned long long)b->bytes);
    if (arg->access >= IR_ACCESS_COUNT || arg->props.access_scope > FUSER_SCOPE_WORK_ITEM)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "argument %u has an access mode or scope that is none",
                         i);
    struct fuser_props props;
    if (!fuser_props_inherit(&b->props, &arg->props, &props))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "argument %u has %s, but buffer %s has %s", i,
                         fuser_scope_name(arg->props.access_scope), b->name, fuser_scope_name(b->props.access_scope));
    return true;
}

static bool check_args(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node)
{
    if (node->n_args > MAX_ARGS)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "%u arguments, at most %d are allowed", node->n_args,
                         MAX_ARGS);
    for (uint32_t i = 0; i < node->n_args; i++) {
        const struct fuser_arg *arg = &node->args[i];
        if (arg->kind == FUSER_ARG_BUFFER) {
            if (!check_accessor(ctx, g, node, i)) return false;
        } else if (node->kind == FUSER_NODE_HOST) {
            return plan_fail(ctx, FUSER_INVALID, "node", node->name, "argument %u of a host task is no buffer", i);
        } else if (arg->kind == FUSER_ARG_VALUE) {
            if (arg->index >= g->n_values)
                return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                                 "argument %u is value number %u, but the graph has %u", i, arg->index, g->n_values);
        } else if (arg->kind != FUSER_ARG_LOCAL) {
            return plan_fail(ctx, FUSER_INVALID, "node", node->name, "argument %u has kind %d, which is none", i,
                             (int)arg->kind);
        }
    }
    return true;
}

/* Rows of bytes inside a buffer, slices of them. */
static bool check_rows(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node,
                       const struct fuser_region *r)
{
    if (node->rows > 1 && (r->pitch < node->bytes || r->pitch > MAX_BYTES / node->rows))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "%u rows of %llu bytes, but %llu bytes from each to the next", node->rows,
                         (unsigned long long)node->bytes, (unsigned long long)r->pitch);
    if (node->plane && (node->rows % node->plane || r->slice_pitch > MAX_BYTES / node->rows ||
                        (node->rows > node->plane && r->slice_pitch < (node->plane - 1) * r->pitch + node->bytes)))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "%u rows in slices of %u rows, %llu bytes apart, but %llu bytes from each slice to the next",
                         node->rows, node->plane, (unsigned long long)r->pitch, (unsigned long long)r->slice_pitch);
    return check_piece(ctx, g, node, r->buffer, r->offset, rows_span(node, r));
}

/* Do two rectangles of one pitch share bytes, so far from each other? */
static bool planes_overlap(const struct fuser_node *n, uint64_t rows, uint64_t apart)
{
    uint64_t pitch = n->from.pitch;
    if (rows < 2) return apart < n->bytes;
    uint64_t down = apart / pitch, right = apart % pitch;
    return (down < rows && right < n->bytes) || (down + 1 < rows && right + n->bytes > pitch);
}

/* Do the two rectangles or boxes of a copy inside one buffer share bytes? With different pitches their hulls count. */
static bool overlaps_itself(const struct fuser_node *n)
{
    bool ahead = n->to.offset >= n->from.offset, slices = n->plane && n->rows > n->plane;
    uint64_t apart = ahead ? n->to.offset - n->from.offset : n->from.offset - n->to.offset;
    if (n->from.pitch != n->to.pitch || (slices && n->from.slice_pitch != n->to.slice_pitch))
        return apart < rows_span(n, ahead ? &n->from : &n->to);
    if (!slices) return planes_overlap(n, n->rows, apart);
    uint64_t n_slices = n->rows / n->plane, down = apart / n->from.slice_pitch, rest = apart % n->from.slice_pitch;
    return (down < n_slices && planes_overlap(n, n->plane, rest)) ||
           (down + 1 < n_slices && planes_overlap(n, n->plane, n->from.slice_pitch - rest));
}

static bool check_copy(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node)
{
    if (!check_rows(ctx, g, node, &node->from) || !check_rows(ctx, g, node, &node->to)) return false;
    uint64_t a = node->from.offset, b = node->to.offset;
    if (node->bytes && node->from.buffer == node->to.buffer && overlaps_itself(node))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "a copy of %llu bytes inside buffer %s from %llu to %llu overlaps itself",
                         (unsigned long long)node->bytes, g->buffers[node->from.buffer].name, (unsigned long long)a,
                         (unsigned long long)b);
    return true;
}

static bool check_fill(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node)
{
    if (!check_rows(ctx, g, node, &node->to)) return false;
    uint32_t size = node->pattern_size;
    if (size == 0 || size > 16 || (size & (size - 1)))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "a pattern of %u bytes; it must be 1, 2, 4, 8 or 16",
                         size);
    if (node->bytes % size)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "%llu bytes to fill are no multiple of the pattern's %u", (unsigned long long)node->bytes,
                         size);
    return true;
}

static bool check_node(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node)
{
    if (node->n_deps > MAX_DEPS)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "depends on %u nodes, at most %d are allowed",
                         node->n_deps, MAX_DEPS);
    for (uint32_t i = 0; i < node->n_deps; i++)
        if (node->deps[i] >= g->n_nodes)
            return plan_fail(ctx, FUSER_INVALID, "node", node->name, "depends on node number %u, but the graph has %u",
                             node->deps[i], g->n_nodes);
    switch (node->kind) {
    case FUSER_NODE_KERNEL:
        return check_args(ctx, g, node) && validate_kernel_node(ctx, g, node) && validate_barriers(ctx, node);
    case FUSER_NODE_HOST: return check_args(ctx, g, node);
    case FUSER_NODE_COPY: return check_copy(ctx, g, node);
    case FUSER_NODE_FILL: return check_fill(ctx, g, node);
    }
    return plan_fail(ctx, FUSER_INVALID, "node", node->name, "kind %d is none", (int)node->kind);
}

bool validate_graph(struct plan_context *ctx, const struct fuser_graph *g)
{
    const struct fuser_options *o = ctx->options;
    if (o->mode > FUSER_MODE_REQUIRE)
        return plan_fail(ctx, FUSER_INVALID, "graph", NULL, "fusion mode %d is none", (int)o->mode);
    if (o->mode == FUSER_MODE_REQUIRE && !o->device.can_fuse)
        return plan_fail(ctx, FUSER_FEATURE_NOT_SUPPORTED, "device", o->device.name,
                         "require_fusion, but the device lacks the aspect ext_oneapi_graph_fusion");
    if (!check_limits(ctx, g)) return false;
    if (!check_names(ctx, g) || !check_buffers(ctx, g)) return false;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (!check_node(ctx, g, &g->nodes[i])) return false;
    return true;
}
