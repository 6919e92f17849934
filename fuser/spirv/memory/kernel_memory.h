/* Memory in the kernel dialect: pointers are to bytes, and become what an access needs. */
#pragma once

#include "fuser/spirv/base/body.h"

uint32_t spw_kernel_variable(struct spw *w, const struct ir_inst *var);
uint32_t spw_kernel_global(struct spw *w, const struct ir_global *g);
void spw_kernel_param(struct spw *w, const struct ir_param *p);
uint32_t spw_kernel_element(struct spw *w, const struct ir_inst *inst);
uint32_t spw_kernel_load(struct spw *w, ir_type t, enum ir_space space, uint32_t pointer, uint32_t align,
                         bool is_volatile);
void spw_kernel_store(struct spw *w, ir_type t, enum ir_space space, uint32_t pointer, uint32_t align, bool is_volatile,
                      uint32_t x);
/* A pointer to another type at the same address. */
uint32_t spw_kernel_pointer(struct spw *w, uint32_t type, enum ir_space space, uint32_t pointer);
/* The types of the kernel's parameters. */
uint32_t spw_kernel_param_type(struct spw *w, const struct ir_param *p);
