/* Scopes and memory semantics. */
#pragma once

#include "ir/spirv/translate/values/body.h"

enum ir_scope spirv_scope(const struct spirv_body *s, uint32_t id);
/* The scope of a group's operation, which it reports where it is of none. */
enum ir_scope spirv_group_scope(struct spirv_body *s, const struct spirv_inst *i, uint32_t id);
enum ir_order spirv_order(const struct spirv_body *s, uint32_t id);
uint8_t spirv_fence(const struct spirv_body *s, uint32_t id); /* enum ir_fence_space */
