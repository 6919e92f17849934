/* Kernels that do the work of others: how they are made, and what changes in the graph. */
#include "fuser/plan/recompute/change.h"

#include <string.h>

#include "fuser/access/access.h"
#include "fuser/recompute/compose.h"
#include "ir/base/arena.h"

/* ---- making kernels ---- */

/* What decides where the kernel accesses memory is taken to be what it was. */
const int64_t *recompute_numbers_of(const struct recomputing *r, const struct recompute_state *s)
{
    const struct fuser_node *n = &s->node;
    int64_t *numbers = arena_alloc(r->ctx->arena, (n->n_args + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < n->n_args; i++)
        if (n->args[i].kind == FUSER_ARG_VALUE && s->access->params[i].decides)
            numbers[i] = r->facts->graph->values[n->args[i].index].number;
    return numbers;
}

static struct recompute_kernel kernel_of(const struct recomputing *r, const struct recompute_state *s, uint32_t buffer)
{
    bool *is_buffer = arena_alloc(r->ctx->arena, s->node.n_args + 1);
    for (uint32_t i = 0; i < s->node.n_args; i++) is_buffer[i] = recompute_arg_is_of(&s->node.args[i], buffer);
    return (struct recompute_kernel){s->node.kernel, s->node.range, recompute_numbers_of(r, s), is_buffer};
}

/* What the numbers of the reader and the writer were taken to be, by argument of the kernel made of both. */
static const int64_t *join_numbers(const struct recomputing *r, const struct recompute_state *reader,
                                   const struct recompute_state *writer, uint32_t buffer)
{
    const struct recompute_state *both[] = {reader, writer};
    uint32_t n = 0;
    int64_t *taken = arena_alloc(r->ctx->arena, (reader->node.n_args + writer->node.n_args + 1) * sizeof *taken);
    for (int k = 0; k < 2; k++) {
        const struct fuser_node *node = &both[k]->node;
        const int64_t *numbers = recompute_numbers_of(r, both[k]);
        for (uint32_t i = 0; i < node->n_args; i++)
            if (!recompute_arg_is_of(&node->args[i], buffer))
                taken[n++] = node->taken && node->taken[i] ? node->taken[i] : numbers[i];
    }
    return taken;
}

bool recompute_make(const struct recomputing *r, struct recompute_candidate *c, char *why, size_t why_size)
{
    struct recompute_request request = {.producer = kernel_of(r, &r->states[c->writer], c->buffer),
                                        .contract = r->ctx->options->device.fma,
                                        .small_memory = r->small_memory};
    for (uint32_t i = 0; i < c->n_readers; i++) {
        request.consumer = kernel_of(r, &r->states[c->readers[i]], c->buffer);
        c->made[i] = recompute_compose(&request, why, why_size);
        c->taken[i] = join_numbers(r, &r->states[c->readers[i]], &r->states[c->writer], c->buffer);
        if (c->made[i]) continue;
        while (i-- > 0) ir_module_free(c->made[i]);
        return false;
    }
    return true;
}

/* ---- what changes ---- */

/* The arguments of both without the buffer. */
static void join_args(const struct recomputing *r, struct recompute_state *reader, const struct recompute_state *writer,
                      uint32_t buffer)
{
    const struct fuser_node *both[] = {&reader->node, &writer->node};
    uint32_t n = 0;
    struct fuser_arg *args = arena_alloc(r->ctx->arena, (both[0]->n_args + both[1]->n_args + 1) * sizeof *args);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < both[k]->n_args; i++)
            if (!recompute_arg_is_of(&both[k]->args[i], buffer)) args[n++] = both[k]->args[i];
    reader->node.args = args;
    reader->node.n_args = n;
}

static void join_deps(const struct recomputing *r, struct fuser_node *n, const struct fuser_node *more)
{
    uint32_t *deps = arena_alloc(r->ctx->arena, (n->n_deps + more->n_deps + 1) * sizeof *deps);
    if (n->n_deps) memcpy(deps, n->deps, n->n_deps * sizeof *deps);
    if (more->n_deps) memcpy(deps + n->n_deps, more->deps, more->n_deps * sizeof *deps);
    n->deps = deps;
    n->n_deps += more->n_deps;
}

/* The writer's parts come before the reader itself, those that both have once. */
static struct node_run join_parts(const struct recomputing *r, struct node_run reader, struct node_run writer)
{
    uint32_t *nodes = arena_alloc(r->ctx->arena, (reader.n + writer.n) * sizeof *nodes), n = 0;
    for (uint32_t i = 0, k = 0; i < reader.n || k < writer.n;) {
        bool first =
            k == writer.n || (i < reader.n && r->order->rank[reader.nodes[i]] <= r->order->rank[writer.nodes[k]]);
        uint32_t node = first ? reader.nodes[i++] : writer.nodes[k++];
        if (!n || nodes[n - 1] != node) nodes[n++] = node;
    }
    return (struct node_run){nodes, n};
}

static void keep_module(struct recomputing *r, struct ir_module *m)
{
    struct recomputed *out = r->out;
    out->modules = arena_grow(r->ctx->arena, out->modules, out->n_modules, sizeof *out->modules);
    out->modules[out->n_modules++] = m;
}

static const struct access_analysis *analyse(struct recomputing *r, const struct fuser_node *n)
{
    struct access_analysis *a = access_analyse(n->kernel, &n->range, 0, r->small_memory, n->taken);
    r->owned = arena_grow(r->ctx->arena, r->owned, r->n_owned, sizeof *r->owned);
    r->owned[r->n_owned++] = a;
    return a;
}

static void note_change(struct recomputing *r, uint32_t node)
{
    r->changes = arena_grow(r->ctx->arena, r->changes, r->n_changes, sizeof *r->changes);
    r->changes[r->n_changes++] = (struct recompute_change){node, r->states[node]};
}

static void change_reader(struct recomputing *r, const struct recompute_candidate *c, uint32_t i)
{
    struct recompute_state *reader = &r->states[c->readers[i]], *writer = &r->states[c->writer];
    note_change(r, c->readers[i]);
    keep_module(r, c->made[i]);
    join_args(r, reader, writer, c->buffer);
    reader->node.taken = c->taken[i];
    join_deps(r, &reader->node, &writer->node);
    reader->parts = join_parts(r, reader->parts, writer->parts);
    reader->node.kernel = c->made[i]->functions[0];
    reader->access = analyse(r, &reader->node);
}

static void remark(struct recomputing *r, const struct recompute_candidate *c)
{
    const struct fuser_graph *g = r->facts->graph;
    for (uint32_t i = 0; i < c->n_readers; i++)
        plan_remark(r->ctx, "recomputed", g->nodes[c->readers[i]].name, g->buffers[c->buffer].name,
                    "%s computes what it reads of buffer %s itself, as %s does: saves %llu bytes of memory and %llu "
                    "bytes of traffic",
                    g->nodes[c->readers[i]].name, g->buffers[c->buffer].name, g->nodes[c->writer].name,
                    (unsigned long long)g->buffers[c->buffer].bytes, (unsigned long long)c->traffic);
}

void recompute_commit(struct recomputing *r, const struct recompute_candidate *c)
{
    struct recomputed *out = r->out;
    for (uint32_t i = 0; i < c->n_readers; i++) change_reader(r, c, i);
    note_change(r, c->writer);
    r->states[c->writer].gone = true;
    out->buffers = arena_grow(r->ctx->arena, out->buffers, out->n_buffers, sizeof *out->buffers);
    out->buffers[out->n_buffers++] = (struct recomputed_buffer){c->buffer, c->traffic};
    remark(r, c);
}

struct recompute_mark recompute_mark(const struct recomputing *r)
{
    return (struct recompute_mark){r->n_changes, r->out->n_buffers, r->ctx->n_remarks};
}

void recompute_take_back(struct recomputing *r, const struct recompute_mark *mark)
{
    while (r->n_changes > mark->n_changes) {
        r->n_changes--;
        r->states[r->changes[r->n_changes].node] = r->changes[r->n_changes].before;
    }
    r->out->n_buffers = mark->n_buffers;
    r->ctx->n_remarks = mark->n_remarks;
}
