/* What devices do not have, as functions of the kernel language: kernels get them put in place. */
#pragma once

#include "ir/core/ir.h"

/* The function in the module, where it is copied to with all that it needs. */
struct ir_function *spirv_library_function(struct ir_module *into, const char *name);
