/* Pure operations on one part. */
#include "fuser/spirv/numbers/operation.h"

#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/numbers/expand.h"
#include "fuser/spirv/numbers/native.h"
#include "fuser/spirv/numbers/opencl.h"

typedef struct formula_value value;

value spw_compute(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n, const value *args)
{
    struct spw *w = f->user;
    value result, in[4] = {{0}};
    for (unsigned i = 0; i < n; i++) in[i] = args[i];
    if (op == IR_OP_BITCAST && in[0].kind == kind) return in[0];
    if (spw_expand(w, op, kind, in, &result)) return result;
    if ((unsigned)op < IR_OP_COUNT) {
        if (spw_one_instruction(w, op, kind, n, in, &result)) return result;
        uint32_t function;
        if (!w->vulkan && spw_opencl_function(op, &function)) return spw_by_set(w, "OpenCL.std", kind, function, n, in);
    }
    spw_fail(w, "cannot be said in this dialect of SPIR-V");
    return f->number(f, kind, 0);
}

static value number(const struct formula *f, enum ir_kind kind, uint64_t bits)
{
    struct spw *w = f->user;
    spw_number_type(w, kind, w->lanes);
    return (value){kind, spw_constant(w, kind, w->lanes, bits), NULL};
}

/* Scalars branch. Of vectors both are computed, and each lane takes what is its own. */
static value rarely(const struct formula *f, value where, value usual, formula_other *other, const value *args)
{
    struct spw *w = f->user;
    if (w->lanes > 1) {
        value x = other(f, args);
        return spw_compute(f, IR_OP_SELECT, usual.kind, 3, (value[]){where, x, usual});
    }
    uint32_t type = spw_number_type(w, usual.kind, 1);
    struct spw_if i = spw_if_begin(w, (uint32_t)where.bits);
    spw_if_else(w, &i, (uint32_t)other(f, args).bits);
    return (value){usual.kind, spw_if_end(w, &i, type, (uint32_t)usual.bits), NULL};
}

struct formula spw_formula(struct spw *w)
{
    return (struct formula){spw_compute, number, rarely, w};
}
