/* Reading a module: limits, validation, and the phases in their order. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/spirv/reader.h"
#include "ir/verify.h"

enum { HEADER_WORDS = 5, VERSION_1_4 = 0x10400, EFFORT = 400000000 };

bool ir_is_spirv(const void *bytes, size_t size)
{
    return size >= 4 && (memcmp(bytes, "\x03\x02\x23\x07", 4) == 0 || memcmp(bytes, "\x07\x23\x02\x03", 4) == 0);
}

/* ---- messages ---- */

static const char *function_name(const struct spirv_reader *r)
{
    const struct spirv_function *f = r->function;
    if (!f) return NULL;
    if (f->ir) return f->ir->name;
    return r->ids[f->id].name;
}

void spirv_fail(struct spirv_reader *r, const struct spirv_inst *inst, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->failed = r->failed_function = true;
    if (inst) {
        diag_add(r->list, function_name(r), NULL, inst->line, 0, "Op%s: %s", tools_op_name(inst->op), text);
    } else {
        diag_add(r->list, function_name(r), NULL, 0, 0, "%s", text);
    }
}

/* ---- validation ---- */

static bool validate(struct spirv_reader *r)
{
    char *why;
    if (tools_validate(r->words, r->n_words, &why)) return true;
    spirv_fail(r, NULL, "is no valid SPIR-V: %s", why);
    free(why);
    return false;
}

static uint32_t swapped(uint32_t word)
{
    return __builtin_bswap32(word);
}

/* Copies the words in this machine's byte order, and checks what bounds the memory that the rest takes. */
static bool take_words(struct spirv_reader *r, const void *bytes, size_t size)
{
    if (size > IR_SPIRV_MAX_SIZE) {
        spirv_fail(r, NULL, "is a module of %zu bytes; %d is the most", size, IR_SPIRV_MAX_SIZE);
        return false;
    }
    if (size % 4 || size < HEADER_WORDS * 4 || !ir_is_spirv(bytes, size)) {
        spirv_fail(r, NULL, "is no SPIR-V module: %zu bytes%s", size,
                   ir_is_spirv(bytes, size) ? "" : " that do not begin with its magic number");
        return false;
    }
    r->n_words = size / 4;
    r->words = arena_alloc(r->arena, size);
    memcpy(r->words, bytes, size);
    if (r->words[0] != SpvMagicNumber)
        for (size_t i = 0; i < r->n_words; i++) r->words[i] = swapped(r->words[i]);
    r->bound = r->words[3];
    if (r->words[1] > VERSION_1_4) {
        spirv_fail(r, NULL, "is SPIR-V %u.%u; 1.0 to 1.4 can be read", r->words[1] >> 16 & 255, r->words[1] >> 8 & 255);
    } else if (r->bound > r->n_words + 1024) {
        spirv_fail(r, NULL, "claims ids up to %u in %zu words", r->bound, r->n_words);
    }
    return !r->failed;
}

static void read_module(struct spirv_reader *r)
{
    r->effort = EFFORT;
    r->value_budget = 16 * (uint64_t)r->n_words + 10000;
    if (!spirv_normalize(r) || !spirv_check_effort(r) || !spirv_check_reach(r) || !spirv_check_operands(r)) return;
    spirv_widen_selects(r);
    spirv_cast_constituents(r);
    spirv_complete_interfaces(r);
    if (!validate(r) || !spirv_index(r)) return;
    spirv_types(r);
    spirv_check_specialized(r);
    spirv_globals(r);
    if (!r->failed) spirv_functions(r);
}

struct ir_module *ir_read_spirv_with(const void *bytes, size_t size, const char *name,
                                     const struct ir_spirv_options *options, struct diag_list *list)
{
    static const struct ir_spirv_options none;
    struct spirv_reader r = {.options = options ? options : &none, .list = list, .arena = arena_new()};
    r.module = ir_module_new(name);
    r.specialized = arena_alloc(r.arena, r.options->n_constants * sizeof *r.specialized);
    r.globals.arena = r.symbols.arena = r.structs.arena = r.arena;
    if (take_words(&r, bytes, size)) read_module(&r);
    if (!r.failed) r.failed = !ir_verify(r.module, list);
    arena_free(r.arena);
    if (!r.failed) return r.module;
    ir_module_free(r.module);
    return NULL;
}

struct ir_module *ir_read_spirv(const void *bytes, size_t size, const char *name, struct diag_list *list)
{
    return ir_read_spirv_with(bytes, size, name, NULL, list);
}
