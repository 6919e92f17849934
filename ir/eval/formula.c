/* Formulas computed on the bits of one number: what the code generator emits for vectors, done here step by step. */
#include "ir/eval/formula.h"

#include <math.h>

#include "ir/core/float.h"
#include "ir/eval/bits.h"
#include "ir/eval/convert.h"
#include "ir/eval/float.h"
#include "ir/eval/int.h"
#include "ir/formula/formula.h"
#include "ir/formula/library.h"

static struct formula_value of_bits(enum ir_kind kind, uint64_t bits)
{
    return (struct formula_value){.kind = kind, .bits = bits};
}

static struct formula_value number(const struct formula *f, enum ir_kind kind, uint64_t bits)
{
    (void)f;
    return of_bits(kind, bits);
}

static double library_value(enum ir_op op, enum ir_kind kind, double x, double y)
{
    const struct library_function *function = library_find(op);
    return kind == IR_KIND_F64 ? function->f64(x, y) : function->f32((float)x, (float)y);
}

/* Operations that only formulas have. */
static uint64_t formula_only(unsigned op, enum ir_kind kind, const uint64_t v[4])
{
    double x = ir_float_value(kind, v[0]), y = ir_float_value(kind, v[1]);
    switch (op) {
    case FORMULA_FMIN: return x < y ? v[0] : v[1];
    case FORMULA_FMAX: return x > y ? v[0] : v[1];
    case FORMULA_SCALE: return ir_float_bits(kind, isnan(x) || isnan(y) ? NAN : ldexpf((float)x, (int)y));
    default: return ir_float_bits(kind, library_value((enum ir_op)(op - FORMULA_LIBRARY), kind, x, y));
    }
}

static struct formula_value compute(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                                    const struct formula_value *args)
{
    (void)f;
    uint64_t v[4] = {0}, r = 0;
    for (unsigned i = 0; i < n; i++) v[i] = args[i].bits;
    ir_type from = IR_TYPE(args[0].kind, 1, 0), to = IR_TYPE(kind, 1, 0);
    switch (op) {
    case IR_OP_BITCAST: r = v[0]; break;
    case IR_OP_SELECT: r = v[0] ? v[1] : v[2]; break;
    case IR_OP_ADD ... IR_OP_UBITFIELD_EXTRACT: eval_int(op, ir_type_bits(to), v, &r); break;
    case IR_OP_IEQ ... IR_OP_SIGNBIT: eval_compare(op, from, v, &r); break;
    case IR_OP_ITRUNC ... IR_OP_UTOF: eval_convert(op, IR_ROUND_DEFAULT, to, from, v[0], &r); break;
    default:
        if (op >= IR_OP_COUNT)
            r = formula_only(op, kind, v);
        else
            eval_float(op, ir_type_is_float(to) ? kind : args[0].kind, v, &r);
    }
    return of_bits(kind, r & eval_mask(ir_type_bits(to)));
}

static struct formula_value rarely(const struct formula *f, struct formula_value where, struct formula_value usual,
                                   formula_other *other, const struct formula_value *args)
{
    return where.bits ? other(f, args) : usual;
}

const struct formula eval_on_bits = {compute, number, rarely, NULL};

bool eval_formula(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r)
{
    const struct ir_op_info *info = ir_op_info(op);
    struct formula_value args[3] = {0}, result;
    for (unsigned i = 0; i < 3 && info->operands[i]; i++)
        args[i] = of_bits(info->operands[i] == 'J' ? IR_KIND_I32 : kind, v[i]);
    if (!formula_expand(&eval_on_bits, op, info->result == 'I' ? IR_KIND_I32 : kind, args, &result)) return false;
    *r = result.bits;
    return true;
}

bool eval_geometric(enum ir_op op, ir_type type, const uint64_t *const *operands, uint64_t *r)
{
    enum ir_kind kind = ir_type_kind(type);
    unsigned n = ir_type_lanes(type), results = op == IR_OP_CROSS || op == IR_OP_NORMALIZE ? n : 1;
    bool two = ir_op_info(op)->operands[1];
    struct formula_value x[IR_MAX_LANES], y[IR_MAX_LANES], result[IR_MAX_LANES];
    for (unsigned c = 0; c < n; c++) {
        x[c] = of_bits(kind, operands[0][c]);
        y[c] = of_bits(kind, operands[two ? 1 : 0][c]);
    }
    formula_geometric(&eval_on_bits, op, kind, n, x, y, result);
    for (unsigned c = 0; c < results; c++) r[c] = result[c].bits;
    return true;
}
