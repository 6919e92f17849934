/* OpenCL C to SPIR-V by the user's compiler. */
#include "tools/clc/compile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "tools/clc/file.h"
#include "tools/clc/process.h"

enum { MAX_OWN_OPTIONS = 32 };

struct names {
    char source[PATH_MAX], bitcode[PATH_MAX], spirv[PATH_MAX], includes[PATH_MAX], log[PATH_MAX];
};

/* How it is tried, in this order: translators refuse, or crash on, some of what optimizers make. Our own clean-up does
   what was left undone. */
struct way {
    bool optimized, lines;
};
static const struct way ways[] = {{true, true}, {false, true}, {false, false}};

/* What the translator may write, in this order: sub-group functions of the KHR extensions are of SPIR-V 1.3, others are
   extensions of SPIR-V. Not all that it knows: optimizers make numbers of 24 bits, say, which devices have not. */
static const char *const forms[][2] = {
    {"--spirv-max-version=1.2", NULL},
    {"--spirv-max-version=1.4", "--spirv-ext=+SPV_KHR_subgroup_rotate,+SPV_KHR_integer_dot_product,"
                                "+SPV_KHR_bit_instructions,+SPV_KHR_uniform_group_instructions,"
                                "+SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max"},
};

/* Where pointers point at nothing in particular, as in all programs of clang 16 and later, the types of kernels'
   parameters are only there. */
static const char with_types[] = "--preserve-ocl-kernel-arg-type-metadata-through-string";

/* The language where the options say none, in this order: in programs of before 2.0 pointers without an address
   space are private ones. Errors are those of the first. */
static const char *const languages[] = {"-cl-std=CL2.0", "-cl-std=CL1.2"};

static bool has_option(const struct source *s, const char *begin)
{
    for (size_t i = 0; i < s->n_options; i++)
        if (strncmp(s->options[i], begin, strlen(begin)) == 0) return true;
    return false;
}

/* What compilers leave to the device: the language that it has, unless the options say. */
static const char *language_macro(const struct source *s)
{
    if (has_option(s, "-D__OPENCL_VERSION__") || has_option(s, "__OPENCL_VERSION__")) return NULL;
    return has_option(s, "-cl-std=CL3") ? "-D__OPENCL_VERSION__=300" : "-D__OPENCL_VERSION__=200";
}

static bool is_way_possible(const struct source *s, const struct way *way)
{
    return way->optimized || !has_option(s, "-O0");
}

static int run_clang(const struct source *s, const struct toolchain *t, const struct names *n, const struct way *way,
                     const char *language)
{
    char **argv = arena_realloc(NULL, (s->n_options + MAX_OWN_OPTIONS) * sizeof *argv);
    size_t k = 0;
    argv[k++] = (char *)t->clang;
    argv[k++] = "-xcl";
    argv[k++] = "--target=spir64";
    if (language) argv[k++] = (char *)language;
    if (!has_option(s, "-O")) argv[k++] = "-O2";
    /* Work-items are what becomes vectors; and nobody reads errno. */
    argv[k++] = "-fno-vectorize";
    argv[k++] = "-fno-slp-vectorize";
    argv[k++] = "-fno-math-errno";
    argv[k++] = "-fno-discard-value-names"; /* parameters are called what the source calls them */
    argv[k++] = "-fgnu89-inline";           /* `inline` functions are not expected elsewhere */
    argv[k++] = "-cl-kernel-arg-info";
    const char *macro = language_macro(s);
    if (macro) argv[k++] = (char *)macro;
    if (way->lines) argv[k++] = "-gline-tables-only";
    if (!s->path) argv[k++] = "-iquote.";
    for (size_t i = 0; i < s->n_options; i++) argv[k++] = s->options[i];
    if (!way->optimized) {
        argv[k++] = "-Xclang";
        argv[k++] = "-disable-llvm-passes";
    }
    argv[k++] = "-MD";
    argv[k++] = "-MTmodule";
    argv[k++] = "-MF";
    argv[k++] = (char *)n->includes;
    argv[k++] = "-emit-llvm";
    argv[k++] = "-c";
    argv[k++] = (char *)(s->path ? s->path : n->source);
    argv[k++] = "-o";
    argv[k++] = (char *)n->bitcode;
    argv[k] = NULL;
    int status = process_run(argv, n->log);
    free(argv);
    return status;
}

/* In the first form that has all of the module: there are translators that end where something is lacking. */
static int run_translator(const struct toolchain *t, const struct names *n, const char *errors)
{
    int status = -1;
    for (size_t i = 0; status && i < sizeof forms / sizeof *forms; i++) {
        char *argv[8] = {(char *)t->translator, (char *)n->bitcode, "-o", (char *)n->spirv, (char *)with_types,
                         (char *)forms[i][0],   (char *)forms[i][1]};
        unlink(errors);
        unlink(n->spirv);
        status = process_run(argv, errors);
    }
    return status;
}

/* ---- files that were read ---- */

/* The next path of a rule for make: white space ends it, a backslash takes the special sense of what follows. */
static char *next_path(const char **at)
{
    struct strbuf b = {0};
    while (isspace((unsigned char)**at) || (**at == '\\' && (*at)[1] == '\n')) ++*at;
    if (!**at) return NULL;
    for (; **at && !isspace((unsigned char)**at); ++*at) {
        if (**at == '\\' && (*at)[1] == '\n') break;
        if ((**at == '\\' || **at == '$') && (*at)[1]) ++*at;
        strbuf_add_bytes(&b, *at, 1);
    }
    return strbuf_take(&b);
}

static void read_includes(const struct source *s, const struct names *n, struct compiled *c)
{
    size_t size;
    char *text = file_read(n->includes, &size);
    const char *colon = text ? strchr(text, ':') : NULL, *at = colon ? colon + 1 : "";
    for (char *path = next_path(&at); path; path = next_path(&at)) {
        if (strcmp(path, s->path ? s->path : n->source) == 0) {
            free(path);
            continue;
        }
        c->includes = arena_realloc(c->includes, (c->n_includes + 1) * sizeof *c->includes);
        c->includes[c->n_includes++] = path;
    }
    free(text);
}

/* ---- all of it ---- */

/* What came by standard input, with a line that says what it is called. */
static bool write_source(const struct source *s, const struct names *n)
{
    struct strbuf b = {0};
    if (s->path) return true;
    strbuf_printf(&b, "#line 1 \"%s\"\n", s->name);
    strbuf_add_bytes(&b, s->text, s->size);
    size_t size = b.size;
    char *text = strbuf_take(&b);
    bool good = file_write_new(n->source, text, size);
    free(text);
    return good;
}

static void name_files(struct names *n, const char *folder)
{
    snprintf(n->source, sizeof n->source, "%s/source.cl", folder);
    snprintf(n->bitcode, sizeof n->bitcode, "%s/module.bc", folder);
    snprintf(n->spirv, sizeof n->spirv, "%s/module.spv", folder);
    snprintf(n->includes, sizeof n->includes, "%s/includes", folder);
    snprintf(n->log, sizeof n->log, "%s/log", folder);
}

/* False: the source is wrong, and no other way helps. */
static bool try_way(const struct source *s, const struct toolchain *t, const struct names *n, const struct way *way,
                    const char *language, struct compiled *c)
{
    char errors[PATH_MAX + 16];
    snprintf(errors, sizeof errors, "%s.translator", n->log);
    unlink(n->log);
    bool compiles = run_clang(s, t, n, way, language) == 0;
    int status = compiles ? run_translator(t, n, errors) : 0;
    if (compiles && status == 0) c->spirv = file_read(n->spirv, &c->size);
    free(c->log);
    size_t size;
    c->log = file_read(status ? errors : n->log, &size);
    return compiles;
}

/* In one language; NULL: the one that the options say. False: the source is wrong in it. */
static bool try_language(const struct source *s, const struct toolchain *t, const struct names *n, const char *language,
                         struct compiled *c)
{
    bool possible = true;
    for (size_t i = 0; possible && !c->spirv && i < sizeof ways / sizeof *ways; i++)
        if (is_way_possible(s, &ways[i])) possible = try_way(s, t, n, &ways[i], language, c);
    return possible;
}

static void try_languages(const struct source *s, const struct toolchain *t, const struct names *n, struct compiled *c)
{
    char *errors = NULL;
    if (has_option(s, "-cl-std=")) {
        try_language(s, t, n, NULL, c);
        return;
    }
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (try_language(s, t, n, languages[i], c)) break;
        if (!errors) errors = c->log, c->log = NULL;
    }
    if (errors && !c->spirv) {
        free(c->log);
        c->log = errors;
        return;
    }
    free(errors);
}

bool compile(const struct source *s, const struct toolchain *t, const char *folder, struct compiled *c)
{
    struct names n;
    *c = (struct compiled){0};
    name_files(&n, folder);
    if (write_source(s, &n)) try_languages(s, t, &n, c);
    if (c->spirv) read_includes(s, &n, c);
    if (!c->log) c->log = arena_realloc(NULL, 1), c->log[0] = 0;
    return c->spirv != NULL;
}

void compiled_clear(struct compiled *c)
{
    for (size_t i = 0; i < c->n_includes; i++) free(c->includes[i]);
    free(c->includes);
    free(c->spirv);
    free(c->log);
}
