/* Operations with the precision that a function asks for. */
#include "ir/spirv/translate/opencl_std/build.h"

#include <spirv/unified1/OpenCL.std.h>

#include "ir/spirv/translate/values/fp_flags.h"

/* Lower accuracy is enough. */
static bool is_fast(uint32_t function)
{
    return (function >= OpenCLstd_Half_cos && function <= OpenCLstd_Native_tan) ||
           (function >= OpenCLstd_Fast_distance && function <= OpenCLstd_Fast_normalize);
}

struct ir_value *spirv_ext_build(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op, ir_type t,
                                 struct ir_value *const *operands, uint32_t n)
{
    struct ir_inst *inst = ir_build(&s->b, op, t, operands, n);
    for (const char *a = ir_op_info(op)->attrs; *a; a++) {
        if (*a != 'f') continue;
        inst->attrs.fp = spirv_fp_flags(s, i->id) & (uint8_t)~IR_FP_CONTRACT;
        if (op == IR_OP_MAD || op == IR_OP_MIX) inst->attrs.fp = spirv_fp_flags(s, i->id);
        if (is_fast(i->words[4])) inst->attrs.fp |= IR_FP_FAST;
    }
    return inst->results[0];
}
