/* OpenCL.std: what its files share. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* An operation for a function of the set, with its fp flags. */
struct ir_value *spirv_ext_build(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op, ir_type t,
                                 struct ir_value *const *operands, uint32_t n);
/* True where the function is one of the file's. */
bool spirv_ext_special(struct spirv_body *s, const struct spirv_inst *i); /* ext_special.c */
bool spirv_ext_data(struct spirv_body *s, const struct spirv_inst *i);    /* ext_data.c */
bool spirv_ext_printf(struct spirv_body *s, const struct spirv_inst *i);  /* ext_printf.c */
