/* The SPIR-V reader on what users' modules have besides the kernels that one wants: facts for debuggers, and functions
 * that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/equal.h"
#include "ir/link/link.h"
#include "ir/link/unresolved.h"
#include "ir/msgpack/codec.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "tests/support/spirv_make.h"
#include "tests/support/spirv_text.h"

/* ---- debug information ---- */

/* The place of the first instruction of that operation in the function's body. */
static void assert_at(const struct ir_module *m, const char *function, enum ir_op op, const char *file, uint32_t line)
{
    const struct ir_function *f = ir_module_find(m, function);
    assert_non_null(f);
    const struct ir_inst *i = f->body->first;
    while (i && i->op != op) i = i->next;
    assert_non_null(i);
    assert_int_equal(i->loc.line, line);
    if (line) assert_string_equal(m->files[i->loc.file - 1], file);
}

/* What translators write and no validator takes: references to what comes later, texts that are none. */
static void test_debug_info(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        "OpCapability Addresses\nOpCapability Kernel\nOpCapability Linkage\nOpCapability Int64\nOpCapability Int8\n"
        "%std = OpExtInstImport \"OpenCL.std\"\n%dbg = OpExtInstImport \"OpenCL.DebugInfo.100\"\n"
        "OpMemoryModel Physical64 OpenCL\n" KERNEL "%file = OpString \"some.cl\"\n%k_name = OpString \"k\"\n"
        "OpModuleProcessed \"a debug information producer\"\nOpName %none \"nothing\"\n" TYPES
        "%none = OpExtInst %void %dbg DebugInfoNone\n%src = OpExtInst %void %dbg DebugSource %file %none\n"
        "%unit = OpExtInst %void %dbg DebugCompilationUnit 65536 4 %src OpenCL_C\n"
        "%tf = OpExtInst %void %dbg DebugTypeFunction None %void\n"
        "%df = OpExtInst %void %dbg DebugFunction %k_name %tf %src 3 0 %unit %k_name FlagIsDefinition 3 %k %none\n"
        "OpLine %file 7 1\n" BEGIN "%scope = OpExtInst %void %dbg DebugScope %df\nOpLine %file 9 4\n"
        "%x = OpLoad %u32 %a Aligned 4\n%value = OpExtInst %void %dbg DebugNoScope\n%y = OpIAdd %u32 %x %c3\n"
        "OpBranch %next\n%next = OpLabel\n%z = OpIMul %u32 %y %c2\nOpLine %file 11 1\nOpStore %a %z Aligned 4\n" END);
    uint32_t value = 4;
    run_k(m, &value, 1);
    assert_int_equal(value, 14);
    assert_int_equal(ir_module_find(m, "k")->loc.line, 7); /* told before the function */
    assert_at(m, "k", IR_OP_LOAD, "some.cl", 9);
    assert_at(m, "k", IR_OP_ADD, "some.cl", 9);
    assert_at(m, "k", IR_OP_STORE, "some.cl", 11);
    ir_module_free(m);
}

/* A line is for the rest of its block, and one before a label is for that block. */
static void test_lines_of_blocks(void **state)
{
    (void)state;
    struct ir_module *m = read_good(HEAD KERNEL "%file = OpString \"some.cl\"\n" TYPES BEGIN
                                                "OpLine %file 5 1\n%x = OpLoad %u32 %a Aligned 4\n"
                                                "%is = OpIEqual %bool %x %c1\nOpBranchConditional %is %yes %no\n"
                                                "OpLine %file 8 1\n%no = OpLabel\nOpStore %a %c2 Aligned 4\nOpReturn\n"
                                                "%yes = OpLabel\nOpStore %a %c3 Aligned 4\n" END);
    const struct ir_inst *i = ir_module_find(m, "k")->body->first;
    while (i->op != IR_OP_IF) i = i->next;
    assert_int_equal(i->blocks[0]->first->loc.line, 0);
    assert_int_equal(i->blocks[1]->first->loc.line, 8);
    ir_module_free(m);
}

/* Sets that change nothing, whatever they are; lines that one of them tells. */
static void test_non_semantic(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        "OpCapability Addresses\nOpCapability Kernel\nOpCapability Linkage\nOpCapability Int64\nOpCapability Int8\n"
        "OpExtension \"SPV_KHR_non_semantic_info\"\n"
        "%std = OpExtInstImport \"OpenCL.std\"\n%dbg = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\n"
        "%own = OpExtInstImport \"NonSemantic.SomebodysOwn.7\"\n"
        "OpMemoryModel Physical64 OpenCL\n" KERNEL "%file = OpString \"some.cl\"\n" TYPES
        "%c40 = OpConstant %u32 40\n%src = OpExtInst %void %dbg DebugSource %file\n"
        "%o1 = OpExtInst %void %own 12 %c40 %file\n" BEGIN
        "%o2 = OpExtInst %void %own 13 %a\n%l1 = OpExtInst %void %dbg DebugLine %src %c40 %c40 %c1 %c2\n"
        "%x = OpLoad %u32 %a Aligned 4\n%l2 = OpExtInst %void %dbg DebugNoLine\nOpStore %a %x Aligned 4\n" END
        "%o3 = OpExtInst %void %own 14 %c40\n");
    assert_at(m, "k", IR_OP_LOAD, "some.cl", 40);
    assert_at(m, "k", IR_OP_STORE, NULL, 0);
    ir_module_free(m);
}

/* As clang writes it, with all that it has; what is refused names the file and the line. */
static void test_compiled_debug_info(void **state)
{
    (void)state;
    static const char source[] = "//: debug yes\n"
                                 "struct pair { float a; int b; };\n"
                                 "static float twice(float x, int n) { return x * n; }\n"
                                 "kernel void k(global float *o, global const float *in, int n) {\n"
                                 "    struct pair p = {1.0f, n};\n"
                                 "    size_t i = get_global_id(0);\n"
                                 "    for (int j = 0; j < n; j++) p.a += twice(in[i], j);\n"
                                 "    o[i] = p.a;\n"
                                 "}\n";
    if (!spirv_make_can_compile()) return;
    for (int level = 0; level < 2; level++) {
        size_t size;
        struct diag_list list = {0};
        uint8_t *bytes = spirv_make_compiled(source, level ? "O2" : "O0", &size);
        struct ir_module *m = ir_read_spirv(bytes, size, "test", &list);
        char *findings = diag_format(&list), *text = m ? ir_print(m) : NULL;
        if (!m) fail_msg("%s", findings);
        assert_non_null(strstr(text, "in.cl\""));
        assert_non_null(strstr(text, "!7"));
        assert_non_null(strstr(text, "!8"));
        free(findings);
        free(text);
        free(bytes);
        ir_module_free(m);
    }
}

/* ---- C's inline functions ---- */

/* An import that has a body: the body is taken, and nothing has to be linked. */
static void test_import_with_a_body(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD KERNEL
        "OpDecorate %f LinkageAttributes \"twice\" Import\n" TYPES "%fu = OpTypeFunction %u32 %u32\n"
        "%f = OpFunction %u32 None %fu\n%x = OpFunctionParameter %u32\n%l = OpLabel\n%y = OpIMul %u32 %x %c2\n"
        "OpReturnValue %y\nOpFunctionEnd\n" BEGIN "%v = OpLoad %u32 %a Aligned 4\n"
        "%w = OpFunctionCall %u32 %f %v\nOpStore %a %w Aligned 4\n" END);
    uint32_t value = 21;
    run_k(m, &value, 1);
    assert_int_equal(value, 42);
    assert_int_equal(m->functions[1]->linkage, IR_LINKAGE_INTERNAL);
    assert_null(ir_find_import(ir_module_find(m, "k")));
    ir_module_free(m);
}

/* ---- functions that are refused alone ---- */

#define TWO_KERNELS "OpEntryPoint Kernel %k \"k\"\nOpEntryPoint Kernel %bad \"bad\"\n%file = OpString \"some.cl\"\n"

static const char *refusal(const struct ir_module *m, const char *name)
{
    const struct ir_function *f = ir_module_find(m, name);
    assert_non_null(f);
    return f->refused;
}

static void test_refused_alone(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good("OpCapability DeviceEnqueue\n" HEAD TWO_KERNELS TYPES "%queue = OpTypeQueue\n"
                  "%fq = OpTypeFunction %void %queue\n"
                  "%helper = OpFunction %void None %fq\n%q = OpFunctionParameter %queue\n%hl = OpLabel\n" END
                  "%bad = OpFunction %void None %fn\n%b = OpFunctionParameter %p\n%bl = OpLabel\nOpLine %file 12 1\n"
                  "%dq = OpGetDefaultQueue %queue\n%none = OpFunctionCall %void %helper %dq\n" END BEGIN
                  "OpStore %a %c3 Aligned 4\n" END);
    uint32_t value = 0;
    run_k(m, &value, 1);
    assert_int_equal(value, 3);
    assert_null(refusal(m, "k"));
    assert_string_equal(refusal(m, "bad"), "some.cl:12: OpGetDefaultQueue: uses OpTypeQueue, which cannot be read");
    assert_int_equal(ir_module_find(m, "bad")->linkage, IR_LINKAGE_KERNEL);
    ir_module_free(m);
}

/* A caller is refused with what it calls: by its own instruction where that has no signature, else when it is used. */
static void test_refused_callee(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD TWO_KERNELS
        "%set = OpString \"x\"\n" TYPES "%fu = OpTypeFunction %u32 %u32\n"
        "%round = OpFunction %u32 None %fu\n%n = OpFunctionParameter %u32\n%rl = OpLabel\n"
        "OpLine %file 3 1\n%again = OpFunctionCall %u32 %round %n\nOpReturnValue %again\nOpFunctionEnd\n"
        "%bad = OpFunction %void None %fn\n%b = OpFunctionParameter %p\n%bl = OpLabel\n"
        "%x = OpFunctionCall %u32 %round %c1\nOpStore %b %x Aligned 4\n" END BEGIN "OpStore %a %c3 Aligned 4\n" END);
    const struct ir_function *refused = ir_find_refused(ir_module_find(m, "bad"));
    assert_non_null(refused);
    assert_non_null(strstr(refused->refused, "some.cl:3: "));
    assert_non_null(strstr(refused->refused, "call each other in a circle"));
    assert_null(ir_find_refused(ir_module_find(m, "k")));
    ir_module_free(m);
}

/* A variable that cannot be read refuses those who use it. */
static void test_refused_variable(void **state)
{
    (void)state;
    struct ir_module *m =
        read_good(HEAD TWO_KERNELS TYPES
                  "%event = OpTypeEvent\n%c99 = OpConstant %u32 99\n%two = OpConstant %u64 2\n"
                  "%w = OpVariable %p CrossWorkgroup %c1\n%s = OpSpecConstantOp %u64 ConvertPtrToU %w\n"
                  "%sum = OpSpecConstantOp %u64 IAdd %s %two\n%up = OpTypePointer CrossWorkgroup %u64\n"
                  "%held = OpVariable %up CrossWorkgroup %sum\n"
                  "%bad = OpFunction %void None %fn\n%b = OpFunctionParameter %p\n%bl = OpLabel\n"
                  "%x = OpLoad %u64 %held Aligned 8\n%y = OpUConvert %u32 %x\nOpStore %b %y Aligned 4\n" END BEGIN
                  "OpStore %a %c3 Aligned 4\n" END);
    assert_non_null(strstr(refusal(m, "bad"), "OpSpecConstantOp of OpIAdd, which cannot be read"));
    assert_null(refusal(m, "k"));
    ir_module_free(m);
}

/* What is refused has a reason in place of a body, in each form and in a copy. */
static void test_refused_forms(void **state)
{
    (void)state;
    static const char text[] = "kernel @k(%x: i32) work_group_size(4, 1, 1) refused(\"a.cl:3: \\\"so\\\"\")\n"
                               "export func @f() refused(\"why\")\nkernel @l() { call @f() }\n";
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "a.fk", &list);
    if (!m) fail_msg("%s", diag_format(&list));
    assert_string_equal(ir_module_find(m, "k")->refused, "a.cl:3: \"so\"");
    assert_int_equal(ir_module_find(m, "k")->body->first->op, IR_OP_UNREACHABLE);
    assert_null(ir_module_find(m, "l")->refused);
    assert_ptr_equal(ir_find_refused(ir_module_find(m, "l")), ir_module_find(m, "f"));
    size_t size;
    uint8_t *bytes = ir_encode(m, &size);
    char *printed = ir_print(m);
    struct ir_module *decoded = ir_decode(bytes, size, &list),
                     *parsed = ir_parse(printed, strlen(printed), "a.fk", &list);
    struct ir_module *linked = ir_link((const struct ir_module *const[]){m}, 1, NULL, &list);
    assert_true(decoded && parsed && linked);
    assert_true(ir_module_equal(m, decoded));
    assert_true(ir_module_equal(m, parsed));
    assert_string_equal(ir_module_find(linked, "k")->refused, "a.cl:3: \"so\"");
    ir_module_find(decoded, "k")->refused = "another";
    assert_false(ir_module_equal(m, decoded));
    assert_null(ir_parse("import func @f() refused(\"x\")", 30, "b.fk", &list));
    diag_clear(&list);
    free(bytes);
    free(printed);
    ir_module_free(m);
    ir_module_free(decoded);
    ir_module_free(parsed);
    ir_module_free(linked);
}

/* ---- newer versions and extensions ---- */

/* Dot products of 4 bytes: as vectors, in a word, and as a function that a translator has left. */
#define DOTS                                                                                                           \
    "OpCapability DotProduct\nOpCapability DotProductInput4x8Bit\nOpCapability DotProductInput4x8BitPacked\n"          \
    "OpCapability Addresses\nOpCapability Kernel\nOpCapability Linkage\nOpCapability Int64\nOpCapability Int8\n"       \
    "OpExtension \"SPV_KHR_integer_dot_product\"\nOpMemoryModel Physical64 OpenCL\n" KERNEL                            \
    "OpDecorate %left LinkageAttributes \"_Z28dot_acc_sat_4x8packed_us_intjji\" Import\n" TYPES                        \
    "%c4 = OpConstant %u32 4\n%near = OpConstant %u32 0x7ffffff0\n%full = OpConstant %u32 0xfffffff0\n"                \
    "%v4 = OpTypeVector %u8 4\n%fl = OpTypeFunction %u32 %u32 %u32 %u32\n"                                             \
    "%left = OpFunction %u32 None %fl\n%l0 = OpFunctionParameter %u32\n%l1 = OpFunctionParameter %u32\n"               \
    "%l2 = OpFunctionParameter %u32\nOpFunctionEnd\n" BEGIN "%x = OpLoad %u32 %a Aligned 4\n"                          \
    "%ap = OpInBoundsPtrAccessChain %p %a %c1\n%y = OpLoad %u32 %ap Aligned 4\n"                                       \
    "%vx = OpBitcast %v4 %x\n%vy = OpBitcast %v4 %y\n"

static int32_t dot(uint32_t x, uint32_t y, bool x_signed, bool y_signed)
{
    int32_t sum = 0;
    for (int k = 0; k < 4; k++) {
        uint8_t a = (uint8_t)(x >> 8 * k), b = (uint8_t)(y >> 8 * k);
        sum += (x_signed ? (int8_t)a : a) * (y_signed ? (int8_t)b : b);
    }
    return sum;
}

static void test_dot_products(void **state)
{
    (void)state;
    static const char text[] =
        DOTS "%d0 = OpSDotKHR %u32 %vx %vy\n%d1 = OpUDotKHR %u32 %x %y PackedVectorFormat4x8BitKHR\n"
             "%d2 = OpSUDotKHR %u32 %vx %vy\n%d3 = OpSDotAccSatKHR %u32 %vx %vy %near\n"
             "%d4 = OpUDotAccSatKHR %u32 %x %y %full PackedVectorFormat4x8BitKHR\n"
             "%d5 = OpSUDotAccSatKHR %u32 %x %y %near PackedVectorFormat4x8BitKHR\n"
             "%d6 = OpFunctionCall %u32 %left %x %y %near\n"
             "%q1 = OpInBoundsPtrAccessChain %p %a %c1\n%q2 = OpInBoundsPtrAccessChain %p %a %c2\n"
             "%q3 = OpInBoundsPtrAccessChain %p %a %c3\n%q4 = OpInBoundsPtrAccessChain %p %q3 %c1\n"
             "%q5 = OpInBoundsPtrAccessChain %p %q4 %c1\n%q6 = OpInBoundsPtrAccessChain %p %q5 %c1\n"
             "OpStore %a %d0\nOpStore %q1 %d1\nOpStore %q2 %d2\nOpStore %q3 %d3\nOpStore %q4 %d4\nOpStore %q5 %d5\n"
             "OpStore %q6 %d6\n" END;
    static const uint32_t inputs[][2] = {{0x80ff017f, 0x7f80ff03}, {0xffffffff, 0xffffffff}, {0x01020304, 0xfefdfc80}};
    struct ir_module *m = read_good(text);
    assert_int_equal(m->n_functions, 1);
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
        uint32_t x = inputs[k][0], y = inputs[k][1], data[7] = {x, y};
        int64_t signed_sum = 0x7ffffff0ll + dot(x, y, true, true), mixed = 0x7ffffff0ll + dot(x, y, true, false),
                other = 0x7ffffff0ll + dot(x, y, false, true);
        uint64_t all = 0xfffffff0ull + (uint32_t)dot(x, y, false, false);
        run_k(m, data, 7);
        assert_int_equal(data[0], (uint32_t)dot(x, y, true, true));
        assert_int_equal(data[1], (uint32_t)dot(x, y, false, false));
        assert_int_equal(data[2], (uint32_t)dot(x, y, true, false));
        assert_int_equal(data[3], signed_sum > INT32_MAX ? INT32_MAX : signed_sum);
        assert_int_equal(data[4], all > UINT32_MAX ? UINT32_MAX : all);
        assert_int_equal(data[5], mixed > INT32_MAX ? INT32_MAX : mixed);
        assert_int_equal(data[6], other > INT32_MAX ? INT32_MAX : other);
    }
    ir_module_free(m);
}

/* Where a generic pointer points, as get_fence() asks for it. */
static void test_generic_semantics(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        "OpCapability GenericPointer\n" HEAD KERNEL TYPES "%gp = OpTypePointer Generic %u32\n"
        "%vp = OpTypePointer Function %u32\n%lp = OpTypePointer Workgroup %u32\n%tile = OpVariable %lp "
        "Workgroup\n" BEGIN
        "%own = OpVariable %vp Function\n%g0 = OpPtrCastToGeneric %gp %a\n%g1 = OpPtrCastToGeneric %gp %tile\n"
        "%g2 = OpPtrCastToGeneric %gp %own\n%s0 = OpGenericPtrMemSemantics %u32 %g0\n"
        "%s1 = OpGenericPtrMemSemantics %u32 %g1\n%s2 = OpGenericPtrMemSemantics %u32 %g2\n"
        "%a1 = OpInBoundsPtrAccessChain %p %a %c1\n%a2 = OpInBoundsPtrAccessChain %p %a %c2\n"
        "OpStore %a %s0\nOpStore %a1 %s1\nOpStore %a2 %s2\n" END);
    uint32_t data[3] = {0};
    run_k(m, data, 3);
    assert_int_equal(data[0], 0x200);
    assert_int_equal(data[1], 0x100);
    assert_int_equal(data[2], 0);
    ir_module_free(m);
}

/* Null, and numbers that are addresses, through casts in initial values. */
static void test_null_in_initial_values(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        "OpCapability GenericPointer\n" HEAD KERNEL TYPES "%gp = OpTypePointer Generic %u32\n"
        "%pair = OpTypeStruct %gp %p %gp\n%c16 = OpConstant %u64 16\n%null = OpConstantNull %p\n"
        "%cast = OpSpecConstantOp %gp PtrCastToGeneric %null\n%at16 = OpSpecConstantOp %p ConvertUToPtr %c16\n"
        "%beyond = OpSpecConstantOp %gp PtrCastToGeneric %at16\n"
        "%both = OpConstantComposite %pair %cast %at16 %beyond\n%pp = OpTypePointer CrossWorkgroup %pair\n"
        "%held = OpVariable %pp CrossWorkgroup %both\n" BEGIN END);
    const struct ir_global *g = m->globals[0];
    assert_int_equal(g->n_addresses, 0);
    static const uint64_t expected[] = {0, 16, 16};
    assert_memory_equal(g->init, expected, sizeof expected);
    ir_module_free(m);
}

/* Gone since 1.4, but translators write it. */
static void test_weak_exchange(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = spirv_make_assembled(
        HEAD KERNEL TYPES BEGIN "%old = OpAtomicCompareExchangeWeak %u32 %a %c1 %c0 %c0 %c3 %c2\n" END, &size);
    static const uint32_t version = 0x10400;
    memcpy(bytes + 4, &version, sizeof version);
    struct diag_list list = {0};
    struct ir_module *m = ir_read_spirv(bytes, size, "test", &list);
    if (!m) fail_msg("%s", list.items[0].text);
    uint32_t value = 2;
    run_k(m, &value, 1);
    assert_int_equal(value, 3);
    ir_module_free(m);
    free(bytes);
}

/* Each version that there is, up to the newest. */
static void test_versions(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = spirv_make_assembled(HEAD KERNEL TYPES BEGIN "OpStore %a %c3 Aligned 4\n" END, &size);
    for (uint32_t minor = 0; minor <= 6; minor++) {
        uint32_t version = 0x10000 | minor << 8, value = 0;
        memcpy(bytes + 4, &version, sizeof version);
        struct diag_list list = {0};
        struct ir_module *m = ir_read_spirv(bytes, size, "test", &list);
        if (!m) fail_msg("1.%u: %s", minor, list.items[0].text);
        run_k(m, &value, 1);
        assert_int_equal(value, 3);
        ir_module_free(m);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_debug_info),         cmocka_unit_test(test_lines_of_blocks),
        cmocka_unit_test(test_non_semantic),       cmocka_unit_test(test_compiled_debug_info),
        cmocka_unit_test(test_import_with_a_body), cmocka_unit_test(test_refused_alone),
        cmocka_unit_test(test_refused_callee),     cmocka_unit_test(test_refused_variable),
        cmocka_unit_test(test_refused_forms),      cmocka_unit_test(test_dot_products),
        cmocka_unit_test(test_generic_semantics),  cmocka_unit_test(test_null_in_initial_values),
        cmocka_unit_test(test_versions),           cmocka_unit_test(test_weak_exchange),
    };
    return cmocka_run_group_tests_name("spirv of users", tests, NULL, NULL);
}
