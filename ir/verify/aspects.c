/* Aspects of a module: names that can be written, each with one number, and sets with names. */
#include "ir/verify/aspects.h"

#include <stdlib.h>

#include "ir/base/arena.h"
#include "ir/core/module_aspects.h"
#include "ir/verify/names.h"
#include "ir/verify/report.h"

void verify_module_aspects(struct verifier *v)
{
    const struct ir_module *m = v->m;
    const char **names = arena_realloc(NULL, m->n_aspect_numbers * sizeof *names);
    for (uint32_t i = 0; i < m->n_aspect_numbers; i++) {
        names[i] = m->aspect_numbers[i].name;
        if (!names[i] || !verify_name_ok(names[i])) verify_report(v, "aspect %u has no name that can be written", i);
    }
    verify_unique(v, names, m->n_aspect_numbers, "aspects");
    free(names);
    for (uint32_t i = 0; i < m->n_structs; i++)
        if (m->structs[i]->aspects_used & ~ir_module_aspects(m))
            verify_report(v, "struct type %u uses aspects that do not exist", i);
}
