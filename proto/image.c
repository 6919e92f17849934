/* What an image may be. */
#include "proto/image.h"

#include <inttypes.h>
#include <stdbool.h>

#include "proto/limits.h"

/* ---- formats ---- */

enum {
    ORDER_RGB = 0x10b4,
    ORDER_RGBA,
    ORDER_BGRA,
    ORDER_ARGB,
    ORDER_INTENSITY,
    ORDER_LUMINANCE,
    ORDER_RGBX = 0x10bc,
    ORDER_DEPTH,
    ORDER_SRGBA = 0x10c1,
    ORDER_SBGRA,
    ORDER_ABGR,
    TYPE_UNORM_INT8 = 0x10d2,
    TYPE_UNORM_INT16,
    TYPE_SHORT_565,
    TYPE_INT_101010 = 0x10d6,
    TYPE_SIGNED_INT8,
    TYPE_UNSIGNED_INT32 = 0x10dc,
    TYPE_FLOAT = 0x10de,
    TYPE_INT_101010_2 = 0x10e0
};

struct name {
    uint32_t code;
    uint32_t number; /* channels of an order, bytes of a type; 0: known to OpenCL only */
    const char *name;
    bool packed; /* number is that of a texel */
};

static const struct name orders[] = {
    {0x10b0, 1, "R", false},
    {0x10b1, 1, "A", false},
    {0x10b2, 2, "RG", false},
    {0x10b3, 2, "RA", false},
    {ORDER_RGB, 3, "RGB", false},
    {ORDER_RGBA, 4, "RGBA", false},
    {ORDER_BGRA, 4, "BGRA", false},
    {ORDER_ARGB, 4, "ARGB", false},
    {ORDER_INTENSITY, 1, "INTENSITY", false},
    {ORDER_LUMINANCE, 1, "LUMINANCE", false},
    {0x10ba, 1, "Rx", false},
    {0x10bb, 2, "RGx", false},
    {ORDER_RGBX, 3, "RGBx", false},
    {ORDER_DEPTH, 1, "DEPTH", false},
    {0x10be, 0, "DEPTH_STENCIL", false},
    {0x10bf, 0, "sRGB", false},
    {0x10c0, 0, "sRGBx", false},
    {ORDER_SRGBA, 4, "sRGBA", false},
    {ORDER_SBGRA, 4, "sBGRA", false},
    {ORDER_ABGR, 4, "ABGR", false},
};

static const struct name types[] = {
    {0x10d0, 1, "SNORM_INT8", false},
    {0x10d1, 2, "SNORM_INT16", false},
    {TYPE_UNORM_INT8, 1, "UNORM_INT8", false},
    {TYPE_UNORM_INT16, 2, "UNORM_INT16", false},
    {TYPE_SHORT_565, 2, "UNORM_SHORT_565", true},
    {0x10d5, 2, "UNORM_SHORT_555", true},
    {TYPE_INT_101010, 4, "UNORM_INT_101010", true},
    {TYPE_SIGNED_INT8, 1, "SIGNED_INT8", false},
    {0x10d8, 2, "SIGNED_INT16", false},
    {0x10d9, 4, "SIGNED_INT32", false},
    {0x10da, 1, "UNSIGNED_INT8", false},
    {0x10db, 2, "UNSIGNED_INT16", false},
    {TYPE_UNSIGNED_INT32, 4, "UNSIGNED_INT32", false},
    {0x10dd, 2, "HALF_FLOAT", false},
    {TYPE_FLOAT, 4, "FLOAT", false},
    {0x10df, 0, "UNORM_INT24", false},
    {TYPE_INT_101010_2, 4, "UNORM_INT_101010_2", true},
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
    if (!order || !type || !order->number) return 0;
    return type->packed ? type->number : order->number * type->number;
}

const char *proto_image_type_name(uint32_t type)
{
    static const char *const names[] = {"image2d",        "image1d",       "image1d_array",
                                        "image1d_buffer", "image2d_array", "image3d"};
    return type < PROTO_IMAGE_TYPE_COUNT ? names[type] : "?";
}

bool proto_image_same(const struct proto_image *a, const struct proto_image *b)
{
    return a->type == b->type && a->width == b->width && a->height == b->height && a->slices == b->slices &&
           a->row_pitch == b->row_pitch && a->slice_pitch == b->slice_pitch && a->channel_order == b->channel_order &&
           a->channel_type == b->channel_type;
}

/* ---- checks ---- */

/* What OpenCL asks of a pair: the types that an order needs, in words; NULL: they go together. */
static const char *needed_type(const struct name *order, const struct name *type)
{
    bool norm8_or_16 = type->code <= TYPE_UNORM_INT16,
         floats = type->code == TYPE_FLOAT || type->code == TYPE_FLOAT - 1;
    bool packed3 = type->code >= TYPE_SHORT_565 && type->code <= TYPE_INT_101010;
    switch (order->code) {
    case ORDER_RGB:
    case ORDER_RGBX: return packed3 ? NULL : "UNORM_SHORT_565, UNORM_SHORT_555 or UNORM_INT_101010";
    case ORDER_BGRA:
    case ORDER_ARGB:
    case ORDER_ABGR: return type->number == 1 ? NULL : "a channel type of 8 bits";
    case ORDER_INTENSITY:
    case ORDER_LUMINANCE: return norm8_or_16 || floats ? NULL : "a normalized or a float channel type";
    case ORDER_DEPTH: return type->code == TYPE_UNORM_INT16 || type->code == TYPE_FLOAT ? NULL : "UNORM_INT16 or FLOAT";
    case ORDER_SRGBA:
    case ORDER_SBGRA: return type->code == TYPE_UNORM_INT8 ? NULL : "UNORM_INT8";
    default: return NULL;
    }
}

static int check_format(const struct proto_image *image, struct error *e)
{
    const struct name *order = find_order(image->channel_order), *type = find_type(image->channel_type);
    if (!order)
        return error_set(e, FUSION_INVALID, NULL, "channel order 0x%" PRIx32 " is none of OpenCL's",
                         image->channel_order);
    if (!type)
        return error_set(e, FUSION_INVALID, NULL, "channel type 0x%" PRIx32 " is none of OpenCL's",
                         image->channel_type);
    if (!order->number)
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL, "channel order %s is not supported", order->name);
    if (!type->number)
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL, "channel type %s is not supported", type->name);
    const char *needed = needed_type(order, type);
    if (needed)
        return error_set(e, FUSION_INVALID, NULL, "channel order %s needs %s, not %s", order->name, needed, type->name);
    uint32_t packed = !type->packed ? 0 : type->code == TYPE_INT_101010_2 ? ORDER_RGBA : ORDER_RGB;
    if (packed && packed != order->code && !(packed == ORDER_RGB && order->code == ORDER_RGBX))
        return error_set(e, FUSION_INVALID, NULL, "channel type %s needs the order %s, not %s", type->name,
                         packed == ORDER_RGB ? "RGB or RGBx" : "RGBA", order->name);
    return 0;
}

static int check_pitch(const struct proto_image *image, struct error *e)
{
    uint32_t pixel = proto_pixel_bytes(image->channel_order, image->channel_type);
    uint64_t row = (uint64_t)image->width * pixel;
    if (image->row_pitch < row)
        return error_set(e, FUSION_INVALID, NULL,
                         "a row pitch of %" PRIu32 " bytes, but a row of %" PRIu32 " pixels has %" PRIu64,
                         image->row_pitch, image->width, row);
    if (image->row_pitch > PROTO_MAX_ROW_PITCH && image->type != PROTO_IMAGE_1D_BUFFER)
        return error_set(e, FUSION_INVALID, NULL, "a row pitch of %" PRIu32 " bytes; at most %d are allowed",
                         image->row_pitch, PROTO_MAX_ROW_PITCH);
    if (image->row_pitch % pixel)
        return error_set(e, FUSION_INVALID, NULL,
                         "a row pitch of %" PRIu32 " bytes is no multiple of a pixel's %" PRIu32, image->row_pitch,
                         pixel);
    return 0;
}

static bool has_slices(const struct proto_image *image)
{
    return image->type == PROTO_IMAGE_1D_ARRAY || image->type == PROTO_IMAGE_2D_ARRAY || image->type == PROTO_IMAGE_3D;
}

static bool is_flat(const struct proto_image *image)
{
    return image->type >= PROTO_IMAGE_1D && image->type <= PROTO_IMAGE_1D_BUFFER;
}

static int check_slices(const struct proto_image *image, struct error *e)
{
    const char *what = image->type == PROTO_IMAGE_3D ? "slices" : "layers";
    if (!has_slices(image)) {
        if (!image->slices && !image->slice_pitch) return 0;
        return error_set(e, FUSION_INVALID, NULL, "a depth, a number of layers or a slice pitch, but an %s has none",
                         proto_image_type_name(image->type));
    }
    if (!image->slices || image->slices > PROTO_MAX_IMAGE_SIDE)
        return error_set(e, FUSION_INVALID, NULL, "%" PRIu32 " %s; an %s has 1 to %d", image->slices, what,
                         proto_image_type_name(image->type), PROTO_MAX_IMAGE_SIDE);
    uint64_t slice = (uint64_t)image->row_pitch * image->height,
             most = (uint64_t)PROTO_MAX_ROW_PITCH * PROTO_MAX_IMAGE_SIDE;
    if (image->slice_pitch < slice || image->slice_pitch > most)
        return error_set(e, FUSION_INVALID, NULL,
                         "a slice pitch of %" PRIu64 " bytes, but the rows of a slice have %" PRIu64
                         " and at most %" PRIu64 " are allowed",
                         image->slice_pitch, slice, most);
    if (image->slice_pitch % image->row_pitch)
        return error_set(e, FUSION_INVALID, NULL,
                         "a slice pitch of %" PRIu64 " bytes is no multiple of the row pitch, %" PRIu32,
                         image->slice_pitch, image->row_pitch);
    return 0;
}

static int check_sides(const struct proto_image *image, struct error *e)
{
    uint32_t widest = image->type == PROTO_IMAGE_1D_BUFFER ? PROTO_MAX_IMAGE_BUFFER : PROTO_MAX_IMAGE_SIDE;
    if (!image->width || !image->height || image->width > widest || image->height > PROTO_MAX_IMAGE_SIDE)
        return error_set(e, FUSION_INVALID, NULL, "%" PRIu32 " x %" PRIu32 " pixels; each side has 1 to %" PRIu32,
                         image->width, image->height, widest);
    if (is_flat(image) && image->height != 1)
        return error_set(e, FUSION_INVALID, NULL, "%" PRIu32 " rows, but an %s has one", image->height,
                         proto_image_type_name(image->type));
    return 0;
}

int proto_image_check(const struct proto_image *image, struct error *e)
{
    if (image->type >= PROTO_IMAGE_TYPE_COUNT)
        return error_set(e, FUSION_INVALID, NULL, "unknown type %" PRIu32 " of an image", image->type);
    if (check_format(image, e) != 0 || check_sides(image, e) != 0 || check_pitch(image, e) != 0) return -1;
    return check_slices(image, e);
}

uint64_t proto_image_bytes(const struct proto_image *image)
{
    return image->slices ? image->slice_pitch * image->slices : (uint64_t)image->row_pitch * image->height;
}
