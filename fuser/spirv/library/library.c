/* The library is read where it is first needed: a compiler's process has one job. */
#include "fuser/spirv/library/library.h"

#include <stdio.h>
#include <stdlib.h>

#include "fuser/spirv/library/srgb.h"
#include "ir/text/parse/parse.h"

static const char text[] =
#include "images.inc"
#include "pipes.inc"
#include "prints.inc"
    ;

static struct ir_module *library(void)
{
    static struct ir_module *module;
    struct diag_list list = {0};
    if (module) return module;
    module = ir_parse(text, sizeof text - 1, "library.fk", &list);
    if (!module) {
        fprintf(stderr, "the library of fuser/spirv cannot be read: %s", diag_format(&list));
        abort();
    }
    library_fill_srgb(module);
    return module;
}

struct ir_function *spirv_library_function(struct ir_module *into, const char *name)
{
    struct ir_function *there = ir_module_find(into, name);
    return there ? there : ir_function_copy(into, ir_module_find(library(), name), name);
}
