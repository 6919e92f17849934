/* Running passes and lists of them. */
#include <stdio.h>
#include <stdlib.h>

#include "fuser/passes/manager/pass_debug.h"
#include "fuser/passes/manager/pass_manager.h"
#include "ir/core/ir.h"
#include "ir/text/print/print.h"
#include "ir/verify/verify.h"

enum { MAX_ROUNDS = 16 };

#ifdef NDEBUG
static const bool verifies_each_pass = false;
#else
static const bool verifies_each_pass = true;
#endif

/* Ends the process where the function is not valid any more. */
static void expect_valid(const struct ir_function *f, const char *kind, const char *name)
{
    struct diag_list list = {0};
    if (ir_verify_function(f, &list)) return;
    char *findings = diag_format(&list), *text = ir_print_function(f);
    fprintf(stderr, "%s %s broke function %s:\n%s\n%s\n", kind, name, f->name, findings, text);
    abort();
}

bool pass_run(const struct pass *pass, struct ir_function *f)
{
    struct pass_debug debug = pass_debug_before(pass->name, f);
    bool changed = pass->run(f);
    pass_debug_after(&debug, f, changed);
    if (changed && (verifies_each_pass || debug.verify)) expect_valid(f, "pass", pass->name);
    return changed;
}

static bool run_each(const struct pass *const *passes, struct ir_function *f)
{
    bool changed = false;
    for (; passes && *passes; passes++) changed |= pass_run(*passes, f);
    return changed;
}

bool pipeline_run(const struct pipeline *p, struct ir_function *f)
{
    bool changed = run_each(p->first, f);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        if (!run_each(p->repeat, f)) break;
        changed = true;
    }
    changed |= run_each(p->last, f);
    if (changed && !verifies_each_pass) expect_valid(f, "pipeline", p->name);
    return changed;
}
