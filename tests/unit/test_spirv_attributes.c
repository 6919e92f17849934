/* Attributes of kernels that SPIR-V has no place for, there and back: what our writer says, our reader understands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuser/passes/manager/pipelines.h"
#include "fuser/spirv/writer.h"
#include "ir/core/equal.h"
#include "ir/features/usage.h"
#include "ir/spirv/spirv.h"
#include "ir/text/parse/parse.h"
#include "tests/support/rng.h"

static struct ir_module *parse(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), NULL, &list);
    if (!m) fail_msg("%s%s", text, diag_format(&list));
    return m;
}

static struct ir_module *there_and_back(const struct ir_function *f)
{
    struct diag_list list = {0};
    struct spirv_module m;
    if (spirv_write(f, &spirv_target_kernel, &m, &list) != 0) fail_msg("%s", diag_format(&list));
    struct ir_module *back = ir_read_spirv(m.words, m.n_words * sizeof *m.words, "back", &list);
    if (!back) fail_msg("%s", diag_format(&list));
    spirv_module_clear(&m);
    return back;
}

static void assert_same(const struct ir_function *f, const struct ir_function *g)
{
    assert_non_null(g);
    assert_int_equal(g->has_declared, f->has_declared);
    assert_true(ir_aspects_equal(f->module, f->aspects_declared, g->module, g->aspects_declared));
    assert_true(ir_aspects_equal(f->module, f->aspects_used, g->module, g->aspects_used));
    assert_int_equal(g->has_targets, f->has_targets);
    assert_int_equal(g->n_targets, f->n_targets);
    for (uint32_t i = 0; i < f->n_targets; i++) assert_string_equal(g->targets[i], f->targets[i]);
    assert_int_equal(g->sub_group_size, f->sub_group_size);
    assert_memory_equal(g->work_group_size, f->work_group_size, sizeof f->work_group_size);
}

/* What a type or a dropped variable uses counts, once passes have been told to keep it. */
static void types(void **state)
{
    (void)state;
    struct ir_module *m = parse("aspects { fp16 = 77, ext_intel_amx = 9 }\n"
                                "struct S uses(ext_intel_amx) { a: i32 }\n"
                                "kernel @k(%a: ptr.global i32) {\n  %v = var struct S\n  %h = var f64\n"
                                "  store i32 %a[0], 1\n}\n");
    struct ir_function *k = ir_module_find(m, "k");
    ir_usage_keep(k);
    pipeline_run(&pipeline_cleanup, k);
    struct ir_module *back = there_and_back(k);
    assert_same(k, ir_module_find(back, "k"));
    assert_int_equal(ir_module_aspect_number(back, IR_ASPECT_BIT_FP16), 77);
    int amx = ir_module_aspect(back, "ext_intel_amx");
    assert_int_equal(ir_module_aspect_number(back, (unsigned)amx), 9);
    assert_int_equal(ir_function_aspects(ir_module_find(back, "k")), IR_ASPECT_FP64 | (uint64_t)1 << amx);
    ir_module_free(back);
    ir_module_free(m);
}

/* Absent, empty and not empty are three things. */
static void random_attributes(void **state)
{
    (void)state;
    static const char *const declared[] = {"", " aspects()", " aspects(gpu)", " aspects(fp64, ext_b, cpu, ext_a)"};
    static const char *const used[] = {"", " uses(ext_a)", " uses(fp16, ext_b, emulated)"};
    static const char *const targets[] = {"", " targets()", " targets(\"x86_64\")",
                                          " targets(\"intel_gpu_12_0_0\", \"ptx64\", \"a-b.c\")"};
    static const char *const sizes[] = {"", " sub_group_size(16)", " sub_group_size(automatic)",
                                        " sub_group_size(primary)", " work_group_size(8, 4)"};
    struct rng rng = {.state = 1};
    for (int i = 0; i < 200; i++) {
        char text[600];
        snprintf(text, sizeof text, "aspects { ext_a = %u, ext_b = 7 }\nkernel @k%d(%%a: ptr.global i32)%s%s%s%s {}\n",
                 rng_below(&rng, 5) + 1, i, declared[rng_below(&rng, 4)], used[rng_below(&rng, 3)],
                 targets[rng_below(&rng, 4)], sizes[rng_below(&rng, 5)]);
        struct ir_module *m = parse(text), *back = there_and_back(m->functions[0]);
        assert_same(m->functions[0], ir_module_find(back, m->functions[0]->name));
        ir_module_free(back);
        ir_module_free(m);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(types), cmocka_unit_test(random_attributes)};
    return cmocka_run_group_tests_name("spirv_attributes", tests, NULL, NULL);
}
