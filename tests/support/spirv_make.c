#include "tests/support/spirv_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The first version of LLVM of which both programs are here, or 0. */
static unsigned version(void)
{
    static unsigned found;
    for (unsigned v = 15; !found && v <= 19; v++) {
        char command[160];
        snprintf(command, sizeof command, "command -v clang-%u > /dev/null && command -v llvm-spirv-%u > /dev/null", v,
                 v);
        if (system(command) == 0) found = v;
    }
    return found;
}

bool spirv_make_can_compile(void)
{
    return version() != 0;
}

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static uint8_t *read_file(const char *directory, const char *name, size_t *size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*size + 1);
    if (fread(bytes, 1, *size, f) != *size) *size = 0;
    fclose(f);
    return bytes;
}

/* Writes in.txt into a folder of its own, runs a command there that makes out.spv of it. */
static uint8_t *run(const char *input, const char *command, size_t *size)
{
    const char *temporary = getenv("TMPDIR");
    char directory[400], line[2000];
    snprintf(directory, sizeof directory, "%s/fusiond-spirv-XXXXXX", temporary ? temporary : P_tmpdir);
    assert_non_null(mkdtemp(directory));
    write_file(directory, "in.txt", input);
    snprintf(line, sizeof line, "cd '%s' && %s", directory, command);
    int status = system(line);
    uint8_t *bytes = status == 0 ? read_file(directory, "out.spv", size) : NULL;
    snprintf(line, sizeof line, "rm -rf '%s'", directory);
    if (system(line) != 0) fail_msg("%s stays", directory);
    if (!bytes) fail_msg("`%s` failed", command);
    return bytes;
}

uint8_t *spirv_make_compiled(const char *source, const char *level, size_t *size)
{
    const char *root = getenv("FUSIOND_SOURCE_ROOT");
    char command[1200];
    assert_non_null(root);
    snprintf(command, sizeof command,
             "mv in.txt in.cl && sh '%s/tests/corpus/build-module' clang-%u llvm-spirv-%u %s in.cl out.spv", root,
             version(), version(), level);
    return run(source, command, size);
}

struct ir_module *spirv_make_module(const char *source, const char *level)
{
    size_t size;
    struct diag_list list = {0};
    uint8_t *bytes = spirv_make_compiled(source, level, &size);
    struct ir_module *m = ir_read_spirv(bytes, size, "test", &list);
    free(bytes);
    if (!m) fail_msg("%s", diag_format(&list));
    diag_clear(&list);
    return m;
}

uint8_t *spirv_make_assembled(const char *text, size_t *size)
{
    return run(text, "spirv-as --target-env spv1.2 in.txt -o out.spv", size);
}
