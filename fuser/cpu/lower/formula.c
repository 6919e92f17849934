/* The formulas of ir/formula/formula.h, emitted: each step is an operation on scalars or vectors, as its operands are.
 */
#include "fuser/cpu/lower/formula.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/mask.h"
#include "ir/formula/formula.h"

static struct formula_value of_lanes(struct emit *e, struct lanes v)
{
    struct lanes *kept = arena_alloc(e->arena, sizeof *kept);
    *kept = v;
    return (struct formula_value){.kind = v.kind, .data = kept};
}

static struct lanes lanes_of(struct formula_value v)
{
    return *(const struct lanes *)v.data;
}

static struct formula_value compute(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                                    const struct formula_value *args)
{
    struct emit *e = f->user;
    struct lanes in[3];
    for (unsigned i = 0; i < n; i++) in[i] = lanes_of(args[i]);
    return of_lanes(e, op == IR_OP_BITCAST ? op_bits(e, in[0], kind) : op_n(e, op, kind, n, in));
}

static struct formula_value number(const struct formula *f, enum ir_kind kind, uint64_t bits)
{
    struct emit *e = f->user;
    return of_lanes(e, lanes_uniform(kind, jit_number(e, kind, bits)));
}

static struct formula_value rarely(const struct formula *f, struct formula_value where, struct formula_value usual,
                                   formula_other *other, const struct formula_value *args)
{
    struct emit *e = f->user;
    struct lanes condition = lanes_of(where), first = lanes_of(usual);
    bool varying = condition.shape == SHAPE_VARYING || first.shape == SHAPE_VARYING;
    struct lanes result =
        lanes_variable(e, first.kind, (struct shape){varying ? SHAPE_VARYING : SHAPE_UNIFORM, 0, false});
    lanes_assign(e, &result, &first);
    gcc_jit_block *needed = jit_block(e), *join = jit_block(e);
    rval any = condition.shape == SHAPE_VARYING ? mask_any(e, mask_of(e, &condition)) : condition.scalar;
    jit_branch(e, any, needed, join);
    jit_begin(e, needed);
    struct lanes second = lanes_of(other(f, args)), both = op_select(e, condition, second, first);
    lanes_assign(e, &result, &both);
    jit_jump(e, join);
    jit_begin(e, join);
    return of_lanes(e, result);
}

bool lower_formula(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    struct formula f = {compute, number, rarely, e};
    struct formula_value in[3], out;
    for (unsigned i = 0; i < 3; i++) in[i] = (struct formula_value){.kind = args[i].kind, .data = &args[i]};
    if (!formula_expand(&f, op, kind, in, &out)) return false;
    *result = lanes_of(out);
    return true;
}

void lower_geometric(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *a,
                     const struct lanes *b, struct lanes *result)
{
    struct formula f = {compute, number, rarely, e};
    unsigned results = op == IR_OP_CROSS || op == IR_OP_NORMALIZE ? n : 1;
    struct formula_value x[IR_MAX_LANES] = {0}, y[IR_MAX_LANES] = {0}, out[IR_MAX_LANES];
    for (unsigned c = 0; c < n; c++) {
        x[c] = of_lanes(e, a[c]);
        y[c] = of_lanes(e, b[c]);
    }
    formula_geometric(&f, op, kind, n, x, y, out);
    for (unsigned c = 0; c < results; c++) result[c] = lanes_of(out[c]);
}
