/* Loops over columns: one operation on the numbers of many work-items. Each instruction set has its own table of them,
   all giving the same bits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/core/ops.h"
#include "ir/core/type.h"

/* n numbers from those of up to three other columns; r is none of these. bools are bytes, 0 or 1. */
typedef void column_function(void *r, const void *a, const void *b, const void *c, size_t n);
/* n numbers at base + index[i] * scale, where lanes[i] is set; lanes NULL: all. */
typedef void load_function(void *r, const uint8_t *base, const void *index, int64_t scale, const uint8_t *lanes,
                           size_t n);
typedef void store_function(const void *value, uint8_t *base, const void *index, int64_t scale, const uint8_t *lanes,
                            size_t n);
/* r[i] = a[i] where lanes[i] is set. */
typedef void blend_function(void *r, const void *a, const uint8_t *lanes, size_t n);
/* r[i] = base + index[i] * scale. */
typedef void address_function(uint64_t *r, uint64_t base, const void *index, int64_t scale, size_t n);

/* Operations of formulas too (ir/formula/types.h); numbers of bytes as their logarithm. */
struct columns {
    column_function *(*operation)(unsigned op, enum ir_kind kind); /* NULL: there is none. kind is the operands' */
    column_function *(*conversion)(enum ir_op op, enum ir_kind to, enum ir_kind from);
    column_function *(*library)(enum ir_op op, enum ir_kind kind); /* f32 or f64 */
    column_function *select[4], *splat[4]; /* select: of bools, where set, where not; splat: the first number of a */
    blend_function *blend[4];
    load_function *load[2][4]; /* index of 4 or 8 bytes; number */
    store_function *store[2][4];
    address_function *address[2];
};

/* The tables that this machine can run, the best one first. */
unsigned columns_usable(const struct columns *tables[3]);

extern const struct columns columns_generic, columns_avx2, columns_avx512;
