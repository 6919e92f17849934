/* Kernel dialect: where a work-item is, and what a launch's block says. */
#pragma once

#include "fuser/spirv/base/body.h"

/* The kernel is given a launch's block; else its parameters, where it is no pipeline. */
bool spw_has_block(const struct spw *w);
bool spw_has_parameters(const struct spw *w);
uint32_t spw_block_param_type(struct spw *w, enum spirv_kernel_parameter i);
void spw_block_params(struct spw *w);
/* A pointer to bytes of the block, so many from its beginning. */
uint32_t spw_block_pointer(struct spw *w, uint32_t offset);

uint32_t spw_kernel_id(struct spw *w, enum ir_op op, unsigned dim);
