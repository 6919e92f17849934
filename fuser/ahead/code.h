/* Code of an image for a target, into a bundle. A file for each kind of code. */
#pragma once

#include <stdbool.h>

#include "fuser/ahead/launches.h"
#include "fuser/features/bundle.h"
#include "fuser/features/file_table.h"
#include "fuser/features/split.h"
#include "ir/base/error.h"
#include "ir/features/targets.h"

struct ahead_image {
    const struct ir_module *whole; /* what services will have: launches are of its kernels */
    const struct split_image *image;
    const struct ir_target *target;
    const char *stem; /* with which the names of its members begin */
    uint32_t n_sizes;
    const struct ahead_local_size *sizes;
    struct bundle *bundle;
    struct file_table *table; /* gets a row for each piece of code */
    ir_warn *warn;
    void *data;
};

/* The kernels' code. A kernel without any stays what it is, to be compiled where it runs: that is a warning. False,
   with the error, where the compiler is not there or fails. */
typedef bool ahead_coder(const struct ahead_image *i, struct error *e);
ahead_coder ahead_cpu_code, ahead_spirv_code, ahead_intel_code, ahead_ptx_code;

/* ---- for them ---- */

/* The kernels of the image, in `whole`; NULL: there are no more. *at begins with 0. */
const struct ir_function *ahead_next_kernel(const struct ahead_image *i, uint32_t *at);
void ahead_init_table(struct file_table *t);
/* A row. launch NULL: it is not the code of a launch. ending: "so" */
void ahead_add_code(const struct ahead_image *i, const struct ir_function *kernel, const struct ahead_launch *launch,
                    const char *ending, const void *object, size_t size, unsigned lanes, const char *effort);
void ahead_warn(const struct ahead_image *i, const struct ir_function *kernel, const char *why);
