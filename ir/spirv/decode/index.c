/* One walk over the module: instructions, names, decorations and lines. */
#include "ir/spirv/decode/index.h"

#include <string.h>

#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/tools.h"

struct indexer {
    struct spirv_reader *r;
    const uint32_t *next;             /* the first word of what comes next */
    uint32_t line_file, line, column; /* OpLine in force */
};

static void append_to_list(struct spirv_reader *r, const struct spirv_inst ***list, size_t *n,
                           const struct spirv_inst *i)
{
    *list = arena_grow(r->arena, *list, *n, sizeof **list);
    (*list)[(*n)++] = i;
}

static void note_instruction(struct indexer *x, const struct spirv_inst *i)
{
    struct spirv_reader *r = x->r;
    const uint32_t *w = i->words;
    switch (i->op) {
    case SpvOpCapability: append_to_list(r, &r->index.capabilities, &r->index.n_capabilities, i); break;
    case SpvOpEntryPoint: append_to_list(r, &r->index.entries, &r->index.n_entries, i); break;
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId: append_to_list(r, &r->index.modes, &r->index.n_modes, i); break;
    case SpvOpString: append_to_list(r, &r->index.strings, &r->index.n_strings, i); break;
    case SpvOpExtInstImport:
        if (strcmp(spirv_string(w + 2), "OpenCL.std") == 0) r->index.opencl_std = i->id;
        break;
    case SpvOpName:
        if (w[1] < r->index.bound) r->index.ids[w[1]].name = spirv_string(w + 2);
        break;
    case SpvOpDecorate:
    case SpvOpDecorateId:
    case SpvOpDecorateString:
    case SpvOpMemberDecorate:
    case SpvOpGroupDecorate: spirv_decorate(r, i); break;
    case SpvOpLine:
        x->line_file = w[1];
        x->line = w[2];
        x->column = w[3];
        break;
    case SpvOpNoLine:
    case SpvOpFunctionEnd: x->line_file = x->line = x->column = 0; break;
    case SpvOpMemoryModel:
        if (w[1] != SpvAddressingModelPhysical64)
            spirv_fail(r, i, "addressing model %s; Physical64 can be read",
                       w[1] == SpvAddressingModelPhysical32 ? "Physical32" : "other than Physical64");
        break;
    default: break;
    }
}

static void add_instruction(void *data, unsigned op, unsigned n, uint32_t type, uint32_t id)
{
    struct indexer *x = data;
    struct spirv_index *index = &x->r->index;
    struct spirv_inst *i = &index->insts[index->n_insts++];
    *i = (struct spirv_inst){.op = (uint16_t)op,
                             .n = (uint16_t)n,
                             .type = type,
                             .id = id,
                             .file = x->line_file,
                             .line = x->line,
                             .column = x->column,
                             .words = x->next};
    x->next += n;
    if (id && id < x->r->pipes.bound) { /* what they were before the validator saw them */
        if (x->r->pipes.is_storage[id]) i->op = SpvOpTypePipeStorage;
        if (x->r->pipes.storage[id]) i->op = SpvOpConstantPipeStorage;
    }
    if (i->id) index->ids[i->id].def = i;
    note_instruction(x, i);
    if (spirv_is_terminator(op)) x->line_file = x->line = x->column = 0; /* a line is for the rest of its block */
}

static void check_capabilities(struct spirv_reader *r)
{
    bool kernel = false;
    for (size_t i = 0; i < r->index.n_capabilities; i++)
        kernel |= r->index.capabilities[i]->words[1] == SpvCapabilityKernel;
    if (!kernel)
        spirv_fail_module(r->findings, "does not declare the capability Kernel: only that dialect can be read");
}

bool spirv_index(struct spirv_reader *r, const struct spirv_words *m)
{
    struct indexer x = {.r = r, .next = m->words + SPIRV_HEADER_WORDS};
    size_t count = 0;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words && m->words[at] >> 16; at += m->words[at] >> 16) count++;
    r->index.bound = m->bound;
    r->index.insts = arena_alloc(r->arena, (count + 1) * sizeof *r->index.insts);
    r->index.ids = arena_alloc(r->arena, (size_t)m->bound * sizeof *r->index.ids);
    if (!tools_parse(m->words, m->n_words, add_instruction, &x)) spirv_fail_module(r->findings, "is no valid SPIR-V");
    check_capabilities(r);
    return !r->findings->failed;
}
