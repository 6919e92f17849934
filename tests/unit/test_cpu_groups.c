/* Compiled kernels whose work-items meet: barriers, local memory, group operations; and what is refused there. */
#include "tests/support/compiled_kit.h"

enum { N = 640 };

static int32_t ints[N], out[N];
static float floats[N], results[N];
static double doubles[N];
static int64_t longs[N];
static int16_t shorts[N], halves[N];
static int8_t chars[N];

static int fill(void **state)
{
    (void)state;
    uint32_t x = 99;
    for (int i = 0; i < N; i++) {
        x = x * 1664525 + 1013904223;
        ints[i] = (int32_t)(x >> 8) % 1000 - 500;
        floats[i] = (float)((int32_t)(x >> 9) % 10007) / 37 - 100;
        doubles[i] = (double)ints[i] / 7 + (double)floats[i];
        longs[i] = (int64_t)x * 2654435761 - ints[i];
        shorts[i] = (int16_t)(x >> 11);
        halves[i] = (int16_t)((x >> 11 & 0x87ff) | 0x3800);
        chars[i] = (int8_t)(x >> 13);
    }
    return 0;
}

#define BUFFER(array)                                                                                                  \
    {                                                                                                                  \
        .kind = INTERP_ARG_BUFFER, .data = array, .size = sizeof array                                                 \
    }
#define LOCAL(bytes)                                                                                                   \
    {                                                                                                                  \
        .kind = INTERP_ARG_LOCAL, .size = bytes                                                                        \
    }
#define RANGE(n, l)                                                                                                    \
    {                                                                                                                  \
        1, {n, 1, 1}, {0, 0, 0},                                                                                       \
        {                                                                                                              \
            l, 1, 1                                                                                                    \
        }                                                                                                              \
    }

/* Whole groups, groups smaller and larger than a vector, incomplete ones. */
static const struct nd_range rows[] = {RANGE(1, 1),     RANGE(64, 16), RANGE(61, 16), RANGE(100, 33),
                                       RANGE(128, 128), RANGE(37, 5),  RANGE(200, 64)};
static const struct nd_range planes[] = {
    {2, {16, 16, 1}, {0, 0, 0}, {8, 8, 1}}, {2, {20, 7, 1}, {0, 0, 0}, {8, 4, 1}},
    {2, {33, 3, 1}, {2, 1, 0}, {33, 2, 1}}, {3, {9, 5, 4}, {0, 0, 0}, {4, 3, 2}},
    {3, {1, 40, 2}, {0, 0, 0}, {1, 16, 2}}, {1, {70, 1, 1}, {3, 0, 0}, {32, 1, 1}},
};
enum { ROWS = sizeof rows / sizeof *rows, PLANES = sizeof planes / sizeof *planes };

static void on_rows(const char *text, const struct interp_arg *args, uint32_t n)
{
    kit_same_everywhere(text, rows, ROWS, 0, args, n);
    for (unsigned i = 1; i < ROWS; i += 2) kit_same_as_planned(text, &rows[i], args, n);
}

static void on_planes(const char *text, const struct interp_arg *args, uint32_t n)
{
    kit_same_everywhere(text, planes, PLANES, 0, args, n);
    for (unsigned i = 0; i < PLANES; i += 2) kit_same_as_planned(text, &planes[i], args, n);
}

static void reversal_in_local_memory(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out), LOCAL(128 * 4)};
    on_rows("kernel @k(%a: ptr.global i32, %o: ptr.global i32, %s: ptr.local i32) {\n"
            "  %g = global_id x\n  %l = local_id x\n  %v = load i32 %a[%g]\n  store i32 %s[%l], %v\n"
            "  barrier local\n"
            "  %n = local_size x\n  %m = sub i64 %n, 1\n  %r = sub i64 %m, %l\n  %w = load i32 %s[%r]\n"
            "  store i32 %o[%g], %w\n}\n",
            args, 3);
}

static void tree_reduction(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(floats), BUFFER(results)};
    on_rows("local @tile: [128 x f32]\n"
            "kernel @k(%a: ptr.global f32, %o: ptr.global f32) {\n"
            "  %i = global_id x\n  %l = local_id x\n  %g = group_id x\n  %n = local_size x\n  %t = global @tile\n"
            "  %x = load f32 %a[%i]\n  store f32 %t[%l], %x\n  barrier work_group, local\n"
            "  loop (%half: i64 = 64) {\n"
            "    %done = ieq i64 %half, 0\n    if %done { break\n }\n"
            "    %low = slt i64 %l, %half\n    %other = add i64 %l, %half\n    %there = slt i64 %other, %n\n"
            "    %active = and bool %low, %there\n"
            "    if %active {\n      %p = load f32 %t[%l]\n      %q = load f32 %t[%other]\n      %s = fadd f32 %p, %q\n"
            "      store f32 %t[%l], %s\n    }\n"
            "    barrier work_group, local\n"
            "    %next = lshr i64 %half, 1\n    continue %next\n  }\n"
            "  %first = ieq i64 %l, 0\n"
            "  if %first {\n    %sum = load f32 %t\n    store f32 %o[%g], %sum\n    return\n  }\n}\n",
            args, 2);
}

/* Rows that are cut between whole vectors, or inside of one. */
static void tree_of_constant_steps(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out), LOCAL(256 * 4)};
    static const char *const compare[] = {"ult i64 %l, 64", "sgt i64 64, %l", "sge i64 %l, 64", "sle i64 %l, 63"};
    for (unsigned i = 0; i < 4; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "kernel @k(%%a: ptr.global i32, %%o: ptr.global i32, %%s: ptr.local i32) {\n"
                 "  %%i = global_id x\n  %%l = local_id x\n  %%v = load i32 %%a[%%i]\n  store i32 %%s[%%l], %%v\n"
                 "  barrier local\n  %%c = %s\n"
                 "  if %%c {\n    %%x = mul i32 %%v, 3\n    store i32 %%s[%%l], %%x\n  }\n"
                 "  barrier local\n  %%d = ult i64 %%l, 2\n"
                 "  if %%d {\n    %%y = load i32 %%s[%%l]\n    %%z = add i32 %%y, 1\n    store i32 %%s[%%l], %%z\n  }\n"
                 "  barrier local\n  %%r = load i32 %%s[%%l]\n  store i32 %%o[%%i], %%r\n}\n",
                 compare[i]);
        on_rows(text, args, 3);
        kit_same_as_planned(text, &(struct nd_range)RANGE(256, 128), args, 3);
    }
}

/* Conditions on ids that are decided by a vector's first and last lane, and end a row of work-items. */
static void conditions_on_ids(void **state)
{
    (void)state;
    static const char *const ops[] = {"slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    static const struct {
        const char *left, *right;
    } sides[] = {{"%n", "%b"}, {"%b", "%n"}, {"%w", "%b"}, {"%d", "%b"}};
    for (size_t i = 0; i < 2 * sizeof ops / sizeof *ops; i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "kernel @k(%%a: ptr.global i32, %%o: ptr.global i32, %%s: ptr.local i32) {\n"
            "  %%i = global_linear_id\n  %%x = local_id x\n  %%l = local_linear_id\n  %%g = group_id x\n"
            "  %%v = load i32 %%a[%%i]\n  store i32 %%s[%%l], %%v\n  %%n = trunc i32 %%x\n"
            "  %%w = add i32 %%n, 2147483643\n  %%d = sub i32 5, %%n\n  %%gn = trunc i32 %%g\n"
            "  %%b0 = mul i32 %%gn, 7\n  %%b = sub i32 %%b0, 3\n  barrier local\n"
            "  %%c = %s i32 %s, %s\n"
            "  if %%c {\n    %%u = load i32 %%s[%%l]\n    %%u3 = mul i32 %%u, 3\n    store i32 %%s[%%l], %%u3\n  }\n"
            "  barrier local\n  %%r = load i32 %%s[%%l]\n  store i32 %%o[%%i], %%r\n}\n",
            ops[i / 2], sides[(2 * i + i / 8) % 4].left, sides[(2 * i + i / 8) % 4].right);
        struct interp_arg args[] = {BUFFER(ints), BUFFER(out), LOCAL(128 * 4)};
        kit_same_everywhere(text, i % 3 ? rows + 4 : planes, i % 3 ? 3 : 5, 0, args, 3);
    }
}

static void transposition_of_tiles(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out), LOCAL(128 * 4)};
    on_planes("kernel @k(%a: ptr.global i32, %o: ptr.global i32, %s: ptr.local i32) {\n"
              "  %i = global_linear_id\n  %x = local_id x\n  %y = local_id y\n  %z = local_id z\n"
              "  %w = local_size x\n  %h = local_size y\n  %v = load i32 %a[%i]\n"
              "  %p0 = mul i64 %z, %w\n  %p1 = add i64 %p0, %x\n  %p2 = mul i64 %p1, %h\n  %p = add i64 %p2, %y\n"
              "  store i32 %s[%p], %v\n  barrier local\n"
              "  %l = local_linear_id\n  %t = load i32 %s[%l]\n  store i32 %o[%i], %t\n}\n",
              args, 3);
}

/* Numbers, bools, vectors, pointers and private variables live on; in loops, values go round and are exchanged. */
static void values_that_live_across(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out), BUFFER(floats), BUFFER(results), LOCAL(128 * 4)};
    on_rows(
        "kernel @k(%a: ptr.global i32, %o: ptr.global i32, %x: ptr.global f32, %r: ptr.global f32, %s: ptr.local i32) "
        "{\n"
        "  %i = global_id x\n  %l = local_id x\n  %v = load i32 %a[%i]\n  %f = load f32 %x[%i]\n"
        "  %narrow = trunc i8 %v\n  %neg = slt i32 %v, 0\n  %fd = fpconv f64 %f\n"
        "  %vec = vec f32x4 %f, 1, %f, 2\n  %mine = var [4 x i32]\n  %m1 = elem i32 %mine, 1\n"
        "  store i32 %m1, %v\n  store i32 %s[%l], %v\n  %p = elem i32 %a, %v\n"
        "  barrier local\n"
        "  %n = local_size x\n  %l1 = add i64 %l, 1\n  %at = urem i64 %l1, %n\n  %w = load i32 %s[%at]\n"
        "  store i32 %mine, %w\n"
        "  barrier local\n"
        "  store i32 %s[%l], %w\n"
        "  barrier local\n"
        "  %u = load i32 %s[%at]\n"
        "  %c, %d, %k = loop (%e: i32 = %u, %g: i32 = %w, %round: i32 = 0) -> i32, i32, i32 {\n"
        "    %end = ieq i32 %round, 3\n"
        "    if %end { break %e, %g, %round\n }\n"
        "    barrier local\n"
        "    store i32 %s[%l], %e\n"
        "    barrier local\n"
        "    %h = load i32 %s[%at]\n    %hh = add i32 %h, %g\n"
        "    %more = add i32 %round, 1\n    continue %g, %hh, %more\n  }\n"
        "  %m = load i32 %mine\n  %q = load i32 %m1\n  %vx = extract f32x4 %vec, 2\n"
        "  %ni = sext i32 %narrow\n  %b = select i32 %neg, %c, %d\n  %t0 = add i32 %b, %m\n  %t1 = xor i32 %t0, %q\n"
        "  %t2 = add i32 %t1, %ni\n  %t3 = add i32 %t2, %k\n  store i32 %o[%i], %t3\n"
        "  %ff = fpconv f32 %fd\n  %f2 = fadd f32 %ff, %vx\n  store f32 %r[%i], %f2\n}\n",
        args, 5);
}

static void barriers_in_uniform_ifs(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out), LOCAL(128 * 4)};
    on_rows("kernel @k(%a: ptr.global i32, %o: ptr.global i32, %s: ptr.local i32) {\n"
            "  %i = global_id x\n  %l = local_id x\n  %g = group_id x\n  %n = local_size x\n"
            "  %v = load i32 %a[%i]\n  %low = and i64 %g, 1\n  %odd = ieq i64 %low, 1\n"
            "  %r, %u = if %odd -> i32, i64 {\n"
            "    store i32 %s[%l], %v\n    barrier local\n"
            "    %m = sub i64 %n, 1\n    %b = sub i64 %m, %l\n    %w = load i32 %s[%b]\n    yield %w, %n\n"
            "  } else {\n    %x = mul i32 %v, 3\n    yield %x, %g\n  }\n"
            "  %third = ieq i64 %g, 2\n"
            "  if %third { return\n }\n"
            "  barrier local\n"
            "  %k = trunc i32 %u\n  %t = add i32 %r, %k\n  store i32 %o[%i], %t\n}\n",
            args, 3);
}

/* Reduce, both scans, broadcast of a type with an operation; the results behind another barrier. */
static void group_operations(const char *type, const char *op, void *in, uint64_t size)
{
    char text[2048];
    void *o = calloc(4, size);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = size},
                                {.kind = INTERP_ARG_BUFFER, .data = o, .size = 4 * size}};
    snprintf(text, sizeof text,
             "kernel @k(%%a: ptr.global %s, %%o: ptr.global %s) {\n"
             "  %%i = global_linear_id\n  %%x = load %s %%a[%%i]\n"
             "  %%r = group_reduce %s %%x, work_group, %s\n"
             "  %%s = group_scan_incl %s %%x, work_group, %s\n"
             "  %%e = group_scan_excl %s %%x, work_group, %s\n"
             "  %%n = local_size x\n  %%m = local_size y\n  %%k = local_size z\n  %%n1 = sub i64 %%n, 1\n"
             "  %%m1 = lshr i64 %%m, 1\n  %%k1 = sub i64 %%k, 1\n"
             "  %%b = group_broadcast %s %%x, %%n1, %%m1, %%k1, work_group\n"
             "  barrier local\n"
             "  %%p = mul i64 %%i, 4\n  %%q = elem %s %%o, %%p\n"
             "  store %s %%q, %%r\n  store %s %%q[1], %%s\n  store %s %%q[2], %%e\n  store %s %%q[3], %%b\n}\n",
             type, type, type, type, op, type, op, type, op, type, type, type, type, type, type);
    on_planes(text, args, 2);
    free(o);
}

static void group_operations_on_integers(void **state)
{
    (void)state;
    group_operations("i8", "add", chars, sizeof chars);
    group_operations("i8", "umin", chars, sizeof chars);
    group_operations("i16", "smax", shorts, sizeof shorts);
    group_operations("i32", "add", ints, sizeof ints);
    group_operations("i32", "xor", ints, sizeof ints);
    group_operations("i64", "smin", longs, sizeof longs);
    group_operations("i64", "and", longs, sizeof longs);
}

static void group_operations_on_floats(void **state)
{
    (void)state;
    group_operations("f16", "add", halves, sizeof halves);
    group_operations("f32", "add", floats, sizeof floats);
    group_operations("f32", "smin", floats, sizeof floats);
    group_operations("f64", "smax", doubles, sizeof doubles);
    group_operations("f64", "mul", doubles, sizeof doubles);
}

static void votes(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out)};
    on_planes("kernel @k(%a: ptr.global i32, %o: ptr.global i32) {\n"
              "  %i = global_linear_id\n  %v = load i32 %a[%i]\n  %high = sgt i32 %v, 480\n  %some = sgt i32 %v, -470\n"
              "  %any = group_any %high, work_group\n  %all = group_all %some, work_group\n"
              "  %g = if %any -> i32 {\n    %m = group_reduce i32 %v, work_group, smax\n    yield %m\n"
              "  } else {\n    yield 7\n  }\n"
              "  %x = select i32 %all, %g, -1\n  store i32 %o[%i], %x\n}\n",
              args, 2);
}

/* Vectors, bools; in loops in loops, with values that differ by work-item going out through breaks. */
static void group_operations_in_loops(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out)};
    on_planes("kernel @k(%a: ptr.global i32, %o: ptr.global i32) {\n"
              "  %i = global_linear_id\n  %l = local_linear_id\n  %v = load i32 %a[%i]\n  %w = xor i32 %v, 77\n"
              "  %pair = vec i32x2 %v, %w\n  %neg = slt i32 %v, 0\n"
              "  %x, %y = loop (%k: i32 = 0, %s: i32x2 = %pair) -> i32, i32x2 {\n"
              "    %r = group_reduce i32x2 %s, work_group, add\n    %t = group_scan_excl i32x2 %s, work_group, smax\n"
              "    %mine = var i32\n    store i32 %mine, %k\n"
              "    %u = loop (%j: i32 = 0, %p: i32x2 = %t) -> i32x2 {\n"
              "      %q = group_scan_incl i32x2 %p, work_group, xor\n"
              "      %enough = ieq i32 %j, %k\n      if %enough { break %q\n }\n"
              "      %m = load i32 %mine\n      %m1 = add i32 %m, %v\n      store i32 %mine, %m1\n"
              "      %j1 = add i32 %j, 1\n      continue %j1, %q\n    }\n"
              "    %z = add i32x2 %u, %r\n    %last = sge i32 %k, 2\n    %kept = load i32 %mine\n"
              "    if %last { break %kept, %z\n }\n"
              "    %k1 = add i32 %k, 1\n    continue %k1, %z\n  }\n"
              "  %first = group_broadcast bool %neg, 0, work_group\n"
              "  %y0 = extract i32x2 %y, 0\n  %y1 = extract i32x2 %y, 1\n  %d = sub i32 %y0, %y1\n"
              "  %e = select i32 %first, %d, %x\n  %f = add i32 %e, %x\n  store i32 %o[%i], %f\n}\n",
              args, 2);
}

static void refused(const char *text, unsigned line, const char *op, const char *why)
{
    struct ir_module *m = kit_parse(text);
    struct diag_list list = {0};
    assert_false(cpu_check(kit_kernel(m), &list));
    assert_true(list.n >= 1);
    assert_int_equal(list.items[0].line, line);
    assert_non_null(strstr(list.items[0].text, op));
    assert_non_null(strstr(list.items[0].text, why));
    diag_clear(&list);
    ir_module_free(m);
}

/* Whether all come to a barrier is data's to say: then a vote finds out, and the program is right if they agree. */
static void agreement_by_vote(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out), LOCAL(128 * 4)};
    on_rows("kernel @k(%a: ptr.global i32, %o: ptr.global i32, %s: ptr.local i32) {\n"
            "  %g = global_id x\n  %l = local_id x\n  %w = group_id x\n  %v = load i32 %a[%g]\n"
            "  %zero = sub i64 %l, %l\n  %at = add i64 %w, %zero\n  %flag = load i32 %a[%at]\n"
            "  %mine = elem i32 %s, %l\n  store i32 %mine, %flag\n  %f = load i32 %mine, volatile\n"
            "  %c = slt i32 %f, 0\n"
            "  if %c {\n    store i32 %s[%l], %v\n    barrier local\n    %x = load i32 %s\n"
            "    store i32 %o[%g], %x\n    return\n  }\n"
            "  %r = group_reduce i32 %v, work_group, add\n  store i32 %o[%g], %r\n}\n",
            args, 3);
}

/* Work-items part at the end of a round, and are together again in the next. */
static void rounds_that_end_in_two_ways(void **state)
{
    (void)state;
    struct interp_arg args[] = {BUFFER(ints), BUFFER(out)};
    on_rows("kernel @k(%a: ptr.global i32, %o: ptr.global i32) {\n  %g = global_id x\n"
            "  %r = loop (%j: i32 = 0, %s: i32 = 0) -> i32 {\n    barrier local\n    %done = ieq i32 %j, 5\n"
            "    if %done { break %s\n }\n    %x = load i32 %a[%g]\n    %k = mul i32 %j, 100\n"
            "    %c = slt i32 %x, %k\n    %j1 = add i32 %j, 1\n"
            "    %t = if %c -> i32 {\n      %s1 = add i32 %s, 3\n      continue %j1, %s1\n    } else {\n"
            "      %m = mul i32 %x, 7\n      yield %m\n    }\n"
            "    %big = sgt i32 %t, 900\n    %u = if %big -> i32 { yield %s\n } else { yield %t\n }\n"
            "    %s2 = sub i32 %u, %t\n    continue %j1, %s2\n  }\n  store i32 %o[%g], %r\n}\n",
            args, 2);
    on_rows("kernel @k(%a: ptr.global i32, %o: ptr.global i32) {\n  %g = global_id x\n"
            "  %r = loop (%j: i32 = 0, %s: i32 = 1) -> i32 {\n    %q = group_reduce i32 %s, work_group, smax\n"
            "    %done = sge i32 %j, 3\n    if %done { break %q\n }\n    %x = load i32 %a[%g]\n"
            "    %c = slt i32 %x, %j\n    %j1 = add i32 %j, 1\n"
            "    if %c {\n      %s1 = add i32 %s, 3\n      continue %j1, %s1\n    } else {\n"
            "      %s2 = xor i32 %s, %x\n      continue %j1, %s2\n    }\n    unreachable\n  }\n"
            "  store i32 %o[%g], %r\n}\n",
            args, 2);
}

/* What rounds carry is kept in place only where nobody asks for what it was, or for what is computed of that again. */
static void sums_over_barriers(void **state)
{
    (void)state;
    static const char *const asked[] = {"%t", "%s", "%cheap", "%u"};
    for (unsigned i = 0; i < 4; i++) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "local @tile: [128 x i32]\n"
            "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32) {\n  %%g = global_id x\n  %%l = local_id x\n"
            "  %%tile = global @tile\n  %%mine = elem i32 %%tile, %%l\n  %%x = load i32 %%a[%%g]\n"
            "  %%r, %%q = loop (%%j: i32 = 0, %%s: i32 = %%x, %%p: i32 = 7) -> i32, i32 {\n"
            "    store i32 %%mine, %%s\n    barrier work_group, local\n    %%k = xor i64 %%l, 1\n"
            "    %%other = elem i32 %%tile, %%k\n    %%y = load i32 %%other\n    %%cheap = add i32 %%s, 5\n"
            "    %%t = add i32 %%s, %%y\n    %%u = mul i32 %%t, 3\n    barrier work_group, local\n"
            "    %%p2 = xor i32 %%p, %s\n    %%j1 = add i32 %%j, 1\n    %%c = slt i32 %%j1, 4\n"
            "    if %%c {\n      yield\n    } else {\n      break %%t, %%p2\n    }\n    continue %%j1, %%t, %%p2\n  }\n"
            "  %%z = sub i32 %%r, %%q\n  store i32 %%o[%%g], %%z\n  return\n}\n",
            asked[i]);
        static int32_t from[256], to[256];
        for (int k = 0; k < 256; k++) from[k] = k * 37 % 101;
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = from, .size = sizeof from},
                                    {.kind = INTERP_ARG_BUFFER, .data = to, .size = sizeof to}};
        struct nd_range range = {1, {256, 1, 1}, {0}, {128, 1, 1}};
        kit_same_as_planned(text, &range, args, 2);
    }
}

/* Rounds of a group under a guard, in which is computed what they need, of a number that nobody writes. */
static void rounds_that_need_what_their_guard_computed(void **state)
{
    (void)state;
    static const char *const text =
        "kernel @k(%a: ptr.global i32 read, %b: ptr.global i32 read, %o: ptr.global i32) work_group_size(64, 1, 1)\n"
        "        assumes(small_ids, small_memory, whole_groups) {\n"
        "  %g = global_id x\n  %first = trunc i32 %g\n  %size = global_size x\n  %all = trunc i32 %size\n"
        "  %some = ult i32 %first, 500\n"
        "  if %some {\n    %v = load i32 %b\n    %w = shl i32 %v, 2\n    %x = add i32 %w, 7\n"
        "    loop (%k: i32 = %first) {\n"
        "      %at = sext i64 %k\n      %n = load i32 %a[%at]\n      %p = mul i32 %n, %x\n      store i32 %o[%at], %p\n"
        "      %next = add i32 %k, %all\n      %on = slt i32 %next, 500\n"
        "      if %on {\n        yield\n      } else {\n        break\n      }\n"
        "      continue %next\n    }\n    yield\n  }\n  return\n}\n";
    static int32_t more[4] = {3};
    struct interp_arg args[] = {BUFFER(ints), BUFFER(more), BUFFER(out)};
    static const struct nd_range ranges[] = {RANGE(128, 64), RANGE(512, 64)};
    for (unsigned i = 0; i < 2; i++) kit_same_as_planned(text, &ranges[i], args, 3);
}

static void what_is_not_compiled_is_named(void **state)
{
    (void)state;
    refused("kernel @k(%o: ptr.global i32) sub_group_size(128) {\n  %v = load i32 %o\n"
            "  %r = group_reduce i32 %v, sub_group, add\n  store i32 %o, %r\n}\n",
            1, "sub-groups of 128", "only for 1, 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reversal_in_local_memory),
        cmocka_unit_test(tree_reduction),
        cmocka_unit_test(tree_of_constant_steps),
        cmocka_unit_test(conditions_on_ids),
        cmocka_unit_test(transposition_of_tiles),
        cmocka_unit_test(values_that_live_across),
        cmocka_unit_test(barriers_in_uniform_ifs),
        cmocka_unit_test(group_operations_on_integers),
        cmocka_unit_test(group_operations_on_floats),
        cmocka_unit_test(votes),
        cmocka_unit_test(group_operations_in_loops),
        cmocka_unit_test(agreement_by_vote),
        cmocka_unit_test(sums_over_barriers),
        cmocka_unit_test(rounds_that_end_in_two_ways),
        cmocka_unit_test(rounds_that_need_what_their_guard_computed),
        cmocka_unit_test(what_is_not_compiled_is_named),
    };
    return cmocka_run_group_tests_name("cpu_groups", tests, fill, NULL);
}
