/* Opcodes that are one operation of ir, in bodies and in constants that are computed. */
#pragma once

#include "ir/core/ir.h"

/* How operands and results go together. */
enum spirv_shape {
    SPIRV_PLAIN,   /* T is the result's type */
    SPIRV_COMPARE, /* T is the operands' type */
    SPIRV_SHIFT,   /* SPIRV_PLAIN, the second operand an integer of any width */
    SPIRV_NUMBERS, /* SPIRV_PLAIN, the source a number of another type */
};

/* The opcode's shape; false: it is none of these. */
bool spirv_simple_shape(unsigned opcode, enum spirv_shape *shape);
/* The operation for an opcode with a result of that type and those operands, and its T. */
bool spirv_simple(unsigned opcode, ir_type result, struct ir_value *const *operands, uint32_t n, enum ir_op *op,
                  ir_type *type);
