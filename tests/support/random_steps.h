/* The statements of random kernels: what random_kernel.c puts between parameters and return. */
#pragma once

#include "tests/support/generator.h"
#include "tests/support/random_kernel.h"

struct steps {
    struct generator g;
    struct random_kernel_options options;
    struct ir_function *f;
    struct random_arg *args;
    uint32_t n_args;
    uint32_t limit, local, inexact; /* which argument; UINT32_MAX: none */
    uint32_t block_in, block_out;   /* buffers of sub-groups, for reads and writes of blocks */
    struct ir_value *seen;          /* i64 in private memory, where results of groups add up; NULL: they do not */
    struct ir_value *id;            /* i64, from 0 to items - 1 where buffers are used; NULL in helpers */
    uint32_t left;                  /* instructions still to make */
    /* The innermost loop around: its results, its parameters, and the counter that continue carries. */
    struct ir_inst *loop;
    struct ir_value *next_count;
    void (*extra)(struct steps *k); /* one more kind of statement, or NULL */
    bool stays;                     /* others wait for this work-item further on: it must not return */
};

/* The next instruction, on a line of its own; its result can be used from now on. */
struct ir_value *steps_emit(struct steps *k, enum ir_op op, ir_type t, struct ir_value *const *operands, uint32_t n);

ir_type steps_scalar(struct steps *k); /* of those the options allow */
ir_type steps_type(struct steps *k);   /* vectors too */
/* A value of a number type: one in sight, one converted, a constant. */
struct ir_value *steps_value(struct steps *k, ir_type t);
/* The same number of lanes in both types. Conversions saturate where others are undefined. */
struct ir_value *steps_convert(struct steps *k, struct ir_value *v, ir_type t);
void steps_load(struct steps *k, uint32_t arg);
void steps_store(struct steps *k, uint32_t arg);
void steps_barrier(struct steps *k, enum ir_scope scope);
/* Statements, up to what is left, at the place of g.b; no terminator. depth: of the block. */
void steps_fill(struct steps *k, uint32_t depth);
