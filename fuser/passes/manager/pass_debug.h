/*
 * What the environment variable FUSIOND_DEBUG asks of passes; what it prints goes to standard error. Words with commas
 * between:
 *   ir           the function after each pass that changed it
 *   time         a line for each pass: microseconds, and operations before and after
 *   after=PASS   both only of this pass
 *   kernel=NAME  both only of functions of this name
 *   verify       in release builds, too, the verifier looks at what each pass leaves
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ir_function;

/* One run of a pass. */
struct pass_debug {
    const char *pass;
    bool ir, time, verify;
    uint32_t operations; /* before */
    uint64_t started;    /* nanoseconds */
};

struct pass_debug pass_debug_before(const char *pass, const struct ir_function *f);
void pass_debug_after(const struct pass_debug *d, const struct ir_function *f, bool changed);
