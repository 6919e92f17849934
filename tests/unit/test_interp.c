/* The interpreter on single work-items: control flow, calls, memory and what it finds there. */
#include "test_interp_kit.h"

#include <stdio.h>

static void loops_carry_values_in_parallel(void **state)
{
    (void)state;
    /* Fibonacci: each round swaps as it adds, which a sequential copy would spoil. */
    int32_t out[10];
    struct interp_arg args[] = {BUFFER(out)};
    kit_clean_run("kernel @k(%o: ptr.global i32) {\n"
                  "    %i = global_id x\n"
                  "    %f = loop (%n: i64 = 0, %a: i32 = 0, %b: i32 = 1) -> i32 {\n"
                  "        %done = sge i64 %n, %i\n"
                  "        if %done {\n"
                  "            break %a\n"
                  "        }\n"
                  "        %s = add i32 %a, %b\n"
                  "        %m = add i64 %n, 1\n"
                  "        continue %m, %b, %s\n"
                  "    }\n"
                  "    %p = elem i32 %o, %i\n"
                  "    store i32 %p, %f\n"
                  "}\n",
                  10, 5, args);
    static const int32_t wanted[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
    assert_memory_equal(out, wanted, sizeof wanted);
}

static void ifs_yield_and_nested_loops_break(void **state)
{
    (void)state;
    int32_t out[4];
    struct interp_arg args[] = {BUFFER(out)};
    kit_clean_run("kernel @k(%o: ptr.global i32) {\n"
                  "    %i = global_id x\n"
                  "    %x = trunc i32 %i\n"
                  "    %odd = and i32 %x, 1\n"
                  "    %c = ieq i32 %odd, 1\n"
                  "    %v, %w = if %c -> i32, i32 {\n"
                  "        yield 100, %x\n"
                  "    } else {\n"
                  "        %n = loop (%a: i32 = 0) -> i32 {\n"
                  "            %d = loop (%b: i32 = %a) -> i32 {\n"
                  "                %far = sgt i32 %b, 5\n"
                  "                if %far {\n"
                  "                    break %b\n"
                  "                }\n"
                  "                %b2 = add i32 %b, 4\n"
                  "                continue %b2\n"
                  "            }\n"
                  "            %more = sgt i32 %d, 20\n"
                  "            if %more {\n"
                  "                break %d\n"
                  "            }\n"
                  "            %d2 = add i32 %d, %d\n"
                  "            continue %d2\n"
                  "        }\n"
                  "        yield 200, %n\n"
                  "    }\n"
                  "    %s = add i32 %v, %w\n"
                  "    %p = elem i32 %o, %i\n"
                  "    store i32 %p, %s\n"
                  "}\n",
                  4, 4, args);
    static const int32_t wanted[] = {232, 101, 232, 103};
    assert_memory_equal(out, wanted, sizeof wanted);
}

static void calls_return_values(void **state)
{
    (void)state;
    int32_t out[1], n = 10;
    struct interp_arg args[] = {BUFFER(out), BYTES(n)};
    kit_clean_run("func @power(%x: i32, %n: i32) -> i32 {\n"
                  "    %c = sle i32 %n, 0\n"
                  "    if %c {\n"
                  "        return 1\n"
                  "    }\n"
                  "    %r = loop (%i: i32 = 1, %p: i32 = %x) -> i32 {\n"
                  "        %done = ieq i32 %i, %n\n"
                  "        if %done {\n"
                  "            return %p\n" /* out of the loop and the function */
                  "        }\n"
                  "        %j = add i32 %i, 1\n"
                  "        %q = mul i32 %p, %x\n"
                  "        continue %j, %q\n"
                  "    }\n"
                  "    return %r\n"
                  "}\n"
                  "func @both(%n: i32) -> i32 {\n"
                  "    %a = call @power(2, %n)\n"
                  "    %b = call @power(3, %n)\n"
                  "    %c = call @power(%a, 0)\n"
                  "    %s = add i32 %a, %b\n"
                  "    %t = add i32 %s, %c\n"
                  "    return %t\n"
                  "}\n"
                  "kernel @k(%o: ptr.global i32, %n: i32) {\n"
                  "    %r = call @both(%n)\n"
                  "    store i32 %o, %r\n"
                  "}\n",
                  1, 1, args);
    assert_int_equal(out[0], 1024 + 59049 + 1);
}

/* A kernel that calls f0, which calls f1 ... */
static char *chain_of_calls(unsigned n)
{
    char *text = test_malloc(n * 64 + 256), *at = text;
    at += sprintf(at, "func @f%u() {\n}\n", n);
    for (unsigned i = n; i-- > 0;) at += sprintf(at, "func @f%u() {\n    call @f%u()\n}\n", i, i + 1);
    sprintf(at, "kernel @k() {\n    call @f0()\n}\n");
    return text;
}

static void the_deepest_calls_run(void **state)
{
    (void)state;
    char *text = chain_of_calls(IR_MAX_CALL_DEPTH - 2);
    kit_clean_run(text, 1, 1, NULL);
    test_free(text);
}

static void steps_have_a_limit(void **state)
{
    (void)state;
    struct kit k;
    kit_load(&k, "kernel @k() {\n    loop {\n    }\n}\n");
    k.options.max_steps = 1000;
    kit_run(&k, 1, 1, NULL);
    assert_false(k.result.completed);
    assert_int_equal(k.result.n_findings, 1);
    assert_int_equal(k.result.findings[0].kind, INTERP_LIMIT);
    kit_free(&k);
}

static void unreachable_and_imports_end_the_run(void **state)
{
    (void)state;
    struct kit k;
    kit_load(&k, "kernel @k() {\n    unreachable\n}\n");
    kit_run(&k, 1, 1, NULL);
    kit_expect(&k, INTERP_INVALID, 2, "unreachable");
    kit_free(&k);
    kit_load(&k, "import func @g()\nkernel @k() {\n    call @g()\n}\n");
    kit_run(&k, 1, 1, NULL);
    kit_expect(&k, INTERP_INVALID, 3, "`g`");
    kit_free(&k);
}

static void vectors_and_structs_in_memory(void **state)
{
    (void)state;
    struct {
        float v[3];
        int32_t guard;
        struct {
            int8_t a;
            double b;
        } s;
    } out = {.guard = 77};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = &out, .size = sizeof out}};
    kit_clean_run("struct inner { a: i8, b: f64 }\n"
                  "struct outer { v: f32x3, s: struct inner }\n"
                  "kernel @k(%o: ptr.global) {\n"
                  "    %v = field struct outer %o, v\n"
                  "    store f32x3 %v, <1.0, 2.0, 3.0>\n"
                  "    %x = load f32x3 %v\n"
                  "    %y = fadd f32x3 %x, %x\n"
                  "    store f32x3 %v, %y\n"
                  "    %s = field struct outer %o, s\n"
                  "    %a = field struct inner %s, a\n"
                  "    %b = field struct inner %s, b\n"
                  "    store i8 %a, -5\n"
                  "    store f64 %b, 0.5\n"
                  "}\n",
                  1, 1, args);
    assert_true(out.v[0] == 2 && out.v[1] == 4 && out.v[2] == 6);
    assert_int_equal(out.guard, 77);
    assert_int_equal(out.s.a, -5);
    assert_true(out.s.b == 0.5);
}

static void pointers_live_in_memory_and_integers(void **state)
{
    (void)state;
    int32_t out[8] = {0};
    struct interp_arg args[] = {BUFFER(out)};
    kit_clean_run("kernel @k(%o: ptr.global i32) {\n"
                  "    %slot = var ptr.global\n"
                  "    %end = elem i32 %o, 8\n"
                  "    store ptr.global %slot, %end\n"
                  "    %e = load ptr.global %slot\n"
                  "    %last = elem i32 %e, -1\n"
                  "    store i32 %last, 5\n"
                  "    %n = ptrtoint i64 %last\n"
                  "    %m = sub i64 %n, 400\n"
                  "    %before = inttoptr %m, global\n"
                  "    %back = elem i32 %before, 96\n"
                  "    store i32 %back, 6\n"
                  "    %g = spacecast %o, generic\n"
                  "    store i32 %g, 7\n"
                  "    %l = spacecast %g, local\n"
                  "    %none = ieq ptr.local %l, null\n"
                  "    %z = zext i32 %none\n"
                  "    %p = elem i32 %o, 1\n"
                  "    store i32 %p, %z\n"
                  "}\n",
                  1, 1, args);
    static const int32_t wanted[] = {7, 1, 0, 6, 0, 0, 0, 5};
    assert_memory_equal(out, wanted, sizeof wanted);
}

static bool find_in(void *data, uint64_t address, void **memory, uint64_t *bytes)
{
    uint64_t first = (uint64_t)(uintptr_t)data;
    *memory = data;
    *bytes = 4 * sizeof(int32_t);
    return address >= first && address - first < *bytes;
}

/* A list that the host and an earlier kernel linked, through an argument's memory and through memory that is none. */
static void addresses_of_the_process(void **state)
{
    (void)state;
    static int32_t beside[4] = {10, 20, 30, 40};
    int32_t out[2] = {0};
    int32_t *links[3] = {&beside[1], NULL, NULL};
    struct interp_arg args[] = {BUFFER(links), BUFFER(out)};
    struct interp_finder finder = {beside, find_in};
    struct kit k;
    kit_load(&k, "kernel @k(%t: ptr.global ptr.global, %o: ptr.global i32) {\n"
                 "    %first = load ptr.global %t[0]\n"
                 "    %next = load ptr.global %t[2]\n"
                 "    %there = ine ptr.global %next, null\n"
                 "    if %there {\n"
                 "        %same = ieq ptr.global %next, %o\n"
                 "        %z = zext i32 %same\n"
                 "        store i32 %next[1], %z\n"
                 "    }\n"
                 "    %x = load i32 %first[1]\n"
                 "    store i32 %first[2], 33\n"
                 "    %n = ptrtoint i64 %first\n"
                 "    %m = add i64 %n, 4\n"
                 "    %p = inttoptr %m, global\n"
                 "    %y = load i32 %p\n"
                 "    %s = add i32 %x, %y\n"
                 "    store i32 %o[0], %s\n"
                 "    store ptr.global %t[1], %p\n"
                 "    store ptr.global %t[2], %o\n"
                 "}\n");
    k.options.finder = &finder;
    kit_run(&k, 1, 1, args);
    kit_expect_clean(&k);
    assert_int_equal(out[0], 60);
    assert_int_equal(beside[3], 33);
    assert_ptr_equal(links[1], &beside[2]);
    assert_ptr_equal(links[2], out);
    kit_run(&k, 1, 1, args); /* what the first run stored leads to its argument */
    kit_expect_clean(&k);
    assert_int_equal(out[1], 1);
    links[0] = &beside[3]; /* and the element behind it is nobody's */
    kit_run(&k, 1, 1, args);
    assert_non_null(strstr(k.result.findings[0].text, "load of 4 bytes at offset 16 of memory at "));
    k.options.finder = NULL;
    kit_run(&k, 1, 1, args);
    assert_non_null(strstr(k.result.findings[0].text, "where there is no memory"));
    kit_free(&k);
}

static void by_value_structs_are_copies(void **state)
{
    (void)state;
    int32_t out[2] = {0}, s[2] = {3, 4};
    struct interp_arg args[] = {BUFFER(out), {.kind = INTERP_ARG_BYTES, .data = s, .size = sizeof s}};
    kit_clean_run("struct pair { a: i32, b: i32 }\n"
                  "func @f(%s: ptr.private struct pair by_value) {\n"
                  "    store i32 %s, 99\n"
                  "    return\n"
                  "}\n"
                  "kernel @k(%o: ptr.global i32, %s: ptr.private struct pair by_value) {\n"
                  "    call @f(%s)\n"
                  "    %i = global_id x\n"
                  "    %a = load i32 %s\n"
                  "    store i32 %s, 50\n"
                  "    %p = elem i32 %o, %i\n"
                  "    store i32 %p, %a\n"
                  "}\n",
                  2, 2, args);
    assert_int_equal(out[0], 3);
    assert_int_equal(out[1], 3);
    assert_int_equal(s[0], 3);
}

static void module_variables(void **state)
{
    (void)state;
    int32_t out[3];
    struct interp_arg args[] = {BUFFER(out)};
    kit_clean_run("constant @table: [3 x i32] = {5, 6, 7}\n"
                  "global @counter: i32\n"
                  "kernel @k(%o: ptr.global i32) {\n"
                  "    %i = global_id x\n"
                  "    %t = global @table\n"
                  "    %q = elem i32 %t, %i\n"
                  "    %x = load i32 %q\n"
                  "    %c = global @counter\n"
                  "    %n = atomic_add i32 %c, 10\n"
                  "    %s = add i32 %x, %n\n"
                  "    %p = elem i32 %o, %i\n"
                  "    store i32 %p, %s\n"
                  "}\n",
                  3, 1, args);
    static const int32_t wanted[] = {5, 16, 27};
    assert_memory_equal(out, wanted, sizeof wanted);
}

/* ---- findings ---- */

static const char *const plus_one = "kernel @k(%x: i32, %t: ptr.global i32) {\n"
                                    "    %i = global_id x\n"
                                    "    %p = elem i32 %t, %i\n"
                                    "    store i32 %p, %x\n"
                                    "}\n";

static void out_of_bounds_tells_sizes(void **state)
{
    (void)state;
    int32_t t[4] = {0}, x = 9;
    struct interp_arg args[] = {BYTES(x), BUFFER(t)};
    struct kit k;
    kit_load(&k, plus_one);
    kit_run(&k, 6, 2, args);
    const struct interp_finding *f =
        kit_expect(&k, INTERP_OUT_OF_BOUNDS, 4, "store of 4 bytes at offset 16 of argument 1 `t` (16 bytes)");
    assert_int_equal(f->item[0], 4);
    assert_string_equal(f->function, "k");
    assert_true(k.result.completed); /* the access does not happen, the rest does */
    assert_int_equal(t[3], 9);
    assert_int_equal(k.result.bytes_written, 16);
    kit_free(&k);
}

static void bad_pointers(void **state)
{
    (void)state;
    int32_t t[4] = {0};
    struct interp_arg args[] = {BUFFER(t)};
    struct kit k;
    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n    store i32 ptr.global null, 1\n}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_OUT_OF_BOUNDS, 2, "null pointer");
    kit_free(&k);

    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n    %p = elem i8 %t, -2\n    %x = load i8 %p\n}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_OUT_OF_BOUNDS, 3, "at offset -2 of argument 0");
    kit_free(&k);

    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n    %p = elem i8 %t, 2\n    %x = load i32 %p\n    %y = load i32 %p, "
                 "align 2\n}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_INVALID, 3, "not aligned to 4");
    kit_free(&k);

    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n    %n = ptrtoint i64 %t\n    %p = inttoptr %n, local\n    %x = "
                 "load i32 %p\n}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_INVALID, 4, "local pointer in the global memory");
    kit_free(&k);

    kit_load(&k, "kernel @k(%t: ptr.global i32 read) {\n    store i32 %t, 1\n}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_INVALID, 2, "for reading only");
    kit_free(&k);
}

static void variables_die_with_their_function(void **state)
{
    (void)state;
    int64_t t[1];
    struct interp_arg args[] = {BUFFER(t)};
    struct kit k;
    kit_load(&k, "func @f() -> ptr.private {\n"
                 "    %v = var i32\n"
                 "    store i32 %v, 1\n"
                 "    return %v\n"
                 "}\n"
                 "kernel @k(%t: ptr.global i64) {\n"
                 "    %p = call @f()\n"
                 "    %x = load i32 %p\n"
                 "}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_OUT_OF_BOUNDS, 8, "variable `v` of function `f` (4 bytes), which has returned");
    kit_free(&k);
}

static void unwritten_memory_is_found_once(void **state)
{
    (void)state;
    uint32_t t[4] = {0};
    const uint8_t written[16] = {1, 1, 1, 1, 1, 1, 1, 0};
    struct interp_arg args[] = {BUFFER(t)};
    args[0].written = written;
    struct kit k;
    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n"
                 "    %v = var [2 x i32]\n"
                 "    store i32 %v, 1\n"
                 "    %ok = load i32 %v\n"
                 "    %i = global_id x\n"
                 "    %p = elem i32 %t, %i\n"
                 "    %x = load i32 %p\n"
                 "}\n");
    kit_run(&k, 4, 4, args);
    const struct interp_finding *f = kit_expect(&k, INTERP_UNWRITTEN, 7, "byte 7 was never written");
    assert_int_equal(f->item[0], 1);
    k.options.check_unwritten = false;
    kit_run(&k, 4, 4, args);
    kit_expect_clean(&k);
    kit_free(&k);

    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n"
                 "    %v = var i32\n"
                 "    %w = var i32\n"
                 "    copy i32 %w, %v, 1\n" /* taking along is not reading */
                 "    %x = load i32 %w\n"
                 "}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_UNWRITTEN, 5, "variable `w`");
    kit_free(&k);
}

static void division_by_zero_is_found(void **state)
{
    (void)state;
    int32_t t[4] = {1, 2, 0, 4};
    struct interp_arg args[] = {BUFFER(t)};
    struct kit k;
    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n"
                 "    %v = load i32x4 %t\n"
                 "    %q = sdiv i32x4 8, %v\n"
                 "    store i32x4 %t, %q\n"
                 "}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_DIVISION, 3, "lane 2");
    static const int32_t wanted[] = {8, 4, 0, 2};
    assert_memory_equal(t, wanted, sizeof wanted);
    kit_free(&k);
}

static void overlapping_copies_are_found(void **state)
{
    (void)state;
    int32_t t[4] = {1, 2, 3, 4};
    struct interp_arg args[] = {BUFFER(t)};
    struct kit k;
    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n    %p = elem i32 %t, 1\n    copy i32 %p, %t, 2\n}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_INVALID, 3, "overlap");
    kit_free(&k);
    kit_load(&k, "kernel @k(%t: ptr.global i32) {\n    %p = elem i32 %t, 2\n    copy i32 %p, %t, 3\n}\n");
    kit_run(&k, 1, 1, args);
    assert_int_equal(k.result.findings[k.result.n_findings - 1].kind, INTERP_OUT_OF_BOUNDS);
    kit_free(&k);
}

static void too_much_memory_is_refused(void **state)
{
    (void)state;
    struct kit k;
    kit_load(&k, "kernel @k() {\n    %v = var [4000000000000 x i64]\n}\n");
    kit_run(&k, 1, 1, NULL);
    kit_expect(&k, INTERP_LIMIT, 1, "320000000000");
    assert_false(k.result.completed);
    kit_free(&k);
    const struct interp_arg args[] = {LOCAL(1ull << 60)};
    kit_load(&k, "kernel @k(%s: ptr.local i32) {\n}\n");
    kit_run(&k, 1, 1, args);
    kit_expect(&k, INTERP_LIMIT, 1, "local memory `s`");
    assert_int_equal(k.rc, -1);
    kit_free(&k);
}

/* ---- the call itself ---- */

static void expect_refused(const char *text, const struct nd_range *range, const struct interp_arg *args,
                           const char *part)
{
    struct kit k;
    kit_load(&k, text);
    kit_run_range(&k, range, args);
    assert_int_equal(k.rc, -1);
    assert_false(k.result.completed);
    assert_true(k.result.n_findings >= 1);
    if (!strstr(k.result.findings[0].text, part)) fail_msg("%s", k.result.findings[0].text);
    kit_free(&k);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    int32_t t[4] = {0}, x = 9;
    const struct interp_arg good[] = {BYTES(x), BUFFER(t)}, swapped[] = {BUFFER(t), BYTES(x)};
    const struct interp_arg large[] = {BUFFER(t), BUFFER(t)}, wide[] = {{INTERP_ARG_BYTES, t, 8, NULL}, BUFFER(t)};
    const struct nd_range r = {1, {4, 1, 1}, {0}, {2, 1, 1}};
    expect_refused(plus_one, &r, swapped, "argument 0 `x` of kernel `k` must be bytes");
    expect_refused(plus_one, &r, large, "argument 0");
    expect_refused(plus_one, &r, wide, "has 8 bytes, not the 4 of its type");
    expect_refused(plus_one, &r, NULL, "there are no arguments");
    expect_refused(plus_one, &(struct nd_range){0, {4, 1, 1}, {0}, {2, 1, 1}}, good, "dimensions");
    expect_refused(plus_one, &(struct nd_range){1, {4, 2, 1}, {0}, {2, 1, 1}}, good, "not used");
    expect_refused(plus_one, &(struct nd_range){1, {4, 1, 1}, {0}, {0, 1, 1}}, good, "local size is 0");
    expect_refused(plus_one, &(struct nd_range){1, {1ull << 40, 1, 1}, {0}, {2, 1, 1}}, good, "2^32");
    expect_refused(plus_one, &(struct nd_range){1, {1ull << 40, 1, 1}, {0}, {1ull << 40, 1, 1}}, good, "65536");
    expect_refused("kernel @k() work_group_size(8, 1, 1) {\n}\n", &r, NULL, "requires 8");
    expect_refused("kernel @k() assumes(small_ids) {\n}\n",
                   &(struct nd_range){1, {4, 1, 1}, {1u << 31, 0, 0}, {2, 1, 1}}, NULL, "assumes sizes and ids below");
    expect_refused("kernel @k() assumes(whole_groups) {\n}\n", &(struct nd_range){1, {5, 1, 1}, {0}, {2, 1, 1}}, NULL,
                   "assumes local sizes that divide");
    expect_refused("kernel @k() assumes(lane_groups) {\n}\n", &(struct nd_range){1, {32, 1, 1}, {0}, {4, 1, 1}}, NULL,
                   "assumes a multiple of 16 work-groups");
    expect_refused("kernel @k() assumes(lane_groups, last_group) {\n}\n",
                   &(struct nd_range){1, {64, 1, 1}, {0}, {4, 1, 1}}, NULL, "assumes a multiple of 16 work-groups");
}

static void no_work_items_is_fine(void **state)
{
    (void)state;
    kit_clean_run("kernel @k() {\n    unreachable\n}\n", 0, 1, NULL);
}

static void ids_and_sizes(void **state)
{
    (void)state;
    int64_t out[24][8];
    memset(out, 0xff, sizeof out);
    struct interp_arg args[] = {BUFFER(out)};
    struct kit k;
    kit_load(&k, "kernel @k(%o: ptr.global i64) {\n"
                 "    %l = global_linear_id\n"
                 "    %p = elem [8 x i64] %o, %l\n"
                 "    %gx = global_id x\n    %gy = global_id y\n"
                 "    %lx = local_id x\n    %sx = local_size x\n    %ex = enqueued_local_size x\n"
                 "    %q = group_id y\n    %n = num_groups x\n    %ll = local_linear_id\n"
                 "    store i64 %p, %gx\n"
                 "    %p1 = elem i64 %p, 1\n    store i64 %p1, %gy\n"
                 "    %p2 = elem i64 %p, 2\n    store i64 %p2, %lx\n"
                 "    %p3 = elem i64 %p, 3\n    store i64 %p3, %sx\n"
                 "    %p4 = elem i64 %p, 4\n    store i64 %p4, %ex\n"
                 "    %p5 = elem i64 %p, 5\n    store i64 %p5, %q\n"
                 "    %p6 = elem i64 %p, 6\n    store i64 %p6, %n\n"
                 "    %p7 = elem i64 %p, 7\n    store i64 %p7, %ll\n"
                 "}\n");
    kit_run_range(&k, &(struct nd_range){2, {6, 4, 1}, {10, 20, 0}, {4, 2, 1}}, args);
    kit_expect_clean(&k);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 6; x++) {
            int width = x < 4 ? 4 : 2; /* the second group in a row is incomplete */
            const int64_t wanted[8] = {10 + x, 20 + y, x % 4, width, 4, y / 2, 2, y % 2 * width + x % 4};
            assert_memory_equal(out[y * 6 + x], wanted, sizeof wanted);
        }
    kit_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_carry_values_in_parallel),
        cmocka_unit_test(ifs_yield_and_nested_loops_break),
        cmocka_unit_test(calls_return_values),
        cmocka_unit_test(the_deepest_calls_run),
        cmocka_unit_test(steps_have_a_limit),
        cmocka_unit_test(unreachable_and_imports_end_the_run),
        cmocka_unit_test(vectors_and_structs_in_memory),
        cmocka_unit_test(pointers_live_in_memory_and_integers),
        cmocka_unit_test(addresses_of_the_process),
        cmocka_unit_test(by_value_structs_are_copies),
        cmocka_unit_test(module_variables),
        cmocka_unit_test(out_of_bounds_tells_sizes),
        cmocka_unit_test(bad_pointers),
        cmocka_unit_test(variables_die_with_their_function),
        cmocka_unit_test(unwritten_memory_is_found_once),
        cmocka_unit_test(division_by_zero_is_found),
        cmocka_unit_test(overlapping_copies_are_found),
        cmocka_unit_test(too_much_memory_is_refused),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(no_work_items_is_fine),
        cmocka_unit_test(ids_and_sizes),
    };
    return cmocka_run_group_tests_name("interp", tests, NULL, NULL);
}
