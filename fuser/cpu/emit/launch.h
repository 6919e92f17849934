/* What a launch brings: memory, and the functions that kernels call. Uniform values of the entry function. */
#pragma once

#include "fuser/cpu/jit/emit.h"

struct span {
    rval start, bytes; /* start NULL: there is none */
};

struct launch_memory {
    struct span local;         /* the work-group's memory */
    struct span args, scratch; /* the argument block; private variables that lie in `local` */
    rval functions;            /* address of struct kernel_functions */
    rval printer;              /* address of what takes what is printed */
};
