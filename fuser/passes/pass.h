/* A pass: one change to one function, which leaves it valid and leaves what it computes as it was. */
#pragma once

#include <stdbool.h>

struct ir_function;

struct pass {
    const char *name;                   /* as in FUSIOND_DEBUG and fusion-inspect passes */
    const char *text;                   /* what it does, in a few words */
    bool (*run)(struct ir_function *f); /* returns whether it changed anything */
};
