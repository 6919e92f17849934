/*
 * The lesser and the greater of two floats. Of a NaN and a number both are the number; the instruction gives its second
 * operand where one of them is a NaN, and of equal ones. So only the second one is to be asked whether it is a NaN,
 * which need not be done for each vector where it is the same for all: as bounds are that a kernel has as constants or
 * arguments.
 */
#include "fuser/cpu/lower/extreme.h"

#include <math.h>

#include "fuser/cpu/jit/constant.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/op.h"
#include "ir/core/float.h"

/* The number that is known when code is made; NaN: none is, or it is one. */
static double number_of(const struct emit *e, const struct lanes *v)
{
    const struct constant *c = v->shape == SHAPE_UNIFORM ? constant_of(e, v->scalar) : NULL;
    return c ? ir_float_value(v->kind, c->bits) : NAN;
}

void extreme_ask(struct emit *e, struct lanes *bound)
{
    if (e->width == 1 || bound->kind != IR_KIND_F32) return;
    rval is_nan = op2(e, IR_OP_FUNO, IR_KIND_BOOL, *bound, *bound).scalar;
    bound->is_nan = jit_keep(e, mask_splat(e, is_nan));
}

/* The answer, where lanes are as many as when it was asked. */
static struct mask answer(struct emit *e, const struct lanes *bound)
{
    struct mask m = {NULL};
    if (!bound->is_nan || gcc_jit_rvalue_get_type(jit_read(bound->is_nan)) != mask_type(e)) return m;
    m.chunk = arena_alloc(e->arena, mask_chunks(e) * sizeof *m.chunk);
    for (unsigned c = 0; c < mask_chunks(e); c++) m.chunk[c] = bound->is_nan;
    return m;
}

bool lower_extreme(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    if ((op != IR_OP_FMIN && op != IR_OP_FMAX) || kind == IR_KIND_F16) return false;
    if (args[0].shape == args[1].shape) return false;
    struct lanes x = args[0], y = args[1];
    enum ir_op instruction = (enum ir_op)(op == IR_OP_FMIN ? FORMULA_FMIN : FORMULA_FMAX);
    double first = number_of(e, &x);
    /* Equal ones other than zeros are the same. */
    if (first < 0 || first > 0) {
        *result = op2(e, instruction, kind, y, x);
        return true;
    }
    struct mask is_nan = answer(e, &y);
    if (!is_nan.chunk && isnan(number_of(e, &y))) return false;
    *result = op2(e, instruction, kind, x, y);
    if (is_nan.chunk) *result = op_select(e, mask_lanes_value(e, is_nan), x, *result);
    return true;
}
