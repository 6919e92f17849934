/* Optional features in SPIR-V: what producers leave in strings, and what bodies name before it is dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/equal.h"
#include "ir/features/usage.h"
#include "ir/features/warnings.h"
#include "ir/msgpack/codec.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "tests/support/spirv_text.h"

/* Strings as decorations are an extension below SPIR-V 1.4. */
#define STRINGS                                                                                                        \
    "OpCapability Addresses\nOpCapability Kernel\nOpCapability Linkage\nOpCapability Int64\nOpCapability Int8\n"       \
    "OpExtension \"SPV_GOOGLE_hlsl_functionality1\"\n%std = OpExtInstImport \"OpenCL.std\"\n"                          \
    "OpMemoryModel Physical64 OpenCL\n"
#define CAPABILITIES "OpCapability Float64\nOpCapability Float16\nOpCapability Int64Atomics\n"
#define MORE_TYPES                                                                                                     \
    "%f64 = OpTypeFloat 64\n%f16 = OpTypeFloat 16\n%pf64 = OpTypePointer Function %f64\n%s = OpTypeStruct %u32 %u32\n" \
    "%ps = OpTypePointer Function %s\n%g = OpTypePointer CrossWorkgroup %u64\n"

/* Text and msgpack keep all of it. */
static void assert_kept(const struct ir_module *m)
{
    struct diag_list list = {0};
    char *text = ir_print(m);
    struct ir_module *again = ir_parse(text, strlen(text), NULL, &list);
    if (!again) fail_msg("%s%s", text, diag_format(&list));
    assert_true(ir_module_equal(m, again));
    ir_module_free(again);
    size_t size;
    uint8_t *bytes = ir_encode(m, &size);
    again = ir_decode(bytes, size, &list);
    assert_non_null(again);
    assert_true(ir_module_equal(m, again));
    ir_module_free(again);
    free(bytes);
    free(text);
}

static void strings(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good(STRINGS KERNEL "OpModuleProcessed \"sycl_aspects(fp16=77, ext_intel_amx=9)\"\n"
                                 "OpDecorate %k UserSemantic \"sycl::device_has(sycl::aspect::fp16, ext_intel_amx)\"\n"
                                 "OpDecorate %k UserSemantic \"[[sycl::device_has(aspect::cpu)]]\"\n"
                                 "OpDecorate %k UserSemantic \"something else(fp65)\"\n"
                                 "OpDecorate %k UserSemantic \"-fsycl-fixed-targets=x86_64,spir64\"\n"
                                 "OpDecorate %f LinkageAttributes \"f\" Export\n"
                                 "OpDecorate %f UserSemantic \"__sycl_detail__::__uses_aspects__(fp64)\"\n"
                                 "OpDecorate %f UserSemantic \"sycl_fixed_targets()\"\n"
                                 "OpDecorate %f UserSemantic \"intel::reqd_sub_group_size(16)\"\n"
                                 "OpDecorate %s UserSemantic \"sycl_detail::uses_aspects(ext_intel_amx)\"\n" TYPES
                                 "%s = OpTypeStruct %u32 %u32\n%ps = OpTypePointer Function %s\n" BEGIN
                                 "%unused = OpVariable %ps Function\n%r = OpFunctionCall %void %f %a\n" END
                                 "%f = OpFunction %void None %fn\n%b = OpFunctionParameter %p\n%at = OpLabel\n" END);
    const struct ir_function *k = ir_module_find(m, "k"), *f = ir_module_find(m, "f");
    uint64_t amx = (uint64_t)1 << ir_module_aspect(m, "ext_intel_amx");
    assert_int_equal(ir_module_aspect_number(m, IR_ASPECT_BIT_FP16), 77);
    assert_true(k->has_declared);
    assert_int_equal(k->aspects_declared, IR_ASPECT_FP16 | IR_ASPECT_CPU | amx);
    assert_int_equal(k->n_targets, 2);
    assert_string_equal(k->targets[1], "spir64");
    assert_int_equal(f->aspects_used, IR_ASPECT_FP64);
    assert_true(f->has_targets && !f->n_targets);
    assert_int_equal(f->sub_group_size, 16);
    assert_int_equal(ir_function_aspects(k), IR_ASPECT_FP64 | amx);
    assert_kept(m);
    ir_module_free(m);
}

/* What is dropped on the way has been used all the same. */
static void dropped_uses(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        CAPABILITIES HEAD KERNEL TYPES MORE_TYPES BEGIN
        "%unused = OpVariable %pf64 Function\n%x = OpLoad %u32 %a Aligned 4\n%h = OpConvertUToF %f16 %x\n" END);
    assert_int_equal(ir_function_aspects(ir_module_find(m, "k")), IR_ASPECT_FP64 | IR_ASPECT_FP16);
    assert_kept(m);
    ir_module_free(m);
}

static bool keep_text(void *data, const char *text)
{
    *(char **)data = strdup(text);
    return false;
}

/* With -g a warning names line and column. */
static void lines_and_columns(void **state)
{
    (void)state;
    char *text = NULL;
    struct ir_module *m =
        read_good("OpCapability Float64\n" STRINGS KERNEL "%file = OpString \"hw.cpp\"\n"
                  "OpDecorate %k UserSemantic \"sycl::device_has(fp16)\"\n" TYPES "%f64 = OpTypeFloat 64\n" BEGIN
                  "OpLine %file 27 4\n%x = OpLoad %u32 %a Aligned 4\n"
                  "%h = OpConvertUToF %f64 %x\n%y = OpConvertFToU %u32 %h\nOpStore %a %y Aligned 4\n" END);
    struct ir_usage *u = ir_usage_new(m);
    ir_warn_undeclared(u, keep_text, &text);
    assert_string_equal(text, "hw.cpp:27:4: warning: function 'k' uses aspect 'fp64' not listed in 'sycl::device_has'\n"
                              "use is from this call chain:\n  k()");
    assert_kept(m);
    free(text);
    ir_usage_free(u);
    ir_module_free(m);
}

/* A capability is no use. */
static void capabilities_alone(void **state)
{
    (void)state;
    struct ir_module *m = read_good(CAPABILITIES HEAD KERNEL TYPES BEGIN END);
    assert_int_equal(ir_function_aspects(ir_module_find(m, "k")), 0);
    ir_module_free(m);
}

/* As llvm-spirv writes annotated functions: their strings as variables, and before functions without a body. */
static void as_translators_write_it(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good(STRINGS KERNEL "OpName %str \".str\"\nOpDecorate %str Constant\n"
                                 "OpDecorate %k UserSemantic \"sycl::device_has(fp16)\"\n"
                                 "OpDecorate %f LinkageAttributes \"f\" Import\n" TYPES
                                 "%pu8 = OpTypePointer Function %u8\n%c8 = OpConstant %u8 65\n"
                                 "%str = OpVariable %pu8 Function %c8\n" BEGIN "%r = OpFunctionCall %void %f %a\n" END
                                 "%f = OpFunction %void None %fn\n%b = OpFunctionParameter %p\nOpFunctionEnd\n");
    assert_int_equal(ir_module_find(m, "k")->aspects_declared, IR_ASPECT_FP16);
    assert_int_equal(ir_module_find(m, "f")->linkage, IR_LINKAGE_IMPORT);
    assert_int_equal(m->n_globals, 0);
    ir_module_free(m);
}

static void unknown_aspect(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        STRINGS KERNEL
        "OpEntryPoint Kernel %f \"other\"\nOpDecorate %k UserSemantic \"sycl::device_has(fp65)\"\n" TYPES BEGIN END
        "%f = OpFunction %void None %fn\n%b = OpFunctionParameter %p\n%at = OpLabel\n" END);
    assert_non_null(strstr(ir_module_find(m, "k")->refused, "names the aspect fp65, which has no number"));
    assert_null(ir_module_find(m, "other")->refused);
    ir_module_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),
        cmocka_unit_test(lines_and_columns),
        cmocka_unit_test(dropped_uses),
        cmocka_unit_test(capabilities_alone),
        cmocka_unit_test(as_translators_write_it),
        cmocka_unit_test(unknown_aspect),
    };
    return cmocka_run_group_tests_name("spirv_features", tests, NULL, NULL);
}
