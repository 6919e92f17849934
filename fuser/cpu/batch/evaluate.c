/* The arithmetic of ir/eval on the numbers of a column. */
#include "fuser/cpu/batch/evaluate.h"

#include <string.h>

#include "ir/core/float.h"
#include "ir/eval/bits.h"
#include "ir/eval/convert.h"
#include "ir/eval/float.h"
#include "ir/eval/int.h"
#include "ir/formula/types.h"

static unsigned bits_of(enum ir_kind kind)
{
    unsigned bits = ir_type_bits(IR_TYPE(kind, 1, 0));
    return bits ? bits : 64;
}

static uint64_t compute(const struct step *s, const uint64_t v[4])
{
    enum ir_kind kind = (enum ir_kind)s->number, from = (enum ir_kind)s->from;
    uint64_t r = 0;
    switch (s->op) {
    case IR_OP_ADD ... IR_OP_UBITFIELD_EXTRACT: eval_int((enum ir_op)s->op, bits_of(kind), v, &r); break;
    case IR_OP_IEQ ... IR_OP_SIGNBIT: eval_compare((enum ir_op)s->op, IR_TYPE(from, 1, 0), v, &r); break;
    case IR_OP_ITRUNC ... IR_OP_UTOF:
        eval_convert((enum ir_op)s->op, (enum ir_rounding)s->rounding, IR_TYPE(kind, 1, 0), IR_TYPE(from, 1, 0), v[0],
                     &r);
        break;
    case FORMULA_FMIN: r = ir_float_value(kind, v[0]) < ir_float_value(kind, v[1]) ? v[0] : v[1]; break;
    case FORMULA_FMAX: r = ir_float_value(kind, v[0]) > ir_float_value(kind, v[1]) ? v[0] : v[1]; break;
    default: eval_float((enum ir_op)s->op, kind >= IR_KIND_F16 && kind <= IR_KIND_F64 ? kind : from, v, &r);
    }
    return r & eval_mask(bits_of(kind));
}

void evaluate_step(const struct step *s, void *r, const void *const in[4], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v[4] = {0};
        for (unsigned k = 0; k < 4; k++)
            if (in[k]) memcpy(&v[k], (const uint8_t *)in[k] + (i << s->in_size[k]), (size_t)1 << s->in_size[k]);
        uint64_t result = compute(s, v);
        memcpy((uint8_t *)r + (i << s->size), &result, (size_t)1 << s->size);
    }
}

uint64_t evaluate_pair(enum ir_op op, enum ir_kind kind, uint64_t a, uint64_t b)
{
    uint64_t v[4] = {a, b}, r = 0;
    if (kind >= IR_KIND_F16 && kind <= IR_KIND_F64)
        eval_float(op, kind, v, &r);
    else
        eval_int(op, bits_of(kind), v, &r);
    return r;
}
