/* What lanes access side by side is moved by whole registers and shuffled, also where only the run knows that they are:
   strides, and bytes of pixels. */
#include "tests/support/compiled_kit.h"

/* What it is compiled to for AVX-512, for the caller to free. */
static char *assembly_of(const char *text)
{
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX512), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    char *assembly = strdup(object.assembly);
    cpu_object_clear(&object);
    ir_module_free(m);
    return assembly;
}

#define HEAD                                                                                                           \
    "local @part: [512 x i32]\n"                                                                                       \
    "kernel @k(%a: ptr.global i32 read, %o: ptr.global i32) work_group_size(256, 1, 1)\n"                              \
    "        assumes(small_ids, small_memory, whole_groups) {\n"                                                       \
    "  %i = global_id x\n  %l = local_id x\n  %n = trunc i32 %l\n  %p = global @part\n  %m = add i64 %l, 256\n"        \
    "  %twice = shl i64 %l, 1\n  %odd = add i64 %twice, 1\n  %v = load i32 %a[%i]\n"
#define TAIL "  barrier work_group, local\n  %w = load i32 %p[%m]\n  store i32 %o[%i], %w\n  return\n}\n"

static bool has_avx512(void)
{
    return cpu_target_host(CPU_ISA_AVX512).isa == CPU_ISA_AVX512;
}

static void every_other_element(void **state)
{
    (void)state;
    if (!has_avx512()) skip();
    char *assembly = assembly_of(HEAD "  store i32 %p[%twice], %v\n  store i32 %p[%odd], 5\n" TAIL);
    assert_null(strstr(assembly, "scatter"));
    free(assembly);
}

/* Over twice the distance each time: shuffles while it is short, then one by one. */
static void distances_that_double(void **state)
{
    (void)state;
    if (!has_avx512()) skip();
    char *assembly = assembly_of(
        HEAD
        "  store i32 %p[%l], %v\n  store i32 %p[%m], 5\n  %first = trunc i32 %odd\n"
        "  loop (%by: i32 = 1, %d: i32 = 256) {\n    barrier work_group, local\n    %c = sgt i32 %d, %n\n    if %c {\n"
        "      %x = mul i32 %first, %by\n      %x1 = add i32 %x, -1\n      %y1 = add i32 %x1, %by\n"
        "      %xi = sext i64 %x1\n      %yi = sext i64 %y1\n      %xv = load i32 %p[%xi]\n"
        "      %yv = load i32 %p[%yi]\n      %s = add i32 %xv, %yv\n      store i32 %p[%yi], %s\n      yield\n    }\n"
        "    %by2 = shl i32 %by, 1\n    %d2 = lshr i32 %d, 1\n    %e = ult i32 %d, 2\n"
        "    if %e {\n      yield\n    } else {\n      continue %by2, %d2\n    }\n    break\n  }\n" TAIL);
    assert_non_null(strstr(assembly, "vpermt2d"));
    assert_null(strstr(assembly, "scatter"));
    free(assembly);
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    while ((text = strstr(text, word))) n++, text++;
    return n;
}

/* Each byte of a pixel as a float: one shuffle or shift, no mask but for the first. */
static void bytes_of_pixels(void **state)
{
    (void)state;
    if (!has_avx512()) skip();
    char *assembly =
        assembly_of("kernel @k(%a: ptr.global i8x4 read, %o: ptr.global f32x4) work_group_size(256, 1, 1)\n"
                    "        assumes(small_ids, small_memory, whole_groups) {\n"
                    "  %i = global_id x\n  %v = load i8x4 %a[%i]\n  %f = utof f32x4 %v\n"
                    "  store f32x4 %o[%i], %f\n  return\n}\n");
    unsigned masks = count(assembly, "vpand"), shifts = count(assembly, "vpsrld");
    assert_true(masks > 0 && masks == shifts && count(assembly, "vpshufb") == 2 * shifts);
    free(assembly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_other_element), cmocka_unit_test(distances_that_double),
                                       cmocka_unit_test(bytes_of_pixels)};
    return cmocka_run_group_tests_name("test_cpu_shuffles", tests, NULL, NULL);
}
