/* Words as integers of fewer bits. A lane is a word: the bits of the number, zero-extended. */
#pragma once

#include <stdint.h>

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
