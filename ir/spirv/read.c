/* Reading a module: the phases in their order, each of which may end it. */
#include "ir/spirv/spirv.h"

#include <stdlib.h>
#include <string.h>

#include "ir/spirv/canonicalize/canonicalize.h"
#include "ir/spirv/decode/declarations.h"
#include "ir/spirv/decode/globals.h"
#include "ir/spirv/decode/index.h"
#include "ir/spirv/decode/specialize.h"
#include "ir/spirv/decode/tools.h"
#include "ir/spirv/translate/functions.h"
#include "ir/spirv/usable.h"

enum { VERSION_1_6 = 0x10600 };

bool ir_is_spirv(const void *bytes, size_t size)
{
    return size >= 4 && (memcmp(bytes, "\x03\x02\x23\x07", 4) == 0 || memcmp(bytes, "\x07\x23\x02\x03", 4) == 0);
}

static uint32_t swap_bytes(uint32_t word)
{
    return __builtin_bswap32(word);
}

/* Copies the words in this machine's byte order, and checks what bounds the memory that the rest takes. */
static bool take_words(struct spirv_words *m, const void *bytes, size_t size)
{
    if (size > IR_SPIRV_MAX_SIZE) {
        spirv_fail_module(m->findings, "is a module of %zu bytes; %d is the most", size, IR_SPIRV_MAX_SIZE);
        return false;
    }
    if (size % 4 || size < SPIRV_HEADER_WORDS * 4 || !ir_is_spirv(bytes, size)) {
        spirv_fail_module(m->findings, "is no SPIR-V module: %zu bytes%s", size,
                          ir_is_spirv(bytes, size) ? "" : " that do not begin with its magic number");
        return false;
    }
    m->n_words = size / 4;
    m->words = arena_alloc(m->arena, size);
    memcpy(m->words, bytes, size);
    if (m->words[0] != SpvMagicNumber)
        for (size_t i = 0; i < m->n_words; i++) m->words[i] = swap_bytes(m->words[i]);
    m->bound = m->words[3];
    *m->budget = spirv_budget_of(m->n_words);
    if (m->words[1] > VERSION_1_6) {
        spirv_fail_module(m->findings, "is SPIR-V %u.%u; 1.0 to 1.6 can be read", m->words[1] >> 16 & 255,
                          m->words[1] >> 8 & 255);
    } else if (m->bound > m->n_words + 1024) {
        spirv_fail_module(m->findings, "claims ids up to %u in %zu words", m->bound, m->n_words);
    }
    return !m->findings->failed;
}

static bool validate(const struct spirv_words *m)
{
    char *why;
    if (tools_validate(m->words, m->n_words, TOOLS_UNIVERSAL, &why)) return true;
    spirv_fail_module(m->findings, "is no valid SPIR-V: %s", why);
    free(why);
    return false;
}

/* From words to instructions by id, and what stands outside of functions. */
static bool decode(struct spirv_reader *r, const struct spirv_words *m, const struct ir_spirv_options *options)
{
    r->n_bytes = m->n_words * 4;
    r->pipes = m->pipes;
    spirv_specialize(r, options);
    if (!spirv_index(r, m)) return false;
    spirv_read_declarations(r);
    spirv_check_specialized(r);
    spirv_read_globals(r);
    return !r->findings->failed;
}

struct ir_module *ir_read_spirv_with(const void *bytes, size_t size, const char *name,
                                     const struct ir_spirv_options *options, struct diag_list *list)
{
    static const struct ir_spirv_options none;
    struct arena *arena = arena_new();
    struct spirv_findings findings = {.list = list};
    struct spirv_budget budget = {0};
    struct spirv_words words = {.arena = arena, .findings = &findings, .budget = &budget};
    struct spirv_reader r = {.arena = arena, .findings = &findings, .budget = &budget, .module = ir_module_new(name)};
    if (take_words(&words, bytes, size) && spirv_canonicalize(&words) && validate(&words) &&
        decode(&r, &words, options ? options : &none))
        spirv_translate(&r);
    bool good = !findings.failed && spirv_keep_usable(r.module, r.globals.n_refusals != 0, list);
    arena_free(arena);
    if (good) return r.module;
    ir_module_free(r.module);
    return NULL;
}

struct ir_module *ir_read_spirv(const void *bytes, size_t size, const char *name, struct diag_list *list)
{
    return ir_read_spirv_with(bytes, size, name, NULL, list);
}
