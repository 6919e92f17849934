/* fusion-inspect passes: a module in, and out again behind the passes that were asked for. Needs no service. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"
#include "ir/base/nearest.h"
#include "ir/core/ir.h"
#include "ir/text/print/print.h"
#include "tools/features/modules.h"
#include "tools/inspect/commands.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/usage.h"

enum { MAX_PASSES = 64 };

struct request {
    const char *path, *kernel; /* kernel NULL: all functions */
    const struct pass *passes[MAX_PASSES + 1];
    uint32_t n_passes; /* 0: the clean-up of fused kernels */
};

static int print_usage(void)
{
    fputs("usage: fusion-inspect passes [--pass NAME,...] [--kernel NAME] FILE\n"
          "prints a module (text, msgpack, SPIR-V, OpenCL C) after the passes, or after those that clean up a fused "
          "kernel\n",
          stdout);
    for (const struct pass *const *p = pass_all(); *p; p++) printf("  %-16s %s\n", (*p)->name, (*p)->text);
    return 0;
}

/* NULL: none is like it. */
static const char *nearest_pass(const char *name)
{
    struct nearest s = nearest_begin(name, strlen(name));
    for (const struct pass *const *p = pass_all(); *p; p++) nearest_offer(&s, (*p)->name);
    return s.best;
}

/* "cse,licm" */
static bool add_passes(struct request *r, char *names)
{
    for (char *name; (name = strsep(&names, ","));) {
        const struct pass *pass = pass_by_name(name);
        if (!pass || r->n_passes == MAX_PASSES) {
            char hint[120] = "";
            if (!pass) nearest_hint(nearest_pass(name), hint, sizeof hint);
            complain("passes", "invalid", "%s `%s`%s", pass ? "too many passes, at" : "there is no pass", name, hint);
            return false;
        }
        r->passes[r->n_passes++] = pass;
    }
    return true;
}

static bool wrong_usage(int argc, char **argv)
{
    usage_of(argc, argv, "[--pass NAME,...] [--kernel NAME] FILE; --help lists the passes",
             (const char *const[]){"--pass", "--kernel", NULL});
    return false;
}

static bool read_request(struct request *r, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--pass") == 0 && more) {
            if (!add_passes(r, argv[++i])) return false;
        } else if (strcmp(argv[i], "--kernel") == 0 && more) {
            r->kernel = argv[++i];
        } else if (argv[i][0] != '-' && !r->path) {
            r->path = argv[i];
        } else {
            return wrong_usage(argc, argv);
        }
    }
    return r->path || wrong_usage(argc, argv);
}

static bool run_passes(const struct request *r, struct ir_module *m)
{
    struct pipeline asked = {"asked for", .first = r->passes};
    bool found = false;
    for (uint32_t i = 0; i < m->n_functions; i++) {
        struct ir_function *f = m->functions[i];
        if (!f->body || (r->kernel && strcmp(f->name, r->kernel))) continue;
        found = true;
        pipeline_run(r->n_passes ? &asked : &pipeline_cleanup, f);
    }
    if (!found && r->kernel) complain("passes", "not_found", "%s has no function `%s` with a body", r->path, r->kernel);
    if (!found && !r->kernel) complain("passes", "not_found", "%s has no function with a body", r->path);
    return found;
}

int command_passes(const struct context *c, int argc, char **argv)
{
    (void)c;
    struct request r = {0};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return print_usage();
    if (!read_request(&r, argc, argv)) return 2;
    struct ir_module *m = module_read(r.path);
    if (!m) return 1;
    bool done = run_passes(&r, m);
    char *text = done ? ir_print(m) : NULL;
    if (text) fputs(text, stdout);
    free(text);
    ir_module_free(m);
    return done ? 0 : 1;
}
