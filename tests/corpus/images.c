/* Images and samplers of the corpus: what a directive says of them. */
#include <string.h>

#include "tests/corpus/corpus.h"

/* Types and orders are OpenCL's constants. */
static const struct {
    const char *name;
    uint32_t type;
    const char *numbers; /* how a channel lies in memory */
} channels[] = {
    {"snorm8", 0x10d0, "i8"}, {"snorm16", 0x10d1, "i16"}, {"unorm8", 0x10d2, "u8"}, {"unorm16", 0x10d3, "u16"},
    {"i8", 0x10d7, "i8"},     {"i16", 0x10d8, "i16"},     {"i32", 0x10d9, "i32"},   {"u8", 0x10da, "u8"},
    {"u16", 0x10db, "u16"},   {"u32", 0x10dc, "u32"},     {"f32", 0x10de, "f32"},
};
static const struct {
    const char *name;
    uint32_t order, channels;
} orders[] = {
    {"r", 0x10b0, 1},    {"a", 0x10b1, 1},    {"rg", 0x10b2, 2},   {"ra", 0x10b3, 2},
    {"rgba", 0x10b5, 4}, {"bgra", 0x10b6, 4}, {"argb", 0x10b7, 4}, {"depth", 0x10bd, 1},
};
static const struct {
    const char *word;
    uint32_t bits;
} sampler_words[] = {
    {"normalized", IR_SAMPLER_NORMALIZED}, {"none", IR_SAMPLER_ADDRESS_NONE}, {"edge", IR_SAMPLER_CLAMP_TO_EDGE},
    {"border", IR_SAMPLER_CLAMP},          {"repeat", IR_SAMPLER_REPEAT},     {"mirror", IR_SAMPLER_MIRRORED_REPEAT},
    {"nearest", IR_SAMPLER_NEAREST},       {"linear", IR_SAMPLER_LINEAR},
};

const char *corpus_image_format(const char *order, const char *channel, struct ir_image *image, uint32_t *n_channels)
{
    image->channel_order = 0;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        if (strcmp(orders[i].name, order) != 0) continue;
        image->channel_order = orders[i].order;
        *n_channels = orders[i].channels;
    }
    for (size_t i = 0; image->channel_order && i < sizeof channels / sizeof *channels; i++) {
        if (strcmp(channels[i].name, channel) != 0) continue;
        image->channel_type = channels[i].type;
        return channels[i].numbers;
    }
    return NULL;
}

bool corpus_sampler_word(const char *word, uint32_t *bits)
{
    for (size_t i = 0; i < sizeof sampler_words / sizeof *sampler_words; i++) {
        if (strcmp(sampler_words[i].word, word) != 0) continue;
        *bits |= sampler_words[i].bits;
        return true;
    }
    return false;
}
