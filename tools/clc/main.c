/*
 * fusiond-clc: OpenCL C to SPIR-V by the user's own clang, as the user: the library starts it where a program loads
 * a module of OpenCL C, and it can be run by hand. What was compiled before is kept.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/arena.h"
#include "tools/clc/cache.h"
#include "tools/clc/compile.h"
#include "tools/clc/file.h"
#include "tools/clc/options.h"

enum { USAGE = 2 };

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "fusiond-clc: %s: %s\n", what, why);
    return 1;
}

static void remove_folder(const char *folder)
{
    static const char *const names[] = {"source.cl", "module.bc", "module.spv", "includes", "log", "log.translator"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) < PATH_MAX) unlink(path);
    rmdir(folder);
}

/* Compiles in a folder that is there meanwhile. */
static bool compile_anew(const struct source *s, const struct toolchain *t, struct compiled *c)
{
    const char *base = getenv("TMPDIR");
    char folder[PATH_MAX / 2];
    int n = snprintf(folder, sizeof folder, "%s/fusiond-clc-XXXXXX", base && *base ? base : "/tmp");
    *c = (struct compiled){0};
    if (n >= (int)sizeof folder || !mkdtemp(folder)) return fail(folder, strerror(errno)), false;
    bool good = compile(s, t, folder, c);
    remove_folder(folder);
    return good;
}

static bool make(const struct source *s, struct compiled *c)
{
    struct toolchain tools;
    struct cache_entry entry;
    const char *missing;
    *c = (struct compiled){0};
    if (!toolchain_find(&tools, &missing)) return fail(s->name, missing), false;
    cache_locate(&entry, s, &tools);
    if (cache_find(&entry, c)) return true;
    if (!compile_anew(s, &tools, c)) return false;
    cache_keep(&entry, c);
    return true;
}

static bool write_module(const char *path, const struct compiled *c)
{
    bool good =
        strcmp(path, "-") == 0 ? file_write_to(stdout, c->spirv, c->size) : file_write_new(path, c->spirv, c->size);
    return good || (fail(path, strerror(errno)), false);
}

static int run(const struct options *o)
{
    struct compiled c;
    struct source s = {.path = o->path, .name = o->name, .options = o->clang, .n_options = o->n_clang};
    s.text = file_read(s.path, &s.size);
    if (!s.text) return fail(s.name, strerror(errno));
    bool good = make(&s, &c);
    if (c.log) fputs(c.log, stderr);
    good = good && write_module(o->output, &c);
    compiled_clear(&c);
    free(s.text);
    return !good;
}

int main(int argc, char **argv)
{
    struct options o;
    int status = USAGE;
    if (options_read(&o, argc, argv))
        status = o.told ? 0 : run(&o);
    else if (o.lacks)
        fprintf(stderr, "fusiond-clc: option %s of clang needs a value behind it\n", o.lacks);
    else if (o.quote_open)
        fputs("fusiond-clc: the text of the options ends between quotes\n", stderr);
    else
        fputs(options_usage, stderr);
    if (status == 0 && o.told) fputs(o.told, stdout);
    options_clear(&o);
    return status;
}
