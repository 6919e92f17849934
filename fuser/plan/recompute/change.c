/* What changes in the graph where a reader does the writer's work. */
#include "fuser/plan/recompute/change.h"

#include <string.h>

#include "fuser/plan/recompute/made.h"
#include "ir/base/arena.h"

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

static void note_change(struct recomputing *r, uint32_t node)
{
    r->changes = arena_grow(r->ctx->arena, r->changes, r->n_changes, sizeof *r->changes);
    r->changes[r->n_changes++] = (struct recompute_change){node, r->states[node]};
}

static void change_reader(struct recomputing *r, const struct recompute_candidate *c, uint32_t i)
{
    struct recompute_state *reader = &r->states[c->readers[i]], *writer = &r->states[c->writer];
    note_change(r, c->readers[i]);
    join_args(r, reader, writer, c->buffer);
    reader->node.taken = c->made[i]->taken;
    join_deps(r, &reader->node, &writer->node);
    reader->parts = join_parts(r, reader->parts, writer->parts);
    reader->node.kernel = c->made[i]->module->functions[0];
    reader->node.command = false;
    reader->access = c->made[i]->access;
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
