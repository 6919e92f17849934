/* OpLine as a location of ir. */
#include "ir/spirv/decode/location.h"

#include "ir/spirv/decode/ids.h"

struct ir_loc spirv_loc(struct spirv_reader *r, const struct spirv_inst *inst)
{
    const struct spirv_inst *file = inst->file ? spirv_def(r, inst->file) : NULL;
    if (!file || file->op != SpvOpString) return (struct ir_loc){0, 0, 0};
    return (struct ir_loc){ir_module_file(r->module, spirv_string(file->words + 2)), inst->line, inst->column};
}
