/* What the files eval*.c share, and the single-lane arithmetic that the interpreter's atomic and group
   operations are made of. A lane is a word: the bits of the number, zero-extended. */
#pragma once

#include "ir/core/float.h"
#include "ir/core/ir.h"

static inline uint64_t eval_mask(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static inline int64_t eval_sext(uint64_t x, unsigned bits)
{
    if (bits >= 64) return (int64_t)x;
    uint64_t sign = 1ull << (bits - 1);
    return (int64_t)(((x & eval_mask(bits)) ^ sign) - sign);
}

/* Shape of a binary floating-point format. */
struct eval_format {
    unsigned bits, fraction; /* stored bits of the fraction */
    int bias;
};

struct eval_format eval_format(enum ir_kind kind);
/* (-1)^negative * significand * 2^exponent as the bits of a float of that kind, rounded once. */
uint64_t eval_pack(enum ir_kind kind, bool negative, uint64_t significand, int exponent, enum ir_rounding rounding);
uint64_t eval_from_double(enum ir_kind kind, double d, enum ir_rounding rounding);
uint64_t eval_nan(enum ir_kind kind, uint64_t payload);

/* One lane of an operation. v holds the operands' words, zero where there are fewer than four.
   False: not an operation of that family. */
bool eval_int(enum ir_op op, unsigned bits, const uint64_t v[4], uint64_t *r);
bool eval_float(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r);
bool eval_compare(enum ir_op op, ir_type type, const uint64_t v[4], uint64_t *r);
bool eval_convert(enum ir_op op, enum ir_rounding rounding, ir_type to, ir_type from, uint64_t x, uint64_t *r);

/* By a formula (ir/formula/formula.h), if there is one. kind is that of the operands T, the result's unless that is an i32. */
bool eval_formula(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r);

/* Whole vectors. */
bool eval_vector(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r);
bool eval_geometric(enum ir_op op, ir_type type, const uint64_t *const *operands, uint64_t *r);
