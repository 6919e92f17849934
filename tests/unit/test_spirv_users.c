/* The SPIR-V reader on what users' modules have besides the kernels that one wants: facts for debuggers, and functions
 * that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/codec.h"
#include "ir/link.h"
#include "ir/text.h"
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
    struct ir_module *m = read_good(
        HEAD KERNEL "%file = OpString \"some.cl\"\n" TYPES BEGIN "OpLine %file 5 1\n%x = OpLoad %u32 %a Aligned 4\n"
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
    struct ir_module *m = read_good(
        "OpCapability DeviceEnqueue\n" HEAD TWO_KERNELS TYPES "%queue = OpTypeQueue\n"
        "%fq = OpTypeFunction %void %queue\n"
        "%helper = OpFunction %void None %fq\n%q = OpFunctionParameter %queue\n%hl = OpLabel\n" END
        "%bad = OpFunction %void None %fn\n%b = OpFunctionParameter %p\n%bl = OpLabel\nOpLine %file 12 1\n"
        "%dq = OpGetDefaultQueue %queue\n%none = OpFunctionCall %void %helper %dq\n" END BEGIN
        "OpStore %a %c3 Aligned 4\n" END);
    uint32_t value = 0;
    run_k(m, &value, 1);
    assert_int_equal(value, 3);
    assert_null(refusal(m, "k"));
    assert_string_equal(refusal(m, "bad"),
                        "some.cl:12: OpGetDefaultQueue: uses OpTypeQueue, which cannot be read");
    assert_int_equal(ir_module_find(m, "bad")->linkage, IR_LINKAGE_KERNEL);
    ir_module_free(m);
}

/* A caller is refused with what it calls: by its own instruction where that has no signature, else when it is used. */
static void test_refused_callee(void **state)
{
    (void)state;
    struct ir_module *m = read_good(
        HEAD TWO_KERNELS "%set = OpString \"x\"\n" TYPES "%fu = OpTypeFunction %u32 %u32\n"
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
    struct ir_module *m = read_good(
        HEAD TWO_KERNELS TYPES "%event = OpTypeEvent\n%c99 = OpConstant %u32 99\n%two = OpConstant %u64 2\n"
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
    struct ir_module *decoded = ir_decode(bytes, size, &list), *parsed = ir_parse(printed, strlen(printed), "a.fk", &list);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_debug_info),     cmocka_unit_test(test_lines_of_blocks),
        cmocka_unit_test(test_non_semantic),   cmocka_unit_test(test_compiled_debug_info),
        cmocka_unit_test(test_refused_alone),  cmocka_unit_test(test_refused_callee),
        cmocka_unit_test(test_refused_variable), cmocka_unit_test(test_refused_forms),
    };
    return cmocka_run_group_tests_name("spirv of users", tests, NULL, NULL);
}
