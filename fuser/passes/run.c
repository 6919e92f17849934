/* The standard sequence of passes. */
#include <stdio.h>
#include <stdlib.h>

#include "fuser/passes/passes.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"

struct pass {
    const char *name;
    bool (*run)(struct ir_function *f);
};

static const struct pass sequence[] = {
    {"fold", pass_fold},       {"cse", pass_cse},     {"promote", pass_promote},
    {"forward", pass_forward}, {"merge", pass_merge}, {"overwrite", pass_overwrite},
    {"dce", pass_dce},         {"hoist", pass_hoist}, {"unroll", pass_unroll},
    {"split", pass_split},
};

enum { MAX_ROUNDS = 16 };

/* A pass that leaves an invalid function behind is a bug of ours: say which, and show what it made. */
static void check(const struct ir_function *f, const char *pass)
{
#ifndef NDEBUG
    struct diag_list list = {0};
    if (ir_verify(f->module, &list)) return;
    char *findings = diag_format(&list), *text = ir_print_function(f);
    fprintf(stderr, "pass %s broke function %s:\n%s\n%s\n", pass, f->name, findings, text);
    abort();
#else
    (void)f;
    (void)pass;
#endif
}

static bool run(struct ir_function *f, const struct pass *pass)
{
    bool changed = pass->run(f);
    if (changed) check(f, pass->name);
    return changed;
}

void passes_run(struct ir_function *f)
{
    bool changed = true;
    run(f, &(struct pass){"inline", pass_inline});
    for (int round = 0; changed && round < MAX_ROUNDS; round++) {
        changed = false;
        for (size_t i = 0; i < sizeof sequence / sizeof *sequence; i++) changed |= run(f, &sequence[i]);
    }
}
