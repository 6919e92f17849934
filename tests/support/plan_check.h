/* Assertions on plans. Each fails the cmocka test it is called from. */
#pragma once

#include "tests/support/graph_make.h"

struct fuser_plan *check_planned(const struct test_graph *g);
/* Planning fails with this status; object and reason contain the texts given. */
void check_fails(const struct test_graph *g, enum fuser_status status, const char *object, const char *reason);
/* The launches as "a b|c": nodes by name, launches apart. */
void check_launches(const struct test_graph *g, const struct fuser_plan *plan, const char *launches);
/* The names of the buffers without memory, in order, as "t1 t2". */
void check_internalized(const struct test_graph *g, const struct fuser_plan *plan, const char *buffers);
/* There is a remark of this code on this node ("" for any) and buffer ("" for any) whose text contains `text`. */
void check_remark(const struct fuser_plan *plan, const char *code, const char *node, const char *buffer,
                  const char *text);
void check_no_remark(const struct fuser_plan *plan, const char *code);
/* The plan's steps do what the nodes do one by one, without races. */
void check_same(const struct test_graph *g, const struct fuser_plan *plan);
/* The same where values are these numbers. */
void check_same_with(const struct test_graph *g, const struct fuser_plan *plan, const int64_t *numbers);
