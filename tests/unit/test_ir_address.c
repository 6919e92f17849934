/* Addresses in initial values: text, msgpack, the verifier's findings, copies, links, and what the interpreter reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/equal.h"
#include "ir/interp/interp.h"
#include "ir/link/link.h"
#include "ir/link/unresolved.h"
#include "ir/msgpack/codec.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "ir/verify/verify.h"

#define MODULE                                                                                                         \
    "struct Entry { code: i8, name: ptr.constant, rows: [2 x ptr.constant] }\n"                                        \
    "constant @entries: [2 x struct Entry] = { { 1, @b + 1, { null, @entries } }, { 2, null, { @a + 3, @b } } }\n"     \
    "constant @a: [3 x i8] = { 7, 8, 9 }\n"                                                                            \
    "constant @b: [2 x i16] = { 300, 400 }\n"                                                                          \
    "constant @alone: ptr.constant = @a\n"                                                                             \
    "constant @raw: [3 x i64] = hex\"010000000000000000000000000000000200000000000000\" with { 8: @alone }\n"          \
    "global @state: [2 x ptr.generic] = { null, @state + 16 }\n"

static struct ir_module *parse(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "test.fk", &list);
    if (!m) fail_msg("%s", diag_format(&list));
    return m;
}

static void expect_address(const struct ir_global *g, uint32_t i, uint64_t offset, const char *target, uint64_t at)
{
    assert_true(i < g->n_addresses);
    assert_int_equal(g->addresses[i].offset, offset);
    assert_string_equal(g->addresses[i].target->name, target);
    assert_int_equal(g->addresses[i].at, at);
}

static void expect_module(const struct ir_module *m)
{
    const struct ir_global *entries = ir_module_find_global(m, "entries");
    assert_int_equal(entries->n_addresses, 4);
    expect_address(entries, 0, 8, "b", 1);
    expect_address(entries, 1, 24, "entries", 0);
    expect_address(entries, 2, 48, "a", 3);
    expect_address(entries, 3, 56, "b", 0);
    assert_int_equal(entries->init[32], 2);
    const struct ir_global *raw = ir_module_find_global(m, "raw");
    assert_int_equal(raw->n_addresses, 1);
    expect_address(raw, 0, 8, "alone", 0);
    assert_int_equal(raw->init[16], 2);
    for (uint32_t i = 0; i < m->n_globals; i++)
        for (uint32_t k = 0; k < m->globals[i]->n_addresses; k++) {
            const struct ir_global *target = m->globals[i]->addresses[k].target;
            assert_ptr_equal(ir_module_find_global(m, target->name), target); /* of this module */
        }
}

static void test_text(void **state)
{
    (void)state;
    struct ir_module *m = parse(MODULE);
    expect_module(m);
    char *text = ir_print(m);
    assert_non_null(strstr(text, "{ { 1, @b + 1, { null, @entries } }, { 2, null, { @a + 3, @b } } }\n"));
    assert_non_null(strstr(text, "constant @alone: ptr.constant = @a\n"));
    assert_non_null(strstr(text, "0200000000000000\" with { 8: @alone }\n"));
    struct ir_module *again = parse(text);
    assert_true(ir_module_equal(m, again));
    again->globals[0]->addresses[0].at = 0;
    assert_false(ir_module_equal(m, again));
    free(text);
    ir_module_free(again);
    ir_module_free(m);
}

/* In any order in the text, in that of their places in the module. */
static void test_order(void **state)
{
    (void)state;
    struct ir_module *m =
        parse("constant @t: [2 x i64] = hex\"00000000000000000000000000000000\" with { 8: @a, 0: @a + 1, }\n"
              "constant @a: i8\n");
    expect_address(m->globals[0], 0, 0, "a", 1);
    expect_address(m->globals[0], 1, 8, "a", 0);
    ir_module_free(m);
}

static void test_codec(void **state)
{
    (void)state;
    struct ir_module *m = parse(MODULE);
    size_t size, again_size;
    uint8_t *bytes = ir_encode(m, &size);
    struct diag_list list = {0};
    struct ir_module *copy = ir_decode(bytes, size, &list);
    assert_non_null(copy);
    expect_module(copy);
    assert_true(ir_module_equal(m, copy));
    uint8_t *again = ir_encode(copy, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    for (size_t i = 0; i < size; i++) { /* whatever one byte becomes: refused or a module */
        uint8_t was = bytes[i];
        bytes[i] ^= (uint8_t)(1 << i % 8);
        ir_module_free(ir_decode(bytes, size, NULL));
        ir_module_free(ir_decode(bytes, i, NULL));
        bytes[i] = was;
    }
    free(bytes);
    free(again);
    ir_module_free(copy);
    ir_module_free(m);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"constant @p: ptr.constant = @none\n", "there is no variable @none"},
        {"constant @p: ptr.constant = @p +\n", "expected an offset"},
        {"constant @p: i64 = @p\n", "expected a number"},
        {"constant @p: ptr.constant = @a + 5\nconstant @a: i32\n", "holds an address 5 bytes into a, which has 4"},
        {"local @l: i32\nconstant @p: ptr.local = @l\n", "holds the address of l, which is local"},
        {"pipe @l: packet i32 capacity 1\nglobal @p: ptr.global = @l\n", "holds the address of l, which is a pipe"},
        {"global @g: i32\nconstant @p: ptr.global = @g\n", "is constant and holds the address of g, which is not"},
        {"constant @c: i32\nglobal @p: ptr.global = @c\n",
         "holds the address of c at offset 0, where a ptr.global lies"},
        {"constant @c: i32\nglobal @p: ptr.generic = @c\n",
         "holds the address of c at offset 0, where a ptr.generic lies"},
        {"constant @p: [2 x i64] = hex\"00000000000000000000000000000000\" with { 4: @p }\n",
         "has 16 bytes and holds an address at offset 4"},
        {"constant @p: [2 x i64] = hex\"00000000000000000000000000000000\" with { 16: @p }\n",
         "has 16 bytes and holds an address at offset 16"},
        {"constant @p: i64 = hex\"0000000000000000\" with { 0: @p, 0: @p }\n", "holds two addresses at offset 0"},
        {"constant @p: i64 = hex\"0000000000000001\" with { 0: @p }\n", "has bytes other than 0 under its address"},
        {"struct P { i8 @ 0, ptr.constant @ 1 } size 9 align 1\nconstant @p: struct P = { 1, @p }\n",
         "holds an address at offset 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diag_list list = {0};
        assert_null(ir_parse(cases[i].text, strlen(cases[i].text), "test.fk", &list));
        char *said = diag_format(&list);
        if (!strstr(said, cases[i].why)) fail_msg("%s\"%s\" is not said, but: %s", cases[i].text, cases[i].why, said);
        free(said);
        diag_clear(&list);
    }
}

/* What no text says: of another module, without bytes. */
static void test_verifier(void **state)
{
    (void)state;
    struct ir_module *m = parse("constant @p: ptr.constant = @p\n"), *other = parse("constant @p: ptr.constant\n");
    struct ir_global *g = m->globals[0];
    assert_true(ir_verify(m, NULL));
    g->addresses[0].target = other->globals[0];
    assert_false(ir_verify(m, NULL));
    g->addresses[0].target = NULL;
    assert_false(ir_verify(m, NULL));
    g->addresses[0].target = g;
    g->init = NULL;
    assert_false(ir_verify(m, NULL));
    ir_module_free(m);
    ir_module_free(other);
}

/* Imports become what they stand for, and names that were taken others. */
static void test_link(void **state)
{
    (void)state;
    struct diag_list list = {0};
    struct ir_module *a = parse("constant @own: i32 = 1\nimport constant @there: [2 x ptr.constant]\n"
                                "export constant @here: [3 x ptr.constant] = { @own, @there + 8, @here }\n"),
                     *b = parse("constant @own: i64 = 2\nimport constant @here: [3 x ptr.constant]\n"
                                "export constant @there: [2 x ptr.constant] = { @own + 8, @here }\n");
    struct ir_module *m = ir_link((const struct ir_module *[]){a, b}, 2, "m", &list);
    if (!m) fail_msg("%s", diag_format(&list));
    const struct ir_global *here = ir_module_find_global(m, "here"), *there = ir_module_find_global(m, "there");
    assert_int_equal(m->n_globals, 4);
    expect_address(here, 0, 0, "own", 0);
    expect_address(here, 1, 8, "there", 8);
    expect_address(here, 2, 16, "here", 0);
    expect_address(there, 0, 0, "own.1", 8);
    expect_address(there, 1, 8, "here", 0);
    ir_module_free(m);
    assert_null(ir_link((const struct ir_module *[]){a}, 1, "m", &list));
    char *said = diag_format(&list);
    assert_non_null(
        strstr(said, "variable there is imported by module 1 and here holds its address, but no module exports it"));
    free(said);
    diag_clear(&list);
    ir_module_free(a);
    ir_module_free(b);
}

static void test_find_import(void **state)
{
    (void)state;
    struct ir_module *m = parse("import constant @there: i32\nconstant @list: ptr.constant = @next\n"
                                "constant @next: [2 x ptr.constant] = { @list, @there }\n"
                                "constant @plain: ptr.constant = @plain\n"
                                "kernel @reaches() { %l = global @list }\nkernel @does_not() { %p = global @plain }\n");
    assert_string_equal(ir_find_import(ir_module_find(m, "reaches"))->attrs.global->name, "list");
    assert_null(ir_find_import(ir_module_find(m, "does_not")));
    ir_module_free(m);
}

#define READS                                                                                                          \
    "kernel @k(%o: ptr.global i32 write) {\n"                                                                          \
    "  %i = global_id x\n  %t = global @table\n  %p = load ptr.constant %t[%i]\n  %null = ieq ptr.constant %p, null\n" \
    "  %r = if %null -> i32 { yield -1 } else {\n    %x = load i32 %p\n    yield %x\n  }\n  store i32 %o[%i], %r\n}\n"

static struct interp_result interpret(const struct ir_function *k, int32_t *out, uint64_t n)
{
    const struct nd_range range = {.dims = 1, .global = {n, 1, 1}, .local = {1, 1, 1}};
    const struct interp_arg arg = {.kind = INTERP_ARG_BUFFER, .data = out, .size = n * sizeof *out};
    struct interp_result result;
    interp_run(k, &range, &arg, NULL, &result);
    return result;
}

/* A kernel taken into another module takes along what its table leads to, past what has its names there. */
static void test_run(void **state)
{
    (void)state;
    struct ir_module *m = parse("constant @table: [4 x ptr.constant] = { @n + 4, null, @n, @m }\n"
                                "constant @n: [2 x i32] = { 5, 6 }\nconstant @m: i32 = 7\n" READS),
                     *into = parse("constant @table: [4 x ptr.constant] = { null, @n, @n, @n }\n"
                                   "constant @n: [2 x i32] = { 8, 9 }\nconstant @m: i32 = 7\n");
    const struct ir_function *kernels[] = {m->functions[0], ir_function_copy(into, m->functions[0], NULL)};
    assert_true(ir_verify(into, NULL));
    assert_int_equal(into->n_globals, 5); /* @m is the same */
    for (int i = 0; i < 2; i++) {
        int32_t out[4] = {0};
        struct interp_result result = interpret(kernels[i], out, 4);
        assert_int_equal(result.n_findings, 0);
        assert_true(result.completed);
        assert_memory_equal(out, ((int32_t[]){6, -1, 5, 7}), sizeof out);
        interp_result_clear(&result);
    }
    ir_module_free(m);
    ir_module_free(into);
}

/* One past the end is an address, but nothing lies there; an import has none. */
static void test_findings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"constant @table: [1 x ptr.constant] = { @n + 4 }\nconstant @n: i32 = 5\n" READS,
         "load of 4 bytes at offset 4 of variable `n` of the module (4 bytes)"},
        {"constant @table: [1 x ptr.constant] = { @n }\nimport constant @n: i32\n" READS,
         "variable `table` holds the address of `n`, which has no memory"},
    };
    for (int i = 0; i < 2; i++) {
        int32_t out[1] = {0};
        struct ir_module *m = parse(cases[i].text);
        struct interp_result result = interpret(m->functions[0], out, 1);
        assert_int_equal(result.n_findings, 1);
        assert_non_null(strstr(result.findings[0].text, cases[i].why));
        interp_result_clear(&result);
        ir_module_free(m);
    }
}

/* A long chain of variables takes no deep recursion. */
static void test_chain(void **state)
{
    (void)state;
    enum { N = 2000 };
    struct ir_module *m = ir_module_new("chain"), *into = ir_module_new("copy");
    struct ir_global *next = NULL;
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        struct ir_global *g = ir_global_new(m, name, IR_SPACE_CONSTANT, IR_PTR(IR_SPACE_CONSTANT));
        g->init = ir_alloc(m, 8);
        if (next) ir_global_add_address(m, g, &(struct ir_address){.target = next});
        next = g;
    }
    struct ir_function *k = ir_function_new(m, "k", IR_LINKAGE_KERNEL, IR_VOID, 0);
    struct ir_builder b = ir_builder_at_end(k->body);
    ir_build_global(&b, next);
    ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    assert_true(ir_verify(m, NULL));
    ir_function_copy(into, k, NULL);
    assert_int_equal(into->n_globals, N);
    ir_module_free(m);
    ir_module_free(into);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),        cmocka_unit_test(test_order),    cmocka_unit_test(test_codec),
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_verifier), cmocka_unit_test(test_link),
        cmocka_unit_test(test_find_import), cmocka_unit_test(test_run),      cmocka_unit_test(test_findings),
        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests_name("ir_address", tests, NULL, NULL);
}
