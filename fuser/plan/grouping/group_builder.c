/* A group of kernels in the making: what is known of all its kernels, for one more to be looked at. */
#include "fuser/plan/grouping/group_builder.h"

#include "fuser/graph/range.h"
#include "fuser/plan/graph/sub_group_size.h"
#include "fuser/plan/graph/uses.h"
#include "ir/base/arena.h"

void group_builder_init(const struct grouping *g, struct group_builder *b)
{
    *b = (struct group_builder){
        .by_buffer = arena_alloc(g->ctx->arena, (g->facts->graph->n_buffers + 1) * sizeof *b->by_buffer),
        .stamp = arena_alloc(g->ctx->arena, (g->facts->graph->n_buffers + 1) * sizeof *b->stamp)};
}

static void add_uses(const struct grouping *g, struct group_builder *b, uint32_t node)
{
    const struct plan_node *n = &g->facts->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        uint32_t buffer = g->facts->uses[i].buffer;
        struct member_use *m = arena_alloc(g->ctx->arena, sizeof *m);
        m->use = i;
        m->place = b->group.run.n - 1;
        m->next = b->stamp[buffer] == b->generation ? b->by_buffer[buffer] : NULL;
        b->by_buffer[buffer] = m;
        b->stamp[buffer] = b->generation;
    }
}

static void add_kernel(const struct grouping *g, struct group_builder *b, uint32_t node)
{
    const struct plan_node *n = &g->facts->nodes[node];
    uint32_t size = sub_group_size_of_node(g->facts, node);
    b->group.run.n++;
    if (n->access->shared_state) {
        b->shared_state = true;
        b->prints |= n->access->prints;
        b->state_node = node;
    }
    if (n->access->unknown_reads || n->access->unknown_writes) {
        b->follows_pointers = true;
        b->pointer_node = node;
    }
    b->unknown_writes |= n->access->unknown_writes;
    if (uses_write(g->facts, node)) {
        b->writes = true;
        b->writing_node = node;
    }
    if (size) b->sub_group_size = size;
    b->local_bytes += uses_local_bytes(g->facts, node);
    b->operations += n->operations;
    if (n->operations > b->largest) b->largest = n->operations;
    add_uses(g, b, node);
}

void group_builder_open(const struct grouping *g, struct group_builder *b, const uint32_t *first)
{
    uint32_t node = *first;
    *b = (struct group_builder){.group = {.run.nodes = first, .range = g->facts->nodes[node].range},
                                .alike = true,
                                .writing_node = NO_USE,
                                .by_buffer = b->by_buffer,
                                .stamp = b->stamp,
                                .generation = b->generation + 1};
    id_mapping_set(g->mapping, (struct node_run){first, 1}, &b->group.range);
    add_kernel(g, b, node);
}

void group_builder_add(const struct grouping *g, struct group_builder *b, const struct joining *with)
{
    uint32_t node = group_builder_next(b);
    b->alike &= with->last ||
                (range_same(&b->group.range, &with->range) && range_same(&with->range, &g->facts->nodes[node].range));
    b->group.range = with->range;
    b->group.barriers[b->group.run.n] = with->barrier;
    if (with->last && !b->group.last_from) b->group.last_from = b->group.run.n;
    if (with->barrier) b->ordered = b->group.run.n;
    add_kernel(g, b, node);
}

void group_builder_remove(const struct grouping *g, struct group_builder *b, const struct group_builder *before)
{
    uint32_t node = before->group.run.nodes[before->group.run.n];
    const struct plan_node *n = &g->facts->nodes[node];
    for (uint32_t i = n->first_use + n->n_uses; i-- > n->first_use;) {
        uint32_t buffer = g->facts->uses[i].buffer;
        b->by_buffer[buffer] = b->by_buffer[buffer]->next;
        if (!b->by_buffer[buffer]) b->stamp[buffer] = 0;
    }
    *b = *before;
    id_mapping_set(g->mapping, b->group.run, &b->group.range);
}
