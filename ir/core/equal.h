/* Structural equality of modules, and of functions across modules. */
#pragma once

#include <stdbool.h>

#include "ir/core/objects.h"

/* Names and locations included. For tests. */
bool ir_module_equal(const struct ir_module *a, const struct ir_module *b);

/* Whether type a of the first module is type b of the second. */
struct ir_type_relation {
    bool (*same)(const struct ir_type_relation *r, ir_type a, ir_type b);
    const struct ir_module *a, *b;
    void *data;
};

bool ir_function_equal(const struct ir_type_relation *r, const struct ir_function *f, const struct ir_function *g);
bool ir_global_equal(const struct ir_type_relation *r, const struct ir_global *g, const struct ir_global *h);
bool ir_struct_equal(const struct ir_type_relation *r, const struct ir_struct *s, const struct ir_struct *t);
