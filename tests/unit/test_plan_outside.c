/* Accesses outside of their buffer: what is proved is an error with the line, the work-item and the element; what
   depends on scalars, memory or loops is not, nor is what no work-item comes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"

static const char kernels[] = "kernel @write(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    store f32 %o[%i], 1.0\n" /* line 3 */
                              "}\n"
                              "kernel @before(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %j = sub i64 %i, 3\n"
                              "    %x = load f32 %o[%j]\n" /* line 8 */
                              "    store f32 %o[%i], %x\n"
                              "}\n"
                              "kernel @plane(%o: ptr.global f32) {\n"
                              "    %x = global_id x\n"
                              "    %y = global_id y\n"
                              "    %r = mul i64 %y, 8\n"
                              "    %i = add i64 %r, %x\n"
                              "    store f32 %o[%i], 1.0\n" /* line 16 */
                              "}\n"
                              "kernel @guarded(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %c = ult i64 %i, 10\n"
                              "    if %c {\n"
                              "        store f32 %o[%i], 1.0\n" /* line 22 */
                              "    }\n"
                              "}\n"
                              "kernel @by(%o: ptr.global f32, %n: i64) {\n"
                              "    %i = global_id x\n"
                              "    %j = add i64 %i, %n\n"
                              "    store f32 %o[%j], 1.0\n"
                              "}\n"
                              "kernel @up_to(%o: ptr.global f32, %n: i64) {\n"
                              "    %i = global_id x\n"
                              "    %c = ult i64 %i, %n\n"
                              "    if %c {\n"
                              "        store f32 %o[%i], 1.0\n"
                              "    }\n"
                              "}\n"
                              "kernel @from_memory(%o: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load i32 %o[%i]\n"
                              "    store i32 %o[%x], 1\n"
                              "}\n"
                              "kernel @wide(%o: ptr.global f32x4) {\n"
                              "    %i = global_id x\n"
                              "    store f32x4 %o[%i], 1.0\n" /* line 44 */
                              "}\n"
                              "kernel @never(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %n = global_size x\n"
                              "    %c = ult i64 %n, %i\n"
                              "    if %c {\n"
                              "        store f32 %o[1000], 1.0\n"
                              "    }\n"
                              "}\n"
                              "kernel @wrapped(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %m = umin i64 %i, 9\n"
                              "    store f32 %o[%m], 1.0\n"
                              "}\n";

static const struct {
    const char *kernel;
    struct nd_range range;
    uint64_t floats, offset; /* of the buffer; of the accessor */
    const char *says;        /* NULL: it is planned */
} cases[] = {
    {"write",
     {1, {1000, 1, 1}, {0}, {0}},
     10,
     0,
     "work-item 10 of node (line 3) writes outside of buffer o: element 10 (byte 40), and there are 10 elements (40 "
     "bytes)"},
    {"write", {1, {10, 1, 1}, {0}, {0}}, 10, 0, NULL},
    {"write", {1, {10, 1, 1}, {0}, {0}}, 10, 4, "work-item 9 of node (line 3) writes outside of buffer o: element 10 "},
    {"write", {1, {4, 1, 1}, {8, 0, 0}, {0}}, 10, 0, "work-item 10 of node (line 3)"},
    {"write", {1, {1000, 1, 1}, {0}, {100, 1, 1}}, 999, 0, "work-item 999 of node (line 3)"},
    {"before",
     {1, {10, 1, 1}, {0}, {0}},
     10,
     0,
     "work-item 0 of node (line 8) reads outside of buffer o: element -3 (byte -12)"},
    {"before", {1, {10, 1, 1}, {3, 0, 0}, {0}}, 13, 0, NULL},
    {"plane", {2, {8, 8, 1}, {0}, {0}}, 64, 0, NULL},
    {"plane",
     {2, {8, 8, 1}, {0}, {0}},
     60,
     0,
     "work-item (4, 7) of node (line 16) writes outside of buffer o: element 60 "},
    {"plane",
     {2, {9, 8, 1}, {0}, {0}},
     64,
     0,
     "work-item (8, 7) of node (line 16) writes outside of buffer o: element 64 "},
    {"guarded", {1, {1000, 1, 1}, {0}, {0}}, 10, 0, NULL},
    {"guarded", {1, {1000, 1, 1}, {0}, {0}}, 9, 0, "work-item 9 of node (line 22)"},
    {"by", {1, {1000, 1, 1}, {0}, {0}}, 10, 0, NULL},
    {"up_to", {1, {1000, 1, 1}, {0}, {0}}, 10, 0, NULL},
    {"from_memory", {1, {10, 1, 1}, {0}, {0}}, 10, 0, NULL},
    {"wide", {1, {2, 1, 1}, {0}, {0}}, 8, 0, NULL},
    {"wide",
     {1, {3, 1, 1}, {0}, {0}},
     10,
     0,
     "work-item 2 of node (line 44) writes outside of buffer o: element 2 (byte 40), and there are 2 elements (40 "
     "bytes)"},
    {"never", {1, {10, 1, 1}, {0}, {0}}, 10, 0, NULL},
    {"wrapped", {1, {1000, 1, 1}, {0}, {0}}, 10, 0, NULL},
};

static void each_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test_graph *g = test_graph_new(kernels);
        uint32_t o = test_buffer(g, "o", IR_F32, cases[i].floats, (struct fuser_props){0});
        g->graph.buffers[o].elem = IR_VOID; /* kernels have several */
        struct fuser_arg args[] = {test_arg_buffer(o), test_arg_value(test_value(g, 8))};
        const char *k = cases[i].kernel;
        args[0].offset = cases[i].offset;
        test_kernel(g, "node", k, cases[i].range, args, k[0] == 'b' && k[1] == 'y' ? 2 : k[0] == 'u' ? 2 : 1);
        for (int mode = FUSER_MODE_NONE; mode <= FUSER_MODE_REQUIRE; mode++) {
            g->options.mode = mode;
            if (cases[i].says)
                check_fails(g, FUSER_INVALID, "node", cases[i].says);
            else
                fuser_plan_free(check_planned(g));
        }
        test_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_case)};
    return cmocka_run_group_tests_name("plan_outside", tests, NULL, NULL);
}
