/* Code that is quick to interpret: functions with their values numbered into the slots of a frame. */
#pragma once

#include "ir/base/arena.h"
#include "ir/core/ir.h"

struct operand {
    const uint64_t *constant; /* NULL: a slot of the frame */
    uint32_t slot;
};

struct code_inst {
    const struct ir_inst *ir;
    struct operand *operands;
    uint32_t *results;        /* slots */
    struct code_block *block; /* where it stands */
    struct code_block *blocks[2];
    struct code_function *callee;
    struct code_inst *target; /* break, continue: the loop; yield: the if */
    uint32_t id;              /* unique in the program */
    uint32_t round;           /* loop: slot of its count of rounds */
    uint32_t var;             /* var: index in the function's variables */
};

struct code_block {
    struct code_function *function;
    struct code_inst *owner; /* NULL: a function's body */
    struct code_inst *insts;
    uint32_t n_insts, depth;
    uint32_t *args; /* slots */
};

/* Private memory of one instruction var or one by-value parameter. */
struct code_var {
    const char *name;
    uint64_t size, offset; /* in the frame's bytes */
    uint32_t slot;         /* holds its address while it is alive, else 0 */
    uint32_t param;        /* by-value parameter; else UINT32_MAX */
};

struct code_function {
    const struct ir_function *ir;
    struct code_block *body;
    uint32_t *params; /* slots */
    uint32_t n_slots, n_vars;
    struct code_var *vars;
    uint64_t private_bytes;
    struct code_function *next;
};

struct code {
    struct arena *arena;
    struct code_function *functions; /* the kernel and all it calls */
    struct code_inst **insts;        /* by id */
    uint32_t n_insts;
    uint32_t most_words; /* most words that one instruction moves */
};

/* The kernel, and all that it calls. */
struct code_function *interp_code_build(struct code *code, const struct ir_function *kernel);
