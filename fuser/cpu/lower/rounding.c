/* Conversions to floats that round to zero, up or down: from the one to nearest, or of a number cut to the
   digits that there are, to the neighbour where that is needed. */
#include "fuser/cpu/lower/rounding.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"

static unsigned bits_of(enum ir_kind kind)
{
    return kind_bytes(kind) * 8;
}

/* Of the significand, the leading one included. */
static unsigned digits_of(enum ir_kind kind)
{
    return kind == IR_KIND_F16 ? 11 : kind == IR_KIND_F32 ? 24 : 53;
}

bool rounding_matters(const struct ir_inst *inst)
{
    unsigned r = inst->attrs.rounding;
    if (r == IR_ROUND_DEFAULT || r == IR_ROUND_RTE) return false;
    enum ir_kind from = ir_type_kind(inst->operands[0]->type), to = ir_type_kind(inst->type);
    return bits_of(from) > (inst->op == IR_OP_FPCONV ? bits_of(to) : digits_of(to));
}

static struct lanes compared(struct emit *e, enum ir_op op, struct lanes a, struct lanes b)
{
    return op2(e, op, IR_KIND_BOOL, a, b);
}

/* ---- from a wider float ---- */

/* What is added to the bits of a number to get the next one: away from zero 1, towards it -1. */
static struct lanes step_up(struct emit *e, enum ir_kind kind, struct lanes negative)
{
    return op_select(e, negative, lanes_int(e, kind, ~0ull), lanes_int(e, kind, 1));
}

/* The nearest number is one too far where it lies beyond x, seen in the direction of the rounding. The bits of
   neighbours differ by 1, from zero to infinity. */
static struct lanes narrowed(struct emit *e, enum ir_kind kind, enum ir_rounding rounding, struct lanes x)
{
    enum ir_kind word = kind_of_bytes(kind_bytes(kind));
    struct lanes nearest = op1(e, IR_OP_FPCONV, kind, x), back = op1(e, IR_OP_FPCONV, x.kind, nearest);
    struct lanes negative = op1(e, IR_OP_SIGNBIT, IR_KIND_BOOL, x), wrong, step;
    if (rounding == IR_ROUND_RTZ) {
        wrong = compared(e, IR_OP_FOGT, op1(e, IR_OP_FABS, x.kind, back), op1(e, IR_OP_FABS, x.kind, x));
        step = lanes_int(e, word, ~0ull);
    } else if (rounding == IR_ROUND_RTP) {
        wrong = compared(e, IR_OP_FOLT, back, x);
        step = step_up(e, word, negative);
    } else {
        wrong = compared(e, IR_OP_FOGT, back, x);
        step = op1(e, IR_OP_NEG, word, step_up(e, word, negative));
    }
    struct lanes bits = op_bits(e, nearest, word);
    bits = op_select(e, wrong, op2(e, IR_OP_ADD, word, bits, step), bits);
    return op_bits(e, bits, kind);
}

/* ---- from an integer ---- */

/* x without the bits that do not fit in the digits. */
static struct lanes without_lower_digits(struct emit *e, unsigned digits, struct lanes x)
{
    enum ir_kind kind = x.kind;
    struct lanes unused = op1(e, IR_OP_CLZ, kind, x), spare = lanes_int(e, kind, bits_of(kind) - digits);
    struct lanes extra = op2(e, IR_OP_SUB, kind, spare, op2(e, IR_OP_UMIN, kind, unused, spare));
    return op2(e, IR_OP_SHL, kind, op2(e, IR_OP_LSHR, kind, x, extra), extra);
}

/* x >= 0, to zero or (where `up` holds) away from it. */
static struct lanes from_magnitude(struct emit *e, enum ir_kind kind, struct lanes up, struct lanes x)
{
    enum ir_kind word = kind_of_bytes(kind_bytes(kind));
    /* Beyond an f16's numbers all are alike, and exceed the largest one. */
    if (kind == IR_KIND_F16) x = op2(e, IR_OP_UMIN, x.kind, x, lanes_int(e, x.kind, 0xffff));
    struct lanes whole = without_lower_digits(e, digits_of(kind), x);
    struct lanes bits = op_bits(e, op1(e, IR_OP_UTOF, kind, whole), word);
    struct lanes more = op2(e, IR_OP_AND, IR_KIND_BOOL, up, compared(e, IR_OP_INE, whole, x));
    return op_select(e, more, op2(e, IR_OP_ADD, word, bits, lanes_int(e, word, 1)), bits);
}

static struct lanes from_int(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_rounding rounding,
                             struct lanes x)
{
    enum ir_kind word = kind_of_bytes(kind_bytes(kind));
    struct lanes zero = lanes_int(e, x.kind, 0), negative = lanes_int(e, IR_KIND_BOOL, 0);
    if (op == IR_OP_STOF) negative = compared(e, IR_OP_SLT, x, zero);
    struct lanes up = lanes_int(e, IR_KIND_BOOL, 0);
    if (rounding == IR_ROUND_RTP) up = op1(e, IR_OP_NOT, IR_KIND_BOOL, negative);
    if (rounding == IR_ROUND_RTN) up = negative;
    struct lanes magnitude = op_select(e, negative, op1(e, IR_OP_NEG, x.kind, x), x);
    struct lanes bits = from_magnitude(e, kind, up, magnitude);
    struct lanes sign = lanes_int(e, word, 1ull << (bits_of(kind) - 1));
    bits = op_select(e, negative, op2(e, IR_OP_OR, word, bits, sign), bits);
    return op_bits(e, bits, kind);
}

struct lanes rounding_convert(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_rounding rounding,
                              struct lanes x)
{
    return op == IR_OP_FPCONV ? narrowed(e, kind, rounding, x) : from_int(e, op, kind, rounding, x);
}
