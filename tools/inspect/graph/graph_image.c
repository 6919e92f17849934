/* Reading what graph files say of images and samplers. */
#include "tools/inspect/graph/graph_image.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

struct word {
    const char *name;
    int value;
    int number; /* of an order: channels; of a channel type: the type of one, or of all where they are packed */
};

static const struct word orders[] = {{"r", FUSION_CHANNEL_R, 1},
                                     {"a", FUSION_CHANNEL_A, 1},
                                     {"rg", FUSION_CHANNEL_RG, 2},
                                     {"ra", FUSION_CHANNEL_RA, 2},
                                     {"rgb", FUSION_CHANNEL_RGB, 1},
                                     {"rgba", FUSION_CHANNEL_RGBA, 4},
                                     {"bgra", FUSION_CHANNEL_BGRA, 4},
                                     {"argb", FUSION_CHANNEL_ARGB, 4},
                                     {"abgr", FUSION_CHANNEL_ABGR, 4},
                                     {"intensity", FUSION_CHANNEL_INTENSITY, 1},
                                     {"luminance", FUSION_CHANNEL_LUMINANCE, 1},
                                     {"rx", FUSION_CHANNEL_RX, 1},
                                     {"rgx", FUSION_CHANNEL_RGX, 2},
                                     {"rgbx", FUSION_CHANNEL_RGBX, 1},
                                     {"depth", FUSION_CHANNEL_DEPTH, 1},
                                     {"srgba", FUSION_CHANNEL_SRGBA, 4},
                                     {"sbgra", FUSION_CHANNEL_SBGRA, 4},
                                     {0}};
static const struct word kinds[] = {{"image2d", FUSION_IMAGE_2D, 0},
                                    {"image1d", FUSION_IMAGE_1D, 0},
                                    {"image1d_array", FUSION_IMAGE_1D_ARRAY, 0},
                                    {"image1d_buffer", FUSION_IMAGE_1D_BUFFER, 0},
                                    {"image2d_array", FUSION_IMAGE_2D_ARRAY, 0},
                                    {"image3d", FUSION_IMAGE_3D, 0},
                                    {0}};
static const struct word types[] = {{"snorm_int8", FUSION_SNORM_INT8, FUSION_I8},
                                    {"snorm_int16", FUSION_SNORM_INT16, FUSION_I16},
                                    {"unorm_int8", FUSION_UNORM_INT8, FUSION_U8},
                                    {"unorm_int16", FUSION_UNORM_INT16, FUSION_U16},
                                    {"signed_int8", FUSION_SIGNED_INT8, FUSION_I8},
                                    {"signed_int16", FUSION_SIGNED_INT16, FUSION_I16},
                                    {"signed_int32", FUSION_SIGNED_INT32, FUSION_I32},
                                    {"unsigned_int8", FUSION_UNSIGNED_INT8, FUSION_U8},
                                    {"unsigned_int16", FUSION_UNSIGNED_INT16, FUSION_U16},
                                    {"unsigned_int32", FUSION_UNSIGNED_INT32, FUSION_U32},
                                    {"half_float", FUSION_HALF_FLOAT, FUSION_F16},
                                    {"float", FUSION_FLOAT, FUSION_F32},
                                    {"unorm_short_565", FUSION_UNORM_SHORT_565, FUSION_U16},
                                    {"unorm_short_555", FUSION_UNORM_SHORT_555, FUSION_U16},
                                    {"unorm_int_101010", FUSION_UNORM_INT_101010, FUSION_U32},
                                    {"unorm_int_101010_2", FUSION_UNORM_INT_101010_2, FUSION_U32},
                                    {0}};
static const struct word addressings[] = {{"none", FUSION_ADDRESS_NONE, 0},
                                          {"clamp_to_edge", FUSION_ADDRESS_CLAMP_TO_EDGE, 0},
                                          {"clamp", FUSION_ADDRESS_CLAMP, 0},
                                          {"repeat", FUSION_ADDRESS_REPEAT, 0},
                                          {"mirrored_repeat", FUSION_ADDRESS_MIRRORED_REPEAT, 0},
                                          {0}};
static const struct word filters[] = {{"nearest", FUSION_FILTER_NEAREST, 0}, {"linear", FUSION_FILTER_LINEAR, 0}, {0}};
static const struct word truths[] = {{"true", true, 0}, {"false", false, 0}, {0}};

/* The word that the key has; NULL with a message that lists those it may have. */
static const struct word *read_word(struct reader *r, const yaml_node_t *map, const char *key, const struct word *words)
{
    const yaml_node_t *n = reader_get(r, map, key);
    const char *text = n ? reader_text_of(n) : NULL;
    char list[256] = "";
    for (const struct word *w = words; w->name; w++) {
        if (text && strcmp(w->name, text) == 0) return w;
        strcat(strcat(list, *list ? ", " : ""), w->name);
    }
    reader_fail(r, n ? n : map, "%s is `%s`; it is one of %s", key, text ? text : "", list);
    return NULL;
}

/* ---- images ---- */

static bool read_side(struct reader *r, const yaml_node_t *map, const char *key, bool needed, uint32_t *out)
{
    uint64_t value = 0;
    const yaml_node_t *n = reader_get(r, map, key);
    if (!n) return !needed || reader_fail(r, map, "an image needs %s", key);
    if (!reader_u64(r, n, &value)) return false;
    if (value > UINT32_MAX) return reader_fail(r, n, "%s is too large", key);
    *out = (uint32_t)value;
    return true;
}

static bool read_sizes(struct reader *r, const yaml_node_t *n, fusion_image_desc *d)
{
    bool flat = d->type == FUSION_IMAGE_1D || d->type == FUSION_IMAGE_1D_ARRAY || d->type == FUSION_IMAGE_1D_BUFFER;
    bool array = d->type == FUSION_IMAGE_1D_ARRAY || d->type == FUSION_IMAGE_2D_ARRAY;
    return read_side(r, n, "width", true, &d->width) && read_side(r, n, "height", !flat, &d->height) &&
           read_side(r, n, "depth", d->type == FUSION_IMAGE_3D, &d->depth) &&
           read_side(r, n, "array_size", array, &d->array_size) && read_side(r, n, "row_pitch", false, &d->row_pitch) &&
           reader_optional_u64(r, n, "slice_pitch", &d->slice_pitch);
}

static void add_dimension(struct file_buffer *b, uint64_t size)
{
    b->shape[b->dims++] = size;
    b->count *= size;
}

/* What arrays in files have: nothing that an image of this type or order has not. */
static void set_shape(struct file_buffer *b)
{
    const fusion_image_desc *d = &b->image;
    b->count = 1;
    if (d->depth || d->array_size) add_dimension(b, d->depth ? d->depth : d->array_size);
    if (d->type == FUSION_IMAGE_2D || d->type == FUSION_IMAGE_2D_ARRAY || d->type == FUSION_IMAGE_3D)
        add_dimension(b, d->height);
    add_dimension(b, d->width);
    if (b->channels > 1) add_dimension(b, b->channels);
}

static bool is_packed(int channel_type)
{
    return channel_type == FUSION_UNORM_INT_101010_2 ||
           (channel_type >= FUSION_UNORM_SHORT_565 && channel_type <= FUSION_UNORM_INT_101010);
}

bool graph_image_read(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    static const char *const keys[] = {"kind",  "width", "height", "depth",  "array_size", "row_pitch", "slice_pitch",
                                       "order", "type",  "fill",   "buffer", "offset",     NULL};
    const struct word *kind = &kinds[0];
    if (!reader_need_map(r, n, "an image") || !reader_known_keys(r, n, keys)) return false;
    b->is_image = true;
    b->at = reader_place(n);
    if (reader_get(r, n, "kind") && !(kind = read_word(r, n, "kind", kinds))) return false;
    b->image.type = (fusion_image_type)kind->value;
    if (!read_sizes(r, n, &b->image) || !reader_optional_text(r, n, "buffer", &b->of) ||
        !reader_optional_u64(r, n, "offset", &b->of_offset))
        return false;
    const struct word *order = read_word(r, n, "order", orders), *type = order ? read_word(r, n, "type", types) : NULL;
    if (!type) return false;
    b->image.channel_order = (fusion_channel_order)order->value;
    b->image.channel_type = (fusion_channel_type)type->value;
    b->type = (fusion_type)type->number;
    b->channels = is_packed(type->value) ? 1 : (uint32_t)order->number;
    set_shape(b);
    return true;
}

/* ---- samplers ---- */

bool graph_sampler_read(struct reader *r, const yaml_node_t *n, fusion_sampler *sampler)
{
    static const char *const keys[] = {"normalized", "addressing", "filter", NULL};
    if (!reader_need_map(r, n, "sampler") || !reader_known_keys(r, n, keys)) return false;
    const struct word *w;
    *sampler = (fusion_sampler){0};
    if (reader_get(r, n, "normalized")) {
        if (!(w = read_word(r, n, "normalized", truths))) return false;
        sampler->normalized = w->value;
    }
    if (reader_get(r, n, "addressing")) {
        if (!(w = read_word(r, n, "addressing", addressings))) return false;
        sampler->addressing = (fusion_addressing)w->value;
    }
    if (reader_get(r, n, "filter")) {
        if (!(w = read_word(r, n, "filter", filters))) return false;
        sampler->filter = (fusion_filter)w->value;
    }
    return true;
}

/* ---- copies and fills ---- */

static bool read_point(struct reader *r, const yaml_node_t *map, const char *key, uint32_t out[3])
{
    const yaml_node_t *n = reader_get(r, map, key);
    uint64_t point[3] = {0};
    uint32_t count;
    if (!n) return true;
    if (!reader_sizes(r, n, point, 3, &count)) return false;
    for (uint32_t i = 0; i < 3; i++) {
        if (count < 2 || point[i] > UINT32_MAX)
            return reader_fail(r, n, "%s is a list of two or three numbers: x, y and the slice or layer", key);
        out[i] = (uint32_t)point[i];
    }
    return true;
}

bool graph_pixels_read(struct reader *r, const yaml_node_t *n, struct file_node *node)
{
    return read_point(r, n, "from_at", node->from_at) && read_point(r, n, "to_at", node->to_at) &&
           read_point(r, n, "at", node->to_at) && read_point(r, n, "size", node->size);
}

bool graph_pixel_read(struct reader *r, const yaml_node_t *n, struct file_node *node)
{
    bool list = n->type == YAML_SEQUENCE_NODE;
    uint32_t count = list ? reader_list_size(n) : 1;
    if (count > 4) return reader_fail(r, n, "a pixel has at most 4 channels");
    for (; node->n_channels < count; node->n_channels++)
        if (!reader_text(r, list ? reader_list_item(r, n, node->n_channels) : n, &node->channels[node->n_channels]))
            return false;
    return true;
}
