/* Numbers of a launch's block, in Vulkan, as its uniform buffer has them: a struct with those that are read. */
#include "fuser/spirv/base/uniform.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>

/* The place of a number among the struct's members. */
static uint32_t member_of(struct spw *w, unsigned bits, uint32_t offset)
{
    const struct spw_words *all = &w->uniforms;
    for (uint32_t i = 0; i < all->n; i += 2)
        if (all->words[i] == offset && all->words[i + 1] == bits) return i / 2;
    uint32_t pair[2] = {offset, bits};
    spw_append(&w->uniforms, pair, 2);
    return (uint32_t)(all->n / 2 - 1);
}

uint32_t spw_uniform(struct spw *w, unsigned bits, uint32_t offset)
{
    uint32_t type = spw_type_int(&w->m, bits, 1), pointer = spw_type_pointer(&w->m, SpvStorageClassUniform, type);
    if (!w->uniform_buffer) w->uniform_buffer = spw_id(&w->m);
    uint32_t at[2] = {w->uniform_buffer, spw_const_u32(&w->m, member_of(w, bits, offset))};
    uint32_t place = spw_once(&w->m, SPW_PROLOGUE, SpvOpAccessChain, pointer, at, 2);
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpLoad, type, &place, 1);
}

void spw_uniform_close(struct spw *w)
{
    uint32_t n = (uint32_t)w->uniforms.n / 2, zero = 0, storage = SpvStorageClassUniform;
    if (n == 0) return;
    uint32_t *type = malloc((n + 1) * sizeof *type);
    if (!type) abort();
    type[0] = spw_id(&w->m);
    spw_decorate(&w->m, type[0], SpvDecorationBlock, NULL, 0);
    for (uint32_t i = 0; i < n; i++) {
        type[i + 1] = spw_type_int(&w->m, w->uniforms.words[2 * i + 1], 1);
        SPW_PUT(&w->m.sections[SPW_ANNOTATIONS], SpvOpMemberDecorate, type[0], i, SpvDecorationOffset,
                w->uniforms.words[2 * i]);
    }
    spw_put(&w->m.sections[SPW_GLOBALS], SpvOpTypeStruct, type, n + 1);
    uint32_t pointer = spw_type_pointer(&w->m, storage, type[0]);
    SPW_PUT(&w->m.sections[SPW_GLOBALS], SpvOpVariable, pointer, w->uniform_buffer, storage);
    spw_decorate(&w->m, w->uniform_buffer, SpvDecorationDescriptorSet, &zero, 1);
    spw_decorate(&w->m, w->uniform_buffer, SpvDecorationBinding, &zero, 1);
    spw_append(&w->interface, &w->uniform_buffer, 1);
    free(type);
}
