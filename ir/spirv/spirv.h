/* SPIR-V in: modules of the Kernel dialect, as compilers of OpenCL C and SYCL make them. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"
#include "ir/spirv/decode/options.h"

enum { IR_SPIRV_MAX_SIZE = 16 << 20 /* bytes of a module */ };

/* The bytes begin with SPIR-V's magic number, in either byte order. */
bool ir_is_spirv(const void *bytes, size_t size);

/* Reads a module of SPIR-V 1.0 to 1.6 (Kernel, Physical64). Never trusts its input: memory stays below 100 times
   the module's size and 1 MB. A function that cannot be read is refused (ir_function.refused), with a finding; the
   others stay usable. NULL where the module as a whole cannot be read, or none of its kernels and exported functions;
   else the result has passed ir_verify(). name is the module's; options may be NULL. A value for a constant that the
   module has not, or of another size than it has, is an error. */
struct ir_module *ir_read_spirv(const void *bytes, size_t size, const char *name, struct diag_list *list);
struct ir_module *ir_read_spirv_with(const void *bytes, size_t size, const char *name,
                                     const struct ir_spirv_options *options, struct diag_list *list);
