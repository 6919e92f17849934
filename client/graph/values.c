/* What a graph says of its values when it is finalized. */
#include "client/graph/values.h"

#include <string.h>

enum {
    MAX_SIZES = 32, /* of ranges and rows that values are compared with */
    NEAR = 256,     /* a range is rounded up to whole work-groups, rows are padded */
    LEAST_ROW = 16,
};

struct sizes {
    uint32_t n;
    int64_t size[MAX_SIZES];
};

static void add_size(struct sizes *s, uint64_t size)
{
    for (uint32_t i = 0; i < s->n; i++)
        if ((uint64_t)s->size[i] == size) return;
    if (size > 1 && size < INT64_MAX / 2 && s->n < MAX_SIZES) s->size[s->n++] = (int64_t)size;
}

static uint64_t element_bytes(const struct proto_slot *s)
{
    static const uint8_t of[PROTO_ELEM_COUNT] = {
        [PROTO_ELEM_I8] = 1,  [PROTO_ELEM_I16] = 2, [PROTO_ELEM_I32] = 4, [PROTO_ELEM_I64] = 8,
        [PROTO_ELEM_U8] = 1,  [PROTO_ELEM_U16] = 2, [PROTO_ELEM_U32] = 4, [PROTO_ELEM_U64] = 8,
        [PROTO_ELEM_F16] = 2, [PROTO_ELEM_F32] = 4, [PROTO_ELEM_F64] = 8, [PROTO_ELEM_BYTES] = 4 /* mostly */};
    return of[s->elem] * (s->lanes ? s->lanes : 1);
}

/* Where each work-group may have a row: the elements that are there for each. */
static void add_rows(struct sizes *s, const fusion_graph *g, const struct proto_node *node)
{
    uint64_t groups = 1;
    for (uint32_t d = 0; d < node->dims && d < 3; d++) {
        if (!node->local[d] || !node->global[d]) return;
        groups *= node->global[d] / node->local[d];
    }
    for (uint32_t i = 0; i < node->n_args && groups > 1; i++) {
        if (node->args[i].kind != PROTO_ARG_SLOT) continue;
        const struct proto_slot *slot = &g->wire.slots[node->args[i].index];
        uint64_t bytes = node->args[i].bytes ? node->args[i].bytes : slot->bytes;
        uint64_t row = groups * element_bytes(slot);
        if (bytes % row == 0 && bytes / row >= LEAST_ROW) add_size(s, bytes / row);
    }
}

static bool is_near(const struct sizes *s, int64_t v)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (v > s->size[i] / 2 && v > s->size[i] - NEAR && v < s->size[i] + NEAR) return true;
    return false;
}

/* The value as an integer, which it may not be; 0: it is none. */
static int64_t number_of(const struct value_bytes *v)
{
    int32_t narrow = 0;
    int64_t wide = 0;
    if (v->size == sizeof narrow) memcpy(&narrow, v->data, sizeof narrow);
    if (v->size == sizeof wide) memcpy(&wide, v->data, sizeof wide);
    return v->size == sizeof narrow ? narrow : wide;
}

static uint64_t hash(const struct value_bytes *v)
{
    uint64_t h = 0xcbf29ce484222325 ^ v->size;
    for (uint32_t i = 0; i < v->size; i++) h = (h ^ v->data[i]) * 0x100000001b3;
    return h;
}

/* Where memory runs out, or hashes meet, nothing is said. */
static uint32_t alike(const fusion_graph *g, struct map *seen, uint32_t i)
{
    const struct value_bytes *v = &g->values[i];
    struct map_entry *entry = map_make(seen, hash(v));
    if (!entry) return 0;
    if (!entry->number) entry->number = i + 1;
    const struct value_bytes *first = &g->values[entry->number - 1];
    return first->size == v->size && memcmp(first->data, v->data, v->size) == 0 ? (uint32_t)entry->number : 0;
}

void client_graph_describe_values(fusion_graph *g)
{
    struct sizes sizes = {0};
    struct map seen = {0};
    uint32_t n_kernels = 0;
    for (uint32_t i = 0; i < g->wire.n_nodes; i++) {
        const struct proto_node *node = &g->wire.nodes[i];
        if (node->kind != PROTO_NODE_KERNEL) continue;
        for (uint32_t d = 0; d < node->dims && d < 3; d++) add_size(&sizes, node->global[d]);
        add_rows(&sizes, g, node);
        n_kernels++;
    }
    for (uint32_t i = 0; i < g->wire.n_values; i++) {
        struct proto_value *v = &g->wire.values[i];
        int64_t number = number_of(&g->values[i]);
        bool matters = n_kernels > 1; /* what runs by itself goes by nothing */
        v->alike = matters ? alike(g, &seen, i) : 0;
        v->number = matters && is_near(&sizes, number) ? (uint64_t)number : 0;
    }
    map_clear(&seen);
}
