/* Types and constants in one walk: lengths of arrays are constants, and those have types. */
#include "ir/spirv/decode/declarations.h"

#include "ir/spirv/decode/constants.h"
#include "ir/spirv/decode/read_types.h"

void spirv_read_declarations(struct spirv_reader *r)
{
    r->structs.arena = r->arena;
    r->types = arena_alloc(r->arena, (size_t)r->index.bound * sizeof *r->types);
    r->constants = arena_alloc(r->arena, (size_t)r->index.bound * sizeof(*r->constants));
    for (size_t k = 0; k < r->index.n_insts; k++) {
        const struct spirv_inst *i = &r->index.insts[k];
        if (i->op == SpvOpTypeForwardPointer) {
            spirv_forward_pointer(r, i);
        } else if (i->op == SpvOpUndef || (i->op >= SpvOpConstantTrue && i->op <= SpvOpSpecConstantOp)) {
            spirv_read_constant(r, i);
        } else if ((i->op >= SpvOpTypeVoid && i->op <= SpvOpTypePipe) || i->op == SpvOpTypePipeStorage) {
            spirv_read_type(r, i);
        } else if (i->op == SpvOpFunction) {
            break;
        }
    }
}
