/* Integer operations on one lane. */
#include "ir/eval/int.h"

#include "ir/eval/bits.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;

static uint64_t saturate_signed(wide x, unsigned bits)
{
    wide max = (wide)eval_mask(bits - 1), min = -max - 1;
    return (uint64_t)(x > max ? max : x < min ? min : x);
}

static uint64_t saturate_unsigned(uwide x, unsigned bits)
{
    return x > eval_mask(bits) ? eval_mask(bits) : (uint64_t)x;
}

static wide floor_mod(wide x, wide y)
{
    wide r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static uint64_t rotate_left(uint64_t x, uint64_t by, unsigned bits)
{
    by %= bits;
    return by == 0 ? x : x << by | x >> (bits - by);
}

static uint64_t reverse_bits(uint64_t x, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < bits; i++) r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}

static uint64_t leading_zeros(uint64_t x, unsigned bits)
{
    return x == 0 ? bits : (uint64_t)__builtin_clzll(x) - (64 - bits);
}

static uint64_t trailing_zeros(uint64_t x, unsigned bits)
{
    return x == 0 ? bits : (uint64_t)__builtin_ctzll(x);
}

static int64_t low24(uint64_t x, unsigned bits)
{
    return eval_sext(x, bits < 24 ? bits : 24);
}

/* The bits of a field, kept within the width: what reaches beyond it is undefined. */
static uint64_t field_mask(uint64_t offset, uint64_t count, unsigned bits)
{
    if (offset >= bits || count == 0) return 0;
    uint64_t room = bits - offset;
    return eval_mask((unsigned)(count < room ? count : room)) << offset;
}

static uint64_t insert_field(uint64_t base, uint64_t insert, uint64_t offset, uint64_t count, unsigned bits)
{
    uint64_t mask = field_mask(offset, count, bits);
    return mask == 0 ? base : (base & ~mask) | (insert << offset & mask);
}

static uint64_t extract_field(uint64_t x, uint64_t offset, uint64_t count, unsigned bits, bool is_signed)
{
    uint64_t mask = field_mask(offset, count, bits);
    if (mask == 0) return 0;
    uint64_t field = (x & mask) >> offset;
    return is_signed ? (uint64_t)eval_sext(field, (unsigned)__builtin_popcountll(mask)) : field;
}

/* Operations that C has, on signed and unsigned numbers of any width. */
static bool arithmetic(enum ir_op op, unsigned bits, const uint64_t v[4], uint64_t *r)
{
    uint64_t x = v[0], y = v[1];
    wide sx = eval_sext(x, bits), sy = eval_sext(y, bits);
    switch (op) {
    case IR_OP_ADD: *r = x + y; return true;
    case IR_OP_SUB: *r = x - y; return true;
    case IR_OP_MUL: *r = x * y; return true;
    case IR_OP_UDIV: *r = y == 0 ? 0 : x / y; return true;
    case IR_OP_SDIV: *r = y == 0 ? 0 : (uint64_t)(sx / sy); return true;
    case IR_OP_UREM: *r = y == 0 ? 0 : x % y; return true;
    case IR_OP_SREM: *r = y == 0 ? 0 : (uint64_t)(sx % sy); return true;
    case IR_OP_SMOD: *r = y == 0 ? 0 : (uint64_t)floor_mod(sx, sy); return true;
    case IR_OP_NEG: *r = -x; return true;
    case IR_OP_SHL: *r = x << y % bits; return true;
    case IR_OP_LSHR: *r = x >> y % bits; return true;
    case IR_OP_ASHR: *r = (uint64_t)(sx >> y % bits); return true;
    case IR_OP_AND: *r = x & y; return true;
    case IR_OP_OR: *r = x | y; return true;
    case IR_OP_XOR: *r = x ^ y; return true;
    case IR_OP_NOT: *r = ~x; return true;
    case IR_OP_SMIN: *r = sx < sy ? x : y; return true;
    case IR_OP_UMIN: *r = x < y ? x : y; return true;
    case IR_OP_SMAX: *r = sx > sy ? x : y; return true;
    case IR_OP_UMAX: *r = x > y ? x : y; return true;
    default: return false;
    }
}

/* OpenCL.std's functions: intermediate results have room in twice the width. */
static bool widening(enum ir_op op, unsigned bits, const uint64_t v[4], uint64_t *r)
{
    uint64_t x = v[0], y = v[1], z = v[2];
    wide sx = eval_sext(x, bits), sy = eval_sext(y, bits), sz = eval_sext(z, bits);
    uwide ux = x, uy = y, uz = z;
    switch (op) {
    case IR_OP_SABS: *r = (uint64_t)(sx < 0 ? -sx : sx); return true;
    case IR_OP_SABS_DIFF: *r = (uint64_t)(sx < sy ? sy - sx : sx - sy); return true;
    case IR_OP_UABS_DIFF: *r = x < y ? y - x : x - y; return true;
    case IR_OP_SADD_SAT: *r = saturate_signed(sx + sy, bits); return true;
    case IR_OP_UADD_SAT: *r = saturate_unsigned(ux + uy, bits); return true;
    case IR_OP_SSUB_SAT: *r = saturate_signed(sx - sy, bits); return true;
    case IR_OP_USUB_SAT: *r = x < y ? 0 : x - y; return true;
    case IR_OP_SHADD: *r = (uint64_t)((sx + sy) >> 1); return true;
    case IR_OP_UHADD: *r = (uint64_t)((ux + uy) >> 1); return true;
    case IR_OP_SRHADD: *r = (uint64_t)((sx + sy + 1) >> 1); return true;
    case IR_OP_URHADD: *r = (uint64_t)((ux + uy + 1) >> 1); return true;
    case IR_OP_SCLAMP:
        sx = sx > sy ? sx : sy;
        *r = (uint64_t)(sx < sz ? sx : sz);
        return true;
    case IR_OP_UCLAMP:
        x = x > y ? x : y;
        *r = x < z ? x : z;
        return true;
    case IR_OP_SMUL_HI: *r = (uint64_t)(sx * sy >> bits); return true;
    case IR_OP_UMUL_HI: *r = (uint64_t)(ux * uy >> bits); return true;
    case IR_OP_SMAD_HI: *r = (uint64_t)(sx * sy >> bits) + z; return true;
    case IR_OP_UMAD_HI: *r = (uint64_t)(ux * uy >> bits) + z; return true;
    case IR_OP_SMAD_SAT: *r = saturate_signed(sx * sy + sz, bits); return true;
    case IR_OP_UMAD_SAT: *r = saturate_unsigned(ux * uy + uz, bits); return true;
    default: return false;
    }
}

static bool bit_function(enum ir_op op, unsigned bits, const uint64_t v[4], uint64_t *r)
{
    uint64_t x = v[0], y = v[1], z = v[2];
    switch (op) {
    case IR_OP_SMUL24: *r = (uint64_t)(low24(x, bits) * low24(y, bits)); return true;
    case IR_OP_UMUL24: *r = (x & 0xffffff) * (y & 0xffffff); return true;
    case IR_OP_SMAD24: *r = (uint64_t)(low24(x, bits) * low24(y, bits)) + z; return true;
    case IR_OP_UMAD24: *r = (x & 0xffffff) * (y & 0xffffff) + z; return true;
    case IR_OP_CLZ: *r = leading_zeros(x, bits); return true;
    case IR_OP_CTZ: *r = trailing_zeros(x, bits); return true;
    case IR_OP_POPCOUNT: *r = (uint64_t)__builtin_popcountll(x); return true;
    case IR_OP_ROTATE: *r = rotate_left(x, y, bits); return true;
    case IR_OP_BITREVERSE: *r = reverse_bits(x, bits); return true;
    case IR_OP_BITSELECT: *r = (x & ~z) | (y & z); return true;
    case IR_OP_BITFIELD_INSERT: *r = insert_field(x, y, z, v[3], bits); return true;
    case IR_OP_SBITFIELD_EXTRACT: *r = extract_field(x, y, z, bits, true); return true;
    case IR_OP_UBITFIELD_EXTRACT: *r = extract_field(x, y, z, bits, false); return true;
    default: return false;
    }
}

bool eval_int(enum ir_op op, unsigned bits, const uint64_t v[4], uint64_t *r)
{
    if (!arithmetic(op, bits, v, r) && !widening(op, bits, v, r) && !bit_function(op, bits, v, r)) return false;
    *r &= eval_mask(bits);
    return true;
}
