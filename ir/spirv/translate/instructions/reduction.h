/* Reductions and scans of groups, by opcode. */
#pragma once

#include <stdint.h>

struct reduction {
    uint16_t spirv, non_uniform; /* opcodes: of the whole group, of the work-items that are there */
    uint8_t op;                  /* enum ir_group_op */
};

/* NULL: neither of both. */
const struct reduction *reduction_find(unsigned opcode);
