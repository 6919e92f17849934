/*
 * The table of sub-group functions from SPIR-V, as users' compilers make it: test_corpus_sub_groups MODULE.spv ... Each
 * case runs the kernels of its name of sub_group_table.cl in the interpreter, against the table's model. A way is a
 * module and a spelling of the functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/spirv/spirv.h"
#include "tests/support/sub_group_table.h"

enum { MODULES = 2, MODULE_SIZE = 16 << 20 };

/* Names as they are; with intel_ before what has such a name too; blocks without the letters of their type. */
enum spelling { SPELLING_FIRST, SPELLING_INTEL, SPELLING_PLAIN, N_SPELLINGS };

static const char *const prefixes[N_SPELLINGS] = {"", "intel_", "plain_"};
static struct ir_module *modules[MODULES];

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool is_block(const char *name)
{
    return begins(name, "block_") || begins(name, "image_block_");
}

static bool takes(unsigned way, unsigned number, uint32_t size, unsigned lanes)
{
    (void)size;
    const char *name = sub_group_table_name(number);
    bool is_group = begins(name, "broadcast_") || begins(name, "reduce_") || begins(name, "scan_");
    bool is_uint = strstr(name, "_uint") != NULL, is_uchar = strstr(name, "_uchar") != NULL;
    if (is_block(name) && lanes == 16 && !is_uchar) return false; /* the translators stop there: 16 are bytes */
    switch (way % N_SPELLINGS) {
    case SPELLING_FIRST: return true;
    case SPELLING_INTEL: return is_group;
    default: return is_block(name) && is_uint;
    }
}

/* Sizes that a kernel of OpenCL C cannot ask for are a module's default, as a compiler's option is. */
static uint32_t asked_size(const char *name, uint32_t size)
{
    if (strcmp(name, "sizes_primary") == 0) return IR_SUB_GROUP_PRIMARY;
    if (strcmp(name, "sizes_automatic") == 0) return IR_SUB_GROUP_AUTOMATIC;
    return strcmp(name, "sizes") == 0 ? 0 : size;
}

static const struct ir_function *kernel(unsigned way, const char *name, uint32_t size)
{
    char full[80];
    snprintf(full, sizeof full, "%s%s", prefixes[way % N_SPELLINGS], begins(name, "sizes") ? "sizes" : name);
    struct ir_function *f = ir_module_find(modules[way / N_SPELLINGS], full);
    if (f && !begins(name, "ids_") && !begins(name, "barrier_")) f->sub_group_size = asked_size(name, size);
    return f;
}

static bool run(unsigned way, const struct ir_function *f, const struct nd_range *range, const struct interp_arg *args,
                uint32_t *size)
{
    (void)way;
    uint32_t own = f->sub_group_size, other = 32; /* where it does not say so */
    struct interp_options options = {.check_races = true, .sub_group_size = other};
    struct interp_result result;
    bool good = interp_run(f, range, args, &options, &result) == 0 && result.n_findings == 0;
    if (result.n_findings)
        fprintf(stderr, "%s, line %u: %s\n", f->name, result.findings[0].line, result.findings[0].text);
    interp_result_clear(&result);
    *size = own && own < IR_SUB_GROUP_AUTOMATIC ? own : other;
    return good;
}

static struct ir_module *read_module(const char *path)
{
    struct diag_list list = {0};
    struct ir_module *m = NULL;
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = arena_realloc(NULL, MODULE_SIZE);
    if (f) m = ir_read_spirv(bytes, fread(bytes, 1, MODULE_SIZE, f), path, &list);
    if (f) fclose(f);
    char *text = m ? NULL : diag_format(&list);
    if (text) fprintf(stderr, "%s: refused:\n%s", path, text);
    free(text);
    free(bytes);
    diag_clear(&list);
    return m;
}

int main(int argc, char **argv)
{
    static const struct sub_group_runner runner = {"test_corpus_sub_groups", MODULES * N_SPELLINGS, run, takes, kernel};
    if (argc != 1 + MODULES) return 2;
    for (int i = 0; i < MODULES; i++)
        if (!(modules[i] = read_module(argv[1 + i]))) return 2;
    int status = sub_group_table_main(&runner);
    for (int i = 0; i < MODULES; i++) ir_module_free(modules[i]);
    return status;
}
