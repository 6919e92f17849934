/* Reading a module: limits, validation, and the phases in their order. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/link/link.h"
#include "ir/spirv/decode/reader.h"
#include "ir/base/strbuf.h"
#include "ir/verify/verify.h"

enum { HEADER_WORDS = 5, VERSION_1_6 = 0x10600, EFFORT = 400000000 };

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
    return f->name ? f->name : r->ids[f->id].name;
}

/* The text with the place that it is about in front, as long as the reader. */
static const char *placed(struct spirv_reader *r, const struct spirv_inst *inst, const char *text)
{
    struct strbuf all = {0};
    char place[256];
    if (inst && spirv_loc(r, inst).line)
        strbuf_printf(&all, "%s: ", ir_loc_text(r->module, spirv_loc(r, inst), place, sizeof place));
    if (inst) strbuf_printf(&all, "Op%s: ", tools_op_name(inst->op));
    strbuf_add(&all, text);
    char *joined = strbuf_take(&all);
    const char *kept = arena_strndup(r->arena, joined, strlen(joined));
    free(joined);
    return kept;
}

static void refuse(struct spirv_reader *r, const struct spirv_inst *inst, const char *text)
{
    struct spirv_function *f = r->function;
    if (f) {
        if (!f->refused) f->refused = placed(r, inst, text);
    } else if (r->variable) {
        r->refusals = arena_grow(r->arena, r->refusals, r->n_refusals, sizeof *r->refusals);
        r->refusals[r->n_refusals++] = (struct spirv_refusal){r->variable->id, placed(r, inst, text)};
    } else {
        r->failed = true;
    }
}

void spirv_fail(struct spirv_reader *r, const struct spirv_inst *inst, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->failed_function = true;
    if (inst) {
        diag_add(r->list, function_name(r), NULL, inst->line, 0, "Op%s: %s", tools_op_name(inst->op), text);
        diag_set_file(r->list, r->ids ? ir_loc_file(r->module, spirv_loc(r, inst)) : NULL);
    } else {
        diag_add(r->list, function_name(r), NULL, 0, 0, "%s", text);
    }
    refuse(r, inst, text);
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
    if (r->words[1] > VERSION_1_6) {
        spirv_fail(r, NULL, "is SPIR-V %u.%u; 1.0 to 1.6 can be read", r->words[1] >> 16 & 255, r->words[1] >> 8 & 255);
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

/* ---- what is left ---- */

/* Functions whose bodies break a rule of the language are refused, too. False: what is broken is not a body. */
static bool refuse_broken(struct spirv_reader *r, const struct diag_list *findings)
{
    bool some = false;
    for (size_t k = 0; k < findings->n; k++) {
        const struct diag *d = &findings->items[k];
        struct ir_function *f = d->function ? ir_module_find(r->module, d->function) : NULL;
        diag_add(r->list, d->function, d->block, d->line, 0, "%s", d->text);
        diag_set_file(r->list, d->file);
        if (!f || !f->body) return false;
        if (f->refused) continue;
        struct strbuf why = {0};
        if (d->line) strbuf_printf(&why, d->file ? "%s:%u: " : "%sline %u: ", d->file ? d->file : "", d->line);
        strbuf_add(&why, d->text);
        char *text = strbuf_take(&why);
        ir_function_refuse(f, text);
        free(text);
        some = true;
    }
    return some;
}

static bool verify(struct spirv_reader *r)
{
    enum { ROUNDS = 4 };
    bool good = false, more = true;
    for (int round = 0; round < ROUNDS && more && !good; round++) {
        struct diag_list findings = {0};
        good = ir_verify(r->module, &findings);
        more = good || refuse_broken(r, &findings);
        diag_clear(&findings);
    }
    return good;
}

/* A module of which nobody could use anything is none. */
static bool is_of_use(const struct spirv_reader *r)
{
    bool refused = false;
    for (uint32_t k = 0; k < r->module->n_functions; k++) {
        const struct ir_function *f = r->module->functions[k];
        bool seen = f->linkage == IR_LINKAGE_KERNEL || f->linkage == IR_LINKAGE_EXPORT ||
                    f->linkage == IR_LINKAGE_EXPORT_ONCE;
        if (seen && !ir_find_refused(f)) return true;
        refused |= f->refused != NULL;
    }
    return !refused && !r->n_refusals;
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
    if (!r.failed) r.failed = !verify(&r) || !is_of_use(&r);
    arena_free(r.arena);
    if (!r.failed) return r.module;
    ir_module_free(r.module);
    return NULL;
}

struct ir_module *ir_read_spirv(const void *bytes, size_t size, const char *name, struct diag_list *list)
{
    return ir_read_spirv_with(bytes, size, name, NULL, list);
}
