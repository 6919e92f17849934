/* The table of operations (ops.def) as C. */
#pragma once

#include <stdint.h>

enum ir_op {
#define OP(id, text, tclass, operands, result, attrs, flags, aspects, doc) IR_OP_##id,
#include "ir/core/ops.def"
#undef OP
    IR_OP_COUNT
};

enum ir_op_flag {
    IR_FLAG_PURE = 1 << 0,       /* P */
    IR_FLAG_READS = 1 << 1,      /* R */
    IR_FLAG_WRITES = 1 << 2,     /* W */
    IR_FLAG_CONVERGENT = 1 << 3, /* C */
    IR_FLAG_TERMINATOR = 1 << 4, /* X */
    IR_FLAG_BLOCKS = 1 << 5,     /* Z */
    IR_FLAG_PARTIAL = 1 << 6,    /* D */
};

struct ir_op_info {
    const char *text;     /* mnemonic in the text form; unique */
    char type_class;      /* letters as explained in ops.def */
    const char *operands;
    char result;
    const char *attrs;
    unsigned flags;       /* enum ir_op_flag */
    uint64_t aspects;     /* what the operation itself needs, see ir/core/aspects.h */
    const char *doc;
};

/* The row of op; op must be below IR_OP_COUNT. */
const struct ir_op_info *ir_op_info(enum ir_op op);
/* The op with this mnemonic, or IR_OP_COUNT. */
enum ir_op ir_op_find(const char *text);
