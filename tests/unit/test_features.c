/* Optional kernel features: which are used, how it is told, and what a kernel requires (seed 004). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/strbuf.h"
#include "ir/features/requirements.h"
#include "ir/features/warnings.h"
#include "ir/text/parse/parse.h"

static struct ir_module *read_text(const char *file, const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), file, &list);
    if (!m) fail_msg("%s%s", text, diag_format(&list));
    return m;
}

/* ---- uses ---- */

struct use {
    const char *function;
    uint64_t aspects;
};

static void assert_uses(const char *text, const struct use *uses)
{
    struct ir_module *m = read_text("features.fk", text);
    struct ir_usage *u = ir_usage_new(m);
    for (; uses->function; uses++) {
        uint64_t all = ir_usage_all(u, ir_module_find(m, uses->function));
        if (all != uses->aspects)
            fail_msg("%s uses %#llx, not %#llx", uses->function, (unsigned long long)all,
                     (unsigned long long)uses->aspects);
    }
    ir_usage_free(u);
    ir_module_free(m);
}

/* A type counts wherever it is named, also where nothing is done with it. */
static void types_that_are_named(void **state)
{
    (void)state;
    assert_uses("struct Pair { a: i32, b: f64 }\n"
                "struct Outer { a: [4 x struct Pair] }\n"
                "struct Marked uses(atomic64, image) { a: i32 }\n"
                "constant @table: [4 x f16] = { 1, 2, 3, 4 }\n"
                "kernel @unused_variable() { %v = var f64 }\n"
                "kernel @pointer(%p: ptr.global f64) {}\n"
                "kernel @by_value(%p: ptr.private struct Outer by_value) {}\n"
                "kernel @field(%p: ptr.global) { %a = field struct Outer %p, a }\n"
                "kernel @copy(%p: ptr.global, %q: ptr.global) { copy struct Pair %p, %q, 1 }\n"
                "kernel @marked(%p: ptr.global struct Marked) {}\n"
                "kernel @constant() { %t = global @table }\n"
                "func @result() -> f16x2 { return 0 }\n"
                "kernel @carried(%n: i32) { loop (%x: f64 = 0) { break } }\n"
                "kernel @none(%p: ptr.global f32) { store f32 %p, 1 }\n",
                (const struct use[]){{"unused_variable", IR_ASPECT_FP64},
                                     {"pointer", IR_ASPECT_FP64},
                                     {"by_value", IR_ASPECT_FP64},
                                     {"field", IR_ASPECT_FP64},
                                     {"copy", IR_ASPECT_FP64},
                                     {"marked", IR_ASPECT_ATOMIC64 | IR_ASPECT_IMAGE},
                                     {"constant", IR_ASPECT_FP16},
                                     {"result", IR_ASPECT_FP16},
                                     {"carried", IR_ASPECT_FP64},
                                     {"none", 0},
                                     {0}});
}

/* Up the calls: what is used, and what a called function declares. */
static void calls_hand_uses_up(void **state)
{
    (void)state;
    assert_uses("import func @far() aspects(image) uses(gpu)\n"
                "kernel @k() aspects(custom) { call @middle() }\n"
                "func @middle() { call @deep(); call @far() }\n"
                "func @deep() aspects(fp64, pipes) { %x = fadd f64 1, 2 }\n"
                "func @written() uses(emulated) {}\n",
                (const struct use[]){{"deep", IR_ASPECT_FP64},
                                     {"middle", IR_ASPECT_FP64 | IR_ASPECT_PIPES | IR_ASPECT_IMAGE | IR_ASPECT_GPU},
                                     {"k", IR_ASPECT_FP64 | IR_ASPECT_PIPES | IR_ASPECT_IMAGE | IR_ASPECT_GPU},
                                     {"written", IR_ASPECT_EMULATED},
                                     {0}});
}

/* ---- warnings ---- */

static bool collect(void *data, const char *text)
{
    strbuf_printf(data, "%s\n", text);
    return true;
}

static void assert_warnings(const char *text, const struct ir_targets *targets, const char *expected)
{
    struct ir_module *m = read_text("hw.fk", text);
    struct ir_usage *u = ir_usage_new(m);
    struct strbuf out = {0};
    strbuf_add(&out, "");
    if (targets)
        ir_warn_targets(u, targets, collect, &out);
    else
        ir_warn_undeclared(u, collect, &out);
    char *told = strbuf_take(&out);
    assert_string_equal(told, expected);
    free(told);
    ir_usage_free(u);
    ir_module_free(m);
}

static void undeclared_without_lines(void **state)
{
    (void)state;
    assert_warnings("source none\n"
                    "kernel @foo() aspects() { call @bar() }\n"
                    "func @bar() { call @boo() }\n"
                    "func @boo() { %x = fadd f64 1, 2 }\n",
                    NULL,
                    "warning: function 'foo' uses aspect 'fp64' not listed in 'sycl::device_has'\n"
                    "use is from this call chain:\n"
                    "  foo()\n"
                    "  bar()\n"
                    "  boo()\n"
                    "compile with '-g' to get source location\n");
}

static void undeclared_with_lines(void **state)
{
    (void)state;
    assert_warnings("source \"hw.cpp\"\n"
                    "kernel @foo() aspects(fp16) !10 { call @other() !14; call @bar() !15 }\n"
                    "func @other() !18 { %v = var f16 !18 }\n"
                    "func @bar() !20 { call @boo() !25; call @boo() !24 }\n"
                    "func @boo() !26 { %a = fadd f32 1, 2 !26; %x = fadd f64 1, 2 !27 }\n",
                    NULL,
                    "hw.cpp:27: warning: function 'foo' uses aspect 'fp64' not listed in 'sycl::device_has'\n"
                    "use is from this call chain:\n"
                    "  foo()\n"
                    "  bar() hw.cpp:15\n"
                    "  boo() hw.cpp:25\n");
}

/* Each function that declares, each aspect, own ones by their names; what is declared and not used is no matter. */
static void undeclared_of_each(void **state)
{
    (void)state;
    assert_warnings("source none\n"
                    "aspects { ext_intel_amx = 9 }\n"
                    "import func @amx_multiply() uses(ext_intel_amx)\n"
                    "kernel @a() aspects(fp64, custom) { call @f() }\n"
                    "func @f() aspects(fp16) { call @amx_multiply(); %x = fadd f64 1, 2 }\n"
                    "kernel @b() { call @f() }\n",
                    NULL,
                    "warning: function 'a' uses aspect 'fp16' not listed in 'sycl::device_has'\n"
                    "use is from this call chain:\n  a()\n  f()\ncompile with '-g' to get source location\n"
                    "warning: function 'a' uses aspect 'ext_intel_amx' not listed in 'sycl::device_has'\n"
                    "use is from this call chain:\n  a()\n  f()\n  amx_multiply()\n"
                    "compile with '-g' to get source location\n"
                    "warning: function 'f' uses aspect 'fp64' not listed in 'sycl::device_has'\n"
                    "use is from this call chain:\n  f()\ncompile with '-g' to get source location\n"
                    "warning: function 'f' uses aspect 'ext_intel_amx' not listed in 'sycl::device_has'\n"
                    "use is from this call chain:\n  f()\n  amx_multiply()\n"
                    "compile with '-g' to get source location\n");
}

static void outside_of_fixed_targets(void **state)
{
    (void)state;
    static const uint32_t small_aspects[] = {1, 5}, large_aspects[] = {1, 5, 6, 28}, sizes[] = {8, 16};
    static const struct ir_target items[] = {{"small", 2, 2, small_aspects, sizes, 64},
                                             {"large", 4, 2, large_aspects, sizes, 0}};
    const struct ir_targets known = {items, 2};
    assert_warnings("source none\n"
                    "kernel @a() targets(\"large\") work_group_size(100) { call @f() }\n"
                    "kernel @b() targets(\"small\", \"large\", \"unknown\") aspects(atomic64) sub_group_size(32)\n"
                    "  work_group_size(8, 9) { %v = var f64 }\n"
                    "kernel @c() targets() { %v = var f64 }\n"
                    "kernel @d() targets(\"small\") sub_group_size(16) work_group_size(64) { call @f() }\n"
                    "func @f() { %x = fadd f64 1, 2 }\n",
                    &known,
                    "warning: function 'b' uses aspect 'fp64' not supported by fixed target 'small'\n"
                    "use is from this call chain:\n  b()\ncompile with '-g' to get source location\n"
                    "warning: function 'b' declares aspect 'atomic64' not supported by fixed target 'small'\n"
                    "warning: function 'b' has required sub-group size '32' not supported by fixed target 'small'\n"
                    "warning: function 'b' has required work-group size '8, 9, 1' not supported by fixed target "
                    "'small'\n"
                    "warning: function 'b' has required sub-group size '32' not supported by fixed target 'large'\n"
                    "warning: function 'b' has fixed target 'unknown', which the device configuration file does not "
                    "have\n"
                    "warning: function 'd' uses aspect 'fp64' not supported by fixed target 'small'\n"
                    "use is from this call chain:\n  d()\n  f()\ncompile with '-g' to get source location\n");
}

/* ---- requirements ---- */

static void union_over_what_is_reached(void **state)
{
    (void)state;
    struct ir_module *m =
        read_text("features.fk", "kernel @k() work_group_size(8) sub_group_size(16) aspects(custom) targets(\"a\", "
                                 "\"b\", \"c\") { call @f(); call @h() }\n"
                                 "func @f() sub_group_size(32) targets() { call @g(); %v = var f64 }\n"
                                 "func @g() sub_group_size(primary) targets(\"c\", \"b\", \"x\") {}\n"
                                 "func @h() {}\n"
                                 "kernel @none() { call @f2() }\n"
                                 "func @f2() targets(\"a\", \"b\") { call @g2() }\n"
                                 "func @g2() targets(\"c\") {}\n");
    struct ir_usage *u = ir_usage_new(m);
    struct ir_requirements r;
    char *why = NULL;
    assert_true(ir_requirements_find(u, ir_module_find(m, "k"), &r, &why));
    assert_int_equal(r.aspects, IR_ASPECT_CUSTOM | IR_ASPECT_FP64);
    assert_int_equal(r.sub_group_sizes, 1 << 4 | 1 << 5);
    assert_int_equal(r.work_group_size[0], 8);
    assert_true(r.fixed);
    assert_int_equal(r.n_targets, 2);
    assert_string_equal(r.targets[0], "b");
    ir_requirements_clear(&r);
    assert_false(ir_requirements_find(u, ir_module_find(m, "none"), &r, &why));
    assert_string_equal(why,
                        "none is for the targets a, b, but reaches function g2, which is for c: no target is left");
    free(why);
    ir_usage_free(u);
    ir_module_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_that_are_named),       cmocka_unit_test(calls_hand_uses_up),
        cmocka_unit_test(undeclared_without_lines),   cmocka_unit_test(undeclared_with_lines),
        cmocka_unit_test(undeclared_of_each),         cmocka_unit_test(outside_of_fixed_targets),
        cmocka_unit_test(union_over_what_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
