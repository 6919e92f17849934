/*
 * Splitting modules into device images (seed 004): kernels and exported functions that may be in one image, by how the
 * user wants to have it and by what they require, each with all that it reaches. Functions that several images reach
 * are in each of them; writable variables that several reach are `export once` there, so that linking makes them one
 * again.
 */
#pragma once

#include "fuser/features/groups.h"
#include "fuser/features/property_set.h"
#include "ir/base/diag.h"
#include "ir/core/ir.h"
#include "ir/features/warnings.h"

struct split_image {
    struct ir_module *module;
    uint32_t n_entries;
    const char **entries; /* kernels and exported functions, in the order of the modules; the module's memory */
    struct property_set requirements;
};

struct split {
    struct arena *arena;
    uint32_t n_images;
    struct split_image *images; /* in the order of their first entries */
};

/* n valid modules, each a translation unit. False, with findings, where they cannot be linked. `warn` is told what does
   not fit together. */
bool split_modules(const struct ir_module *const *units, uint32_t n, enum split_mode mode, struct split *out,
                   struct diag_list *findings, ir_warn *warn, void *data);
/* The same with what linking them gave; whole is the module itself where there is one alone. */
bool split_linked(const struct ir_module *const *units, uint32_t n, struct ir_module *whole, enum split_mode mode,
                  struct split *out, struct diag_list *findings, ir_warn *warn, void *data);
void split_clear(struct split *s); /* all zeros is fine */
