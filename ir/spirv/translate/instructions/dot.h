/* Dot products of integers. */
#pragma once

#include "ir/spirv/translate/values/body.h"

struct spirv_dot {
    enum ir_op first, second; /* how the components of either vector become as wide as the result */
    enum ir_op accumulate;    /* IR_OP_COUNT: there is no accumulator */
};

/* True where the instruction is one. */
bool spirv_emit_dot(struct spirv_body *s, const struct spirv_inst *i);
/* words: the ids of both vectors, and of the accumulator where there is one. */
void spirv_build_dot(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_dot *f,
                     const uint32_t *words);
