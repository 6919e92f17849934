/* Nodes that copy and fill buffers and allocations. */
#include <inttypes.h>
#include <string.h>

#include "client/base/error.h"
#include "client/graph/host.h"
#include "client/graph/node.h"

/* From the first byte of the first row to the end of the last one. */
static fusion_status copy_extent(const struct copy_2d *c, uint64_t pitch, uint64_t *extent)
{
    *extent = c->bytes;
    if (c->rows <= 1) return FUSION_SUCCESS;
    if (pitch >= c->bytes && !__builtin_mul_overflow(pitch, c->rows - 1, extent) &&
        !__builtin_add_overflow(*extent, c->bytes, extent) && *extent <= INT64_MAX)
        return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, "copy", "%" PRIu32 " rows of %" PRIu64 " bytes, %" PRIu64 " bytes apart",
                        c->rows, c->bytes, pitch);
}

static fusion_status add_copy(fusion_graph *g, const char *name, const struct copy_2d *c, const fusion_node *depends_on,
                              uint32_t n_depends_on, fusion_node *node)
{
    struct proto_node n = {.kind = PROTO_NODE_COPY,
                           .bytes = c->bytes,
                           .rows = c->rows,
                           .from_pitch = c->from_pitch,
                           .to_pitch = c->to_pitch};
    uint64_t from_extent, to_extent;
    fusion_status status = copy_extent(c, c->from_pitch, &from_extent);
    if (status == FUSION_SUCCESS) status = copy_extent(c, c->to_pitch, &to_extent);
    if (status != FUSION_SUCCESS) return status;
    if (c->from.host || c->to.host) return client_graph_host_copy(g, name, c, depends_on, n_depends_on, node);
    status = client_graph_slot_at(g, &c->from, from_extent, &n.from, &n.from_offset);
    if (status == FUSION_SUCCESS) status = client_graph_slot_at(g, &c->to, to_extent, &n.to, &n.to_offset);
    return client_graph_add(g, &n, status, name, "copy", depends_on, n_depends_on, node);
}

fusion_status fusion_graph_add_copy(fusion_graph *g, const char *name, fusion_memory from, fusion_memory to,
                                    uint64_t bytes, const fusion_node *depends_on, uint32_t n_depends_on,
                                    fusion_node *node)
{
    return add_copy(g, name, &(struct copy_2d){.from = from, .to = to, .bytes = bytes}, depends_on, n_depends_on, node);
}

fusion_status fusion_graph_add_copy_2d(fusion_graph *g, const char *name, fusion_memory from, uint64_t from_pitch,
                                       fusion_memory to, uint64_t to_pitch, uint64_t bytes, uint32_t rows,
                                       const fusion_node *depends_on, uint32_t n_depends_on, fusion_node *node)
{
    if (rows == 0) return client_error(FUSION_INVALID, name ? name : "copy", "no rows");
    return add_copy(g, name, &(struct copy_2d){from, to, from_pitch, to_pitch, bytes, rows, 0, 0, 0}, depends_on,
                    n_depends_on, node);
}

fusion_status fusion_graph_add_fill(fusion_graph *g, const char *name, fusion_memory to, uint64_t bytes,
                                    const void *pattern, uint32_t pattern_bytes, const fusion_node *depends_on,
                                    uint32_t n_depends_on, fusion_node *node)
{
    struct proto_node n = {.kind = PROTO_NODE_FILL, .bytes = bytes, .pattern_size = pattern_bytes};
    bool power = pattern_bytes && (pattern_bytes & (pattern_bytes - 1)) == 0;
    if (!power || pattern_bytes > sizeof n.pattern || bytes % pattern_bytes)
        return client_error(FUSION_INVALID, name ? name : "fill",
                            "a pattern has 1, 2, 4, 8 or 16 bytes and divides the %" PRIu64
                            " bytes to fill; not %" PRIu32,
                            bytes, pattern_bytes);
    memcpy(n.pattern, pattern, pattern_bytes);
    fusion_status status = client_graph_slot_at(g, &to, bytes, &n.to, &n.to_offset);
    return client_graph_add(g, &n, status, name, "fill", depends_on, n_depends_on, node);
}
