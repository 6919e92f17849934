/* Modules of the corpus, for tests. */
#include "tests/spirv_out/read_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/base/arena.h"
#include "ir/spirv/spirv.h"

struct ir_module *read_module(const char *path)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    char *bytes = arena_realloc(NULL, IR_SPIRV_MAX_SIZE);
    size_t size = fread(bytes, 1, IR_SPIRV_MAX_SIZE, in);
    fclose(in);
    struct diag_list list = {0};
    struct ir_module *m = ir_read_spirv(bytes, size, path, &list);
    free(bytes);
    diag_clear(&list);
    assert_non_null(m);
    return m;
}
