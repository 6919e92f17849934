/* Binary floating-point formats, and rounding to them. */
#pragma once

#include "ir/core/ir.h"

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
