/*
 * Random kernels that can be run, and give the same values wherever they run: for differential tests of
 * interpreter, compiled code and devices.
 *
 * A work-item reads and writes only its own elements of the buffers, so nothing races; loops are bounded;
 * nothing undefined is computed with. Left out is what may differ between correct implementations: the
 * bits of a NaN, the sign of fmin(-0, +0), functions without exact rounding (unless asked for: their
 * results then go straight to a buffer of their own, which is compared with a tolerance).
 */
#pragma once

#include "ir/core/ir.h"

struct random_kernel_options {
    uint64_t items;        /* 0: 64; elements that buffers have room for */
    uint32_t buffers;      /* 0: 2 to 4 */
    uint32_t instructions; /* about; 0: 40 */
    uint32_t depth;        /* of blocks; 0: 3 */
    uint64_t local_size;   /* of the work-groups it will run in; not 0: local memory and barriers too */
    bool guarded;          /* always tests its id, so that more items than `items` may run it */
    bool inexact;          /* exp, sin and their like too */
    bool no_f16, no_f64, no_vectors, no_calls, no_control, no_private; /* private: variables in memory */
};

enum random_arg_kind { RANDOM_BUFFER, RANDOM_SCALAR, RANDOM_LOCAL };

struct random_arg {
    enum random_arg_kind kind;
    ir_type type;          /* of an element, or of the scalar */
    uint64_t count;        /* elements */
    uint64_t size;         /* bytes: of the buffer, the scalar, the local memory */
    enum ir_access access; /* BUFFER */
    bool inexact;          /* BUFFER: compare with a tolerance */
    uint8_t value[8];      /* SCALAR */
};

struct random_kernel {
    struct ir_module *module;
    struct ir_function *function;
    uint64_t items; /* work-items to run: exactly as many, or more where it is guarded; one dimension, no offset */
    bool guarded;
    uint32_t n_args; /* one for each parameter */
    struct random_arg *args;
};

/* options may be NULL. */
struct random_kernel random_kernel(uint64_t seed, const struct random_kernel_options *options);
void random_kernel_clear(struct random_kernel *k);

/* Fills a buffer of the kernel with values that make it interesting. */
void random_kernel_fill(const struct random_arg *arg, uint64_t seed, void *memory);
/* The first element in which two contents differ, or -1. NaNs are equal; inexact buffers may differ by
   `tolerance` relative to the larger magnitude. */
int64_t random_kernel_compare(const struct random_arg *arg, const void *a, const void *b, double tolerance);
