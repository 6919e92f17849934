/* Which buffers are computed again, latest writers first: what a reader computes then may itself read what can be. */
#include "fuser/plan/recompute/recompute.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/cost/cost.h"
#include "fuser/graph/range.h"
#include "fuser/plan/graph/left_out.h"
#include "fuser/plan/recompute/candidate.h"
#include "fuser/plan/recompute/change.h"
#include "fuser/plan/recompute/made.h"
#include "ir/base/arena.h"

/* A kernel of more operations is not made; nor is made what comes after so many tries, however large the graph. */
enum { MAX_OPERATIONS = 2048, MAX_TRIES = 4096 };

/* ---- one buffer ---- */

static bool is_worth_it(struct recomputing *r, const struct recompute_candidate *c)
{
    const struct recompute_state *writer = &r->states[c->writer];
    uint64_t more = 0, less = recompute_work_of(r, writer) * range_items(&writer->node.range);
    for (uint32_t i = 0; i < c->n_readers; i++) {
        const struct recompute_state *reader = &r->states[c->readers[i]];
        uint64_t before = recompute_work_of(r, reader), after = c->made[i]->work;
        if (ir_count(c->made[i]->module->functions[0]->body) > MAX_OPERATIONS) return false;
        if (after > before) more += (after - before) * range_items(&reader->node.range);
    }
    const struct fuser_options *o = r->ctx->options;
    return o->mode == FUSER_MODE_REQUIRE || cost_recomputing_pays(&o->device.machine, more, less, c->traffic);
}

static void say_not(struct recomputing *r, const struct recompute_candidate *c, const char *why)
{
    const struct fuser_graph *g = r->facts->graph;
    if (r->ctx->options->explain)
        plan_remark(r->ctx, "not_recomputed", g->nodes[c->readers[0]].name, g->buffers[c->buffer].name,
                    "%s does not compute what it reads of buffer %s itself: %s", g->nodes[c->readers[0]].name,
                    g->buffers[c->buffer].name, why);
}

/* The kernel reads of the buffer what the same work-item of another kernel wrote: they become one as they are, and the
   buffer then needs no memory. */
static bool is_kept_in_registers(const struct recomputing *r, const struct recompute_state *reader, uint32_t buffer)
{
    const struct plan_facts *f = r->facts;
    for (uint32_t i = f->buffer_uses_start[buffer]; i < f->buffer_uses_start[buffer + 1]; i++) {
        const struct plan_use *use = &f->uses[f->buffer_uses[i]];
        const struct recompute_state *writer = &r->states[use->node];
        if (use->writes && writer->node.kind == FUSER_NODE_KERNEL && !writer->gone && writer != reader &&
            recompute_reads_own(reader, writer, buffer))
            return true;
    }
    return false;
}

static bool try_buffer(struct recomputing *r, uint32_t buffer);

/* What the writer had in registers is memory now that its readers compute it at other places: unless they compute that,
   too, nothing is gained. */
static bool follow_inputs(struct recomputing *r, const uint32_t *inputs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!try_buffer(r, inputs[i])) return false;
    return true;
}

static uint32_t inputs_in_registers(const struct recomputing *r, const struct recompute_candidate *c, uint32_t *inputs)
{
    const struct recompute_state *writer = &r->states[c->writer];
    uint32_t n = 0;
    for (uint32_t i = 0; i < writer->node.n_args; i++) {
        const struct fuser_arg *arg = &writer->node.args[i];
        bool have = arg->kind != FUSER_ARG_BUFFER || arg->index == c->buffer || !r->internal[arg->index] ||
                    !writer->access->params[i].reads;
        for (uint32_t k = 0; k < n && !have; k++) have = inputs[k] == arg->index;
        if (!have && is_kept_in_registers(r, writer, arg->index)) inputs[n++] = arg->index;
    }
    return n;
}

static bool try_buffer(struct recomputing *r, uint32_t buffer)
{
    struct recompute_candidate c = {.buffer = buffer, .writer = UINT32_MAX};
    struct recompute_mark mark = recompute_mark(r);
    bool elsewhere;
    if (!recompute_is_candidate(r, &c, &elsewhere) || !elsewhere || r->n_tries++ == MAX_TRIES) return false;
    const struct recompute_made *refused = recompute_make(r, &c);
    if (refused || !is_worth_it(r, &c)) {
        say_not(r, &c, refused ? refused->why : "it would be more work than memory is");
        return false;
    }
    uint32_t *inputs = arena_alloc(r->ctx->arena, (r->states[c.writer].node.n_args + 1) * sizeof *inputs);
    uint32_t n = inputs_in_registers(r, &c, inputs);
    recompute_commit(r, &c);
    if (follow_inputs(r, inputs, n)) return true;
    recompute_take_back(r, &mark);
    say_not(r, &c, "what it is made of is in registers where it is made");
    return false;
}

/* ---- the whole ---- */

struct written_buffer {
    uint32_t buffer, rank; /* of its last writer */
    const char *name;
};

static int latest_first(const void *x, const void *y)
{
    const struct written_buffer *a = x, *b = y;
    if (a->rank != b->rank) return a->rank > b->rank ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Buffers that all say are internal, by their last writer. */
static uint32_t list_buffers(const struct recomputing *r, struct written_buffer *list)
{
    const struct plan_facts *f = r->facts;
    uint32_t n = 0;
    for (uint32_t b = 0; b < f->graph->n_buffers; b++) {
        bool internal = true, written = false;
        uint32_t rank = 0;
        for (uint32_t i = f->buffer_uses_start[b]; i < f->buffer_uses_start[b + 1]; i++) {
            const struct plan_use *use = &f->uses[f->buffer_uses[i]];
            internal &= use->props.internal_memory;
            if (use->writes && r->order->rank[use->node] >= rank) rank = r->order->rank[use->node];
            written |= use->writes;
        }
        r->internal[b] = internal && written;
        if (r->internal[b]) list[n++] = (struct written_buffer){b, rank, f->graph->buffers[b].name};
    }
    if (n) qsort(list, n, sizeof *list, latest_first);
    return n;
}

static void begin(struct recomputing *r)
{
    const struct fuser_graph *g = r->facts->graph;
    r->states = arena_alloc(r->ctx->arena, (g->n_nodes + 1) * sizeof *r->states);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint32_t *self = arena_alloc(r->ctx->arena, sizeof *self);
        *self = i;
        r->states[i] = (struct recompute_state){
            .node = g->nodes[i], .access = r->facts->nodes[i].access, .parts = {.nodes = self, .n = 1}};
    }
}

/* The graph of changed nodes without those that are gone. False on a cycle, which the given graph would have had. */
static bool finish(struct recomputing *r)
{
    const struct fuser_graph *g = r->facts->graph;
    struct fuser_graph *changed = arena_alloc(r->ctx->arena, sizeof *changed);
    bool *gone = arena_alloc(r->ctx->arena, g->n_nodes + 1);
    struct left_out left;
    *changed = *g;
    changed->nodes = arena_alloc(r->ctx->arena, (g->n_nodes + 1) * sizeof *changed->nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        changed->nodes[i] = r->states[i].node;
        gone[i] = r->states[i].gone;
    }
    if (!left_out_without(r->ctx, changed, gone, &left)) return false;
    r->out->graph = left.graph;
    r->out->parts = arena_alloc(r->ctx->arena, (left.graph->n_nodes + 1) * sizeof *r->out->parts);
    for (uint32_t i = 0; i < left.graph->n_nodes; i++) r->out->parts[i] = r->states[left.given[i]].parts;
    return true;
}

static bool is_wanted(const struct plan_context *ctx)
{
    const struct fuser_options *o = ctx->options;
    return o->mode != FUSER_MODE_NONE && o->device.can_fuse && !o->insert_barriers && !o->debug &&
           !ctx->tuned->no_recomputing;
}

bool recompute_find(struct plan_context *ctx, const struct plan_facts *facts, const struct plan_edges *edges,
                    const struct plan_order *order, struct recomputed *out)
{
    struct recomputing r = {.ctx = ctx, .facts = facts, .edges = edges, .order = order, .out = out};
    *out = (struct recomputed){.graph = facts->graph, .given = facts};
    if (!is_wanted(ctx)) return true;
    uint32_t most = facts->graph->n_buffers + 1;
    struct written_buffer *list = arena_alloc(ctx->arena, most * sizeof *list);
    r.internal = arena_alloc(ctx->arena, most);
    uint32_t n = list_buffers(&r, list);
    if (!n) return true;
    begin(&r);
    for (uint32_t i = 0; i < n; i++) try_buffer(&r, list[i].buffer);
    bool done = !out->n_buffers || finish(&r);
    recompute_made_free(&r);
    return done;
}

void recompute_free(struct recomputed *r)
{
    for (uint32_t i = 0; i < r->n_modules; i++) ir_module_free(r->modules[i]);
}
