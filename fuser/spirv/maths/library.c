/* Functions that are no instruction of Vulkan: by operation, in f64. */
#include "fuser/spirv/maths/library.h"

#include "fuser/spirv/maths/elementary.h"
#include "fuser/spirv/maths/exact.h"
#include "fuser/spirv/maths/gamma.h"
#include "fuser/spirv/maths/trigonometric.h"
#include "ir/formula/notation.h"

typedef value unary(const struct formula *f, value x);
typedef value binary(const struct formula *f, value x, value y);

/* precise: within the bounds for f64, too. */
static const struct {
    unary *of_one;
    binary *of_two;
    bool precise;
} functions[IR_OP_COUNT] = {
    [IR_OP_ACOS] = {spw_acos, NULL, false},   [IR_OP_ACOSH] = {spw_acosh, NULL, true},
    [IR_OP_ASIN] = {spw_asin, NULL, false},   [IR_OP_ASINH] = {spw_asinh, NULL, true},
    [IR_OP_ATAN] = {spw_atan, NULL, false},   [IR_OP_ATANH] = {spw_atanh, NULL, true},
    [IR_OP_CBRT] = {spw_cbrt, NULL, true},    [IR_OP_COS] = {spw_cos, NULL, false},
    [IR_OP_COSH] = {spw_cosh, NULL, true},    [IR_OP_COSPI] = {spw_cospi, NULL, true},
    [IR_OP_ERFC] = {spw_erfc, NULL, false},   [IR_OP_EXP] = {spw_exp, NULL, true},
    [IR_OP_EXP2] = {spw_exp2, NULL, true},    [IR_OP_EXP10] = {spw_exp10, NULL, true},
    [IR_OP_EXPM1] = {spw_expm1, NULL, false}, [IR_OP_LGAMMA] = {spw_lgamma, NULL, false},
    [IR_OP_LOG] = {spw_log, NULL, true},      [IR_OP_LOG2] = {spw_log2, NULL, true},
    [IR_OP_LOG10] = {spw_log10, NULL, true},  [IR_OP_LOG1P] = {spw_log1p, NULL, true},
    [IR_OP_SIN] = {spw_sin, NULL, false},     [IR_OP_SINH] = {spw_sinh, NULL, false},
    [IR_OP_SINPI] = {spw_sinpi, NULL, true},  [IR_OP_TAN] = {spw_tan, NULL, false},
    [IR_OP_TANH] = {spw_tanh, NULL, false},   [IR_OP_TGAMMA] = {spw_tgamma, NULL, false},
    [IR_OP_ATAN2] = {NULL, spw_atan2, false}, [IR_OP_HYPOT] = {NULL, spw_hypot, false},
    [IR_OP_POW] = {NULL, spw_pow, false},
};

bool spw_library(struct spw *w, unsigned op, enum ir_kind kind, const value *args, value *result)
{
    const struct formula *f = &w->formula;
    enum ir_kind narrow = kind;
    if (op < IR_OP_COUNT) return spw_exact(f, (enum ir_op)op, kind, args, result);
    op -= FORMULA_LIBRARY;
    if (op >= IR_OP_COUNT || (!functions[op].of_one && !functions[op].of_two)) return false;
    if (!functions[op].precise && spw_wants_all_digits(w)) return false;
    value in[2] = {args[0], args[1]};
    kind = IR_KIND_F64;
    for (unsigned i = 0; i < 1u + (functions[op].of_two != NULL); i++)
        if (in[i].kind != kind) in[i] = AS(kind, in[i]);
    value r = functions[op].of_one ? functions[op].of_one(f, in[0]) : functions[op].of_two(f, in[0], in[1]);
    *result = narrow == kind ? r : AS(narrow, r);
    return true;
}
