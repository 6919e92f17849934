/* What an image may be. */
#include "proto/image.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "proto/limits.h"

/* ---- formats ---- */

enum { ORDER_BGRA = 0x10b6 };

struct name {
    uint32_t code;
    uint32_t number; /* channels of an order, bytes of a type; 0: known to OpenCL only */
    const char *name;
};

static const struct name orders[] = {
    {0x10b0, 1, "R"},         {0x10b1, 0, "A"},     {0x10b2, 2, "RG"},
    {0x10b3, 0, "RA"},        {0x10b4, 0, "RGB"},   {0x10b5, 4, "RGBA"},
    {ORDER_BGRA, 4, "BGRA"},  {0x10b7, 0, "ARGB"},  {0x10b8, 0, "INTENSITY"},
    {0x10b9, 0, "LUMINANCE"}, {0x10ba, 0, "Rx"},    {0x10bb, 0, "RGx"},
    {0x10bc, 0, "RGBx"},      {0x10bd, 0, "DEPTH"}, {0x10be, 0, "DEPTH_STENCIL"},
    {0x10bf, 0, "sRGB"},      {0x10c0, 0, "sRGBx"}, {0x10c1, 0, "sRGBA"},
    {0x10c2, 0, "sBGRA"},     {0x10c3, 0, "ABGR"},
};

static const struct name types[] = {
    {0x10d0, 1, "SNORM_INT8"},       {0x10d1, 2, "SNORM_INT16"},        {0x10d2, 1, "UNORM_INT8"},
    {0x10d3, 2, "UNORM_INT16"},      {0x10d4, 0, "UNORM_SHORT_565"},    {0x10d5, 0, "UNORM_SHORT_555"},
    {0x10d6, 0, "UNORM_INT_101010"}, {0x10d7, 1, "SIGNED_INT8"},        {0x10d8, 2, "SIGNED_INT16"},
    {0x10d9, 4, "SIGNED_INT32"},     {0x10da, 1, "UNSIGNED_INT8"},      {0x10db, 2, "UNSIGNED_INT16"},
    {0x10dc, 4, "UNSIGNED_INT32"},   {0x10dd, 2, "HALF_FLOAT"},         {0x10de, 4, "FLOAT"},
    {0x10df, 0, "UNORM_INT24"},      {0x10e0, 0, "UNORM_INT_101010_2"},
};

static const struct name *find(const struct name *list, size_t n, uint32_t code)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].code == code) return &list[i];
    return NULL;
}

static const struct name *find_order(uint32_t code)
{
    return find(orders, sizeof orders / sizeof *orders, code);
}

static const struct name *find_type(uint32_t code)
{
    return find(types, sizeof types / sizeof *types, code);
}

uint32_t proto_pixel_bytes(uint32_t channel_order, uint32_t channel_type)
{
    const struct name *order = find_order(channel_order), *type = find_type(channel_type);
    return order && type ? order->number * type->number : 0;
}

/* ---- checks ---- */

static fusion_status wrong(fusion_status status, char *reason, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static fusion_status wrong(fusion_status status, char *reason, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason, size, format, args);
    va_end(args);
    return status;
}

static fusion_status check_format(const struct proto_image *image, char *reason, size_t size)
{
    const struct name *order = find_order(image->channel_order), *type = find_type(image->channel_type);
    if (!order)
        return wrong(FUSION_INVALID, reason, size, "channel order 0x%" PRIx32 " is none of OpenCL's",
                     image->channel_order);
    if (!type)
        return wrong(FUSION_INVALID, reason, size, "channel type 0x%" PRIx32 " is none of OpenCL's",
                     image->channel_type);
    if (!order->number)
        return wrong(FUSION_FEATURE_NOT_SUPPORTED, reason, size,
                     "channel order %s is not supported; R, RG, RGBA and BGRA are", order->name);
    bool packed = !type->number && type->code != 0x10df;
    if (packed)
        return wrong(FUSION_INVALID, reason, size, "channel type %s needs the order RGB or RGBx, not %s", type->name,
                     order->name);
    if (!type->number)
        return wrong(FUSION_FEATURE_NOT_SUPPORTED, reason, size, "channel type %s is not supported", type->name);
    if (order->code == ORDER_BGRA && type->number != 1)
        return wrong(FUSION_INVALID, reason, size, "channel order BGRA needs a channel type of 8 bits, not %s",
                     type->name);
    return FUSION_SUCCESS;
}

static fusion_status check_pitch(const struct proto_image *image, char *reason, size_t size)
{
    uint32_t pixel = proto_pixel_bytes(image->channel_order, image->channel_type);
    uint64_t row = (uint64_t)image->width * pixel;
    if (image->row_pitch < row)
        return wrong(FUSION_INVALID, reason, size,
                     "a row pitch of %" PRIu32 " bytes, but a row of %" PRIu32 " pixels has %" PRIu64, image->row_pitch,
                     image->width, row);
    if (image->row_pitch > PROTO_MAX_ROW_PITCH)
        return wrong(FUSION_INVALID, reason, size, "a row pitch of %" PRIu32 " bytes; at most %d are allowed",
                     image->row_pitch, PROTO_MAX_ROW_PITCH);
    if (image->row_pitch % pixel)
        return wrong(FUSION_INVALID, reason, size,
                     "a row pitch of %" PRIu32 " bytes is no multiple of a pixel's %" PRIu32, image->row_pitch, pixel);
    return FUSION_SUCCESS;
}

fusion_status proto_image_check(const struct proto_image *image, char *reason, size_t size)
{
    fusion_status status = check_format(image, reason, size);
    if (status != FUSION_SUCCESS) return status;
    if (!image->width || !image->height || image->width > PROTO_MAX_IMAGE_SIDE || image->height > PROTO_MAX_IMAGE_SIDE)
        return wrong(FUSION_INVALID, reason, size, "%" PRIu32 " x %" PRIu32 " pixels; each side has 1 to %d",
                     image->width, image->height, PROTO_MAX_IMAGE_SIDE);
    return check_pitch(image, reason, size);
}

uint64_t proto_image_bytes(const struct proto_image *image)
{
    return (uint64_t)image->row_pitch * image->height;
}
