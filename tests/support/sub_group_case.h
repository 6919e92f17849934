/* Inside the table of sub-group functions: a case, and one try of it by a way at a size. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/sub_group_model.h"
#include "tests/support/sub_group_table.h"

struct sg_family;

struct sg_case {
    char name[48];
    unsigned number;
    const struct sg_family *family;
    struct sg_type type;
};

struct sg_try {
    const struct sg_case *c;
    const struct sub_group_runner *runner;
    unsigned way;
    uint32_t size; /* of complete sub-groups */
};

struct sg_family {
    const char *name;
    unsigned lanes; /* of its widest vector */
    bool typed, ints_only;
    void (*run)(const struct sg_try *t);
    sg_model *model;  /* of families of values */
    const char *body; /* of families of values but reductions: an instruction for each %rN, {T} is the type */
};

void sg_run_values(const struct sg_try *t);
void sg_run_reductions(const struct sg_try *t);
void sg_run_block_read(const struct sg_try *t);
void sg_run_block_write(const struct sg_try *t);
void sg_run_image_read(const struct sg_try *t);
void sg_run_image_write(const struct sg_try *t);
void sg_run_ids(const struct sg_try *t);
void sg_run_barrier(const struct sg_try *t);
void sg_run_sizes(const struct sg_try *t);

/* Is this tried on vectors of so many lanes? */
bool sg_takes(const struct sg_try *t, unsigned lanes);
/* Runs kernel @k of the text, or where the runner brings kernels the one of that name; fails the test with the text
   where that goes wrong. Returns the size of sub-groups it ran with. */
uint32_t sg_execute(const struct sg_try *t, const char *name, const char *text, const struct nd_range *range,
                    const struct interp_arg *args);
/* The case's name with the number of lanes, "shuffle_int4", in a buffer that the next call takes. */
const char *sg_name(const struct sg_try *t, unsigned lanes);
/* A launch of two work-groups of two complete sub-groups and an incomplete one, the second a work-item short. */
struct sg_launch sg_launch_of(const struct sg_try *t, unsigned lanes);
struct nd_range sg_range_of(const struct sg_launch *l);
/* Bits for n numbers. */
void sg_fill(const struct sg_type *t, uint64_t seed, uint64_t *values, uint32_t n);
/* The work-item's number in the launch as %i, of a kernel in one dimension. */
extern const char sg_number_text[];
/* Numbers as they lie in memory, and back; vectors of three take the room of four. */
unsigned sg_bytes(const struct sg_type *t);
unsigned sg_stride(unsigned lanes);
void *sg_pack(const struct sg_type *t, unsigned lanes, const uint64_t *values, uint32_t items);
uint64_t sg_get(const struct sg_type *t, const void *memory, uint64_t index);
