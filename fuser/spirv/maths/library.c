/* Functions that are no instruction of Vulkan: by operation, in f64. */
#include "fuser/spirv/maths/library.h"

#include <stddef.h>

#include "fuser/spirv/maths/elementary.h"
#include "fuser/spirv/maths/exact.h"
#include "fuser/spirv/maths/gamma.h"
#include "fuser/spirv/maths/power.h"
#include "fuser/spirv/maths/trigonometric.h"
#include "ir/formula/notation.h"

typedef value unary(const struct formula *f, value x);
typedef value binary(const struct formula *f, value x, value y);

struct function {
    unary *of_one;
    binary *of_two;
};

static const struct function functions[IR_OP_COUNT] = {
    [IR_OP_ACOS] = {.of_one = spw_acos},     [IR_OP_ACOSH] = {.of_one = spw_acosh},
    [IR_OP_ASIN] = {.of_one = spw_asin},     [IR_OP_ASINH] = {.of_one = spw_asinh},
    [IR_OP_ATAN] = {.of_one = spw_atan},     [IR_OP_ATANH] = {.of_one = spw_atanh},
    [IR_OP_CBRT] = {.of_one = spw_cbrt},     [IR_OP_COS] = {.of_one = spw_cos},
    [IR_OP_COSH] = {.of_one = spw_cosh},     [IR_OP_COSPI] = {.of_one = spw_cospi},
    [IR_OP_ERF] = {.of_one = spw_erf},       [IR_OP_ERFC] = {.of_one = spw_erfc},
    [IR_OP_EXP] = {.of_one = spw_exp},       [IR_OP_EXP2] = {.of_one = spw_exp2},
    [IR_OP_EXP10] = {.of_one = spw_exp10},   [IR_OP_EXPM1] = {.of_one = spw_expm1},
    [IR_OP_LGAMMA] = {.of_one = spw_lgamma}, [IR_OP_LOG] = {.of_one = spw_log},
    [IR_OP_LOG2] = {.of_one = spw_log2},     [IR_OP_LOG10] = {.of_one = spw_log10},
    [IR_OP_LOG1P] = {.of_one = spw_log1p},   [IR_OP_SIN] = {.of_one = spw_sin},
    [IR_OP_SINH] = {.of_one = spw_sinh},     [IR_OP_SINPI] = {.of_one = spw_sinpi},
    [IR_OP_TAN] = {.of_one = spw_tan},       [IR_OP_TANH] = {.of_one = spw_tanh},
    [IR_OP_TGAMMA] = {.of_one = spw_tgamma}, [IR_OP_ATAN2] = {.of_two = spw_atan2},
    [IR_OP_POW] = {.of_two = spw_pow},
};

/* Cheaper ones for f32. */
static const struct function narrow_functions[IR_OP_COUNT] = {
    [IR_OP_COS] = {.of_one = spw_cos_f32},
    [IR_OP_SIN] = {.of_one = spw_sin_f32},
    [IR_OP_TAN] = {.of_one = spw_tan_f32},
    [IR_OP_POW] = {.of_two = spw_pow_f32},
};

static struct function find(unsigned op, bool all_digits)
{
    struct function cheap = narrow_functions[op];
    return !all_digits && (cheap.of_one || cheap.of_two) ? cheap : functions[op];
}

bool spw_library(const struct formula *f, unsigned op, enum ir_kind kind, bool all_digits, const value *args,
                 value *result)
{
    const enum ir_kind narrow = kind;
    if (op < IR_OP_COUNT) return spw_exact(f, (enum ir_op)op, kind, args, result);
    op -= FORMULA_LIBRARY;
    if (op >= IR_OP_COUNT) return false;
    struct function function = find(op, all_digits);
    if (!function.of_one && !function.of_two) return false;
    value in[2] = {args[0], args[1]};
    kind = IR_KIND_F64;
    for (unsigned i = 0; i < 1u + (function.of_two != NULL); i++)
        if (in[i].kind != kind) in[i] = AS(kind, in[i]);
    value r = function.of_one ? function.of_one(f, in[0]) : function.of_two(f, in[0], in[1]);
    *result = narrow == kind ? r : AS(narrow, r);
    return true;
}
