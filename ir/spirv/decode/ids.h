/* What is asked of the index by id. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* A string that begins at a word; the validator has seen its end. */
static inline const char *spirv_string(const uint32_t *words)
{
    return (const char *)words;
}
static inline const struct spirv_inst *spirv_def(const struct spirv_reader *r, uint32_t id)
{
    return r->index.ids[id].def;
}
/* Where it has none: NULL. */
static inline const char *spirv_name(const struct spirv_reader *r, uint32_t id)
{
    return r->index.ids[id].name;
}
/* The id of a value's type. */
static inline uint32_t spirv_type_of(const struct spirv_reader *r, uint32_t id)
{
    const struct spirv_inst *d = spirv_def(r, id);
    return d ? d->type : 0;
}
