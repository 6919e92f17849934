/* Built-in variables, and what is computed from them at a kernel's beginning. */
#include "fuser/spirv/base/builtin.h"

#include <spirv/unified1/spirv.h>

static uint32_t builtin_variable(struct spw *w, uint32_t builtin, uint32_t type)
{
    for (size_t i = 0; i < w->builtins.n; i += 2)
        if (w->builtins.words[i] == builtin) return w->builtins.words[i + 1];
    uint32_t pair[2] = {builtin, spw_id(&w->m)}, storage = SpvStorageClassInput;
    uint32_t pointer = spw_type_pointer(&w->m, storage, type);
    SPW_PUT(&w->m.sections[SPW_GLOBALS], SpvOpVariable, pointer, pair[1], storage);
    spw_decorate(&w->m, pair[1], SpvDecorationBuiltIn, &builtin, 1);
    spw_append(&w->builtins, pair, 2);
    spw_append(&w->interface, &pair[1], 1);
    return pair[1];
}

uint32_t spw_builtin(struct spw *w, uint32_t builtin, uint32_t type)
{
    uint32_t variable = builtin_variable(w, builtin, type);
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpLoad, type, &variable, 1);
}

uint32_t spw_builtin_part(struct spw *w, uint32_t builtin, unsigned bits, unsigned dim)
{
    uint32_t all = spw_builtin(w, builtin, spw_type_int(&w->m, bits, 3));
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpCompositeExtract, spw_type_int(&w->m, bits, 1), (uint32_t[]){all, dim},
                    2);
}

uint32_t spw_id_pair(struct spw *w, unsigned opcode, unsigned bits, uint32_t x, uint32_t y)
{
    return spw_once(&w->m, SPW_PROLOGUE, opcode, spw_type_int(&w->m, bits, 1), (uint32_t[]){x, y}, 2);
}

uint32_t spw_id_widened(struct spw *w, uint32_t x)
{
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpUConvert, spw_type_int(&w->m, 64, 1), &x, 1);
}

uint32_t spw_id_linear(struct spw *w, const uint32_t *ids, const uint32_t *sizes)
{
    uint32_t rows = spw_id_pair(w, SpvOpIAdd, 64, spw_id_pair(w, SpvOpIMul, 64, ids[2], sizes[1]), ids[1]);
    return spw_id_pair(w, SpvOpIAdd, 64, spw_id_pair(w, SpvOpIMul, 64, rows, sizes[0]), ids[0]);
}
