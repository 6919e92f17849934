/* Nodes that copy and fill rectangles and boxes of images: on the wire rows of bytes, in slices. */
#include <inttypes.h>
#include <string.h>

#include "client/base/error.h"
#include "client/graph/host.h"
#include "client/graph/node.h"
#include "client/memory/image.h"

/* One side of a copy. */
struct side {
    uint32_t slot;
    uint64_t offset, pitch, slice_pitch;
};

static fusion_status image_side(fusion_graph *g, const fusion_image *image, const fusion_region *region,
                                struct side *side)
{
    fusion_region r;
    if (image->buffer.memory.session != g->session)
        return client_error(FUSION_INVALID, image->buffer.memory.name, "the image belongs to another session");
    fusion_status status = client_image_region(image, region, &r);
    if (status != FUSION_SUCCESS) return status;
    side->pitch = image->desc.row_pitch;
    side->slice_pitch = image->desc.slice_pitch;
    side->offset = client_image_place(image, client_image_offset(image, r.x, r.y, r.z)).offset;
    return client_graph_slot(g, client_image_memory(image), NULL, &side->slot);
}

/* A box of pixels. */
struct size {
    uint32_t width, height, depth;
};

/* From the first byte to the last of rows and slices in memory. */
static bool extent(const struct side *side, uint64_t row_bytes, const struct size *size, uint64_t *bytes)
{
    uint64_t rows, slices;
    return !__builtin_mul_overflow(side->pitch, size->height - 1, &rows) &&
           !__builtin_mul_overflow(side->slice_pitch, size->depth - 1, &slices) &&
           !__builtin_add_overflow(rows, row_bytes, bytes) && !__builtin_add_overflow(*bytes, slices, bytes);
}

static fusion_status memory_side(fusion_graph *g, const fusion_pixels *p, uint64_t row_bytes, const struct size *size,
                                 struct side *side)
{
    uint64_t bytes, slice;
    side->pitch = p->row_pitch ? p->row_pitch : row_bytes;
    if (side->pitch < row_bytes)
        return client_error(FUSION_INVALID, "copy", "a row pitch of %" PRIu64 " bytes, but rows of %" PRIu64,
                            side->pitch, row_bytes);
    if (__builtin_mul_overflow(side->pitch, size->height, &slice)) slice = UINT64_MAX;
    side->slice_pitch = size->depth < 2 ? 0 : p->slice_pitch ? p->slice_pitch : slice;
    if (!extent(side, row_bytes, size, &bytes))
        return client_error(FUSION_INVALID, "copy", "%" PRIu32 " rows, %" PRIu64 " bytes apart, are too many bytes",
                            size->height, side->pitch);
    if (size->depth > 1 && side->slice_pitch < slice)
        return client_error(FUSION_INVALID, "copy", "a slice pitch of %" PRIu64 " bytes, but slices of %" PRIu64,
                            side->slice_pitch, slice);
    return p->memory.host ? FUSION_SUCCESS : client_graph_slot_at(g, &p->memory, bytes, &side->slot, &side->offset);
}

static fusion_memory place_of(const fusion_pixels *p, const struct side *side)
{
    if (!p->image) return p->memory;
    fusion_memory place = client_image_place(p->image, 0);
    place.offset = side->offset;
    return place;
}

static fusion_status check_pair(const fusion_pixels *from, const fusion_pixels *to, const struct size *size)
{
    const fusion_image *a = from->image, *b = to->image;
    if (!a && !b) return client_error(FUSION_INVALID, "copy", "neither side is an image");
    if (!size->width || !size->height || !size->depth)
        return client_error(FUSION_INVALID, "copy", "%" PRIu32 " x %" PRIu32 " x %" PRIu32 " pixels", size->width,
                            size->height, size->depth);
    if (!a || !b || (a->desc.channel_order == b->desc.channel_order && a->desc.channel_type == b->desc.channel_type))
        return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, "copy", "images %s and %s have different formats", a->buffer.memory.name,
                        b->buffer.memory.name);
}

static fusion_status pixels_side(fusion_graph *g, const fusion_pixels *p, uint64_t row_bytes, const struct size *size,
                                 struct side *side)
{
    fusion_region region = {p->x, p->y, size->width, size->height, p->z, size->depth};
    return p->image ? image_side(g, p->image, &region, side) : memory_side(g, p, row_bytes, size, side);
}

fusion_status fusion_graph_add_copy_pixels_3d(fusion_graph *g, const char *name, fusion_pixels from, fusion_pixels to,
                                              uint32_t width, uint32_t height, uint32_t depth,
                                              const fusion_node *depends_on, uint32_t n_depends_on, fusion_node *node)
{
    struct side a = {0}, b = {0};
    const struct size size = {width, height, depth};
    fusion_status status = check_pair(&from, &to, &size);
    if (status != FUSION_SUCCESS) return status;
    uint64_t bytes = (uint64_t)width * fusion_image_pixel_bytes(from.image ? from.image : to.image);
    status = pixels_side(g, &from, bytes, &size, &a);
    if (status == FUSION_SUCCESS) status = pixels_side(g, &to, bytes, &size, &b);
    bool host = (!from.image && from.memory.host) || (!to.image && to.memory.host);
    uint32_t plane = depth > 1 ? height : 0;
    if (status == FUSION_SUCCESS && host) {
        struct copy_2d copy = {place_of(&from, &a), place_of(&to, &b), a.pitch, b.pitch, bytes, height * depth, plane,
                               a.slice_pitch,       b.slice_pitch};
        return client_graph_host_copy(g, name, &copy, depends_on, n_depends_on, node);
    }
    struct proto_node n = {.kind = PROTO_NODE_COPY,
                           .from = a.slot,
                           .from_offset = a.offset,
                           .from_pitch = a.pitch,
                           .from_slice_pitch = plane ? a.slice_pitch : 0,
                           .to = b.slot,
                           .to_offset = b.offset,
                           .to_pitch = b.pitch,
                           .to_slice_pitch = plane ? b.slice_pitch : 0,
                           .bytes = bytes,
                           .rows = height * depth,
                           .plane = plane};
    return client_graph_add(g, &n, status, name, "copy", depends_on, n_depends_on, node);
}

fusion_status fusion_graph_add_copy_pixels(fusion_graph *g, const char *name, fusion_pixels from, fusion_pixels to,
                                           uint32_t width, uint32_t height, const fusion_node *depends_on,
                                           uint32_t n_depends_on, fusion_node *node)
{
    return fusion_graph_add_copy_pixels_3d(g, name, from, to, width, height, 1, depends_on, n_depends_on, node);
}

fusion_status fusion_graph_add_fill_image(fusion_graph *g, const char *name, fusion_image *to,
                                          const fusion_region *region, const void *pixel, const fusion_node *depends_on,
                                          uint32_t n_depends_on, fusion_node *node)
{
    struct side side = {0};
    fusion_region r = {0};
    if (!to || !pixel) return client_error(FUSION_INVALID, name ? name : "fill", "the image or the pixel is NULL");
    fusion_status status = client_image_region(to, region, &r);
    if (status == FUSION_SUCCESS) status = image_side(g, to, &r, &side);
    struct proto_node n = {.kind = PROTO_NODE_FILL,
                           .to = side.slot,
                           .to_offset = side.offset,
                           .to_pitch = side.pitch,
                           .rows = r.height * r.depth,
                           .plane = r.depth > 1 ? r.height : 0,
                           .to_slice_pitch = r.depth > 1 ? side.slice_pitch : 0,
                           .pattern_size = fusion_image_pixel_bytes(to)};
    n.bytes = (uint64_t)r.width * n.pattern_size;
    memcpy(n.pattern, pixel, n.pattern_size);
    return client_graph_add(g, &n, status, name, "fill", depends_on, n_depends_on, node);
}
