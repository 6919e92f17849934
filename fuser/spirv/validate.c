/* Every module is looked at before anybody uses it. */
#include "fuser/spirv/validate.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/spirv/rules.h"
#include "ir/base/arena.h"
#include "ir/spirv/canonicalize/pipe_extensions.h"
#include "ir/spirv/canonicalize/value_types.h"
#include "ir/spirv/decode/tools.h"

static enum tools_rules rules_of(const struct spirv_target *t)
{
    if (t->dialect == SPIRV_KERNEL) return TOOLS_UNIVERSAL; /* OpenCL's leave no room for what a device adds */
    return t->version >= 0x00010600 ? TOOLS_VULKAN_1_3 : TOOLS_VULKAN_1_2;
}

static bool keeps_rules(const struct spirv_words *words, char **why)
{
    char text[200];
    const char *rule = spirv_broken_rule(words, text, sizeof text);
    if (rule && !(*why = strdup(rule))) abort();
    return !rule;
}

/* Storage and host access of pipes are instructions that it does not know: it is shown what our reader shows it. */
static bool takes(const struct spirv_module *m, const struct spirv_target *t, char **why)
{
    struct spirv_findings findings = {0};
    struct spirv_words words = {
        .arena = arena_new(), .findings = &findings, .words = m->words, .n_words = m->n_words, .bound = m->words[3]};
    bool known = spirv_find_value_types(&words);
    if (known && t->features & SPIRV_PIPES) spirv_take_pipe_extensions(&words);
    bool good = tools_validate(words.words, words.n_words, rules_of(t), why);
    if (good && known && t->dialect == SPIRV_VULKAN) good = keeps_rules(&words, why);
    arena_free(words.arena);
    return good;
}

bool spirv_validate(const struct spirv_module *m, const struct spirv_target *target, const char *kernel,
                    struct diag_list *list)
{
    char *why;
    if (takes(m, target, &why)) return true;
    diag_add(list, kernel, NULL, 0, 0, "what was written is no valid SPIR-V: %s", why);
    free(why);
    return false;
}
