/* Types that a module has made, and where their parts lie in memory. */
#pragma once

#include "ir/core/objects.h"

ir_type ir_array_type(struct ir_module *m, ir_type element, uint64_t count); /* interned */
/* A struct with n fields to be filled in by the caller, then laid out: ir_struct_natural_layout() gives
   C's offsets, size and alignment; a reader with explicit ones sets them itself. */
struct ir_struct *ir_struct_new(struct ir_module *m, const char *name, uint32_t n_fields);
void ir_struct_natural_layout(const struct ir_module *m, struct ir_struct *s);
ir_type ir_struct_type(const struct ir_module *m, const struct ir_struct *s);
const struct ir_struct *ir_type_struct(const struct ir_module *m, ir_type t);
const struct ir_array *ir_type_array(const struct ir_module *m, ir_type t);

/* Bytes and alignment in memory: bool 1, a vector of 3 like one of 4 (OpenCL C 6.1.5), pointers 8. */
uint64_t ir_type_size(const struct ir_module *m, ir_type t);
uint32_t ir_type_align(const struct ir_module *m, ir_type t);

/* The block of bytes a kernel takes its arguments in: each parameter at its natural alignment, in
   order; pointers, images, samplers and pipes as 8 bytes, by-value structs inline, local pointers as 8.
   offsets has n_params entries. Returns the size, a multiple of 8. */
uint32_t ir_param_layout(const struct ir_function *f, uint32_t *offsets);
