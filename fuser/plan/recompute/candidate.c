/* Who uses a buffer that may be computed again, and what each of them must not do. */
#include "fuser/plan/recompute/candidate.h"

#include <stdlib.h>

#include "fuser/graph/props.h"
#include "fuser/graph/range.h"
#include "fuser/plan/graph/traffic.h"
#include "ir/base/arena.h"

/* ---- who uses it ---- */

static bool is_private(const struct recomputing *r, const struct fuser_arg *arg)
{
    struct fuser_props props;
    const struct fuser_buffer *buffer = &r->facts->graph->buffers[arg->index];
    fuser_props_inherit(&buffer->props, &arg->props, &props);
    return props.internal_memory && !arg->view && !buffer->image && !buffer->viewed;
}

/* The whole buffer, so that all accessors are at the same bytes. */
static bool is_whole(const struct recomputing *r, const struct fuser_arg *arg)
{
    return !arg->offset && (!arg->bytes || arg->bytes == r->facts->graph->buffers[arg->index].bytes);
}

/* The node's use of the buffer makes it the writer, or one of the readers, and nothing else. */
static bool add_user(const struct recomputing *r, struct recompute_candidate *c, uint32_t node)
{
    const struct recompute_state *s = &r->states[node];
    bool reads = false, writes = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->node.n_args; i++) {
        const struct fuser_arg *arg = &s->node.args[i];
        const struct access_summary *summary = &s->access->params[i];
        if (!recompute_arg_is_of(arg, c->buffer)) continue;
        if (!is_private(r, arg) || !is_whole(r, arg) || summary->escapes || summary->atomics) return false;
        reads |= summary->reads;
        writes |= summary->writes;
        n++;
    }
    if (reads == writes || (writes && (n != 1 || c->writer != UINT32_MAX))) return false;
    if (writes) c->writer = node;
    if (reads && c->n_readers == RECOMPUTE_MAX_READERS) return false;
    if (reads) c->readers[c->n_readers++] = node;
    return true;
}

static bool uses(const struct recompute_state *s, uint32_t buffer)
{
    for (uint32_t i = 0; i < s->node.n_args; i++)
        if (recompute_arg_is_of(&s->node.args[i], buffer)) return true;
    return false;
}

static bool is_user(const struct recomputing *r, const struct recompute_candidate *c, uint32_t node)
{
    if (c->writer == node) return true;
    for (uint32_t i = 0; i < c->n_readers; i++)
        if (c->readers[i] == node) return true;
    return r->states[node].gone;
}

static bool find_users(const struct recomputing *r, struct recompute_candidate *c)
{
    const struct plan_facts *f = r->facts;
    for (uint32_t i = f->buffer_uses_start[c->buffer]; i < f->buffer_uses_start[c->buffer + 1]; i++) {
        const struct plan_use *use = &f->uses[f->buffer_uses[i]];
        c->traffic += traffic_of_use(f, use);
        if (f->graph->nodes[use->node].kind != FUSER_NODE_KERNEL) return false;
        if (!is_user(r, c, use->node) && uses(&r->states[use->node], c->buffer) && !add_user(r, c, use->node))
            return false;
    }
    for (uint32_t i = 0; i < r->n_changes; i++) {
        uint32_t node = r->changes[i].node;
        if (!is_user(r, c, node) && uses(&r->states[node], c->buffer) && !add_user(r, c, node)) return false;
    }
    for (uint32_t i = 0; i < c->n_readers; i++)
        if (c->readers[i] <= c->writer) return false;
    return c->writer != UINT32_MAX && c->n_readers > 0;
}

/* ---- whether it may be ---- */

static bool is_known(const struct recompute_state *s)
{
    const struct access_analysis *a = s->access;
    return !a->unknown_reads && !a->unknown_writes && !a->shared_state && !a->checks && !s->node.kernel->refused;
}

static bool is_for_any(const struct ir_function *kernel)
{
    return !kernel->has_targets && !kernel->module->n_own_aspects;
}

/* What other work-items and groups do has no part in it, and it writes nothing else. */
static bool can_be_repeated(const struct recompute_state *s, uint32_t buffer)
{
    const struct access_analysis *a = s->access;
    if (!is_known(s) || a->has_barrier || a->has_group_ops || a->has_sub_groups || a->sees_groups || a->local_bytes)
        return false;
    for (uint32_t i = 0; i < s->node.n_args; i++) {
        const struct fuser_arg *arg = &s->node.args[i];
        if (arg->kind == FUSER_ARG_LOCAL || a->params[i].escapes) return false;
        if (arg->kind == FUSER_ARG_BUFFER && arg->index != buffer && a->params[i].writes) return false;
    }
    return is_for_any(s->node.kernel);
}

/* `to` waits for `from`, perhaps for others that do. */
static bool comes_before(const struct recomputing *r, uint32_t from, uint32_t to)
{
    const struct plan_edges *e = r->edges;
    uint32_t n = r->facts->graph->n_nodes, depth = 0;
    uint32_t *stack = arena_alloc(r->ctx->arena, (n + 1) * sizeof *stack);
    bool *seen = arena_alloc(r->ctx->arena, n + 1);
    stack[depth++] = from;
    while (depth) {
        uint32_t node = stack[--depth];
        for (uint32_t i = e->successors_start[node]; i < e->successors_start[node + 1]; i++) {
            uint32_t next = e->successors[i];
            if (next == to) return true;
            if (!seen[next]) stack[depth++] = next;
            seen[next] = true;
        }
    }
    return false;
}

/* The node, which comes after the writer, changes what that one reads. */
static bool changes_input(const struct recomputing *r, const struct recompute_candidate *c, uint32_t node)
{
    const struct plan_facts *f = r->facts;
    const struct plan_node *n = &f->nodes[node];
    if (f->graph->nodes[node].kind == FUSER_NODE_KERNEL && n->access->unknown_writes) return true;
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        if (f->uses[i].writes && f->uses[i].buffer != c->buffer && uses(&r->states[c->writer], f->uses[i].buffer))
            return true;
    return false;
}

/* Whatever writes what the writer reads comes after all readers, too. */
static bool inputs_stay(const struct recomputing *r, const struct recompute_candidate *c)
{
    const struct node_run *parts = &r->states[c->writer].parts;
    const struct plan_edges *e = r->edges;
    for (uint32_t p = 0; p < parts->n; p++)
        for (uint32_t i = e->successors_start[parts->nodes[p]]; i < e->successors_start[parts->nodes[p] + 1]; i++) {
            uint32_t node = e->successors[i];
            if (!changes_input(r, c, node)) continue;
            for (uint32_t k = 0; k < c->n_readers; k++)
                if (c->readers[k] >= node || !comes_before(r, c->readers[k], node)) return false;
        }
    return true;
}

static const struct access_summary *summary_of(const struct recompute_state *s, uint32_t buffer)
{
    uint32_t i = 0;
    while (!recompute_arg_is_of(&s->node.args[i], buffer)) i++;
    return &s->access->params[i];
}

bool recompute_reads_own(const struct recompute_state *reader, const struct recompute_state *writer, uint32_t buffer)
{
    const struct access_summary *s = summary_of(writer, buffer);
    uint32_t at = 0;
    if (!range_same(&writer->node.range, &reader->node.range)) return false;
    while (at < s->n_sites && !s->sites[at].writes) at++;
    if (at == s->n_sites) return false;
    const struct affine *written = &s->sites[at].index;
    for (uint32_t i = 0; i < reader->node.n_args; i++) {
        if (!recompute_arg_is_of(&reader->node.args[i], buffer)) continue;
        const struct access_summary *read = &reader->access->params[i];
        for (uint32_t k = 0; k < read->n_sites; k++) {
            const struct affine *x = &read->sites[k].index;
            if (!affine_is_exact(x) || !affine_same_factors(x, written) || x->constant != written->constant)
                return false;
        }
    }
    return true;
}

/* Few work-items would do one after the other what many do at once. */
static bool is_as_wide(const struct recomputing *r, const struct recompute_candidate *c,
                       const struct recompute_state *reader)
{
    return range_items(&reader->node.range) >= range_items(&r->states[c->writer].node.range) / RECOMPUTE_FEWER_ITEMS;
}

static int by_rank(const void *x, const void *y, void *data)
{
    const struct plan_order *order = data;
    uint32_t a = order->rank[*(const uint32_t *)x], b = order->rank[*(const uint32_t *)y];
    return a < b ? -1 : a > b;
}

bool recompute_is_candidate(const struct recomputing *r, struct recompute_candidate *c, bool *elsewhere)
{
    *elsewhere = false;
    if (!find_users(r, c) || !can_be_repeated(&r->states[c->writer], c->buffer) || !inputs_stay(r, c)) return false;
    for (uint32_t i = 0; i < c->n_readers; i++) {
        const struct recompute_state *reader = &r->states[c->readers[i]];
        if (!is_known(reader) || !is_for_any(reader->node.kernel) || !is_as_wide(r, c, reader)) return false;
        *elsewhere |= !recompute_reads_own(reader, &r->states[c->writer], c->buffer);
    }
    qsort_r(c->readers, c->n_readers, sizeof *c->readers, by_rank, (void *)r->order);
    return true;
}
