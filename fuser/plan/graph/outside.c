/* Accesses that are proved to be outside of their buffer: a work-item is found, and its access computed. */
#include "fuser/plan/graph/outside.h"

#include "fuser/access/witness.h"

typedef long long ll;
typedef unsigned long long ull;

/* The element that a byte is in; those before the buffer have negative numbers. */
static ll element_of(int64_t byte, uint32_t size)
{
    return byte >= 0 ? byte / size : -((size - 1 - byte) / size);
}

static bool fail(struct plan_context *ctx, const struct plan_facts *f, const struct plan_use *use,
                 const struct access_site *site, const int64_t item[3], int64_t byte)
{
    const struct fuser_node *n = &f->graph->nodes[use->node];
    const struct fuser_buffer *b = &f->graph->buffers[use->buffer];
    uint32_t size = ir_type_size(n->kernel->module, b->elem != IR_VOID ? b->elem : site->type);
    if (size == 0) size = 1;
    /* Of an access that begins inside: the first byte that is not there. */
    int64_t missing = byte >= 0 && byte < (int64_t)b->bytes ? (int64_t)b->bytes : byte;
    char place[256], items[96];
    return plan_fail(
        ctx, FUSER_INVALID, "node", n->name,
        "work-item %s of %s %s outside of buffer %.80s: element %lld (byte %lld), and there are %llu elements "
        "(%llu bytes)",
        plan_ids_text(&f->nodes[use->node].range, item, items, sizeof items),
        plan_line_text(n, site->line, place, sizeof place), site->writes ? "writes" : "reads", b->name,
        element_of(missing, size), (ll)missing, (ull)(b->bytes / size), (ull)b->bytes);
}

static bool check_use(struct plan_context *ctx, const struct plan_facts *f, const struct plan_use *use)
{
    const struct plan_node *node = &f->nodes[use->node];
    const struct access_summary *s = &node->access->params[use->arg];
    const uint64_t *local = node->range.local[0] ? node->range.local : NULL;
    for (uint32_t i = 0; i < s->n_sites; i++) {
        struct launched_access a = {.site = &s->sites[i], .range = &node->range, .offset = (int64_t)use->first};
        int64_t item[3], byte;
        if (witness_outside(&a, local, 0, (int64_t)f->graph->buffers[use->buffer].bytes, item, &byte))
            return fail(ctx, f, use, a.site, item, byte);
    }
    return true;
}

bool outside_check(struct plan_context *ctx, const struct plan_facts *f)
{
    for (uint32_t i = 0; i < f->n_uses; i++)
        if (f->graph->nodes[f->uses[i].node].kind == FUSER_NODE_KERNEL && !check_use(ctx, f, &f->uses[i])) return false;
    return true;
}
