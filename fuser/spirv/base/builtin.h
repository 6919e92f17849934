/* Built-in variables, and what is computed from them at a kernel's beginning. */
#pragma once

#include "fuser/spirv/base/body.h"

/* A variable of the pipeline, which has that type; its value, and one of three numbers in it. */
uint32_t spw_builtin(struct spw *w, uint32_t builtin, uint32_t type);
uint32_t spw_builtin_part(struct spw *w, uint32_t builtin, unsigned bits, unsigned dim);
/* Of two integers, at the kernel's beginning. */
uint32_t spw_id_pair(struct spw *w, unsigned opcode, unsigned bits, uint32_t x, uint32_t y);
uint32_t spw_id_widened(struct spw *w, uint32_t x); /* to 64 bits */
/* (z * height + y) * width + x of three ids and three sizes, of 64 bits. */
uint32_t spw_id_linear(struct spw *w, const uint32_t *ids, const uint32_t *sizes);
