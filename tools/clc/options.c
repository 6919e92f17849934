/* What fusiond-clc was asked for. */
#include "tools/clc/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

const char options_usage[] =
    "usage: fusiond-clc [-o OUT.spv] [--name NAME] [--options \"TEXT\"] [OPTION OF CLANG]... FILE.cl\n"
    "compiles OpenCL C to SPIR-V with clang and llvm-spirv, and keeps what it made (docs/opencl-c.md)\n"
    "  FILE.cl    - is standard input, which --name names in messages\n"
    "  -o         - is standard output; by default FILE.spv\n"
    "  --options  options of clang as one text, as for clBuildProgram: \"-D N=4 -I 'my include'\"\n";

static void add_option(struct options *o, char *text)
{
    o->clang = arena_realloc(o->clang, (o->n_clang + 1) * sizeof *o->clang);
    o->clang[o->n_clang++] = text;
}

static void add_owned(struct options *o, char *text)
{
    o->owned = arena_realloc(o->owned, (o->n_owned + 1) * sizeof *o->owned);
    o->owned[o->n_owned++] = text;
    add_option(o, text);
}

/* White space ends a word, but between quotes. False: a quote is open. */
static bool split(struct options *o, const char *text)
{
    while (*text) {
        struct strbuf word = {0};
        char quote = 0;
        while (isspace((unsigned char)*text)) text++;
        if (!*text) break;
        for (; *text && (quote || !isspace((unsigned char)*text)); text++) {
            if (*text == quote)
                quote = 0;
            else if (!quote && (*text == '"' || *text == '\''))
                quote = *text;
            else
                strbuf_add_bytes(&word, text, 1);
        }
        add_owned(o, strbuf_take(&word));
        if (quote) return o->quote_open = true, false;
    }
    return true;
}

/* Options of clang whose value is the next word. */
static bool takes_value(const char *option)
{
    static const char *const all[] = {"-I", "-D", "-U", "-include", "-isystem", "-iquote", "-Xclang", NULL};
    for (const char *const *a = all; *a; a++)
        if (strcmp(option, *a) == 0) return true;
    return false;
}

/* The last option, where its value does not follow: clang would take the next word of its own command for it. */
static const char *lacking(const struct options *o)
{
    const char *last = NULL;
    for (size_t i = 0; i < o->n_clang; i++) last = last ? NULL : takes_value(o->clang[i]) ? o->clang[i] : NULL;
    return last;
}

static bool set_path(struct options *o, const char *path)
{
    if (o->name) return false;
    o->name = path;
    o->path = strcmp(path, "-") == 0 ? NULL : path;
    return true;
}

static bool read_value(struct options *o, const char *option, const char *value, const char **name)
{
    if (strcmp(option, "--options") == 0) return split(o, value);
    *(strcmp(option, "-o") == 0 ? &o->output : name) = value;
    return true;
}

static bool is_own(const char *option)
{
    return strcmp(option, "-o") == 0 || strcmp(option, "--name") == 0 || strcmp(option, "--options") == 0;
}

/* Beside the source. */
static const char *default_output(struct options *o)
{
    if (!o->path) return "-";
    const char *dot = strrchr(o->path, '.'), *slash = strrchr(o->path, '/');
    size_t length = dot && (!slash || dot > slash) ? (size_t)(dot - o->path) : strlen(o->path);
    struct strbuf b = {0};
    strbuf_add_bytes(&b, o->path, length);
    strbuf_add(&b, ".spv");
    return o->own_output = strbuf_take(&b);
}

bool options_read(struct options *o, int argc, char **argv)
{
    const char *name = NULL;
    bool good = true;
    *o = (struct options){0};
    for (int i = 1; i < argc && good; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "--version") == 0)
            return o->told = argv[i][2] == 'h' ? options_usage : "fusiond-clc " FUSIOND_VERSION "\n", true;
        else if (is_own(argv[i]))
            good = i + 1 < argc && read_value(o, argv[i], argv[i + 1], &name), i++;
        else if (strcmp(argv[i], "--") == 0)
            good = i + 2 == argc && set_path(o, argv[++i]);
        else if (argv[i][0] != '-' || !argv[i][1])
            good = set_path(o, argv[i]);
        else {
            add_option(o, argv[i]);
            if (takes_value(argv[i]) && i + 1 < argc) add_option(o, argv[++i]);
        }
    }
    o->lacks = lacking(o);
    if (!good || o->lacks || !o->name) return false;
    if (name) o->name = name;
    if (!o->path && !name) o->name = "<stdin>";
    if (!o->output) o->output = default_output(o);
    return true;
}

void options_clear(struct options *o)
{
    for (size_t i = 0; i < o->n_owned; i++) free(o->owned[i]);
    free(o->owned);
    free(o->clang);
    free(o->own_output);
}
