/* Ifs and loops on ids, as nearly every kernel has them: how much code they become, and lanes of whom none is left. */
#include "tests/support/compiled_kit.h"

enum { N = 5000 };

static int32_t ints[N], more_ints[N];

/* Statements given to gcc for the kernel of a text. */
static unsigned statements_of(const char *text, enum cpu_isa isa)
{
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(isa), .emit_only = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    unsigned statements = object.statements;
    cpu_object_clear(&object);
    ir_module_free(m);
    return statements;
}

#define HEAD "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32, %n: i64) {\n  %x = global_id x\n"
#define LOAD(v, by)                                                                                                    \
    "  %i" v " = add i64 %x, " by "\n  %a" v " = load f32 %a[%i" v "]\n  %b" v " = fmul f32 %a" v ", %a" v "\n"
#define WORK                                                                                                           \
    LOAD("0", "0")                                                                                                     \
    LOAD("1", "1")                                                                                                     \
    LOAD("2", "2")                                                                                                     \
    LOAD("3", "3")                                                                                                     \
    "  %s = fadd f32 %b0, %b1\n  %t = fadd f32 %b2, %b3\n  %u = fadd f32 %s, %t\n  store f32 %o[%x], %u\n"

/* A guard costs what its comparison does, not one more copy of what it guards. */
static void guard_is_no_copy(void **state)
{
    (void)state;
    enum cpu_isa isas[CPU_ISA_COUNT];
    for (unsigned i = 0, n = compiled_isas(isas); i < n; i++) {
        unsigned without = statements_of(HEAD WORK "  return\n}\n", isas[i]);
        unsigned with = statements_of(HEAD "  %lo = ugt i64 %x, 0\n  %hi = ult i64 %x, %n\n  %c = and bool %lo, %hi\n"
                                           "  if %c {\n" WORK "    yield\n  }\n  return\n}\n",
                                      isas[i]);
        print_message("# %s: %u statements, with a guard %u\n", cpu_isa_name(isas[i]), without, with);
        assert_true(with < without + 100);
    }
}

/* Bools of a guard that are used once more behind it, whether its if was taken by all lanes, by some or by none. */
static void guards_are_kept(void **state)
{
    (void)state;
    static const struct nd_range ranges[] = {{2, {100, 3, 1}, {0}, {100, 1, 1}}, {2, {64, 3, 1}, {0}, {64, 1, 1}}};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = ints, .size = sizeof ints},
                                {.kind = INTERP_ARG_BUFFER, .data = more_ints, .size = sizeof more_ints}};
    for (int i = 0; i < N; i++) ints[i] = 10 + i % 7;
    kit_same_everywhere("kernel @k(%a: ptr.global i32 read, %o: ptr.global i32) {\n"
                        "  %x = global_id x\n  %y = global_id y\n  %h = load i32 %a[1]\n  %w = zext i64 %h\n"
                        "  %r = mul i64 %y, 100\n  %i = add i64 %r, %x\n"
                        "  %c = ult i64 %x, 70\n  %d = ult i64 %y, %w\n  %e = and bool %c, %d\n"
                        "  %v = if %e -> i32 {\n    %u = load i32 %a[%i]\n    yield %u\n  } else {\n    yield 5\n  }\n"
                        "  %b = zext i32 %e\n  %f = zext i32 %c\n  %s = shl i32 %v, 2\n  %t = add i32 %s, %b\n"
                        "  %q = shl i32 %t, 1\n  %z = add i32 %q, %f\n  store i32 %o[%i], %z\n  return\n}\n",
                        ranges, 2, 0, args, 2);
}

/* After a return that all take, clang may say that nobody comes any further. */
static void nobody_is_left(void **state)
{
    (void)state;
    static const struct nd_range ranges[] = {{1, {67, 1, 1}, {0}, {16, 1, 1}}, {1, {128, 1, 1}, {0}, {128, 1, 1}}};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = ints, .size = sizeof ints},
                                {.kind = INTERP_ARG_BUFFER, .data = more_ints, .size = sizeof more_ints}};
    for (int i = 0; i < N; i++) ints[i] = i * 7 % 5 - 2;
    kit_same_everywhere("kernel @k(%a: ptr.global i32 read, %o: ptr.global i32) {\n"
                        "  %x = global_id x\n  %v = load i32 %a[%x]\n  %c = slt i32 %v, 0\n"
                        "  if %c {\n    store i32 %o[%x], 1\n    return\n  }\n"
                        "  store i32 %o[%x], 2\n  %d = sge i32 %v, 0\n  if %d {\n    return\n  }\n  unreachable\n}\n",
                        ranges, 2, 0, args, 2);
}

/* What a work-item sees of its place, and what a neighbour in its group saw. */
#define PLACE                                                                                                          \
    "  %i = global_linear_id\n  %l = local_linear_id\n  %x = global_id x\n  %y = global_id y\n  %z = global_id z\n"    \
    "  %gx = group_id x\n  %gy = group_id y\n  %sx = local_size x\n  %sy = local_size y\n  %sz = local_size z\n"       \
    "  %nz = num_groups z\n  %oy = global_offset y\n  %ly = local_id y\n  %lz = local_id z\n"                          \
    "  %v0 = load i32 %a[%i]\n  %v1 = sext i64 %v0\n  %p = mul i64 %x, 3\n  %q = mul i64 %y, 50\n  %r = mul i64 %z, "  \
    "700\n"                                                                                                            \
    "  %s = mul i64 %gx, 11\n  %u = mul i64 %gy, %sy\n  %w0 = add i64 %p, %q\n  %w1 = add i64 %w0, %r\n"               \
    "  %w2 = add i64 %w1, %s\n  %w3 = add i64 %w2, %u\n  %w4 = add i64 %w3, %nz\n  %w5 = add i64 %w4, %oy\n"           \
    "  %w6 = add i64 %w5, %v1\n  store i64 %t[%l], %w6\n  barrier local\n"                                             \
    "  %n0 = mul i64 %sx, %sy\n  %n = mul i64 %n0, %sz\n  %k0 = xor i64 %l, 1\n  %c = ult i64 %k0, %n\n"               \
    "  %k = select i64 %c, %k0, %l\n  %b = load i64 %t[%k]\n  %d = add i64 %b, %ly\n  %e = add i64 %d, %lz\n"          \
    "  %f = trunc i32 %e\n  %h = group_reduce i32 %f, work_group, add\n  %m = add i32 %h, %f\n  store i32 %o[%i], "    \
    "%m\n"                                                                                                             \
    "  return\n}\n"
#define PLACE_HEAD "kernel @k(%a: ptr.global i32 read, %o: ptr.global i32, %t: ptr.local i64) "

/* In groups that are one work-item wide, lanes are neighbours in another dimension. */
static void narrow_groups(void **state)
{
    (void)state;
    static const struct nd_range along_y[] = {{2, {6, 40, 1}, {0}, {1, 20, 1}},
                                              {2, {3, 50, 1}, {7, 5, 0}, {1, 20, 1}},
                                              {3, {2, 20, 5}, {1, 2, 3}, {1, 20, 1}}};
    static const struct nd_range along_z[] = {{3, {2, 3, 24}, {0}, {1, 1, 24}}, {3, {3, 2, 30}, {9, 8, 7}, {1, 1, 24}}};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = ints, .size = sizeof ints},
                                {.kind = INTERP_ARG_BUFFER, .data = more_ints, .size = sizeof more_ints},
                                {.kind = INTERP_ARG_LOCAL, .size = 24 * sizeof(int64_t)}};
    for (int i = 0; i < N; i++) ints[i] = i * 7 % 5 - 2;
    kit_same_everywhere(PLACE_HEAD "work_group_size(1, 20, 1) {\n" PLACE, along_y, 3, 0, args, 3);
    kit_same_everywhere(PLACE_HEAD "work_group_size(1, 1, 24) {\n" PLACE, along_z, 2, 0, args, 3);
}

/* Where neighbours in memory are those in y or z, so are lanes. What work-items see of their place stays the same. */
#define ACROSS                                                                                                         \
    "  %i = global_linear_id\n  %l = local_linear_id\n  %x = global_id x\n  %y = global_id y\n  %z = global_id z\n"    \
    "  %lx = local_id x\n  %sy = local_size y\n  %gx = group_id x\n  %ny = num_groups y\n"                             \
    "  %x0 = mul i64 %x, 37\n  %p = add i64 %x0, %y\n  %p1 = mul i64 %p, %n\n  %at = add i64 %p1, %z\n"                \
    "  %v0 = load i32 %a[%at]\n  %v = sext i64 %v0\n  %k = xor i64 %l, 1\n"                                            \
    "  store i64 %t[%l], %v\n  barrier local\n  %w = load i64 %t[%k]\n"                                                \
    "  %s0 = add i64 %w, %lx\n  %s1 = mul i64 %gx, %sy\n  %s2 = add i64 %s0, %s1\n  %s3 = add i64 %s2, %ny\n"          \
    "  %s4 = add i64 %s3, %i\n  %s = trunc i32 %s4\n  store i32 %o[%at], %s\n  return\n}\n"
#define ACROSS_HEAD "kernel @k(%a: ptr.global i32 read, %o: ptr.global i32, %t: ptr.local i64, %n: i64) "

static void rows_along_memory(void **state)
{
    (void)state;
    static const struct nd_range along_y[] = {{2, {8, 32, 1}, {0}, {4, 16, 1}}, {2, {4, 32, 1}, {1, 2, 0}, {4, 16, 1}}};
    static const struct nd_range along_z[] = {{3, {4, 2, 32}, {0}, {2, 2, 16}}};
    int64_t one = 1, many = 40;
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = ints, .size = sizeof ints},
                                {.kind = INTERP_ARG_BUFFER, .data = more_ints, .size = sizeof more_ints},
                                {.kind = INTERP_ARG_LOCAL, .size = 64 * sizeof(int64_t)},
                                {.kind = INTERP_ARG_BYTES, .data = &one, .size = sizeof one}};
    for (int i = 0; i < N; i++) ints[i] = i * 7 % 5 - 2;
    kit_same_everywhere(ACROSS_HEAD "work_group_size(4, 16, 1) {\n" ACROSS, along_y, 2, 0, args, 4);
    args[3].data = &many;
    kit_same_everywhere(ACROSS_HEAD "work_group_size(2, 2, 16) {\n" ACROSS, along_z, 1, 0, args, 4);
}

/* An element that row and column find, where `column` and `row` are dimensions. */
static unsigned statements_across(const char *row, const char *column)
{
    char text[1000];
    snprintf(text, sizeof text,
             "kernel @k(%%a: ptr.global f32, %%n: i64) assumes(small_ids, small_memory, long_y) {\n"
             "  %%r = global_id %s\n  %%c = global_id %s\n  %%s = mul i64 %%r, %%n\n  %%i = add i64 %%s, %%c\n"
             "  %%v = load f32 %%a[%%i]\n  %%w = fmul f32 %%v, %%v\n  store f32 %%a[%%i], %%w\n  return\n}\n",
             row, column);
    return statements_of(text, CPU_ISA_AVX2);
}

static void no_row_of_gathers(void **state)
{
    (void)state;
    assert_int_equal(statements_across("x", "y"), statements_across("y", "x"));
}

/* Elements at a quotient and at a remainder of the local id. */
static unsigned statements_at(const char *quotient, const char *remainder)
{
    char text[1000];
    snprintf(text, sizeof text,
             "kernel @k(%%a: ptr.global f32, %%o: ptr.global f32, %%n: i64) work_group_size(256, 1, 1)\n"
             "        assumes(small_ids, small_memory, whole_groups) {\n"
             "  %%i = global_id x\n  %%l = local_id x\n  %%q = %s\n  %%r = %s\n  %%v = load f32 %%a[%%q]\n"
             "  %%w = load f32 %%a[%%r]\n  %%s = fadd f32 %%v, %%w\n  store f32 %%o[%%i], %%s\n  return\n}\n",
             quotient, remainder);
    return statements_of(text, CPU_ISA_AVX2);
}

/* One is the same for all lanes, the other is their neighbours'. */
static void quotients_of_ids(void **state)
{
    (void)state;
    unsigned without = statements_at("add i64 %n, 0", "add i64 %l, 0");
    unsigned divided = statements_at("udiv i64 %l, 64", "urem i64 %l, 64");
    unsigned shifted = statements_at("lshr i64 %l, 6", "and i64 %l, 63");
    print_message("# %u statements, divided %u, shifted %u\n", without, divided, shifted);
    assert_true(divided < without + 60 && shifted < without + 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(guard_is_no_copy),  cmocka_unit_test(guards_are_kept),
                                       cmocka_unit_test(nobody_is_left),    cmocka_unit_test(narrow_groups),
                                       cmocka_unit_test(rows_along_memory), cmocka_unit_test(no_row_of_gathers),
                                       cmocka_unit_test(quotients_of_ids)};
    return cmocka_run_group_tests_name("test_cpu_guards", tests, NULL, NULL);
}
