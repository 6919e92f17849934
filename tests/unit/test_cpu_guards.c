/* Ifs and loops on ids, as nearly every kernel has them: how much code they become, and lanes of whom none is left. */
#include "tests/support/compiled_kit.h"

enum { N = 300 };

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
    LOAD("1", "1") LOAD("2", "2") LOAD("3", "3")                                                                       \
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(guard_is_no_copy), cmocka_unit_test(nobody_is_left)};
    return cmocka_run_group_tests_name("test_cpu_guards", tests, NULL, NULL);
}
