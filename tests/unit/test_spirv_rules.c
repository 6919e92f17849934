/* Rules of Vulkan that SPIRV-Tools do not look at: modules that keep them, and that break one each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuser/spirv/rules.h"
#include "ir/spirv/canonicalize/value_types.h"
#include "tests/support/spirv_make.h"

#define BEFORE                                                                                                         \
    "OpCapability Shader\nOpCapability Int64\nOpCapability VulkanMemoryModel\n"                                        \
    "OpCapability PhysicalStorageBufferAddresses\n"                                                                    \
    "OpMemoryModel PhysicalStorageBuffer64 Vulkan\nOpEntryPoint GLCompute %main \"main\" %shared %own\n"               \
    "OpExecutionMode %main LocalSize 1 1 1\n"                                                                          \
    "%void = OpTypeVoid\n%bool = OpTypeBool\n%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0\n%f32 = OpTypeFloat 32\n"    \
    "%v4 = OpTypeVector %f32 4\n%n = OpConstant %u32 4\n%zero = OpConstant %u32 0\n%at = OpConstant %u64 4096\n"       \
    "%words = OpTypeArray %u32 %n\n%p_words = OpTypePointer Workgroup %words\n%p_word = OpTypePointer Workgroup "      \
    "%u32\n"                                                                                                           \
    "%p_float = OpTypePointer Workgroup %f32\n%p_private = OpTypePointer Private %p_word\n"                            \
    "%a_v4 = OpTypePointer PhysicalStorageBuffer %v4\n%a_u64 = OpTypePointer PhysicalStorageBuffer %u64\n"             \
    "%shared = OpVariable %p_words Workgroup\n%own = OpVariable %p_private Private\n%yes = OpConstantTrue %bool\n"     \
    "%fn = OpTypeFunction %void\n%main = OpFunction %void None %fn\n%start = OpLabel\n"                                \
    "%word = OpAccessChain %p_word %shared %zero\n%next = OpAccessChain %p_word %shared %n\n"                          \
    "%va = OpConvertUToPtr %a_v4 %at\n%ua = OpConvertUToPtr %a_u64 %at\n"
#define BEHIND "OpReturn\nOpFunctionEnd\n"

/* part: of what is said; NULL: no rule is broken. */
static void expect(const char *body, const char *part)
{
    char *all, text[200];
    size_t size;
    struct spirv_findings findings = {0};
    assert_true(asprintf(&all, "%s%s%s", BEFORE, body, BEHIND) > 0);
    uint32_t *words = (uint32_t *)spirv_make_assembled(all, &size);
    struct spirv_words m = {.arena = arena_new(),
                            .findings = &findings,
                            .words = words,
                            .n_words = size / sizeof *words,
                            .bound = words[3]};
    assert_true(spirv_find_value_types(&m));
    const char *rule = spirv_broken_rule(&m, text, sizeof text);
    if (!part != !rule || (part && !strstr(rule, part))) fail_msg("%s instead of %s:\n%s", rule, part, body);
    arena_free(m.arena);
    free(words);
    free(all);
}

static void test_kept(void **state)
{
    (void)state;
    expect("%x = OpLoad %u32 %word NonPrivatePointer\nOpStore %next %x NonPrivatePointer\n"
           "%v = OpLoad %v4 %va Aligned 16\nOpStore %va %v Aligned 4\n%y = OpLoad %u64 %ua Aligned|Volatile 8\n"
           "%k = OpConvertPtrToU %u64 %va\n%both = OpSelect %a_v4 %yes %va %va\n%same = OpCopyObject %p_word %word\n",
           NULL);
}

static void test_alignment(void **state)
{
    (void)state;
    expect("%v = OpLoad %v4 %va Aligned 2\n", "aligned less");
    expect("%x = OpLoad %u64 %ua Aligned 4\n", "aligned less");
    expect("%x = OpLoad %u64 %ua Aligned 24\n", "aligned less");
    expect("OpStore %ua %at Aligned 4\n", "aligned less");
    expect("OpStore %ua %at\n", "does not say");
    expect("%x = OpLoad %u64 %ua Volatile\n", "does not say");
}

static void test_pointers(void **state)
{
    (void)state;
    expect("%f = OpBitcast %p_float %word\n", "neither one nor a part");
    expect("%s = OpSelect %p_word %yes %word %next\n", "neither one nor a part");
    expect("%s = OpConvertUToPtr %p_word %at\n", "neither one nor a part");
    expect("%s = OpLoad %p_word %own\n", "neither one nor a part");
    expect("%s = OpUndef %p_word\n", "neither one nor a part");
    expect("OpStore %own %word\n", "is stored");
    expect("%k = OpConvertPtrToU %u64 %word\n", "computed with");
    expect("%k = OpBitcast %u64 %word\n", "computed with");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_alignment),
                                       cmocka_unit_test(test_pointers)};
    return cmocka_run_group_tests_name("spirv_rules", tests, NULL, NULL);
}
