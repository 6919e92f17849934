/*
 * The table of sub-group functions: each function of cl_intel_subgroups (with the 8-bit types) and of SYCL's sub_group
 * on each type, with values from a model of its own. A case is one function on one type; it is run at each size of
 * sub-groups, with incomplete sub-groups and an incomplete work-group.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/interp/interp.h"

/* Ways to run a kernel: the interpreter, or the code of some instruction set. */
struct sub_group_runner {
    const char *program;
    unsigned ways;
    /* Runs a kernel with the way's sub-group size left in *size; false where it could not be run. */
    bool (*run)(unsigned way, const struct ir_function *kernel, const struct nd_range *range,
                const struct interp_arg *args, uint32_t *size);
    /* Whether case number `number` is run at the size by the way, on vectors of so many lanes; NULL: all are. */
    bool (*takes)(unsigned way, unsigned number, uint32_t size, unsigned lanes);
    /* The kernel of that name, with sub-groups of a size, where they come from a module of the runner; NULL where it
       has none. Of the operations of reductions and scans it does the first three. Without this, kernels are made here.
     */
    const struct ir_function *(*kernel)(unsigned way, const char *name, uint32_t size);
};

/* The tests of a program: one for each case. Returns cmocka's exit status. */
int sub_group_table_main(const struct sub_group_runner *runner);
/* The names of the cases by number, NULL past the last one; and whether there is one of that name. */
const char *sub_group_table_name(unsigned number);
bool sub_group_table_has(const char *name);
