/* Compiled code: structs passed by value that a kernel makes its own, and the space a generic pointer is in. */
#include "tests/support/compiled_kit.h"

enum { ITEMS = 75 };

static const struct nd_range ranges[] = {
    {1, {ITEMS, 1, 1}, {0, 0, 0}, {25, 1, 1}},
    {1, {64, 1, 1}, {3, 0, 0}, {64, 1, 1}},
    {2, {5, 13, 1}, {0, 0, 0}, {5, 1, 1}},
};

struct settings {
    int32_t a, b;
    int64_t table[4];
};

static void by_value_is_written(void **state)
{
    (void)state;
    static const char text[] = "struct S { a: i32, b: i32, table: [4 x i64] }\n"
                               "kernel @k(%s: ptr.private struct S by_value, %t: ptr.private struct S by_value,\n"
                               "          %o: ptr.global i64 write) {\n"
                               "  %i = global_linear_id\n"
                               "  %a = field struct S %s, a\n"
                               "  %x = load i32 %a\n"
                               "  %n = trunc i32 %i\n"
                               "  %y = add i32 %x, %n\n"
                               "  store i32 %a, %y\n"
                               "  %table = field struct S %s, table\n"
                               "  %low = and i64 %i, 3\n"
                               "  store i64 %table[%low], %i\n"
                               "  %p = if %odd -> ptr.private { yield %s } else { yield %t }\n"
                               "  %pt = field struct S %p, table\n"
                               "  %v = load i64 %pt[%low]\n"
                               "  %z = load i32 %a\n"
                               "  %w = sext i64 %z\n"
                               "  %r = add i64 %v, %w\n"
                               "  %u = field struct S %t, b\n"
                               "  %ub = load i32 %u\n"
                               "  %uw = zext i64 %ub\n"
                               "  %r2 = add i64 %r, %uw\n"
                               "  store i64 %o[%i], %r2\n"
                               "}\n";
    char with_condition[2048];
    const char *at = strstr(text, "  %p = if");
    snprintf(with_condition, sizeof with_condition, "%.*s  %%one = and i64 %%i, 1\n  %%odd = ieq i64 %%one, 1\n%s",
             (int)(at - text), text, at);
    struct settings s = {7, 8, {10, 20, 30, 40}}, t = {1, -2, {100, 200, 300, 400}};
    int64_t out[ITEMS] = {0};
    const struct interp_arg args[] = {{INTERP_ARG_BYTES, &s, sizeof s, NULL},
                                      {INTERP_ARG_BYTES, &t, sizeof t, NULL},
                                      {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    kit_same_everywhere(with_condition, ranges, 3, 0, args, 3);
    assert_int_equal(s.a, 7); /* what was passed is as it was */
}

/* The struct is each work-item's own across a barrier too. */
static void by_value_across_a_barrier(void **state)
{
    (void)state;
    static const char text[] = "struct S { a: i32, b: i32, table: [4 x i64] }\n"
                               "kernel @k(%s: ptr.private struct S by_value, %o: ptr.global i32 write) {\n"
                               "  %i = global_linear_id\n"
                               "  %b = field struct S %s, b\n"
                               "  %n = trunc i32 %i\n"
                               "  store i32 %b, %n\n"
                               "  barrier work_group, local\n"
                               "  %m = load i32 %b\n"
                               "  %a = field struct S %s, a\n"
                               "  %x = load i32 %a\n"
                               "  %r = add i32 %m, %x\n"
                               "  store i32 %o[%i], %r\n"
                               "}\n";
    struct settings s = {1000, 5, {0}};
    int32_t out[ITEMS] = {0};
    const struct interp_arg args[] = {{INTERP_ARG_BYTES, &s, sizeof s, NULL},
                                      {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    kit_same_everywhere(text, ranges, 3, 0, args, 2);
}

/* Which of local, private and global each of five pointers is: bit by bit. */
#define ASKED(barrier)                                                                                                 \
    "struct S { a: i32, b: i32, table: [4 x i64] }\n"                                                                  \
    "local @tile: [64 x i32]\n"                                                                                        \
    "global @state: [4 x i32]\n"                                                                                       \
    "func @ask(%p: ptr.generic) -> i32 {\n"                                                                            \
    "  %l = spacecast %p, local\n"                                                                                     \
    "  %v = spacecast %p, private\n"                                                                                   \
    "  %g = spacecast %p, global\n"                                                                                    \
    "  %is_l = ine ptr.local %l, null\n"                                                                               \
    "  %is_v = ine ptr.private %v, null\n"                                                                             \
    "  %n = ptrtoint i64 %g\n"                                                                                         \
    "  %is_g = ine i64 %n, 0\n"                                                                                        \
    "  %a = zext i32 %is_l\n"                                                                                          \
    "  %b = zext i32 %is_v\n"                                                                                          \
    "  %c = zext i32 %is_g\n"                                                                                          \
    "  %b2 = shl i32 %b, 1\n"                                                                                          \
    "  %c2 = shl i32 %c, 2\n"                                                                                          \
    "  %r = or i32 %a, %b2\n"                                                                                          \
    "  %r2 = or i32 %r, %c2\n"                                                                                         \
    "  return %r2\n"                                                                                                   \
    "}\n"                                                                                                              \
    "kernel @k(%s: ptr.private struct S by_value, %x: ptr.global i32 read_write, %l: ptr.local i32,\n"                 \
    "          %o: ptr.global i32 write) {\n"                                                                          \
    "  %i = global_linear_id\n"                                                                                        \
    "  %own = var [3 x i32]\n"                                                                                         \
    "  %tile = global @tile\n"                                                                                         \
    "  %state = global @state\n"                                                                                       \
    "  %last = elem i32 %l, 9\n"                                                                                       \
    "  %low = and i64 %i, 1\n"                                                                                         \
    "  %mine = elem i32 %own, %low\n"                                                                                  \
    "  store i32 %mine, 1\n" barrier "  %g1 = spacecast %mine, generic\n"                                              \
    "  %g2 = spacecast %tile, generic\n"                                                                               \
    "  %g3 = spacecast %x, generic\n"                                                                                  \
    "  %g4 = spacecast %last, generic\n"                                                                               \
    "  %g5 = spacecast %s, generic\n"                                                                                  \
    "  %g6 = spacecast %state, generic\n"                                                                              \
    "  %odd = ieq i64 %low, 1\n"                                                                                       \
    "  %g7 = if %odd -> ptr.generic { yield %g1 } else { yield %g4 }\n"                                                \
    "  %a1 = call @ask(%g1)\n  %a2 = call @ask(%g2)\n  %a3 = call @ask(%g3)\n  %a4 = call @ask(%g4)\n"                 \
    "  %a5 = call @ask(%g5)\n  %a6 = call @ask(%g6)\n  %a7 = call @ask(%g7)\n  %a8 = call @ask(null)\n"                \
    "  %b2 = shl i32 %a2, 3\n  %b3 = shl i32 %a3, 6\n  %b4 = shl i32 %a4, 9\n  %b5 = shl i32 %a5, 12\n"                \
    "  %b6 = shl i32 %a6, 15\n  %b7 = shl i32 %a7, 18\n  %b8 = shl i32 %a8, 21\n"                                      \
    "  %s1 = or i32 %a1, %b2\n  %s2 = or i32 %s1, %b3\n  %s3 = or i32 %s2, %b4\n  %s4 = or i32 %s3, %b5\n"             \
    "  %s5 = or i32 %s4, %b6\n  %s6 = or i32 %s5, %b7\n  %s7 = or i32 %s6, %b8\n"                                      \
    "  store i32 %o[%i], %s7\n"                                                                                        \
    "}\n"

static void ask(const char *text)
{
    struct settings s = {0};
    int32_t x[4] = {0}, out[ITEMS] = {0};
    const struct interp_arg args[] = {{INTERP_ARG_BYTES, &s, sizeof s, NULL},
                                      {INTERP_ARG_BUFFER, x, sizeof x, NULL},
                                      {INTERP_ARG_LOCAL, NULL, 40, NULL},
                                      {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    kit_same_everywhere(text, ranges, 3, 0, args, 4);
}

static void spaces_of_pointers(void **state)
{
    (void)state;
    ask(ASKED(""));
    ask(ASKED("  barrier work_group, local\n"));
}

/* The interpreter too gives what is expected: private, local, global, local, private, global, either, none. */
static void spaces_are_known(void **state)
{
    (void)state;
    struct ir_module *m = kit_parse(ASKED(""));
    struct settings s = {0};
    int32_t x[4] = {0}, out[ITEMS] = {0};
    const struct interp_arg args[] = {{INTERP_ARG_BYTES, &s, sizeof s, NULL},
                                      {INTERP_ARG_BUFFER, x, sizeof x, NULL},
                                      {INTERP_ARG_LOCAL, NULL, 40, NULL},
                                      {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    kit_interpret(kit_kernel(m), &ranges[0], args);
    for (unsigned i = 0; i < ITEMS; i++)
        assert_int_equal(out[i], 2 | 1 << 3 | 4 << 6 | 1 << 9 | 2 << 12 | 4 << 15 | (i % 2 ? 2 : 1) << 18);
    ir_module_free(m);
}

/* Strings of different lengths through tables, bytes between addresses, a list, and tables that hold each other. */
static void tables_of_addresses(void **state)
{
    (void)state;
    static const char text[] =
        "struct E { n: i8, word: ptr.constant, m: i32 }\n"
        "struct N { next: ptr.constant, v: i32 }\n"
        "constant @words: [4 x i8] = { 7, 0, 9, 8 }\n"
        "constant @list: [2 x struct E] = { { 1, @words + 2, -2 }, { 3, @words, 70000 } }\n"
        "constant @packed: [5 x i32] align 8 = hex\"0500000006000000000000000000000007000000\" with { 8: @words + 3 }\n"
        "constant @ring: [2 x struct N] = { { @ring + 16, 5 }, { @tail, 6 } }\n"
        "constant @tail: struct N = { @ring, 11 }\n"
        "kernel @k(%o: ptr.global i32 write) {\n"
        "  %i = global_linear_id\n"
        "  %odd = and i64 %i, 1\n"
        "  %list = global @list\n"
        "  %e = elem struct E %list, %odd\n"
        "  %n_at = field struct E %e, n\n  %n = load i8 %n_at\n  %n32 = zext i32 %n\n"
        "  %w_at = field struct E %e, word\n  %w = load ptr.constant %w_at\n  %c = load i8 %w\n  %c32 = zext i32 %c\n"
        "  %m_at = field struct E %e, m\n  %m = load i32 %m_at\n"
        "  %packed = global @packed\n  %p_at = elem i32 %packed, 2\n  %p = load ptr.constant %p_at\n"
        "  %b = load i8 %p\n  %b32 = zext i32 %b\n  %last = load i32 %packed[4]\n"
        "  %ring = global @ring\n"
        "  %rounds = and i64 %i, 7\n"
        "  %sum = loop (%at: ptr.constant = %ring, %k: i64 = 0, %s: i32 = 0) -> i32 {\n"
        "    %done = uge i64 %k, %rounds\n    if %done { break %s }\n"
        "    %v_at = field struct N %at, v\n    %v = load i32 %v_at\n    %s3 = mul i32 %s, 3\n    %s2 = add i32 %s3, "
        "%v\n"
        "    %next_at = field struct N %at, next\n    %next = load ptr.constant %next_at\n"
        "    %k2 = add i64 %k, 1\n    continue %next, %k2, %s2\n"
        "  }\n"
        "  %x1 = add i32 %n32, %c32\n  %x2 = mul i32 %x1, %m\n  %x3 = add i32 %x2, %b32\n  %x4 = mul i32 %x3, %last\n"
        "  %x5 = add i32 %x4, %sum\n"
        "  store i32 %o[%i], %x5\n"
        "}\n";
    int32_t out[ITEMS] = {0};
    const struct interp_arg args[] = {{INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    kit_same_everywhere(text, ranges, 3, 0, args, 1);
    struct ir_module *m = kit_parse(text);
    kit_interpret(kit_kernel(m), &ranges[0], args);
    assert_int_equal(out[0], ((1 + 9) * -2 + 8) * 7);
    assert_int_equal(out[3], ((3 + 7) * 70000 + 8) * 7 + (5 * 9 + 6 * 3 + 11));
    ir_module_free(m);
}

/* What is refused says why. */
static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"import func @f(%x: i32) -> i32\n"
         "kernel @k(%o: ptr.global i32 write) { %r = call @f(1); store i32 %o, %r }\n",
         "line 2: call: the function is not defined in this module"},
        {"import global @g: i32\n"
         "kernel @k(%o: ptr.global i32 write) {\n %g = global @g\n %r = load i32 %g\n store i32 %o, %r\n}\n",
         "line 3: global: the variable is not defined in this module"},
        {"kernel @k(%o: ptr.global i32 write) {\n"
         " %v = var [300000 x i32]\n %i = global_id x\n store i32 %v[%i], 1\n %r = load i32 %v\n store i32 %o, %r\n}\n",
         "line 2: var: private memory is limited to 1 MiB a variable"},
        {"pipe @p: packet i64 capacity 200000000\n"
         "kernel @k(%o: ptr.global i32 write) {\n %p = global @p\n %n = pipe_num_packets %p\n store i32 %o, %n\n}\n",
         "line 3: global: a variable or pipe of the program is limited to 1 GiB"},
        {"constant @c: i32 = 1\nglobal @w: ptr.constant = @c\n"
         "kernel @k(%o: ptr.global i32 write) {\n %w = global @w\n %p = load ptr.constant %w\n %r = load i32 %p\n"
         " store i32 %o, %r\n}\n",
         "line 4: global: the variable w can be written, and addresses lie in its initial value"},
        {"import constant @c: i32\nconstant @t: ptr.constant = @c\n"
         "kernel @k(%o: ptr.global i32 write) {\n %w = global @t\n %p = load ptr.constant %w\n %r = load i32 %p\n"
         " store i32 %o, %r\n}\n",
         "line 4: global: the variable is not defined in this module"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ir_module *m = kit_parse(cases[i].text);
        struct diag_list list = {0};
        assert_false(cpu_check(kit_kernel(m), &list));
        char *said = diag_format(&list);
        if (!strstr(said, cases[i].why)) fail_msg("said: %s", said);
        free(said);
        diag_clear(&list);
        ir_module_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_value_is_written), cmocka_unit_test(by_value_across_a_barrier),
        cmocka_unit_test(spaces_are_known),    cmocka_unit_test(spaces_of_pointers),
        cmocka_unit_test(tables_of_addresses), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("cpu_memory", tests, NULL, NULL);
}
