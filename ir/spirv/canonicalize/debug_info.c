/*
 * What compilers write for debuggers: instructions of sets that change nothing, whatever their version. Lines, where a
 * set has an instruction of its own for them, become OpLine; the rest is dropped before anything looks at it, since
 * translators write what no validator takes.
 */
#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>
#include <string.h>

#include "ir/spirv/canonicalize/debug_info.h"

enum { SET = 3, CODE = 4, FIRST_OPERAND = 5, LINE_WORDS = 4 };
enum { EXT_INST_FORWARD = 4433 /* OpExtInstWithForwardRefsKHR, which older headers do not know */ };

struct stripper {
    struct spirv_words *m;
    uint32_t *at;    /* by id: the word where its definition begins, of what lines are told by; 0: none */
    uint32_t shader; /* the set of NonSemantic.Shader.DebugInfo.100; 0: none */
    bool *dropped;   /* by id: an imported set that changes nothing */
};

static bool is_about_debugging(const char *name)
{
    static const char *const sets[] = {"OpenCL.DebugInfo.100", "DebugInfo", "SPIRV.debug"};
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        if (strcmp(name, sets[k]) == 0) return true;
    return strncmp(name, "NonSemantic.", strlen("NonSemantic.")) == 0;
}

/* The string that begins at word `first` of an instruction; NULL: it does not end there. */
static const char *string_at(const uint32_t *w, uint32_t first)
{
    uint32_t n = w[0] >> 16;
    return n > first && memchr(w + first, 0, (n - first) * sizeof *w) ? (const char *)(w + first) : NULL;
}

static uint32_t op_of(const uint32_t *w)
{
    return w[0] & 0xffff;
}

static void see_import(struct stripper *z, const uint32_t *w, uint32_t id)
{
    const char *name = string_at(w, 2);
    if (!name || !is_about_debugging(name)) return;
    z->dropped[id] = true;
    if (strncmp(name, "NonSemantic.Shader.DebugInfo.", strlen("NonSemantic.Shader.DebugInfo.")) == 0) z->shader = id;
}

static bool is_dropped(const struct stripper *z, const uint32_t *w)
{
    bool extended = op_of(w) == SpvOpExtInst || op_of(w) == EXT_INST_FORWARD;
    return extended && w[0] >> 16 > CODE && w[SET] < z->m->bound && z->dropped[w[SET]];
}

/* The definition of an id, where it is of that opcode and has so many words. */
static const uint32_t *definition(const struct stripper *z, uint32_t id, uint32_t op, uint32_t n)
{
    const uint32_t *w = id < z->m->bound && z->at[id] ? z->m->words + z->at[id] : NULL;
    return w && op_of(w) == op && w[0] >> 16 >= n ? w : NULL;
}

/* DebugLine and DebugNoLine as the instruction that stands for them; false: there is none. */
static bool line_of(const struct stripper *z, const uint32_t *w, uint32_t line[LINE_WORDS])
{
    if (w[SET] != z->shader) return false;
    line[0] = 1 << 16 | SpvOpNoLine;
    if (w[CODE] == NonSemanticShaderDebugInfo100DebugNoLine) return true;
    if (w[CODE] != NonSemanticShaderDebugInfo100DebugLine || w[0] >> 16 < FIRST_OPERAND + 2) return false;
    const uint32_t *source = definition(z, w[FIRST_OPERAND], SpvOpExtInst, FIRST_OPERAND + 1);
    const uint32_t *number = definition(z, w[FIRST_OPERAND + 1], SpvOpConstant, 4);
    bool named = source && source[SET] == z->shader && definition(z, source[FIRST_OPERAND], SpvOpString, 3);
    if (!named || !number) return false;
    memcpy(line, (uint32_t[]){LINE_WORDS << 16 | SpvOpLine, source[FIRST_OPERAND], number[3], 0},
           LINE_WORDS * sizeof *line);
    return true;
}

static void find_definitions(struct stripper *z)
{
    const struct spirv_words *m = z->m;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        uint32_t type, id = spirv_result(m, w, &type);
        if (!id) continue;
        if (op_of(w) == SpvOpExtInstImport) see_import(z, w, id);
        if (op_of(w) == SpvOpConstant || op_of(w) == SpvOpString || is_dropped(z, w)) z->at[id] = (uint32_t)at;
    }
}

/* What is in the words that the instruction had: a line (0: none) and nothing. */
static void replace_by(uint32_t *w, const uint32_t *line)
{
    uint32_t n = w[0] >> 16, first = line ? line[0] >> 16 : 0;
    for (uint32_t k = first; k < n; k++) w[k] = 1 << 16 | SpvOpNop;
    for (uint32_t k = 0; k < first; k++) w[k] = line[k];
}

void spirv_drop_debug_info(struct spirv_words *m)
{
    struct stripper z = {.m = m};
    z.at = arena_alloc(m->arena, ((size_t)m->bound + 1) * sizeof *z.at);
    z.dropped = arena_alloc(m->arena, (size_t)m->bound + 1);
    find_definitions(&z);
    /* Backwards what tells a line comes before what it tells it by; so in two rounds. */
    for (int round = 0; round < 2; round++) {
        for (size_t at = SPIRV_HEADER_WORDS, n; at < m->n_words; at += n) {
            uint32_t *w = m->words + at, line[LINE_WORDS], type, id = spirv_result(m, w, &type);
            n = w[0] >> 16;
            bool import = op_of(w) == SpvOpExtInstImport && z.dropped[id];
            if (round == 0 && is_dropped(&z, w) && line_of(&z, w, line)) replace_by(w, line);
            if (round == 1 && (import || is_dropped(&z, w))) replace_by(w, NULL);
        }
    }
}
