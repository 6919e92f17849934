/* Variables and pipes that are one again where files are linked. */
#include "fuser/spirv/memory/linkage.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

#include "ir/base/arena.h"

enum { MAX_TEXT = 60000 }; /* of an instruction, whose words are counted in 16 bits */

void spw_decorate_with_name(struct spw *w, uint32_t id, uint32_t decoration, uint32_t number, const char *name,
                            bool number_first)
{
    size_t room = strlen(name) / sizeof(uint32_t) + 1;
    uint32_t *words = arena_alloc(w->arena, (room + 1) * sizeof *words);
    if (strlen(name) > MAX_TEXT) spw_fail(w, "is of something whose name or id is too long for SPIR-V");
    size_t n = spw_string(name, words + number_first, room);
    words[number_first ? 0 : n] = number;
    spw_decorate(&w->m, id, decoration, words, n + 1);
}

void spw_link_once(struct spw *w, uint32_t id, const char *name)
{
    spw_extension(&w->m, "SPV_KHR_linkonce_odr");
    spw_decorate_with_name(w, id, SpvDecorationLinkageAttributes, SpvLinkageTypeLinkOnceODR, name, false);
}
