/*
 * Running passes. After each pass that changed something the verifier looks at the function: a pass that leaves an
 * invalid function is a defect of ours, and ends the process with its name and what it made. Release builds (NDEBUG)
 * look once, at the end of a pipeline, unless FUSIOND_DEBUG (pass_debug.h) asks for each pass; it prints IR and times.
 */
#pragma once

#include "fuser/passes/pass.h"

/* A list of passes, ended by NULL: `first` once, `repeat` until a round changes nothing (16 rounds at most), `last`
   once. Each may be NULL. */
struct pipeline {
    const char *name;
    const struct pass *const *first, *const *repeat, *const *last;
};

/* Each returns whether anything changed. */
bool pass_run(const struct pass *pass, struct ir_function *f);
bool pipeline_run(const struct pipeline *p, struct ir_function *f);
