/* The SPIR-V reader on hand-written modules: what it gives, what it refuses and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/equal.h"
#include "ir/text/print/print.h"
#include "tests/support/spirv_make.h"
#include "tests/support/spirv_text.h"

/* ---- helpers ---- */

static struct ir_module *read_bytes(const uint8_t *bytes, size_t size)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_read_spirv(bytes, size, "test", &list);
    if (!m) fail_msg("%s", list.items[0].text);
    return m;
}

/* ---- what is no module ---- */

static void test_not_spirv(void **state)
{
    (void)state;
    static const uint8_t words[20] = {3, 2, 0x23, 7, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t newer[20] = {3, 2, 0x23, 7, 0, 7, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t many[20] = {3, 2, 0x23, 7, 0, 0, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0};
    const struct {
        const uint8_t *bytes;
        size_t size;
        const char *part;
    } rows[] = {{words, 0, "no SPIR-V"},      {words, 3, "no SPIR-V"}, {words, 19, "no SPIR-V"},
                {words + 4, 16, "no SPIR-V"}, {newer, 20, "1.7"},      {many, 20, "claims ids up to 16777215"},
                {words, 20, "Kernel"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct diag_list list = {0};
        assert_null(ir_read_spirv(rows[k].bytes, rows[k].size, "test", &list));
        assert_true(list.n > 0);
        if (k < 6 && !strstr(list.items[0].text, rows[k].part)) fail_msg("row %zu: %s", k, list.items[0].text);
        diag_clear(&list);
    }
    assert_true(ir_is_spirv(words, 20));
    assert_false(ir_is_spirv(words + 1, 19));
}

static void test_truncated(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = spirv_make_assembled(HEAD KERNEL TYPES BEGIN "OpStore %a %c3 Aligned 4\n" END, &size);
    for (size_t n = 0; n < size; n += 4) {
        uint8_t *part = malloc(n + 1); /* of its own, so that a sanitizer sees reads beyond it */
        memcpy(part, bytes, n);
        struct diag_list list = {0};
        struct ir_module *m = ir_read_spirv(part, n, "test", &list);
        if (m) { /* so much of it is a module: one without functions */
            assert_int_equal(m->n_functions, 0);
        } else {
            assert_true(list.n > 0);
        }
        ir_module_free(m);
        diag_clear(&list);
        free(part);
    }
    free(bytes);
}

static void test_other_byte_order(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = spirv_make_assembled(HEAD KERNEL TYPES BEGIN "OpStore %a %c3 Aligned 4\n" END, &size);
    struct ir_module *m = ir_read_spirv(bytes, size, "test", NULL);
    for (size_t k = 0; k < size; k += 4) {
        uint32_t word;
        memcpy(&word, bytes + k, 4);
        word = __builtin_bswap32(word);
        memcpy(bytes + k, &word, 4);
    }
    struct ir_module *swapped = ir_read_spirv(bytes, size, "test", NULL);
    assert_non_null(m);
    assert_non_null(swapped);
    assert_true(ir_module_equal(m, swapped));
    ir_module_free(m);
    ir_module_free(swapped);
    free(bytes);
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused(
        "OpCapability Addresses\nOpCapability Kernel\nOpCapability Linkage\nOpMemoryModel Physical32 OpenCL\n", NULL,
        "OpMemoryModel: addressing model Physical32");
    assert_refused("OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n", NULL, "Physical64");
    assert_refused(HEAD KERNEL TYPES "%i24 = OpTypeInt 24 0\n%c = OpConstant %i24 5\n" BEGIN
                                     "%x = OpIAdd %i24 %c %c\n" END,
                   NULL, "24");
    assert_refused("OpCapability DeviceEnqueue\n" HEAD KERNEL TYPES "%queue = OpTypeQueue\n" BEGIN
                   "%q = OpGetDefaultQueue %queue\n" END,
                   "k", "OpGetDefaultQueue: uses OpTypeQueue");
    assert_refused("OpCapability ImageBasic\n" HEAD "OpEntryPoint Kernel %k \"k\"\n" TYPES
                   "%image = OpTypeImage %void 3D 0 1 0 0 Unknown ReadOnly\n"
                   "%fn3 = OpTypeFunction %void %image\n%k = OpFunction %void None %fn3\n"
                   "%a = OpFunctionParameter %image\n%start = OpLabel\n" END,
                   NULL, "OpTypeImage 3D array");
    assert_refused("OpCapability ImageBasic\n" HEAD "OpEntryPoint Kernel %k \"k\"\n" TYPES
                   "%quad = OpTypeVector %f32 4\n%pair = OpTypeVector %u32 2\n%at = OpConstantNull %pair\n"
                   "%image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly\n%both = OpTypeSampledImage %image\n"
                   "%sampler = OpTypeSampler\n%f0 = OpConstant %f32 0\n"
                   "%fn3 = OpTypeFunction %void %image %sampler\n%k = OpFunction %void None %fn3\n"
                   "%a = OpFunctionParameter %image\n%s = OpFunctionParameter %sampler\n%start = OpLabel\n"
                   "%sampled = OpSampledImage %both %a %s\n"
                   "%x = OpImageSampleExplicitLod %quad %sampled %at Lod|ConstOffset %f0 %at\n" END,
                   "k", "image operands (mask 0xa) other than Lod and Grad");
    assert_refused(HEAD KERNEL TYPES BEGIN "OpStore %a %nothing Aligned 4\n" END, NULL, "no valid SPIR-V");
}

/* ---- values ---- */

static void test_struct_values(void **state)
{
    (void)state;
    /* A struct is loaded, changed, goes round a loop, and is returned by a function. */
    struct ir_module *m =
        read_good(HEAD KERNEL TYPES
                  "%pair = OpTypeStruct %u32 %u32\n%pp = OpTypePointer CrossWorkgroup %pair\n"
                  "%both = OpTypeFunction %pair %pair %u32\n%c10 = OpConstant %u32 10\n"
                  "%swap = OpFunction %pair None %both\n%x = OpFunctionParameter %pair\n"
                  "%d = OpFunctionParameter %u32\n%in = OpLabel\n%x0 = OpCompositeExtract %u32 %x 0\n"
                  "%x1 = OpCompositeExtract %u32 %x 1\n%sum = OpIAdd %u32 %x0 %d\n"
                  "%y = OpCompositeConstruct %pair %x1 %sum\nOpReturnValue %y\nOpFunctionEnd\n" BEGIN
                  "%q = OpBitcast %pp %a\n%first = OpLoad %pair %q Aligned 4\n"
                  "%set = OpCompositeInsert %pair %c10 %first 1\nOpBranch %loop\n"
                  "%loop = OpLabel\n%v = OpPhi %pair %set %start %w %loop\n%n = OpPhi %u32 %c0 %start %n1 %loop\n"
                  "%w = OpFunctionCall %pair %swap %v %n\n%n1 = OpIAdd %u32 %n %c1\n"
                  "%more = OpULessThan %bool %n1 %c3\nOpBranchConditional %more %loop %done\n"
                  "%done = OpLabel\nOpStore %q %w Aligned 4\n" END);
    uint32_t data[2] = {7, 0};
    run_k(m, data, 2); /* (7, 10) (10, 7) (7, 11) (11, 9) */
    assert_int_equal(data[0], 11);
    assert_int_equal(data[1], 9);
    ir_module_free(m);
}

static void test_spec_constants(void **state)
{
    (void)state;
    static const char text[] = HEAD KERNEL
        "OpDecorate %s SpecId 4\nOpDecorate %t SpecId 5\n" TYPES
        "%s = OpSpecConstant %u32 6\n%t = OpSpecConstantTrue %bool\n"
        "%d = OpSpecConstantOp %u32 IMul %s %c3\n%e = OpSpecConstantOp %u32 Select %t %d %c1\n"
        "%array = OpTypeArray %u32 %d\n%ap = OpTypePointer Function %array\n%ep = OpTypePointer Function %u32\n" BEGIN
        "%room = OpVariable %ap Function\n%at = OpAccessChain %ep %room %c2\nOpStore %at %e Aligned 4\n"
        "%back = OpLoad %u32 %at Aligned 4\nOpStore %a %back Aligned 4\n" END;
    struct diag_list list = {0};
    uint32_t value = 0;
    struct ir_module *m = read_good(text);
    run_k(m, &value, 1);
    assert_int_equal(value, 18);
    assert_int_equal(m->arrays[0].count, 18);
    ir_module_free(m);
    const struct ir_spirv_constant constants[2] = {{.id = 4, .bits = 5}, {.id = 5, .bits = 0}};
    const struct ir_spirv_options options = {constants, 2};
    m = read_with(text, &options, &list);
    assert_non_null(m);
    run_k(m, &value, 1);
    assert_int_equal(value, 1);
    assert_int_equal(m->arrays[0].count, 15);
    ir_module_free(m);
}

/* The callee has a copy of its own, which the caller does not see it change. */
static void test_by_value(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good(HEAD KERNEL "OpDecorate %s FuncParamAttr ByVal\n" TYPES
                              "%struct = OpTypeStruct %u32 %u32\n%sp = OpTypePointer Function %struct\n"
                              "%ep = OpTypePointer Function %u32\n%fs = OpTypeFunction %void %sp\n"
                              "%change = OpFunction %void None %fs\n%s = OpFunctionParameter %sp\n%entry = OpLabel\n"
                              "%field = OpInBoundsAccessChain %ep %s %c0\nOpStore %field %c3 Aligned 4\n" END BEGIN
                              "%own = OpVariable %sp Function\n%at = OpInBoundsAccessChain %ep %own %c0\n"
                              "OpStore %at %c1 Aligned 4\n%none = OpFunctionCall %void %change %own\n"
                              "%v = OpLoad %u32 %at Aligned 4\nOpStore %a %v Aligned 4\n" END);
    uint32_t value = 0;
    run_k(m, &value, 1);
    assert_int_equal(value, 1);
    ir_module_free(m);
}

/* What other modules know keeps its name, whatever comes before it and whatever OpName says. */
static void test_linked_names(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD KERNEL "OpName %own_f \"f\"\nOpName %f \"other\"\nOpName %own_v \"v\"\n"
                    "OpDecorate %f LinkageAttributes \"f\" Export\nOpDecorate %v LinkageAttributes \"v\" Import\n"
                    "OpDecorate %w LinkageAttributes \"w\" Export\n" TYPES
                    "%cp = OpTypePointer UniformConstant %u32\n%fv = OpTypeFunction %void\n"
                    "%own_v = OpVariable %cp UniformConstant %c1\n%v = OpVariable %cp UniformConstant\n"
                    "%w = OpVariable %cp UniformConstant %c2\n"
                    "%own_f = OpFunction %void None %fv\n%l1 = OpLabel\n" END
                    "%f = OpFunction %void None %fv\n%l2 = OpLabel\n" END BEGIN END);
    assert_int_equal(ir_module_find(m, "f")->linkage, IR_LINKAGE_EXPORT);
    assert_int_equal(ir_module_find(m, "f.1")->linkage, IR_LINKAGE_INTERNAL);
    assert_int_equal(ir_module_find_global(m, "v")->linkage, IR_LINKAGE_IMPORT);
    assert_int_equal(ir_module_find_global(m, "v.1")->linkage, IR_LINKAGE_INTERNAL);
    assert_int_equal(ir_module_find_global(m, "w")->linkage, IR_LINKAGE_EXPORT);
    ir_module_free(m);
}

/* Values of specialization constants that the module cannot take. */
static void refuse_constants(const struct ir_spirv_constant *constants, size_t n, const char *expected)
{
    struct diag_list list = {0};
    assert_null(read_with(HEAD KERNEL "OpDecorate %s SpecId 4\nOpDecorate %t SpecId 5\nOpDecorate %d SpecId 9\n" TYPES
                                      "%s = OpSpecConstant %u32 6\n%t = OpSpecConstantTrue %bool\n"
                                      "%d = OpSpecConstant %u64 6\n" BEGIN END,
                          &(struct ir_spirv_options){constants, n}, &list));
    char *found = diag_format(&list);
    assert_string_equal(found, expected);
    free(found);
    diag_clear(&list);
}

static void test_wrong_specialization(void **state)
{
    (void)state;
    refuse_constants((const struct ir_spirv_constant[]){{.id = 5, .size = 1}, {.id = 7, .size = 4}}, 2,
                     "there is no specialization constant 7; the module has 4, 5, 9\n");
    refuse_constants((const struct ir_spirv_constant[]){{.id = 4, .size = 8}}, 1,
                     "specialization constant 4 is of type i32, 4 bytes, but its value has 8\n");
    refuse_constants((const struct ir_spirv_constant[]){{.id = 5, .size = 4}, {.id = 9, .size = 4}}, 2,
                     "specialization constant 5 is of type bool, 1 bytes, but its value has 4\n"
                     "specialization constant 9 is of type i64, 8 bytes, but its value has 4\n");
    refuse_constants((const struct ir_spirv_constant[]){{.id = 4, .size = 4}, {.id = 4, .size = 4}}, 2,
                     "specialization constant 4 is given two values\n");
    const struct ir_spirv_constant one = {.id = 4, .size = 4};
    struct diag_list list = {0};
    assert_null(read_with(HEAD KERNEL TYPES BEGIN END, &(struct ir_spirv_options){&one, 1}, &list));
    assert_string_equal(list.items[0].text, "there is no specialization constant 4; the module has none");
    diag_clear(&list);
}

static void test_constants_in_memory(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD KERNEL "OpDecorate %packed CPacked\n" TYPES
                    "%packed = OpTypeStruct %u8 %u32\n%c8 = OpConstant %u8 9\n%c77 = OpConstant %u32 77\n"
                    "%two = OpConstant %u64 2\n%array = OpTypeArray %packed %two\n"
                    "%one = OpConstantComposite %packed %c8 %c77\n%none = OpConstantNull %packed\n"
                    "%init = OpConstantComposite %array %none %one\n%gp = OpTypePointer UniformConstant %array\n"
                    "%ep = OpTypePointer UniformConstant %u32\n%table = OpVariable %gp UniformConstant %init\n" BEGIN
                    "%at = OpInBoundsAccessChain %ep %table %c1 %c1\n%v = OpLoad %u32 %at Aligned 1\n"
                    "OpStore %a %v Aligned 4\n" END);
    uint32_t value = 0;
    run_k(m, &value, 1);
    assert_int_equal(value, 77);
    assert_int_equal(m->globals[0]->space, IR_SPACE_CONSTANT);
    assert_int_equal(m->structs[0]->size, 5);
    assert_memory_equal(m->globals[0]->init, ((uint8_t[]){0, 0, 0, 0, 0, 9, 77, 0, 0, 0}), 10);
    ir_module_free(m);
}

#define TABLE                                                                                                          \
    HEAD KERNEL TYPES "%cp = OpTypePointer UniformConstant %u32\n%two = OpConstant %u64 2\n"                           \
                      "%c5 = OpConstant %u32 5\n%row = OpTypeArray %u32 %two\n"                                        \
                      "%rp = OpTypePointer UniformConstant %row\n%numbers = OpConstantComposite %row %c3 %c5\n"        \
                      "%v = OpVariable %rp UniformConstant %numbers\n%w = OpVariable %cp UniformConstant %c2\n"        \
                      "%minus = OpConstant %u32 4294967295\n"

/* Of a variable itself, as translators write it, of a part, behind a pointer and before it, and null. */
static void test_addresses(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        TABLE "%n = OpConstant %u64 5\n%table_t = OpTypeArray %cp %n\n%tp = OpTypePointer UniformConstant %table_t\n"
              "%cpp = OpTypePointer UniformConstant %cp\n"
              "%a1 = OpSpecConstantOp %cp InBoundsAccessChain %v %c1\n"
              "%end = OpSpecConstantOp %cp InBoundsPtrAccessChain %v %c1 %c0\n"
              "%back = OpSpecConstantOp %cp PtrAccessChain %end %minus\n%zero = OpConstantNull %cp\n"
              "%init = OpConstantComposite %table_t %w %a1 %end %back %zero\n"
              "%table = OpVariable %tp UniformConstant %init\n%alone = OpVariable %cpp UniformConstant %w\n" BEGIN
              "%at = OpInBoundsAccessChain %cpp %table %c3\n%got = OpLoad %cp %at Aligned 8\n"
              "%x = OpLoad %u32 %got Aligned 4\n%q = OpLoad %cp %alone Aligned 8\n%y = OpLoad %u32 %q Aligned 4\n"
              "%z = OpIAdd %u32 %x %y\nOpStore %a %z Aligned 4\n" END);
    uint32_t value = 0;
    run_k(m, &value, 1);
    assert_int_equal(value, 7);
    const struct ir_global *table = m->globals[2], *v = m->globals[0], *w = m->globals[1];
    const struct ir_address expected[] = {{0, w, 0}, {8, v, 4}, {16, v, 8}, {24, v, 4}};
    assert_int_equal(table->n_addresses, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(table->addresses[i].offset, expected[i].offset);
        assert_ptr_equal(table->addresses[i].target, expected[i].target);
        assert_int_equal(table->addresses[i].at, expected[i].at);
    }
    ir_module_free(m);
}

static void test_refused_addresses(void **state)
{
    (void)state;
    assert_refused(TABLE
                   "%far = OpSpecConstantOp %cp PtrAccessChain %w %c3\n"
                   "%cpp = OpTypePointer UniformConstant %cp\n%held = OpVariable %cpp UniformConstant %far\n" BEGIN END,
                   NULL, "holds an address 12 bytes into");
    assert_refused(TABLE "%s = OpSpecConstantOp %u64 ConvertPtrToU %w\n%sum = OpSpecConstantOp %u64 IAdd %s %two\n"
                         "%up = OpTypePointer UniformConstant %u64\n%held = OpVariable %up UniformConstant %sum\n" BEGIN
                         "%loaded = OpLoad %u64 %held Aligned 8\n" END,
                   NULL, "its initial value holds an OpSpecConstantOp of OpIAdd, which cannot be read");
    assert_refused(TABLE "%lp = OpTypePointer Workgroup %u32\n%l = OpVariable %lp Workgroup\n"
                         "%lpp = OpTypePointer UniformConstant %lp\n%held = OpVariable %lpp UniformConstant %l\n" BEGIN
                         "%loaded = OpLoad %lp %held Aligned 8\n" END,
                   NULL, "which is local");
}

/* ---- modules as translators write them ---- */

/* Blocks before what dominates them, a phi with one block twice, a variable outside the first block, merge
   instructions that say nothing true. */
static void test_untidy(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good(HEAD KERNEL TYPES "%vp = OpTypePointer Function %u32\n" BEGIN "%x = OpLoad %u32 %a Aligned 4\n"
                                    "OpSwitch %x %other 1 %join 2 %join\n"
                                    "%end = OpLabel\n%late = OpIAdd %u32 %r %c1\nOpStore %a %late Aligned 4\nOpReturn\n"
                                    "%join = OpLabel\n%r = OpPhi %u32 %c2 %start %c2 %start %y %other\n"
                                    "OpLoopMerge %join %other None\nOpBranch %empty\n"
                                    "%empty = OpLabel\nOpBranch %end\n"
                                    "%other = OpLabel\n%v = OpVariable %vp Function\nOpStore %v %x Aligned 4\n"
                                    "%y = OpLoad %u32 %v Aligned 4\nOpBranch %join\nOpFunctionEnd\n");
    for (uint32_t x = 0; x < 4; x++) {
        uint32_t value = x;
        run_k(m, &value, 1);
        assert_int_equal(value, x == 1 || x == 2 ? 3 : x + 1);
    }
    ir_module_free(m);
}

/* One bool selects vectors, which SPIR-V has from 1.4 on only. */
static void test_select_of_vectors(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD KERNEL TYPES "%v2 = OpTypeVector %u32 2\n%v3 = OpTypeVector %u32 3\n%b3 = OpTypeVector %bool 3\n"
                          "%x2 = OpConstantComposite %v2 %c1 %c2\n%y2 = OpConstantComposite %v2 %c3 %c0\n"
                          "%x3 = OpConstantComposite %v3 %c1 %c2 %c3\n%y3 = OpConstantComposite %v3 %c3 %c0 %c1\n" BEGIN
                          "%i = OpLoad %u32 %a Aligned 4\n%is = OpIEqual %bool %i %c0\n"
                          "%s2 = OpSelect %v2 %is %x2 %y2\n%s3 = OpSelect %v3 %is %x3 %y3\n"
                          "%not = OpLogicalNot %bool %is\n%t3 = OpSelect %v3 %not %s3 %x3\n"
                          "%p2 = OpCompositeExtract %u32 %s2 0\n%p3 = OpCompositeExtract %u32 %s3 2\n"
                          "%p4 = OpCompositeExtract %u32 %t3 0\n%c10 = OpIMul %u32 %p3 %c3\n"
                          "%sum = OpIAdd %u32 %p2 %c10\n%all = OpIAdd %u32 %sum %p4\nOpStore %a %all Aligned 4\n" END);
    static const uint32_t want[2] = {1 + 3 * 3 + 1, 3 + 1 * 3 + 3};
    for (uint32_t x = 0; x < 2; x++) {
        uint32_t value = x;
        run_k(m, &value, 1);
        assert_int_equal(value, want[x]);
    }
    ir_module_free(m);
}

/* Bools of SPIR-V have no bits, and yet optimizers cast vectors of them to numbers. */
static void test_bools_as_bits(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        "OpCapability Vector16\n" HEAD KERNEL TYPES "%v8 = OpTypeVector %u32 8\n%b8 = OpTypeVector %bool 8\n"
        "%c16s = OpConstant %u32 16\n%c4 = OpConstant %u32 4\n%c5 = OpConstant %u32 5\n"
        "%which = OpConstantComposite %v8 %c0 %c1 %c2 %c3 %c4 %c5 %c0 %c1\n" BEGIN "%i = OpLoad %u32 %a Aligned 4\n"
        "%is = OpCompositeConstruct %v8 %i %i %i %i %i %i %i %i\n%same = OpIEqual %b8 %is %which\n"
        "%bits = OpBitcast %u8 %same\n%not = OpLogicalNot %b8 %same\n%others = OpBitcast %u8 %not\n"
        "%low = OpUConvert %u32 %bits\n%high = OpUConvert %u32 %others\n%c16 = OpShiftLeftLogical %u32 %high %c16s\n"
        "%both = OpBitwiseOr %u32 %low %c16\nOpStore %a %both Aligned 4\n" END);
    static const uint32_t want[] = {0x41, 0x82, 4, 8, 0x10, 0x20, 0};
    for (uint32_t x = 0; x < sizeof want / sizeof *want; x++) {
        uint32_t value = x;
        run_k(m, &value, 1);
        assert_int_equal(value, want[x] | (~want[x] & 0xff) << 16);
    }
    ir_module_free(m);
}

/* A module of version 1.4 whose entry point does not list the variable that it uses. */
static void test_unlisted_variable(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = spirv_make_assembled(HEAD KERNEL TYPES "%g = OpVariable %p CrossWorkgroup %c3\n" BEGIN
                                                            "%x = OpLoad %u32 %g Aligned 4\n"
                                                            "OpStore %a %x Aligned 4\n" END,
                                          &size);
    static const uint32_t version = 0x10400;
    memcpy(bytes + 4, &version, sizeof version);
    struct ir_module *m = read_bytes(bytes, size);
    uint32_t value = 0;
    run_k(m, &value, 1);
    assert_int_equal(value, 3);
    ir_module_free(m);
    free(bytes);
}

/* Types declared twice, and types made of them. */
static void test_equal_types(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD KERNEL TYPES "%s1 = OpTypeSampler\n%s2 = OpTypeSampler\n%w = OpTypeInt 32 0\n"
                          "%q = OpTypePointer CrossWorkgroup %w\n%fs1 = OpTypeFunction %w %q %s1\n"
                          "%fs2 = OpTypeFunction %u32 %p %s2\n%fk = OpTypeFunction %void %p\n"
                          "%k = OpFunction %void None %fk\n%a = OpFunctionParameter %q\n%start = OpLabel\n"
                          "%x = OpLoad %w %a Aligned 4\n%y = OpIAdd %u32 %x %c3\nOpStore %a %y Aligned 4\n" END);
    uint32_t value = 4;
    run_k(m, &value, 1);
    assert_int_equal(value, 7);
    ir_module_free(m);
}

/* What compilers write without optimization: the life of a variable starts at an address, that of a sampler's too. */
static void test_lifetime_of_handles(void **state)
{
    (void)state;
#define SAMPLER                                                                                                        \
    "OpCapability LiteralSampler\n" HEAD KERNEL TYPES "%sampler = OpTypeSampler\n"                                     \
    "%of = OpTypePointer Function %sampler\n%bytes = OpTypePointer Function %u8\n"                                     \
    "%nearest = OpConstantSampler %sampler None 0 Nearest\n" BEGIN "%s = OpVariable %of Function\n"                    \
    "%at = OpBitcast %bytes %s\nOpLifetimeStart %at 8\nOpStore %s %nearest Aligned 8\n"                                \
    "%l = OpLoad %sampler %s Aligned 8\n"
    struct ir_module *m = read_good(SAMPLER "OpStore %a %c3 Aligned 4\nOpLifetimeStop %at 8\n" END);
    uint32_t value = 0;
    run_k(m, &value, 1);
    assert_int_equal(value, 3);
    ir_module_free(m);
    assert_refused(SAMPLER "%byte = OpLoad %u8 %at Aligned 1\n%wide = OpUConvert %u32 %byte\n"
                           "OpStore %a %wide Aligned 4\n" END,
                   "k", "an OpBitcast, as a value");
#undef SAMPLER
}

static void test_functions(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD "OpEntryPoint Kernel %wrap \"k\"\nOpEntryPoint Kernel %other \"other\"\n"
             "OpExecutionMode %wrap LocalSize 8 4 1\nOpExecutionMode %other LocalSizeHint 16 1 1\n"
             "%file = OpString \"some.cl\"\nOpName %a \"data\"\nOpName %k \"k\"\nOpName %h \"help.me\"\n"
             "OpDecorate %k LinkageAttributes \"k\" Export\nOpDecorate %im LinkageAttributes \"outside\" Import\n"
             "OpDecorate %h LinkageAttributes \"help.me\" Export\nOpDecorate %a FuncParamAttr NoWrite\n" TYPES
             "%fn1 = OpTypeFunction %u32 %u32\n%im = OpFunction %u32 None %fn1\n%imp = OpFunctionParameter %u32\n"
             "OpFunctionEnd\n%h = OpFunction %u32 None %fn1\n%hp = OpFunctionParameter %u32\n%hl = OpLabel\n"
             "OpReturnValue %hp\nOpFunctionEnd\n" BEGIN "OpLine %file 42 3\n%x = OpLoad %u32 %a Aligned 4\n"
             "%y = OpFunctionCall %u32 %im %x\n%z = OpFunctionCall %void %inner %a\n" END
             "%wrap = OpFunction %void None %fn\n%wa = OpFunctionParameter %p\n%wl = OpLabel\n"
             "%wc = OpFunctionCall %void %k %wa\n" END
             "%other = OpFunction %void None %fn\n%oa = OpFunctionParameter %p\n%ol = OpLabel\n"
             "%oc = OpFunctionCall %void %inner %oa\n" END "%inner = OpFunction %void None %fn\n"
             "%ia = OpFunctionParameter %p\n%il = OpLabel\nOpStore %ia %c1\n" END);
    const struct ir_function *k = ir_module_find(m, "k"), *other = ir_module_find(m, "other");
    assert_non_null(k);
    assert_int_equal(k->linkage, IR_LINKAGE_KERNEL); /* the envelope and what is in it are one */
    assert_int_equal(k->work_group_size[1], 4);
    assert_string_equal(k->params[0].value->name, "data");
    assert_int_equal(k->params[0].access, IR_ACCESS_READ);
    assert_int_equal(k->params[0].elem, IR_I32);
    assert_int_equal(k->body->first->loc.line, 42);
    assert_string_equal(m->files[k->body->first->loc.file - 1], "some.cl");
    assert_int_equal(other->linkage, IR_LINKAGE_KERNEL);
    assert_int_equal(other->work_group_size_hint[0], 16);
    assert_int_equal(other->body->first->op, IR_OP_CALL); /* of a function that k calls too */
    assert_int_equal(ir_module_find(m, "outside")->linkage, IR_LINKAGE_IMPORT);
    assert_int_equal(ir_module_find(m, "help.me")->linkage, IR_LINKAGE_EXPORT);
    assert_int_equal(m->n_functions, 5);
    ir_module_free(m);
}

static void test_argument_types(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good(HEAD KERNEL "%s = OpString \"kernel_arg_type.k.float4*,int,\"\n" TYPES
                              "%bp = OpTypePointer CrossWorkgroup %u8\n%fb = OpTypeFunction %void %bp %u32\n"
                              "%k = OpFunction %void None %fb\n%a = OpFunctionParameter %bp\n"
                              "%b = OpFunctionParameter %u32\n%start = OpLabel\n" END);
    assert_int_equal(ir_module_find(m, "k")->params[0].elem, IR_TYPE(IR_KIND_F32, 4, 0));
    assert_int_equal(ir_module_find(m, "k")->params[1].elem, IR_VOID);
    ir_module_free(m);
}

/* Without such a string a pointer to bytes that nobody uses may be to anything; those that are used are to bytes. */
static void test_unknown_pointees(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good(HEAD KERNEL TYPES "%bp = OpTypePointer CrossWorkgroup %u8\n%fb = OpTypeFunction %void %bp %bp %p\n"
                                    "%k = OpFunction %void None %fb\n%a = OpFunctionParameter %bp\n"
                                    "%b = OpFunctionParameter %bp\n%c = OpFunctionParameter %p\n%start = OpLabel\n"
                                    "%x = OpLoad %u8 %a Aligned 1\nOpStore %a %x Aligned 1\n" END);
    const struct ir_param *params = ir_module_find(m, "k")->params;
    assert_int_equal(params[0].elem, IR_I8);
    assert_int_equal(params[1].elem, IR_VOID);
    assert_int_equal(params[2].elem, IR_I32);
    ir_module_free(m);
}

/* Calls of built-in functions that the translator did not know. */
static void test_mangled(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD KERNEL "OpDecorate %shuffle LinkageAttributes \"_Z23intel_sub_group_shufflefj\" Import\n"
                    "OpDecorate %read LinkageAttributes \"_Z27intel_sub_group_block_read2PU3AS1Kj\" Import\n" TYPES
                    "%v2 = OpTypeVector %u32 2\n%fs = OpTypeFunction %f32 %f32 %u32\n%fr = OpTypeFunction %v2 %p\n"
                    "%shuffle = OpFunction %f32 None %fs\n%s0 = OpFunctionParameter %f32\n%s1 = OpFunctionParameter "
                    "%u32\nOpFunctionEnd\n%read = OpFunction %v2 None %fr\n%r0 = OpFunctionParameter %p\n"
                    "OpFunctionEnd\n" BEGIN "%x = OpLoad %u32 %a Aligned 4\n%y = OpBitcast %f32 %x\n"
                    "%z = OpFunctionCall %f32 %shuffle %y %c1\n%w = OpBitcast %u32 %z\nOpStore %a %w\n"
                    "%b = OpFunctionCall %v2 %read %a\n" END);
    char *text = ir_print(m);
    assert_non_null(strstr(text, "sub_group_shuffle f32 "));
    assert_non_null(strstr(text, "block_read i32x2 "));
    assert_int_equal(m->n_functions, 1);
    free(text);
    ir_module_free(m);
}

#define SUB_GROUPS                                                                                                     \
    "OpCapability SubgroupDispatch\nOpCapability Addresses\nOpCapability Kernel\nOpCapability Linkage\n"               \
    "OpCapability Int64\nOpCapability Int8\nOpMemoryModel Physical64 OpenCL\n"
#define MODE(text) "OpExecutionMode %k " text "\n"

/* Modes of sub-groups and work-groups: each once, and no number that would stand for something else. */
static void test_sizes(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good(SUB_GROUPS KERNEL MODE("SubgroupSize 8") MODE("SubgroupsPerWorkgroup 3") TYPES BEGIN END);
    assert_int_equal(ir_module_find(m, "k")->sub_group_size, 8);
    assert_int_equal(ir_module_find(m, "k")->sub_groups_per_work_group, 3);
    ir_module_free(m);
    static const char of_validator[] = "execution mode must not be specified multiple times";
    static const struct {
        const char *modes, *said, * or ; /* or: newer validators say so before we do; NULL: they do not */
    } wrong[] = {
        {MODE("SubgroupSize 8") MODE("SubgroupSize 16"), "gives kernel k a second sub-group size", of_validator},
        {MODE("SubgroupSize 8") MODE("SubgroupSize 8"), "gives kernel k a second sub-group size", of_validator},
        {MODE("SubgroupsPerWorkgroup 2") MODE("SubgroupsPerWorkgroup 4"),
         "gives kernel k a second number of sub-groups", of_validator},
        {MODE("LocalSize 8 1 1") MODE("LocalSize 16 1 1"), "gives kernel k a second work-group size", of_validator},
        {MODE("LocalSizeHint 8 1 1") MODE("LocalSizeHint 16 1 1"), "gives kernel k a second work-group size hint",
         of_validator},
        {MODE("SubgroupSize 0"), "gives sub-groups of 0 work-items"},
        {MODE("SubgroupSize 2147483646"), "gives sub-groups of 2147483646 work-items, which is no power of two"},
        {MODE("SubgroupSize 2147483647"), "gives sub-groups of 2147483647 work-items, which is no power of two"},
        {MODE("SubgroupsPerWorkgroup 0"), "gives work-groups of 0 sub-groups"},
        {MODE("LocalSize 0 0 0"), "gives work-groups of 0 x 0 x 0 work-items", "must not have a product of zero"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s%s%s%s", SUB_GROUPS KERNEL, wrong[i].modes, TYPES, BEGIN END);
        assert_refused_as(text, NULL, wrong[i].said, wrong[i].or);
    }
}

/* Values that no part of a module can ask for in reason. */
static void test_limits(void **state)
{
    (void)state;
    assert_refused(HEAD KERNEL TYPES "%n = OpConstant %u32 1000000\n%array = OpTypeArray %u32 %n\n"
                                     "%ap = OpTypePointer CrossWorkgroup %array\n" BEGIN "%q = OpBitcast %ap %a\n"
                                     "%v = OpLoad %array %q Aligned 4\nOpStore %q %v Aligned 4\n" END,
                   "k", "OpLoad: gives a value of more than");
    assert_refused(HEAD KERNEL TYPES "%n = OpConstant %u32 1000000\n%array = OpTypeArray %u32 %n\n"
                                     "%x = OpConstantComposite %array %c1\n" BEGIN END,
                   NULL, "no valid SPIR-V");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_spirv),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_other_byte_order),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_struct_values),
        cmocka_unit_test(test_spec_constants),
        cmocka_unit_test(test_wrong_specialization),
        cmocka_unit_test(test_by_value),
        cmocka_unit_test(test_linked_names),
        cmocka_unit_test(test_constants_in_memory),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_refused_addresses),
        cmocka_unit_test(test_untidy),
        cmocka_unit_test(test_select_of_vectors),
        cmocka_unit_test(test_bools_as_bits),
        cmocka_unit_test(test_equal_types),
        cmocka_unit_test(test_unlisted_variable),
        cmocka_unit_test(test_lifetime_of_handles),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_argument_types),
        cmocka_unit_test(test_unknown_pointees),
        cmocka_unit_test(test_mangled),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("spirv", tests, NULL, NULL);
}
