/* Operations that are one instruction. */
#pragma once

#include "fuser/spirv/base/body.h"

/* The one instruction for an operation; false: there is none. */
bool spw_one_instruction(struct spw *w, enum ir_op op, enum ir_kind kind, unsigned n, const struct formula_value *args,
                         struct formula_value *result);
/* Likewise where it is known that there is one: what SPIR-V leaves undefined stays so. */
struct formula_value spw_native(struct spw *w, enum ir_op op, enum ir_kind kind, unsigned n,
                                const struct formula_value *args);
/* A function of an instruction set. */
struct formula_value spw_by_set(struct spw *w, const char *set, enum ir_kind kind, uint32_t number, unsigned n,
                                const struct formula_value *args);
