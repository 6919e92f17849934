/* Decorations of ids, also those that a group gives them. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* Keeps what an instruction of decoration says. */
void spirv_decorate(struct spirv_reader *r, const struct spirv_inst *i);
/* The words of an id's decoration after its number, or NULL. n may be NULL. */
const uint32_t *spirv_decoration(const struct spirv_reader *r, uint32_t id, SpvDecoration what, uint32_t *n);
bool spirv_has_param_attr(const struct spirv_reader *r, uint32_t id, SpvFunctionParameterAttribute attr);
/* Calls `visit` with the words after its number for each decoration of the id that is `what`, in the module's order. */
void spirv_each_decoration(const struct spirv_reader *r, uint32_t id, SpvDecoration what,
                           void (*visit)(void *data, const uint32_t *words), void *data);
