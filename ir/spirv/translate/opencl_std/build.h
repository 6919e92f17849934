/* Operations for functions of OpenCL.std. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* With the fp flags of the instruction. */
struct ir_value *spirv_ext_build(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op, ir_type t,
                                 struct ir_value *const *operands, uint32_t n);
