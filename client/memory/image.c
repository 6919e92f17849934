/* Images and samplers on the client's side. */
#include "client/memory/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/memory/access.h"
#include "proto/limits.h"

static bool is_flat(const fusion_image_desc *d)
{
    return d->type == FUSION_IMAGE_1D || d->type == FUSION_IMAGE_1D_ARRAY || d->type == FUSION_IMAGE_1D_BUFFER;
}

static uint32_t slices_of(const fusion_image_desc *d)
{
    return d->type == FUSION_IMAGE_3D ? d->depth : d->array_size;
}

struct proto_image client_wire_image(const fusion_image_desc *d)
{
    return (struct proto_image){.width = d->width,
                                .height = is_flat(d) && !d->height ? 1 : d->height,
                                .row_pitch = d->row_pitch,
                                .channel_order = (uint32_t)d->channel_order,
                                .channel_type = (uint32_t)d->channel_type,
                                .type = (uint32_t)d->type,
                                .slices = slices_of(d),
                                .slice_pitch = d->slice_pitch};
}

/* ---- whose memory it is ---- */

struct memory *client_image_memory(const fusion_image *i)
{
    fusion_buffer *of = i->desc.buffer;
    return of ? &of->memory : (struct memory *)&i->buffer.memory;
}

fusion_memory client_image_place(const fusion_image *i, uint64_t offset)
{
    fusion_buffer *of = i->desc.buffer;
    return (fusion_memory){.buffer = of ? of : (fusion_buffer *)&i->buffer, .offset = offset + i->desc.offset};
}

/* ---- life ---- */

static fusion_status check_desc(fusion_image_desc *desc, const char *object)
{
    struct error e;
    uint32_t pixel = proto_pixel_bytes((uint32_t)desc->channel_order, (uint32_t)desc->channel_type);
    uint32_t widest = desc->type == FUSION_IMAGE_1D_BUFFER ? PROTO_MAX_IMAGE_BUFFER : PROTO_MAX_IMAGE_SIDE;
    /* A width beyond the limits is told as such, not as what it makes of the pitch. */
    if (!desc->row_pitch && desc->width <= widest) desc->row_pitch = desc->width * pixel;
    if (desc->type == FUSION_IMAGE_3D ? desc->array_size : desc->depth)
        return client_error(FUSION_INVALID, object, "a depth of %" PRIu32 " and %" PRIu32 " layers, but it is an %s",
                            desc->depth, desc->array_size, proto_image_type_name((uint32_t)desc->type));
    if (!desc->slice_pitch && slices_of(desc))
        desc->slice_pitch = (uint64_t)desc->row_pitch * (is_flat(desc) ? 1 : desc->height);
    struct proto_image wire = client_wire_image(desc);
    if (proto_image_check(&wire, &e) == 0) return FUSION_SUCCESS;
    return client_error((fusion_status)e.code, object, "%s", e.reason);
}

static fusion_status check_buffer(const fusion_session *s, const fusion_image_desc *desc, const char *object)
{
    struct proto_image wire = client_wire_image(desc);
    uint64_t bytes = proto_image_bytes(&wire);
    if (desc->type != FUSION_IMAGE_1D_BUFFER) {
        if (!desc->buffer && !desc->offset) return FUSION_SUCCESS;
        return client_error(FUSION_INVALID, object, "an %s has memory of its own, but a buffer or an offset was given",
                            proto_image_type_name(wire.type));
    }
    if (!desc->buffer) return client_error(FUSION_INVALID, object, "an image1d_buffer needs a buffer");
    const struct memory *m = &desc->buffer->memory;
    if (m->session != s)
        return client_error(FUSION_INVALID, object, "buffer %s belongs to another session", desc->buffer->memory.name);
    if (m->image) return client_error(FUSION_INVALID, object, "%s is an image, no buffer", desc->buffer->memory.name);
    if (desc->offset % proto_pixel_bytes(wire.channel_order, wire.channel_type))
        return client_error(FUSION_INVALID, object, "byte %" PRIu64 " of buffer %s is not the first of a pixel",
                            desc->offset, desc->buffer->memory.name);
    if (desc->offset <= m->bytes && bytes <= m->bytes - desc->offset) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, object,
                        "%" PRIu64 " bytes from offset %" PRIu64 " reach beyond the %" PRIu64 " bytes of buffer %s",
                        bytes, desc->offset, m->bytes, desc->buffer->memory.name);
}

/* Of an image of a buffer the name only: it has no memory. */
static fusion_status open_image(fusion_session *s, fusion_image *i, const char *name)
{
    struct proto_image wire = client_wire_image(&i->desc);
    i->buffer.memory.bytes = i->buffer.count = proto_image_bytes(&wire);
    i->buffer.memory.image = &i->desc;
    i->buffer.type = FUSION_BYTES;
    if (!i->desc.buffer) return client_buffer_open(s, &i->buffer, name);
    i->buffer.memory.session = s;
    i->buffer.memory.name = strdup(name ? name : i->desc.buffer->memory.name);
    return i->buffer.memory.name ? FUSION_SUCCESS : client_no_memory("image");
}

fusion_status fusion_image_create(fusion_session *s, const char *name, const fusion_image_desc *desc,
                                  fusion_image **image)
{
    const char *object = name ? name : "image";
    fusion_image_desc checked;
    if (strlen(object) > PROTO_MAX_NAME)
        return client_error(FUSION_INVALID, "image", "the name is longer than %d bytes", PROTO_MAX_NAME);
    fusion_status status = CLIENT_TAKE(fusion_image_desc, offset, &checked, desc, object);
    if (status == FUSION_SUCCESS) status = check_desc(&checked, object);
    if (status == FUSION_SUCCESS) status = check_buffer(s, &checked, object);
    if (status != FUSION_SUCCESS) return status;
    fusion_image *i = calloc(1, sizeof *i);
    if (!i) return client_no_memory(object);
    i->desc = checked;
    status = open_image(s, i, name);
    if (status == FUSION_SUCCESS)
        *image = i;
    else
        free(i);
    return status;
}

void fusion_image_destroy(fusion_image *i)
{
    if (!i) return;
    if (!i->desc.buffer) {
        fusion_buffer_destroy(&i->buffer);
        return;
    }
    free(i->buffer.memory.name);
    free(i);
}

const fusion_image_desc *fusion_image_describe(const fusion_image *i)
{
    return &i->desc;
}

uint32_t fusion_image_pixel_bytes(const fusion_image *i)
{
    return proto_pixel_bytes((uint32_t)i->desc.channel_order, (uint32_t)i->desc.channel_type);
}

/* ---- pixels ---- */

fusion_status fusion_image_map(fusion_image *i, void **memory)
{
    fusion_memory place = client_image_place(i, 0);
    fusion_status status = fusion_buffer_map(place.buffer, memory);
    if (status == FUSION_SUCCESS) *memory = (uint8_t *)*memory + place.offset;
    return status;
}

static bool fits(uint32_t from, uint32_t n, uint32_t size)
{
    return n && from < size && n <= size - from;
}

fusion_status client_image_region(const fusion_image *i, const fusion_region *region, fusion_region *out)
{
    const struct proto_image d = client_wire_image(&i->desc);
    uint32_t slices = d.slices ? d.slices : 1;
    *out = region ? *region : (fusion_region){0, 0, d.width, d.height, 0, slices};
    if (!out->depth) out->depth = 1;
    if (!out->height && is_flat(&i->desc)) out->height = 1;
    if (fits(out->x, out->width, d.width) && fits(out->y, out->height, d.height) && fits(out->z, out->depth, slices))
        return FUSION_SUCCESS;
    if (!d.slices && !out->z && out->depth == 1)
        return client_error(FUSION_INVALID, i->buffer.memory.name,
                            "a region of %" PRIu32 " x %" PRIu32 " pixels at (%" PRIu32 ", %" PRIu32
                            "); the image has %" PRIu32 " x %" PRIu32,
                            out->width, out->height, out->x, out->y, d.width, d.height);
    return client_error(FUSION_INVALID, i->buffer.memory.name,
                        "a region of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " pixels at (%" PRIu32 ", %" PRIu32
                        ", %" PRIu32 "); the image has %" PRIu32 " x %" PRIu32 " x %" PRIu32,
                        out->width, out->height, out->depth, out->x, out->y, out->z, d.width, d.height, slices);
}

uint64_t client_image_offset(const fusion_image *i, uint32_t x, uint32_t y, uint32_t z)
{
    return z * i->desc.slice_pitch + (uint64_t)y * i->desc.row_pitch + (uint64_t)x * fusion_image_pixel_bytes(i);
}

/* The rows of a region, ready to be copied. */
struct rows {
    uint8_t *image;
    size_t bytes, pitch, slice_pitch, host_pitch;
    uint32_t n, slices;
};

static fusion_status find_rows(fusion_image *i, const fusion_region *region, size_t host_pitch, uint32_t host,
                               struct rows *rows)
{
    fusion_memory place = client_image_place(i, 0);
    fusion_region r;
    void *memory;
    fusion_status status = client_image_region(i, region, &r);
    if (status != FUSION_SUCCESS) return status;
    size_t bytes = (size_t)r.width * fusion_image_pixel_bytes(i);
    if (host_pitch && host_pitch < bytes)
        return client_error(FUSION_INVALID, i->buffer.memory.name,
                            "a row pitch of %zu bytes in host memory, but a row of %" PRIu32 " pixels has %zu",
                            host_pitch, r.width, bytes);
    status = client_memory_access(&place.buffer->memory, host, &memory);
    if (status != FUSION_SUCCESS) return status;
    *rows = (struct rows){.image = (uint8_t *)memory + place.offset + client_image_offset(i, r.x, r.y, r.z),
                          .bytes = bytes,
                          .pitch = i->desc.row_pitch,
                          .slice_pitch = i->desc.slice_pitch,
                          .host_pitch = host_pitch ? host_pitch : bytes,
                          .n = r.height,
                          .slices = r.depth};
    return FUSION_SUCCESS;
}

static void copy_rows(const struct rows *r, void *to, const void *from)
{
    for (size_t k = 0; k < (size_t)r->n * r->slices; k++) {
        uint8_t *own = r->image + k / r->n * r->slice_pitch + k % r->n * r->pitch;
        memcpy(to ? (uint8_t *)to + k * r->host_pitch : own, to ? own : (const uint8_t *)from + k * r->host_pitch,
               r->bytes);
    }
}

fusion_status fusion_image_read(fusion_image *i, const fusion_region *region, void *to, size_t row_pitch)
{
    struct rows r;
    fusion_status status = find_rows(i, region, row_pitch, RING_HOST_READS, &r);
    if (status == FUSION_SUCCESS) copy_rows(&r, to, NULL);
    return status;
}

fusion_status fusion_image_write(fusion_image *i, const fusion_region *region, const void *from, size_t row_pitch)
{
    struct rows r;
    fusion_status status = find_rows(i, region, row_pitch, CLIENT_HOST_ALL, &r);
    if (status == FUSION_SUCCESS) copy_rows(&r, NULL, from);
    return status;
}

/* ---- samplers ---- */

/* The bits that OpenCL C compilers give a sampler: normalized 1, addressing 2 to 8, nearest 16 or linear 32. */
fusion_status client_sampler_bits(const fusion_sampler *s, const char *object, uint64_t *bits)
{
    bool repeats = s->addressing == FUSION_ADDRESS_REPEAT || s->addressing == FUSION_ADDRESS_MIRRORED_REPEAT;
    if ((unsigned)s->addressing > FUSION_ADDRESS_MIRRORED_REPEAT)
        return client_error(FUSION_INVALID, object, "unknown addressing %d of a sampler", (int)s->addressing);
    if ((unsigned)s->filter > FUSION_FILTER_LINEAR)
        return client_error(FUSION_INVALID, object, "unknown filter %d of a sampler", (int)s->filter);
    if (repeats && !s->normalized)
        return client_error(FUSION_INVALID, object, "a sampler that repeats the image needs normalized coordinates");
    *bits = (uint64_t)s->normalized | (uint64_t)s->addressing << 1 | (s->filter == FUSION_FILTER_LINEAR ? 32u : 16u);
    return FUSION_SUCCESS;
}

fusion_status fusion_sampler_value(const fusion_sampler *sampler, uint64_t *value)
{
    return client_sampler_bits(sampler, "sampler", value);
}
