/* What is asked about constants. */
#include "ir/spirv/decode/constant_values.h"

#include "ir/spirv/decode/ids.h"

bool spirv_is_constant(const struct spirv_reader *r, uint32_t id)
{
    const struct spirv_inst *d = spirv_def(r, id);
    return d && (d->op == SpvOpUndef || (d->op >= SpvOpConstantTrue && d->op <= SpvOpSpecConstantOp));
}

const struct ir_value *spirv_constant_value(const struct spirv_reader *r, uint32_t id)
{
    const struct ir_value *v = spirv_is_constant(r, id) ? r->constants[id] : NULL;
    return v && v->kind == IR_VALUE_CONST ? v : NULL;
}

bool spirv_constant_uint(const struct spirv_reader *r, uint32_t id, uint64_t *value)
{
    const struct ir_value *c = spirv_constant_value(r, id);
    return c && ir_value_uint(c, value);
}
