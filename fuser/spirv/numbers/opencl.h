/* The instruction set OpenCL.std. */
#pragma once

#include "fuser/spirv/base/body.h"

/* The function for an operation; false: there is none. */
bool spw_opencl_function(enum ir_op op, uint32_t *function);
