/* Sub-group sizes that a module is given when it is read. */
#pragma once

#include "ir/core/ir.h"

/* Kernels, exported and imported functions without a sub-group size get this one. */
void ir_default_sub_group_size(struct ir_module *m, uint32_t size);
/* "16", "automatic" or "primary" as ir_function.sub_group_size has it. False: it is none of these. */
bool ir_sub_group_size_parse(const char *text, uint32_t *size);
