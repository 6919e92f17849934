/* The functions that are no finite number of IEEE operations come from one library, SLEEF: those of its variants that
   give the same bits for one number as for a vector of any width, on every instruction set, with or without fma. */
#pragma once

#include <stdbool.h>

#include "ir/core/ops.h"

struct library_function {
    const char *name;     /* of the C library's function */
    const char *accuracy; /* of the variant: "u10" is 1.0 units in the last place at most, as the library says */
    unsigned n;           /* operands */
    float (*f32)(float x, float y);
    double (*f64)(double x, double y);
};

/* The function for an operation; NULL: there is none. */
const struct library_function *library_find(enum ir_op op);
const char *library_version(void);
