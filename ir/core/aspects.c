/* Names and numbers of aspects. */
#include "ir/core/aspects.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
#define X(id, text, number) text,
    IR_ASPECTS(X)
#undef X
};

static const uint32_t numbers[] = {
#define X(id, text, number) number,
    IR_ASPECTS(X)
#undef X
};

const char *ir_aspect_name(unsigned bit)
{
    return bit < IR_ASPECT_COUNT ? names[bit] : NULL;
}

int ir_aspect_find(const char *name)
{
    for (int bit = 0; bit < IR_ASPECT_COUNT; bit++)
        if (strcmp(name, names[bit]) == 0) return bit;
    return -1;
}

uint32_t ir_aspect_number(unsigned bit)
{
    return numbers[bit];
}

const char *ir_extension_next(unsigned *i, uint64_t aspects)
{
    static const struct {
        const char *name;
        uint64_t aspects;
    } extensions[] = {
        {"sycl_ext_oneapi_graph_fusion", IR_ASPECT_GRAPH_FUSION},
        {"SYCL_INTEL_sub_group", IR_ASPECT_SUB_GROUPS},
        {"cl_intel_subgroups", IR_ASPECT_SUB_GROUPS | IR_ASPECT_IMAGE},
        {"cl_intel_subgroups_char", IR_ASPECT_SUB_GROUPS | IR_ASPECT_IMAGE},
        {"cl_intel_subgroups_short", IR_ASPECT_SUB_GROUPS | IR_ASPECT_IMAGE},
        {"cl_intel_subgroups_long", IR_ASPECT_SUB_GROUPS | IR_ASPECT_IMAGE},
        {"cl_intel_required_subgroup_size", IR_ASPECT_SUB_GROUPS},
    };
    while (*i < sizeof extensions / sizeof *extensions) {
        unsigned k = (*i)++;
        if ((extensions[k].aspects & ~aspects) == 0) return extensions[k].name;
    }
    return NULL;
}
