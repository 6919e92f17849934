/* Loads and stores of values of any type, part by part. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* As an access with that alignment (0: the type's own). */
void spirv_load(struct spirv_body *s, const struct spirv_inst *i, uint32_t type, struct ir_value *address,
                uint32_t align, bool is_volatile, struct ir_value **leaves);
void spirv_store(struct spirv_body *s, const struct spirv_inst *i, uint32_t type, struct ir_value *address,
                 uint32_t align, bool is_volatile, struct ir_value *const *leaves);
/* The type is an image, a sampler or a pipe, which cannot lie in memory. */
bool spirv_holds_handle(const struct spirv_reader *r, uint32_t type);
/* A variable of such a type: it has no address, only what is stored into it. */
bool spirv_is_handle_variable(const struct spirv_reader *r, uint32_t id);
