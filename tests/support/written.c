/* Formulas as the writer expands them, on the interpreter's simple operations. */
#include "tests/support/written.h"

#include "fuser/spirv/maths/fma.h"
#include "fuser/spirv/maths/library.h"
#include "ir/eval/formula.h"
#include "ir/formula/formula.h"

struct computer {
    bool all_digits, failed;
};

static bool is_simple(unsigned op)
{
    switch (op) {
    case IR_OP_FREM:
    case IR_OP_REMAINDER:
    case IR_OP_LDEXP:
    case IR_OP_ILOGB:
    case IR_OP_LOGB:
    case IR_OP_FREXP_MANT:
    case IR_OP_FREXP_EXP: return false;
    default: return op < FORMULA_LIBRARY;
    }
}

static struct formula_value compute(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                                    const struct formula_value *args)
{
    struct computer *c = f->user;
    struct formula_value in[4] = {{0}}, result = {.kind = kind};
    for (unsigned i = 0; i < n; i++) in[i] = args[i];
    if (formula_expand(f, op, kind, in, &result)) return result;
    if (op == IR_OP_FMA) return kind == IR_KIND_F64 ? spw_fma_f64(f, in) : spw_fma_f32(f, in);
    if (is_simple(op)) return eval_on_bits.compute(&eval_on_bits, op, kind, n, in);
    if (!spw_library(f, op, kind, c->all_digits, in, &result)) c->failed = true;
    return result;
}

static struct formula_value number(const struct formula *f, enum ir_kind kind, uint64_t bits)
{
    (void)f;
    return (struct formula_value){.kind = kind, .bits = bits};
}

/* Both, as some devices compute both. */
static struct formula_value rarely(const struct formula *f, struct formula_value where, struct formula_value usual,
                                   formula_other *other, const struct formula_value *args)
{
    struct formula_value r = other(f, args);
    return where.bits ? r : usual;
}

bool written_eval(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r)
{
    const struct ir_op_info *info = ir_op_info(op);
    struct computer c = {.all_digits = kind == IR_KIND_F64};
    const struct formula f = {compute, number, rarely, &c};
    struct formula_value args[4] = {{0}};
    unsigned n = 0;
    for (; n < 4 && info->operands[n]; n++) args[n] = number(&f, info->operands[n] == 'J' ? IR_KIND_I32 : kind, v[n]);
    *r = compute(&f, op, info->result == 'I' ? IR_KIND_I32 : kind, n, args).bits;
    return !c.failed;
}
