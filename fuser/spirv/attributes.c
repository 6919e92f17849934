/*
 * Attributes as texts of OpModuleProcessed, which every version has and no driver looks at: "sycl::device_has(fp16) of
 * k", in the words of the decorations that later versions may have. Our reader takes both.
 */
#include "fuser/spirv/attributes.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/core/aspects.h"
#include "ir/core/pipe_properties.h"

enum { MAX_TEXT = 60000 }; /* of an instruction, whose words are counted in 16 bits: four bytes each, and some */

static void put(struct spw *w, struct strbuf *text)
{
    char *bytes = strbuf_take(text);
    size_t room = strlen(bytes) / sizeof(uint32_t) + 2;
    uint32_t *words = arena_alloc(w->arena, room * sizeof *words);
    size_t n = spw_string(bytes, words, room);
    if (strlen(bytes) < MAX_TEXT) spw_put(&w->m.sections[SPW_NAMES], SpvOpModuleProcessed, words, n);
    free(bytes);
}

/* What would end a list, or a name in it. */
static bool can_be_said(const char *name)
{
    return *name && !name[strcspn(name, " \t,:()[]=")] && strlen(name) < 64;
}

static void put_of_kernel(struct spw *w, const char *word, const char *const *names, uint32_t n)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "%s(", word);
    for (uint32_t i = 0; i < n; i++)
        if (can_be_said(names[i])) strbuf_printf(&out, "%s%s", i ? ", " : "", names[i]);
    strbuf_printf(&out, ") of %s", w->kernel->name);
    put(w, &out);
}

static void put_aspects(struct spw *w, const char *word, uint64_t set)
{
    uint8_t bits[IR_ASPECT_BITS];
    const char *names[IR_ASPECT_BITS];
    unsigned n = ir_aspects_in_order(w->kernel->module, set, bits);
    for (unsigned i = 0; i < n; i++) names[i] = ir_module_aspect_name(w->kernel->module, bits[i]);
    put_of_kernel(w, word, names, n);
}

static void put_numbers(struct spw *w)
{
    const struct ir_module *m = w->kernel->module;
    struct strbuf out = {0};
    if (!m->n_aspect_numbers) return;
    strbuf_add(&out, "sycl_aspects(");
    for (uint32_t i = 0; i < m->n_aspect_numbers; i++)
        strbuf_printf(&out, "%s%s=%u", i ? ", " : "", m->aspect_numbers[i].name, m->aspect_numbers[i].number);
    strbuf_add(&out, ")");
    put(w, &out);
}

/* "uses_valid(false) of p" */
static void put_properties(struct spw *w, const struct ir_global *pipe)
{
    for (uint32_t i = 0; i < pipe->n_properties; i++) {
        struct strbuf property = {0}, out = {0};
        ir_pipe_print_property(&property, &pipe->properties[i]);
        char *text = strbuf_take(&property), *value = strchr(text, ' ');
        strbuf_printf(&out, "%.*s(%s) of %s", (int)(value - text), text, value + 1, pipe->name);
        put(w, &out);
        free(text);
    }
}

void spw_attributes(struct spw *w)
{
    static const char *const automatic[] = {"automatic"}, *const primary[] = {"primary"};
    const struct ir_function *k = w->kernel;
    put_numbers(w);
    if (k->has_declared) put_aspects(w, "sycl::device_has", k->aspects_declared);
    if (k->aspects_used) put_aspects(w, "sycl_detail::uses_aspects", k->aspects_used);
    if (k->has_targets) put_of_kernel(w, "-fsycl-fixed-targets", k->targets, k->n_targets);
    if (k->sub_group_size == IR_SUB_GROUP_AUTOMATIC) put_of_kernel(w, "intel::named_sub_group_size", automatic, 1);
    if (k->sub_group_size == IR_SUB_GROUP_PRIMARY) put_of_kernel(w, "intel::named_sub_group_size", primary, 1);
    for (uint32_t i = 0; i < k->module->n_globals; i++)
        if (map_find(&w->globals, (uint64_t)(uintptr_t)k->module->globals[i])) put_properties(w, k->module->globals[i]);
}
