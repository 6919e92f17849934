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
    struct ir_value *id;            /* i64, from 0 to items - 1 where buffers are used; NULL in helpers */
    uint32_t left;                  /* instructions still to make */
    /* The innermost loop around: its results, its parameters, and the counter that continue carries. */
    struct ir_inst *loop;
    struct ir_value *next_count;
};

ir_type steps_scalar(struct steps *k); /* of those the options allow */
ir_type steps_type(struct steps *k);   /* vectors too */
/* A value of a number type: one in sight, one converted, a constant. */
struct ir_value *steps_value(struct steps *k, ir_type t);
/* The same number of lanes in both types. Conversions saturate where others are undefined. */
struct ir_value *steps_convert(struct steps *k, struct ir_value *v, ir_type t);
void steps_load(struct steps *k, uint32_t arg);
void steps_store(struct steps *k, uint32_t arg);
void steps_barrier(struct steps *k);
/* Statements, up to what is left, at the place of g.b; no terminator. depth: of the block. */
void steps_fill(struct steps *k, uint32_t depth);
