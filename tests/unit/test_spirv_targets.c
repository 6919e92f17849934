/* What is written for devices whose quotients and roots of f32 are the nearest: all, those of normal numbers, or none;
   how often work-groups wait. */
#include <setjmp.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/gpu/description.h"
#include "fuser/spirv/writer.h"
#include "ir/core/ir.h"
#include "ir/text/parse/parse.h"

static const char quotient_text[] = "kernel @k(%to: ptr.global f32, %x: ptr.global f32, %y: ptr.global f32) {\n"
                                    "  %a = load f32 %x\n  %b = load f32 %y\n"
                                    "  %q = fdiv f32 %a, %b\n  %r = sqrt f32 %q\n  store f32 %to, %r\n  return\n}\n";

static const char atomic_text[] = "kernel @k(%to: ptr.global f32, %x: f32) {\n"
                                  "  atomic_fadd f32 %to, %x\n  atomic_fmax f32 %to, %x\n  return\n}\n";

/* Three reductions that can be at once, and one of what the first gives. */
static const char sums_text[] =
    "kernel @k(%to: ptr.global f32, %x: ptr.global f32, %n: i32) {\n"
    "  %a = load f32 %x\n  %b = fmul f32 %a, %a\n"
    "  %s = group_reduce f32 %a, work_group, add\n  %c = fmul f32 %s, %s\n"
    "  %t = group_reduce f32 %b, work_group, smax\n  %m = group_reduce i32 %n, work_group, umin\n"
    "  %u = group_reduce f32 %c, work_group, add\n"
    "  %f = utof f32 %m\n  %y = fadd f32 %t, %u\n  %z = fadd f32 %y, %f\n  store f32 %to, %z\n  return\n}\n";

struct written {
    unsigned divisions, branches, roots, inverse_roots, sums, extremes, exchanges, waits;
};

static void count(const uint32_t *instruction, struct written *w)
{
    uint32_t op = instruction[0] & SpvOpCodeMask;
    w->divisions += op == SpvOpFDiv;
    w->branches += op == SpvOpBranchConditional;
    w->sums += op == SpvOpAtomicFAddEXT;
    w->extremes += op == SpvOpAtomicFMaxEXT;
    w->exchanges += op == SpvOpAtomicCompareExchange;
    w->waits += op == SpvOpControlBarrier;
    if (op != SpvOpExtInst) return;
    w->roots += instruction[4] == GLSLstd450Sqrt;
    w->inverse_roots += instruction[4] == GLSLstd450InverseSqrt;
}

static struct written write_text(const char *text, const struct spirv_target *target)
{
    struct diag_list list = {0};
    struct spirv_module out;
    struct written w = {0};
    struct ir_module *m = ir_parse(text, strlen(text), NULL, &list);
    assert_non_null(m);
    assert_int_equal(spirv_write(ir_module_find(m, "k"), target, &out, &list), 0);
    for (size_t at = 5; at < out.n_words; at += out.words[at] >> SpvWordCountShift) count(&out.words[at], &w);
    spirv_module_clear(&out);
    ir_module_free(m);
    return w;
}

static struct written write_for(uint64_t features)
{
    const struct spirv_target target = {
        .dialect = SPIRV_VULKAN, .version = 0x00010500, .features = SPIRV_INT64 | SPIRV_FMA32 | features};
    return write_text(quotient_text, &target);
}

static void test_quotients(void **state)
{
    (void)state;
    unsigned own = write_for(SPIRV_EXACT_DIVISION32 | SPIRV_EXACT_SQRT32).branches; /* of the ND-range */
    struct written normal = write_for(SPIRV_NORMAL_DIVISION32 | SPIRV_EXACT_SQRT32),
                   none = write_for(SPIRV_EXACT_SQRT32);
    assert_int_equal(normal.divisions, 1);
    assert_int_equal(normal.branches, own);
    assert_true(none.branches > own);
}

static void test_roots(void **state)
{
    (void)state;
    struct written exact = write_for(SPIRV_EXACT_DIVISION32 | SPIRV_EXACT_SQRT32);
    struct written quick = write_for(SPIRV_EXACT_DIVISION32 | SPIRV_QUICK_SQRT32),
                   none = write_for(SPIRV_EXACT_DIVISION32);
    assert_int_equal(exact.roots, 1);
    assert_int_equal(exact.inverse_roots, 0);
    assert_int_equal(quick.roots + none.roots, 0);
    assert_int_equal(quick.inverse_roots, 2); /* of usual numbers, and of others */
    assert_int_equal(none.inverse_roots, 2);
}

/* By comparison where the device has none; files for whoever compiles them say what is meant. */
static void test_float_atomics(void **state)
{
    (void)state;
    struct spirv_target target = spirv_target_level_zero;
    struct written none = write_text(atomic_text, &target);
    target.features |= SPIRV_ATOMIC_FADD32;
    struct written sums = write_text(atomic_text, &target);
    target.features |= SPIRV_ATOMIC_FMINMAX32;
    struct written both = write_text(atomic_text, &target), file = write_text(atomic_text, &spirv_target_kernel);
    assert_true(none.sums == 0 && none.extremes == 0 && none.exchanges == 2);
    assert_true(sums.sums == 1 && sums.extremes == 0 && sums.exchanges == 1);
    assert_true(both.sums == 1 && both.extremes == 1 && both.exchanges == 0);
    assert_true(file.sums == 1 && file.extremes == 1 && file.exchanges == 0);
}

/* What was tried out is taken over where the driver is the one that it was tried on. */
static void test_learning(void **state)
{
    (void)state;
    struct gpu_description found = {.device = "vulkan", .name = "a", .driver = "b", .uuid = {1}, .max_local_bytes = 5};
    found.target.features = SPIRV_INT64;
    struct gpu_description known = found, other = found;
    known.flushes_denormals32 = known.same_addresses = true;
    known.target.features |= SPIRV_FMA32 | SPIRV_NORMAL_DIVISION32 | SPIRV_KNOWS_SPECIALS;
    assert_true(gpu_description_learn(&found, &known));
    assert_memory_equal(&found, &known, sizeof found);
    other.uuid[3] = 7;
    assert_false(gpu_description_learn(&other, &known));
    other.uuid[3] = 0;
    other.target.features |= SPIRV_INT8;
    assert_false(gpu_description_learn(&other, &known));
    assert_false(other.flushes_denormals32);
}

/* A reduction has three waits where they are written: before its rounds, in them, and behind them. */
static void test_sums(void **state)
{
    (void)state;
    const struct spirv_target target = {.dialect = SPIRV_VULKAN, .version = 0x00010500, .features = SPIRV_INT64};
    assert_int_equal(write_text(sums_text, &target).waits, 2 * 3);
}

/* Features are bits of 64, and come whole through descriptions. */
static void test_features(void **state)
{
    (void)state;
    struct gpu_description d = {.device = "vulkan", .max_work_group_size = 1, .max_groups = {1, 1, 1}}, back;
    size_t size;
    d.target.features = SPIRV_INT8 | SPIRV_PIPES | SPIRV_QUICK_SQRT32;
    uint8_t *bytes = gpu_description_encode(&d, &size);
    assert_true(gpu_description_decode(&back, bytes, size));
    assert_true(back.target.features == d.target.features);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quotients),     cmocka_unit_test(test_roots),
                                       cmocka_unit_test(test_float_atomics), cmocka_unit_test(test_learning),
                                       cmocka_unit_test(test_sums),          cmocka_unit_test(test_features)};
    return cmocka_run_group_tests_name("spirv_targets", tests, NULL, NULL);
}
