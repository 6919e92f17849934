/* Pipes and variables of modules as our writer has them, and as our reader has them again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>

#include "fuser/spirv/writer.h"
#include "ir/link/link.h"
#include "ir/spirv/spirv.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"

#define OUT "packet i64 capacity 5 host_access \"out\" ready_latency 2\n"

static const char text[] = "pipe @in: packet i32 capacity 8 host_access \"the \\\"numbers\\\"\" uses_valid false\n"
                           "  protocol avalon_mm_uses_ready\n"
                           "pipe @between: packet [3 x i16] capacity 3\n"
                           "pipe.write @out: " OUT "kernel @first(%n: i32, %p: ptr.global i32) {\n"
                           "  %i = global @in\n  %b = global @between\n  %w = var i32\n  %v = var [3 x i16]\n"
                           "  pipe_read_wait i32 %i, %w\n"
                           "  %some = pipe_read i32 %i, %p\n"
                           "  if %some { pipe_write_wait [3 x i16] %b, %v }\n"
                           "  %left = pipe_num_packets %b\n  store i32 %p, %left\n"
                           "  %all = pipe_max_packets %i\n  store i32 %p[1], %all\n}\n"
                           "kernel @second() {\n"
                           "  %b = global @between\n  %o = global @out\n  %v = var [3 x i16]\n  %w = var i64\n"
                           "  %some = pipe_read [3 x i16] %b, %v\n"
                           "  %id = pipe_reserve_write %o, 2\n"
                           "  %good = sgt i64 %id, 0\n"
                           "  if %good {\n"
                           "    %done = pipe_write_at i64 %o, %w, %id, 1\n"
                           "    pipe_commit_write %o, %id\n  }\n"
                           "  %given = pipe_write i64 %o, %w\n"
                           "  pipe_write_wait i64 %o, %w\n}\n";

static struct ir_module *parse(const char *of)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(of, strlen(of), "m", &list);
    if (!m) fail_msg("%s", diag_format(&list));
    return m;
}

/* NULL, with why: it cannot be said. */
static struct ir_module *there_and_back(struct ir_module *m, const char *kernel, char **why)
{
    struct diag_list list = {0};
    struct spirv_module words;
    struct ir_module *back = NULL;
    int result = spirv_write(ir_module_find(m, kernel), &spirv_target_kernel, &words, &list);
    if (!result) {
        back = ir_read_spirv(words.words, words.n_words * sizeof *words.words, kernel, &list);
        if (!back || list.n) fail_msg("%s", diag_format(&list));
    } else {
        assert_int_equal(result, -1);
    }
    *why = diag_format(&list);
    diag_clear(&list);
    spirv_module_clear(&words);
    return back;
}

static void expect(const char *all, const char *line)
{
    assert_non_null(all);
    if (!strstr(all, line)) fail_msg("no %s in\n%s", line, all);
}

/* A file a kernel; linked, their pipes are one again. */
static void test_there_and_back(void **state)
{
    (void)state;
    struct ir_module *m = parse(text);
    char *why[2];
    struct ir_module *parts[] = {there_and_back(m, "first", &why[0]), there_and_back(m, "second", &why[1])};
    struct diag_list list = {0};
    assert_true(parts[0] && parts[1]);
    struct ir_module *whole = ir_link((const struct ir_module *const *)parts, 2, "whole", &list);
    if (!whole) fail_msg("%s", diag_format(&list));
    assert_int_equal(whole->n_globals, 3);
    char *printed = ir_print(whole);
    expect(printed, "pipe.read_write @in: packet i32 capacity 8 host_access \"the \\\"numbers\\\"\" uses_valid false "
                    "protocol avalon_mm_uses_ready\n");
    expect(printed, "pipe.read_write @between: packet [6 x i8] capacity 3\n");
    expect(printed, "pipe.read_write @out: " OUT);
    static const char *const operations[] = {"pipe_read_wait i32 ", "pipe_read i32 ",      "pipe_write_wait [3 x i16] ",
                                             "pipe_num_packets ",   "pipe_max_packets ",   "pipe_read [3 x i16] ",
                                             "pipe_reserve_write ", "pipe_write_at i64 ",  "pipe_commit_write ",
                                             "pipe_write i64 ",     "pipe_write_wait i64 "};
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) expect(printed, operations[i]);
    free(printed);
    ir_module_free(whole);
    for (int i = 0; i < 2; i++) {
        ir_module_free(parts[i]);
        free(why[i]);
    }
    ir_module_free(m);
}

/* Likewise variables that kernels share; constants and local ones each has for itself. */
static void test_variables(void **state)
{
    (void)state;
    struct ir_module *m = parse(
        "global @sum: [2 x i64] = {7, 8}\nconstant @c: i32 = 5\nlocal @l: i32\n"
        "global @last: ptr.global = @sum + 8\n"
        "kernel @first(%o: ptr.global i64) {\n  %p = global @sum\n  %x = load i64 %p[1]\n  store i64 %p, %x\n"
        "  %c = global @c\n  %l = global @l\n  %y = load i32 %c\n  store i32 %l, %y\n}\n"
        "kernel @second(%o: ptr.global i64) {\n  %q = global @last\n  %p = load ptr.global %q\n"
        "  %x = load i64 %p\n  store i64 %o, %x\n  %c = global @c\n  %y = load i32 %c\n  store i32 %o[2], %y\n}\n");
    char *why[2];
    struct ir_module *parts[] = {there_and_back(m, "first", &why[0]), there_and_back(m, "second", &why[1])};
    struct diag_list list = {0};
    assert_true(parts[0] && parts[1]);
    struct ir_module *whole = ir_link((const struct ir_module *const *)parts, 2, "whole", &list);
    if (!whole) fail_msg("%s", diag_format(&list));
    char *printed = ir_print(whole);
    unsigned shared = 0;
    for (uint32_t i = 0; i < whole->n_globals; i++) shared += whole->globals[i]->space == IR_SPACE_GLOBAL;
    if (shared != 2) fail_msg("%u variables\n%s", shared, printed);
    expect(printed, "export once global @sum: ");
    expect(printed, "export once global @last: ");
    free(printed);
    ir_module_free(whole);
    for (int i = 0; i < 2; i++) {
        ir_module_free(parts[i]);
        free(why[i]);
    }
    ir_module_free(m);
}

static void expect_refused(const char *of, const char *finding)
{
    char *why;
    struct ir_module *m = parse(of);
    assert_null(there_and_back(m, "k", &why));
    expect(why, finding);
    free(why);
    ir_module_free(m);
}

/* What pipes of SPIR-V cannot do is told. */
static void test_refused(void **state)
{
    (void)state;
    expect_refused("pipe @p: packet i64 capacity 4\nkernel @k(%o: ptr.global i64) {\n  %p = global @p\n"
                   "  %id = pipe_reserve_read %p, 1\n  store i64 %o, %id\n}\n",
                   "uses a reservation of a pipe as a number");
    expect_refused("pipe @p: packet i32 capacity 4\nconstant @c: i32 = 3\nkernel @k() {\n  %p = global @p\n"
                   "  %c = global @c\n  pipe_write_wait i32 %p, %c\n}\n",
                   "puts a packet that lies in constant memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_variables),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("spirv_pipes_written", tests, NULL, NULL);
}
