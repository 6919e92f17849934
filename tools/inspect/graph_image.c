/* Reading what graph files say of images and samplers. */
#include "tools/inspect/graph_image.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

struct word {
    const char *name;
    int value;
    fusion_type type; /* of a channel type */
};

static const struct word orders[] = {{"r", FUSION_CHANNEL_R, 0},
                                     {"rg", FUSION_CHANNEL_RG, 0},
                                     {"rgba", FUSION_CHANNEL_RGBA, 0},
                                     {"bgra", FUSION_CHANNEL_BGRA, 0},
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

bool graph_image_read(struct reader *r, const yaml_node_t *n, struct file_buffer *b)
{
    static const char *const keys[] = {"width", "height", "row_pitch", "order", "type", "fill", NULL};
    if (!reader_need_map(r, n, "an image") || !reader_known_keys(r, n, keys)) return false;
    b->is_image = true;
    b->line = (int)n->start_mark.line + 1;
    if (!read_side(r, n, "width", true, &b->image.width) || !read_side(r, n, "height", true, &b->image.height) ||
        !read_side(r, n, "row_pitch", false, &b->image.row_pitch))
        return false;
    const struct word *order = read_word(r, n, "order", orders), *type = order ? read_word(r, n, "type", types) : NULL;
    if (!type) return false;
    b->image.channel_order = (fusion_channel_order)order->value;
    b->image.channel_type = (fusion_channel_type)type->value;
    b->type = type->type;
    uint32_t channels = (uint32_t)(strlen(order->name));
    b->dims = channels > 1 ? 3 : 2;
    b->shape[0] = b->image.height;
    b->shape[1] = b->image.width;
    b->shape[2] = channels;
    b->count = (uint64_t)b->image.height * b->image.width * channels;
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

static bool read_pair(struct reader *r, const yaml_node_t *map, const char *key, uint32_t out[2])
{
    const yaml_node_t *n = reader_get(r, map, key);
    uint64_t pair[2];
    uint32_t count;
    if (!n) return true;
    if (!reader_sizes(r, n, pair, 2, &count)) return false;
    if (count != 2 || pair[0] > UINT32_MAX || pair[1] > UINT32_MAX)
        return reader_fail(r, n, "%s is a list of two numbers, x and y", key);
    out[0] = (uint32_t)pair[0];
    out[1] = (uint32_t)pair[1];
    return true;
}

bool graph_pixels_read(struct reader *r, const yaml_node_t *n, struct file_node *node)
{
    return read_pair(r, n, "from_at", node->from_at) && read_pair(r, n, "to_at", node->to_at) &&
           read_pair(r, n, "at", node->to_at) && read_pair(r, n, "size", node->size);
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
