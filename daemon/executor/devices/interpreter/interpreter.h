/* Launches that run in the interpreter (ir/interp), and kernels that come as such. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/executor/program/device.h"
#include "ir/interp/interp.h"

struct assertion_check;

struct interpreter_launch {
    const struct ir_function *kernel;
    struct interp_options options; /* what is checked */
    struct assertion_check *watch; /* of a program for debugging; NULL: none */
};

/* The kernel of an encoded module, and the module; NULL with the error. name is what that is about: "kernel add". */
const struct ir_function *interpreter_decode(const void *bytes, size_t size, const char *name,
                                             struct ir_module **module, struct error *e);
/* Whether the kernel takes the arguments that the launch has, which running it relies on. 0, or -1 with the error. */
int interpreter_check_args(const struct ir_function *kernel, const struct executable *x, uint32_t launch,
                           struct error *e);
/* Runs it on the argument block. 0, or -1: a finding is an error. */
int interpreter_run(const struct interpreter_launch *run, const struct executable *x, uint32_t launch,
                    const struct launch_context *context, struct error *e);
