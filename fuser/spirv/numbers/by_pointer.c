/* Functions of OpenCL.std that give one of their results through a pointer: two operations of ours, each a call. */
#include "fuser/spirv/numbers/by_pointer.h"

#include <spirv/unified1/OpenCL.std.h>
#include <spirv/unified1/spirv.h>

static const struct {
    uint16_t op, function;
    bool wants_second; /* what lies behind the pointer */
    bool whole;        /* that is an i32 */
} functions[] = {
    {IR_OP_FRACT, OpenCLstd_Fract, false, false},        {IR_OP_MODF_FRACT, OpenCLstd_Modf, false, false},
    {IR_OP_FREXP_MANT, OpenCLstd_Frexp, false, true},    {IR_OP_FREXP_EXP, OpenCLstd_Frexp, true, true},
    {IR_OP_LGAMMA_SIGN, OpenCLstd_Lgamma_r, true, true}, {IR_OP_REMQUO_QUO, OpenCLstd_Remquo, true, true},
};

bool spw_by_pointer(struct spw *w, const struct ir_inst *inst)
{
    unsigned i = 0;
    while (i < sizeof functions / sizeof *functions && functions[i].op != inst->op) i++;
    if (w->vulkan || i == sizeof functions / sizeof *functions) return false;
    ir_type t = inst->operands[0]->type, behind = functions[i].whole ? ir_type_with_lanes(IR_I32, ir_type_lanes(t)) : t;
    uint32_t type = spw_part_type(w, behind), storage = SpvStorageClassFunction;
    uint32_t pointer = spw_type_pointer(&w->m, storage, type), variable = spw_id(&w->m), operands[3], n = 0;
    SPW_PUT(&w->m.sections[SPW_VARIABLES], SpvOpVariable, pointer, variable, storage);
    for (uint32_t k = 0; k < inst->n_operands; k++) operands[n++] = spw_value1(w, inst->operands[k]);
    operands[n++] = variable;
    uint32_t r = spw_emit_ext(w, "OpenCL.std", functions[i].function, spw_part_type(w, t), operands, n);
    if (functions[i].wants_second) r = SPW_EMIT(w, SpvOpLoad, type, variable);
    spw_set1(w, inst->results[0], r);
    return true;
}
