/* 2-D images and samplers on the client's side. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/internal.h"
#include "proto/limits.h"

struct proto_image client_wire_image(const fusion_image_desc *d)
{
    return (struct proto_image){.width = d->width,
                                .height = d->height,
                                .row_pitch = d->row_pitch,
                                .channel_order = (uint32_t)d->channel_order,
                                .channel_type = (uint32_t)d->channel_type};
}

/* ---- life ---- */

static fusion_status check_desc(fusion_image_desc *desc, const char *object)
{
    char reason[200];
    uint32_t pixel = proto_pixel_bytes((uint32_t)desc->channel_order, (uint32_t)desc->channel_type);
    /* A width beyond the limits is told as such, not as what it makes of the pitch. */
    if (!desc->row_pitch && desc->width <= PROTO_MAX_IMAGE_SIDE) desc->row_pitch = desc->width * pixel;
    struct proto_image wire = client_wire_image(desc);
    fusion_status status = proto_image_check(&wire, reason, sizeof reason);
    return status == FUSION_SUCCESS ? status : client_error(status, object, "%s", reason);
}

fusion_status fusion_image_create(fusion_session *s, const char *name, const fusion_image_desc *desc,
                                  fusion_image **image)
{
    const char *object = name ? name : "image";
    fusion_image_desc checked = *desc;
    if (strlen(object) > PROTO_MAX_NAME)
        return client_error(FUSION_INVALID, "image", "the name is longer than %d bytes", PROTO_MAX_NAME);
    fusion_status status = check_desc(&checked, object);
    if (status != FUSION_SUCCESS) return status;
    fusion_image *i = calloc(1, sizeof *i);
    if (!i) return client_error(FUSION_OUT_OF_MEMORY, object, "no memory");
    struct proto_image wire = client_wire_image(&checked);
    i->desc = checked;
    i->buffer.memory.bytes = i->buffer.count = proto_image_bytes(&wire);
    i->buffer.memory.image = &i->desc;
    i->buffer.type = FUSION_BYTES;
    status = client_buffer_open(s, &i->buffer, name);
    if (status == FUSION_SUCCESS)
        *image = i;
    else
        free(i);
    return status;
}

void fusion_image_destroy(fusion_image *i)
{
    if (i) fusion_buffer_destroy(&i->buffer);
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
    return fusion_buffer_map(&i->buffer, memory);
}

fusion_status client_image_region(const fusion_image *i, const fusion_region *region, fusion_region *out)
{
    const fusion_image_desc *d = &i->desc;
    *out = region ? *region : (fusion_region){0, 0, d->width, d->height};
    if (out->width && out->height && out->x < d->width && out->y < d->height && out->width <= d->width - out->x &&
        out->height <= d->height - out->y)
        return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, i->buffer.name,
                        "a region of %" PRIu32 " x %" PRIu32 " pixels at (%" PRIu32 ", %" PRIu32
                        "); the image has %" PRIu32 " x %" PRIu32,
                        out->width, out->height, out->x, out->y, d->width, d->height);
}

/* The rows of a region, ready to be copied. */
struct rows {
    uint8_t *image;
    size_t bytes, pitch, host_pitch;
    uint32_t n;
};

static fusion_status find_rows(fusion_image *i, const fusion_region *region, size_t host_pitch, struct rows *rows)
{
    fusion_region r;
    void *memory;
    fusion_status status = client_image_region(i, region, &r);
    if (status != FUSION_SUCCESS) return status;
    uint32_t pixel = fusion_image_pixel_bytes(i);
    size_t bytes = (size_t)r.width * pixel;
    if (host_pitch && host_pitch < bytes)
        return client_error(FUSION_INVALID, i->buffer.name,
                            "a row pitch of %zu bytes in host memory, but a row of %" PRIu32 " pixels has %zu",
                            host_pitch, r.width, bytes);
    status = fusion_image_map(i, &memory);
    if (status != FUSION_SUCCESS) return status;
    *rows = (struct rows){.image = (uint8_t *)memory + (size_t)r.y * i->desc.row_pitch + (size_t)r.x * pixel,
                          .bytes = bytes,
                          .pitch = i->desc.row_pitch,
                          .host_pitch = host_pitch ? host_pitch : bytes,
                          .n = r.height};
    return FUSION_SUCCESS;
}

fusion_status fusion_image_read(fusion_image *i, const fusion_region *region, void *to, size_t row_pitch)
{
    struct rows r;
    fusion_status status = find_rows(i, region, row_pitch, &r);
    for (uint32_t y = 0; status == FUSION_SUCCESS && y < r.n; y++)
        memcpy((uint8_t *)to + y * r.host_pitch, r.image + y * r.pitch, r.bytes);
    return status;
}

fusion_status fusion_image_write(fusion_image *i, const fusion_region *region, const void *from, size_t row_pitch)
{
    struct rows r;
    fusion_status status = find_rows(i, region, row_pitch, &r);
    for (uint32_t y = 0; status == FUSION_SUCCESS && y < r.n; y++)
        memcpy(r.image + y * r.pitch, (const uint8_t *)from + y * r.host_pitch, r.bytes);
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
