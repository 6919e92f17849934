/* The module's instructions, by place and by id, with names, decorations and lines. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ir/spirv/decode/reader.h"

const char *spirv_string(const uint32_t *words)
{
    return (const char *)words; /* the validator has seen its end */
}

struct ir_loc spirv_loc(struct spirv_reader *r, const struct spirv_inst *inst)
{
    const struct spirv_inst *file = inst->file ? r->ids[inst->file].def : NULL;
    if (!file || file->op != SpvOpString) return (struct ir_loc){0, 0};
    return (struct ir_loc){ir_module_file(r->module, spirv_string(file->words + 2)), inst->line};
}

/* ---- decorations ---- */

static const struct spirv_decoration *find_decoration(const struct spirv_reader *r, uint32_t id, SpvDecoration what,
                                                      uint32_t first_operand)
{
    for (uint32_t i = r->ids[id].decorations; i; i = r->decorations[i - 1].next) {
        const struct spirv_decoration *d = &r->decorations[i - 1];
        if (d->group) {
            /* The validator lets no group be the target of a group. */
            for (uint32_t k = r->ids[d->group].decorations; k; k = r->decorations[k - 1].next) {
                const struct spirv_decoration *e = &r->decorations[k - 1];
                if (!e->group && e->member == UINT32_MAX && e->words[0] == what &&
                    (first_operand == UINT32_MAX || (e->n > 1 && e->words[1] == first_operand)))
                    return e;
            }
        } else if (d->member == UINT32_MAX && d->words[0] == what &&
                   (first_operand == UINT32_MAX || (d->n > 1 && d->words[1] == first_operand))) {
            return d;
        }
    }
    return NULL;
}

const uint32_t *spirv_decoration(const struct spirv_reader *r, uint32_t id, SpvDecoration what, uint32_t *n)
{
    const struct spirv_decoration *d = find_decoration(r, id, what, UINT32_MAX);
    if (n) *n = d ? d->n - 1 : 0;
    return d ? d->words + 1 : NULL;
}

bool spirv_has_param_attr(const struct spirv_reader *r, uint32_t id, SpvFunctionParameterAttribute attr)
{
    return find_decoration(r, id, SpvDecorationFuncParamAttr, attr) != NULL;
}

static void decorate(struct spirv_reader *r, uint32_t target, const struct spirv_decoration *d)
{
    if (target >= r->bound) return;
    r->decorations = arena_grow(r->arena, r->decorations, r->n_decorations, sizeof *r->decorations);
    struct spirv_decoration *own = &r->decorations[r->n_decorations++];
    *own = *d;
    own->next = r->ids[target].decorations;
    r->ids[target].decorations = (uint32_t)r->n_decorations;
}

static void add_decoration(struct spirv_reader *r, const struct spirv_inst *i)
{
    const uint32_t *w = i->words;
    switch (i->op) {
    case SpvOpDecorate:
    case SpvOpDecorateId:
    case SpvOpDecorateString:
        decorate(r, w[1], &(struct spirv_decoration){.member = UINT32_MAX, .words = w + 2, .n = i->n - 2});
        break;
    case SpvOpMemberDecorate:
        decorate(r, w[1], &(struct spirv_decoration){.member = w[2], .words = w + 3, .n = i->n - 3});
        break;
    default:
        for (uint32_t k = 2; k < i->n; k++)
            decorate(r, w[k], &(struct spirv_decoration){.member = UINT32_MAX, .group = w[1]});
        break;
    }
}

/* ---- names ---- */

const char *spirv_unique_name(struct spirv_reader *r, struct names *map, const char *wish, const char *otherwise)
{
    if (!wish || !*wish) wish = otherwise;
    size_t n = strlen(wish);
    if (n > 1000) n = 1000;
    char *name = arena_alloc(r->arena, n + 24), *at = name;
    if (isdigit((unsigned char)wish[0])) *at++ = '_';
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)wish[i];
        bool good = c < 128 && (isalnum(c) || c == '_' || ((c == '.' || c == '$') && at != name));
        *at++ = good ? (char)c : '_';
    }
    *at = 0;
    size_t length = (size_t)(at - name);
    /* The pointer kept for a name is the number of the last suffix given to it, plus 1. */
    void **kept = names_put(map, name, length);
    if (!*kept) {
        *kept = (void *)1;
        return ir_strdup(r->module, name);
    }
    char *suffixed = arena_alloc(r->arena, length + 24);
    for (uintptr_t k = (uintptr_t)*kept;; k++) {
        snprintf(suffixed, length + 24, "%s.%llu", name, (unsigned long long)k);
        void **other = names_put(map, suffixed, strlen(suffixed));
        if (*other) continue;
        *other = (void *)1;
        *names_put(map, name, length) = (void *)(k + 1);
        return ir_strdup(r->module, suffixed);
    }
}

/* ---- instructions ---- */

static void append(struct spirv_reader *r, const struct spirv_inst ***list, size_t *n, const struct spirv_inst *i)
{
    *list = arena_grow(r->arena, *list, *n, sizeof **list);
    (*list)[(*n)++] = i;
}

static void see(struct spirv_reader *r, const struct spirv_inst *i)
{
    const uint32_t *w = i->words;
    switch (i->op) {
    case SpvOpCapability: append(r, &r->capabilities, &r->n_capabilities, i); break;
    case SpvOpEntryPoint: append(r, &r->entries, &r->n_entries, i); break;
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId: append(r, &r->modes, &r->n_modes, i); break;
    case SpvOpString: append(r, &r->strings, &r->n_strings, i); break;
    case SpvOpExtInstImport:
        if (strcmp(spirv_string(w + 2), "OpenCL.std") == 0) r->opencl_std = i->id;
        break;
    case SpvOpName:
        if (w[1] < r->bound) r->ids[w[1]].name = spirv_string(w + 2);
        break;
    case SpvOpDecorate:
    case SpvOpDecorateId:
    case SpvOpDecorateString:
    case SpvOpMemberDecorate:
    case SpvOpGroupDecorate: add_decoration(r, i); break;
    case SpvOpLine:
        r->line_file = w[1];
        r->line = w[2];
        break;
    case SpvOpNoLine:
    case SpvOpFunctionEnd: r->line_file = r->line = 0; break;
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
    struct spirv_reader *r = data;
    struct spirv_inst *i = &r->insts[r->n_insts++];
    *i = (struct spirv_inst){.op = (uint16_t)op,
                             .n = (uint16_t)n,
                             .type = type,
                             .id = id,
                             .file = r->line_file,
                             .line = r->line,
                             .words = r->words + r->used_words};
    r->used_words += n;
    if (i->id) r->ids[i->id].def = i;
    see(r, i);
    if (spirv_is_terminator(op)) r->line_file = r->line = 0; /* a line is for the rest of its block */
}

static void check_capabilities(struct spirv_reader *r)
{
    bool kernel = false;
    for (size_t i = 0; i < r->n_capabilities; i++) kernel |= r->capabilities[i]->words[1] == SpvCapabilityKernel;
    if (!kernel) spirv_fail(r, NULL, "does not declare the capability Kernel: only that dialect can be read");
}

bool spirv_index(struct spirv_reader *r)
{
    const uint32_t *words = r->words;
    size_t n = r->n_words;
    size_t count = 0;
    for (size_t at = 5; at < n && words[at] >> 16; at += words[at] >> 16) count++;
    r->insts = arena_alloc(r->arena, (count + 1) * sizeof *r->insts);
    r->ids = arena_alloc(r->arena, (size_t)r->bound * sizeof *r->ids);
    r->used_words = 5;
    if (!tools_parse(words, n, add_instruction, r)) spirv_fail(r, NULL, "is no valid SPIR-V");
    check_capabilities(r);
    return !r->failed;
}
