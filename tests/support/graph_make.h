/* Building graphs for the fuser in a few words. */
#pragma once

#include "fuser/plan/plan.h"

struct test_graph {
    struct ir_module *module; /* of the kernels */
    struct fuser_graph graph;
    struct fuser_options options; /* enable_fusion on a device that can everything; change at will */
    struct arena *arena;
};

/* text: a module in the text form. */
struct test_graph *test_graph_new(const char *text);
/* Of kernels that are there: takes the module. */
struct test_graph *test_graph_of(struct ir_module *module);
void test_graph_free(struct test_graph *g);

/* Each returns the index of what it made. Names are copied. */
uint32_t test_buffer(struct test_graph *g, const char *name, ir_type elem, uint64_t count, struct fuser_props props);
uint32_t test_value(struct test_graph *g, uint32_t bytes);
uint32_t test_kernel(struct test_graph *g, const char *name, const char *kernel, struct nd_range range,
                     const struct fuser_arg *args, uint32_t n_args);
uint32_t test_copy(struct test_graph *g, const char *name, uint32_t from, uint32_t to, uint64_t bytes);
uint32_t test_fill(struct test_graph *g, const char *name, uint32_t to, uint64_t bytes, uint8_t byte);
/* The copy or fill becomes one of so many rows of as many bytes, one behind the other. */
void test_in_rows(struct test_graph *g, uint32_t node, uint32_t rows);
uint32_t test_host(struct test_graph *g, const char *name, const struct fuser_arg *args, uint32_t n_args);
void test_depends(struct test_graph *g, uint32_t node, uint32_t on);

/* local 0: the fuser chooses. */
struct nd_range test_range(uint64_t global, uint64_t local);
struct nd_range test_range_2d(uint64_t x, uint64_t y);
/* Arguments; a buffer's whole, with unknown access and no properties. */
struct fuser_arg test_arg_buffer(uint32_t buffer);
struct fuser_arg test_arg_value(uint32_t value);
struct fuser_arg test_arg_local(uint64_t bytes);
