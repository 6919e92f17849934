/* The table of operations (ops.def) as C. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum ir_op {
#define OP(id, text, class, tclass, operands, result, attrs, flags, aspects, doc) IR_OP_##id,
#include "ir/core/ops.def"
#undef OP
    IR_OP_COUNT
};

/* What kind of operation it is: the column `class` of ops.def. */
enum ir_op_class {
    IR_CLASS_ARITHMETIC,
    IR_CLASS_COMPARISON,
    IR_CLASS_CONVERSION,
    IR_CLASS_VECTOR,
    IR_CLASS_MATH,
    IR_CLASS_MEMORY,
    IR_CLASS_ATOMIC,
    IR_CLASS_ND_RANGE,
    IR_CLASS_SUB_GROUP_QUERY,
    IR_CLASS_COLLECTIVE,
    IR_CLASS_SUB_GROUP,
    IR_CLASS_BLOCK,
    IR_CLASS_IMAGE,
    IR_CLASS_PIPE,
    IR_CLASS_PRINT,
    IR_CLASS_CONTROL,
};

enum ir_op_flag {
    IR_FLAG_PURE = 1 << 0,       /* P */
    IR_FLAG_READS = 1 << 1,      /* R */
    IR_FLAG_WRITES = 1 << 2,     /* W */
    IR_FLAG_CONVERGENT = 1 << 3, /* C */
    IR_FLAG_TERMINATOR = 1 << 4, /* X */
    IR_FLAG_BLOCKS = 1 << 5,     /* Z */
    IR_FLAG_PARTIAL = 1 << 6,    /* D */
    IR_FLAG_UNSIGNED = 1 << 7,   /* U */
    IR_FLAG_COMMUTES = 1 << 8,   /* A */
    IR_FLAG_GROUPS = 1 << 9,     /* G */
};

struct ir_op_info {
    const char *text; /* mnemonic in the text form; unique */
    enum ir_op_class op_class;
    char type_class; /* letters as explained in ops.def */
    const char *operands;
    char result;
    const char *attrs;
    unsigned flags;   /* enum ir_op_flag */
    uint64_t aspects; /* what the operation itself needs, see ir/core/aspects.h */
    const char *doc;
};

/* The row of op; op must be below IR_OP_COUNT. */
const struct ir_op_info *ir_op_info(enum ir_op op);
/* Its class. */
enum ir_op_class ir_op_class(enum ir_op op);
/* Whether it takes as long as a function: not mad, which is a product and a sum, nor fma, which is an instruction. */
bool ir_op_is_function(enum ir_op op);
/* The op with this mnemonic, or IR_OP_COUNT. */
enum ir_op ir_op_find(const char *text);
