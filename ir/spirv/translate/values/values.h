/* Values by id: what instructions define and what the module does, made for a function where it is used. */
#pragma once

#include "ir/spirv/translate/values/body.h"

enum { SPIRV_MAX_LEAVES = 1024 /* of one value */ };

/* The values that the result of an id consists of; reports what has none and gives undefined ones. */
struct ir_value *const *spirv_values(struct spirv_body *s, const struct spirv_inst *user, uint32_t id);
/* The same where there is one; reports an id of several. */
struct ir_value *spirv_value(struct spirv_body *s, const struct spirv_inst *user, uint32_t id);
void spirv_set(struct spirv_body *s, const struct spirv_inst *i, struct ir_value *v);
/* values has as many entries as the type has leaves; copied. */
void spirv_set_all(struct spirv_body *s, uint32_t id, struct ir_value *const *values);
bool spirv_is_set(const struct spirv_body *s, uint32_t id);
/* A number as a constant. */
struct ir_value *spirv_int(struct spirv_body *s, ir_type t, uint64_t v);
/* An integer operand, as another type of integer: cut or zero-extended. */
struct ir_value *spirv_as_int(struct spirv_body *s, struct ir_value *v, ir_type to);
