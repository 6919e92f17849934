/* Defaults, and sizes as text. */
#include "ir/link/sub_group_size.h"

#include <stdlib.h>
#include <string.h>

void ir_default_sub_group_size(struct ir_module *m, uint32_t size)
{
    for (uint32_t i = 0; i < m->n_functions; i++) {
        struct ir_function *f = m->functions[i];
        if (f->linkage != IR_LINKAGE_INTERNAL && !f->sub_group_size) f->sub_group_size = size;
    }
}

bool ir_sub_group_size_parse(const char *text, uint32_t *size)
{
    if (strcmp(text, "automatic") == 0) {
        *size = IR_SUB_GROUP_AUTOMATIC;
        return true;
    }
    if (strcmp(text, "primary") == 0) {
        *size = IR_SUB_GROUP_PRIMARY;
        return true;
    }
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '1' || *text > '9' || *end || number > (1u << 31) || (number & (number - 1))) return false;
    *size = (uint32_t)number;
    return true;
}
