/* Names and numbers of aspects. */
#include "ir/core/aspects.h"

#include <string.h>

#include <stddef.h>

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
