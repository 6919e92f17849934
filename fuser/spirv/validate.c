/* Every module is looked at before anybody uses it. */
#include "fuser/spirv/validate.h"

#include <stdlib.h>

#include "ir/spirv/decode/tools.h"

static enum tools_rules rules_of(const struct spirv_target *t)
{
    if (t->dialect == SPIRV_KERNEL) return TOOLS_UNIVERSAL; /* OpenCL's leave no room for what a device adds */
    return t->version >= 0x00010600 ? TOOLS_VULKAN_1_3 : TOOLS_VULKAN_1_2;
}

bool spirv_validate(const struct spirv_module *m, const struct spirv_target *target, const char *kernel,
                    struct diag_list *list)
{
    char *why;
    if (tools_validate(m->words, m->n_words, rules_of(target), &why)) return true;
    diag_add(list, kernel, NULL, 0, 0, "SPIRV-Tools does not take what was written: %s", why);
    free(why);
    return false;
}
