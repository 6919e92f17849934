/* Images and samplers. */
#pragma once

#include "client/memory/buffer.h"
#include "proto/image.h"

/* A buffer of bytes that has a form; so it is made, found and freed as one. Of an image of a buffer only the name is
 * used. */
struct fusion_image {
    fusion_buffer buffer; /* first */
    fusion_image_desc desc;
};

struct proto_image client_wire_image(const fusion_image_desc *desc);
/* Whose memory it is: an image's own, or of one of a buffer that buffer's; and a place in it, `offset` bytes behind the
   image's beginning. */
struct memory *client_image_memory(const fusion_image *image);
fusion_memory client_image_place(const fusion_image *image, uint64_t offset);
/* Of a pixel, in bytes from the image's beginning. */
uint64_t client_image_offset(const fusion_image *image, uint32_t x, uint32_t y, uint32_t z);
/* The region, or all of the image where it is NULL; checked to lie inside. */
fusion_status client_image_region(const fusion_image *image, const fusion_region *region, fusion_region *out);
/* The bits of a sampler. */
fusion_status client_sampler_bits(const fusion_sampler *sampler, const char *object, uint64_t *bits);
