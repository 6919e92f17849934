/* Planning kernels whose work-items go round: loops from an id on in steps of the range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"
#include "tests/support/spirv_make.h"

enum { ITEMS = 16, FLOATS = 96 };

#define NAMES "global const float *a, global float *o, int n"

/* Kernels k0 and k1 of (in, out, n); between them a buffer that nobody else reads. */
struct pair {
    const char *source, *launches, *internalized; /* NULL: whatever they are */
    int64_t n, changed[2];                        /* as recorded; as a submission says, by kernel */
};

static struct test_graph *make(const struct pair *p, const char *level)
{
    static const char *const names[] = {"a", "t", "o"};
    struct test_graph *g = test_graph_of(spirv_make_module(p->source, level));
    for (unsigned i = 0; i < 3; i++)
        test_buffer(g, names[i], IR_F32, FLOATS, (struct fuser_props){.internal_memory = i == 1});
    for (unsigned i = 0; i < 2; i++) {
        char name[] = {'k', (char)('0' + i), 0};
        test_value(g, 4);
        g->graph.values[i].alike = 1;
        struct fuser_arg args[] = {test_arg_buffer(i), test_arg_buffer(i + 1), test_arg_value(i)};
        test_kernel(g, name, name, test_range(ITEMS, 0), args, 3);
    }
    return g;
}

static void check(const struct pair *p)
{
    static const char *const levels[] = {"O0", "O1", "O2"};
    if (!spirv_make_can_compile()) skip();
    for (unsigned i = 0; i < 3; i++) {
        struct test_graph *g = make(p, levels[i]);
        struct fuser_plan *plan = check_planned(g);
        if (p->launches) check_launches(g, plan, p->launches);
        if (p->internalized) check_internalized(g, plan, p->internalized);
        check_same_with(g, plan, (const int64_t[]){p->n, p->n});
        check_same_with(g, plan, p->changed);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

/* What is left of n after whole rounds is none, some, or less than one round. */
static void grid_stride(void **state)
{
    (void)state;
    struct pair p = {.source = "kernel void k0(" NAMES ")\n"
                               "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] + 1; }\n"
                               "kernel void k1(" NAMES ")\n"
                               "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] * 2; }\n",
                     .launches = "k0 k1",
                     .internalized = "t",
                     .n = 90,
                     .changed = {70, 80}};
    check(&p);
    p.n = 96;
    p.changed[0] = p.changed[1] = 5;
    check(&p);
}

static void other_counters(void **state)
{
    (void)state;
    struct pair p = {.source =
                         "kernel void k0(" NAMES ")\n"
                         "{ for (uint i = get_global_id(0); i < (uint)n; i += get_global_size(0)) o[i] = a[i] + 1; }\n"
                         "kernel void k1(" NAMES ")\n"
                         "{ for (uint i = get_global_id(0); i < (uint)n; i += get_global_size(0)) o[i] = a[i] * 2; }\n",
                     .launches = "k0 k1",
                     .internalized = "t",
                     .n = 90,
                     .changed = {33, 80}};
    check(&p);
    p.source = "kernel void k0(" NAMES ")\n"
               "{ for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] + 1; }\n"
               "kernel void k1(" NAMES ")\n"
               "{ for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] * 2; }\n";
    check(&p);
    /* In elements that are four numbers each. */
    p.source =
        "kernel void k0(" NAMES ")\n"
        "{ for (int i = get_global_id(0); i < n / 4; i += get_global_size(0)) vstore4(vload4(i, a) + 1, i, o); }\n"
        "kernel void k1(" NAMES ")\n"
        "{ for (int i = get_global_id(0); i < n / 4; i += get_global_size(0)) vstore4(vload4(i, a) * 2, i, o); }\n";
    check(&p);
}

/* What a loop carries besides, and what it gives. */
static void sums_on_the_way(void **state)
{
    (void)state;
    check(&(struct pair){.source =
                             "kernel void k0(" NAMES ")\n"
                             "{ float s = 0; for (int i = get_global_id(0); i < n; i += get_global_size(0))\n"
                             "  { s += a[i]; o[i] = s; } }\n"
                             "kernel void k1(" NAMES ")\n"
                             "{ float s = 1, p = 2; for (int i = get_global_id(0); i < n; i += get_global_size(0))\n"
                             "  { s *= a[i]; p += s; o[i] = p - a[i]; } if (get_global_id(0) + 32 < n) "
                             "o[get_global_id(0) + 32] = s; }\n",
                         .launches = "k0 k1",
                         .internalized = "t",
                         .n = 60,
                         .changed = {96, 7}});
}

/* One loop's work-items touch what another work-item's does in the other. */
static void rounds_of_others(void **state)
{
    static const char *const loops[][2] = {
        {"int i = get_global_id(0) + 1; i < n; i += get_global_size(0)", "a[i]"},
        {"int i = get_global_id(0); i < n; i += 2 * get_global_size(0)", "a[i] + a[i + 1 < n ? i + 1 : i]"},
        {"int i = get_global_id(0); i < n; i += 3 * get_global_size(0) / 2", "a[i]"},
        {"int i = get_global_id(0); i < n; i += get_global_size(0)", "a[i ? i - 1 : 0]"},
        {"int i = get_global_id(0); i < n; i += get_global_size(0)", "a[n - 1 - i]"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {
        char source[512];
        snprintf(source, sizeof source,
                 "kernel void k0(" NAMES ")\n"
                 "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] + 1; }\n"
                 "kernel void k1(" NAMES ") { for (%s) o[i] = %s; }\n",
                 loops[i][0], loops[i][1]);
        check(&(struct pair){.source = source, .launches = "k0|k1", .internalized = "", .n = 90, .changed = {70, 80}});
    }
}

/* The same work-item's, but of another round, or of some rounds only: the loops stay two, and the buffer stays. */
static void rounds_apart(void **state)
{
    static const char *const rounds[] = {
        "o[i] = a[i] + a[i + 16 < n ? i + 16 : i];",
        "o[i] = i >= 16 ? a[i - 16] : a[i];",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        char source[512];
        snprintf(source, sizeof source,
                 "kernel void k0(" NAMES ")\n"
                 "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] + 1; }\n"
                 "kernel void k1(" NAMES ")\n"
                 "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) { %s } }\n",
                 rounds[i]);
        check(&(struct pair){.source = source, .launches = NULL, .internalized = "", .n = 90, .changed = {70, 80}});
    }
    check(&(struct pair){
        .source = "kernel void k0(" NAMES ")\n"
                  "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) if (a[i] > 3) o[i] = a[i] + 1; }\n"
                  "kernel void k1(" NAMES ")\n"
                  "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] * 2; }\n",
        .launches = "k0 k1",
        .internalized = "",
        .n = 90,
        .changed = {70, 80}});
    /* All rounds of one have to be over: the mean of what it wrote. */
    check(&(struct pair){
        .source = "kernel void k0(" NAMES ")\n"
                  "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] + 1; }\n"
                  "kernel void k1(" NAMES ")\n"
                  "{ float s = 0; for (int i = get_global_id(0); i < n; i += get_global_size(0)) s += a[i];\n"
                  "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) o[i] = a[i] - s; }\n",
        .launches = "k0 k1",
        .internalized = "",
        .n = 90,
        .changed = {70, 80}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_stride),      cmocka_unit_test(other_counters), cmocka_unit_test(sums_on_the_way),
        cmocka_unit_test(rounds_of_others), cmocka_unit_test(rounds_apart),
    };
    return cmocka_run_group_tests_name("plan rounds", tests, NULL, NULL);
}
