/* Compiled kernels as a whole: ranges and remainders, control flow under masks, memory, atomics, and what is
   refused. */
#include "tests/support/compiled_kit.h"

enum { N = 512 };

static int32_t ints[N], more_ints[N];
static float floats[N], more_floats[N];

static int fill(void **state)
{
    (void)state;
    uint32_t x = 12345;
    for (int i = 0; i < N; i++) {
        x = x * 1664525 + 1013904223;
        ints[i] = (int32_t)(x >> 8) % 100 - 50;
        more_ints[i] = (int32_t)x;
        floats[i] = (float)((int32_t)(x >> 12) % 1000) / 16 - 30;
        more_floats[i] = (float)ints[i] / 8;
    }
    return 0;
}

#define BUFFER(array)                                                                                                  \
    {                                                                                                                  \
        .kind = INTERP_ARG_BUFFER, .data = array, .size = sizeof array                                                 \
    }
#define BYTES(value)                                                                                                   \
    {                                                                                                                  \
        .kind = INTERP_ARG_BYTES, .data = &(value), .size = sizeof(value)                                              \
    }
#define RANGE(n, l)                                                                                                    \
    {                                                                                                                  \
        1, {n, 1, 1}, {0, 0, 0},                                                                                       \
        {                                                                                                              \
            l, 1, 1                                                                                                    \
        }                                                                                                              \
    }

static void same(const char *text, const struct nd_range *ranges, unsigned n_ranges, const struct interp_arg *args,
                 uint32_t n)
{
    kit_same_everywhere(text, ranges, n_ranges, 0, args, n);
}

/* Some remainders for each width, and groups smaller and larger than it. */
static const struct nd_range usual[] = {RANGE(1, 1),   RANGE(3, 2),   RANGE(16, 16), RANGE(17, 64), RANGE(31, 8),
                                        RANGE(33, 33), RANGE(67, 16), RANGE(128, 5), RANGE(200, 64)};
enum { USUAL = sizeof usual / sizeof *usual };

#define HEAD                                                                                                           \
    "kernel @k(%a: ptr.global i32, %b: ptr.global i32, %x: ptr.global f32, %y: ptr.global f32) {\n  %i = global_id "   \
    "x\n"
#define ARGS struct interp_arg args[] = {BUFFER(ints), BUFFER(more_ints), BUFFER(floats), BUFFER(more_floats)}

static void every_remainder(void **state)
{
    (void)state;
    struct nd_range ranges[67];
    for (unsigned i = 0; i < 67; i++) ranges[i] = (struct nd_range)RANGE(i + 1, 1 + i % 19);
    ARGS;
    same(HEAD "  %v = load f32 %x[%i]\n  %w = load f32 %y[%i]\n  %p = fmul f32 %v, %w\n  %s = fadd f32 %p, %v\n"
              "  store f32 %y[%i], %s\n}\n",
         ranges, 67, args, 4);
}

static void ranges_of_more_dimensions(void **state)
{
    (void)state;
    static const struct nd_range ranges[] = {
        {2, {7, 5, 1}, {0, 0, 0}, {4, 2, 1}},   {2, {40, 3, 1}, {3, 1, 0}, {16, 2, 1}},
        {2, {1, 60, 1}, {0, 0, 0}, {1, 7, 1}},  {3, {5, 4, 6}, {0, 0, 0}, {2, 3, 4}},
        {3, {33, 2, 2}, {1, 2, 3}, {33, 1, 1}}, {1, {100, 1, 1}, {17, 0, 0}, {32, 1, 1}},
    };
    int32_t out[2048] = {0};
    struct interp_arg args[] = {BUFFER(out)};
    same("kernel @k(%o: ptr.global i32) {\n"
         "  %x = global_id x\n  %y = global_id y\n  %z = global_id z\n"
         "  %lx = local_id x\n  %ly = local_id y\n  %gx = group_id x\n  %gz = group_id z\n"
         "  %sx = local_size x\n  %es = enqueued_local_size x\n  %ng = num_groups x\n  %off = global_offset x\n"
         "  %gl = global_linear_id\n  %ll = local_linear_id\n  %dim = work_dim\n  %d = zext i64 %dim\n"
         "  %s1 = mul i64 %x, 3\n  %s2 = mul i64 %y, 5\n  %s3 = mul i64 %z, 7\n  %s4 = mul i64 %lx, 11\n"
         "  %s5 = mul i64 %ly, 13\n  %s6 = mul i64 %gx, 17\n  %s7 = mul i64 %gz, 19\n  %s8 = mul i64 %sx, 23\n"
         "  %s9 = mul i64 %es, 29\n  %s10 = mul i64 %ng, 31\n  %s11 = mul i64 %off, 37\n  %s12 = mul i64 %ll, 41\n"
         "  %t1 = add i64 %s1, %s2\n  %t2 = add i64 %t1, %s3\n  %t3 = add i64 %t2, %s4\n  %t4 = add i64 %t3, %s5\n"
         "  %t5 = add i64 %t4, %s6\n  %t6 = add i64 %t5, %s7\n  %t7 = add i64 %t6, %s8\n  %t8 = add i64 %t7, %s9\n"
         "  %t9 = add i64 %t8, %s10\n  %t10 = add i64 %t9, %s11\n  %t11 = add i64 %t10, %s12\n  %t12 = add i64 %t11, "
         "%d\n"
         "  %r = trunc i32 %t12\n  store i32 %o[%gl], %r\n}\n",
         ranges, sizeof ranges / sizeof *ranges, args, 1);
}

static void groups_may_be_merged_or_not(void **state)
{
    (void)state;
    /* Without local ids rows of neighbouring groups run as one: nothing may change. */
    static const struct nd_range ranges[] = {{2, {30, 4, 1}, {0, 0, 0}, {4, 2, 1}},
                                             {2, {31, 5, 1}, {0, 0, 0}, {8, 2, 1}},
                                             {1, {90, 1, 1}, {0, 0, 0}, {7, 1, 1}}};
    int32_t out[256] = {0};
    struct interp_arg args[] = {BUFFER(out)};
    same("kernel @k(%o: ptr.global i32) {\n  %i = global_linear_id\n  %y = global_id y\n  %s = add i64 %i, %y\n"
         "  %v = trunc i32 %s\n  store i32 %o[%i], %v\n}\n",
         ranges, 3, args, 1);
}

static void divergent_ifs(void **state)
{
    (void)state;
    ARGS;
    same(HEAD
         "  %v = load i32 %a[%i]\n  %odd = and i32 %v, 1\n  %c = ine i32 %odd, 0\n"
         "  %neg = slt i32 %v, 0\n"
         "  %r, %f = if %c -> i32, f32 {\n"
         "    %w = load i32 %b[%i]\n"
         "    %q = if %neg -> i32 {\n      store i32 %b[%i], 7\n      yield %w\n    } else {\n      yield %v\n    }\n"
         "    yield %q, 1.5\n"
         "  } else {\n    %m = mul i32 %v, 3\n    %g = stof f32 %m\n    yield %m, %g\n  }\n"
         "  store i32 %a[%i], %r\n  store f32 %x[%i], %f\n}\n",
         usual, USUAL, args, 4);
}

static void divergent_loops(void **state)
{
    (void)state;
    ARGS;
    /* Different counts for each lane; a continue in the middle and one at the end; swapped values. */
    same(HEAD "  %v = load i32 %a[%i]\n  %n = and i32 %v, 31\n"
              "  %s, %t = loop (%k: i32 = 0, %p: i32 = 1, %q: i32 = %v) -> i32, i32 {\n"
              "    %done = sge i32 %k, %n\n    if %done { break %p, %q }\n"
              "    %k1 = add i32 %k, 1\n    %low = and i32 %q, 3\n    %skip = ieq i32 %low, 2\n"
              "    if %skip { %k2 = add i32 %k, 2\n      %q1 = add i32 %q, 5\n      continue %k2, %q1, %p }\n"
              "    %q2 = add i32 %q, %p\n    continue %k1, %q, %q2\n  }\n"
              "  %r = xor i32 %s, %t\n  store i32 %b[%i], %r\n}\n",
         usual, USUAL, args, 4);
}

static void loops_in_loops_and_branches(void **state)
{
    (void)state;
    ARGS;
    same(HEAD "  %v = load i32 %a[%i]\n  %n = and i32 %v, 7\n  %pos = sgt i32 %v, 0\n"
              "  if %pos {\n"
              "    %s = loop (%k: i32 = 0, %acc: i32 = 0) -> i32 {\n"
              "      %done = sgt i32 %k, %n\n      if %done { break %acc }\n"
              "      %in = loop (%m: i32 = %k, %ac: i32 = %acc) -> i32 {\n"
              "        %far = sgt i32 %m, 9\n        if %far { break %ac }\n"
              "        %e = load i32 %b[%i]\n        %e2 = and i32 %e, %m\n"
              "        %ac2 = add i32 %ac, %e2\n        %m2 = add i32 %m, 2\n        continue %m2, %ac2\n      }\n"
              "      %big = sgt i32 %in, 100\n      if %big { break -1 }\n"
              "      %k2 = add i32 %k, 1\n      continue %k2, %in\n    }\n"
              "    store i32 %b[%i], %s\n  }\n}\n",
         usual, USUAL, args, 4);
}

static void returns_in_loops_and_branches(void **state)
{
    (void)state;
    ARGS;
    same(HEAD "  %v = load i32 %a[%i]\n  %c = ieq i32 %v, 5\n  if %c { return }\n"
              "  store i32 %b[%i], 1\n"
              "  %n = and i32 %v, 15\n"
              "  %s = loop (%k: i32 = 0) -> i32 {\n"
              "    %big = sgt i32 %k, 9\n    if %big { store i32 %b[%i], 2\n      return }\n"
              "    %done = sge i32 %k, %n\n    if %done { break %k }\n"
              "    %k2 = add i32 %k, 1\n    continue %k2\n  }\n"
              "  store i32 %a[%i], %s\n"
              "  %neg = slt i32 %v, 0\n  if %neg {\n    loop (%j: i32 = 0) {\n      %e = sgt i32 %j, 3\n"
              "      if %e { return }\n      %j2 = add i32 %j, 1\n      continue %j2\n    }\n  }\n"
              "  store f32 %x[%i], 3\n}\n",
         usual, USUAL, args, 4);
}

/* The same for all lanes that come to it is a loop whose body ends where control never is, as what a switch leaves. */
static void loops_that_end_nowhere(void **state)
{
    (void)state;
    ARGS;
    same(HEAD "  %v = load i32 %a[%i]\n  %neg = slt i32 %v, 0\n  if %neg {\n"
              "    %s = loop (%k: i32 = 0) -> i32 {\n      %early = slt i32 %k, 3\n"
              "      if %early { store i32 %b[%i], %k\n        %k1 = add i32 %k, 1\n        continue %k1 }\n"
              "      %late = sgt i32 %k, 2\n      if %late { break %k }\n      unreachable\n    }\n"
              "    store i32 %a[%i], %s\n  }\n  store f32 %x[%i], 3\n}\n",
         usual, USUAL, args, 4);
}

static void uniform_branches_in_divergent_loops(void **state)
{
    (void)state;
    ARGS;
    /* k is the same for all lanes that are still in the loop; the load at b[k] must not run without lanes.
       b is only read, a only written: no race between work-items. */
    same(HEAD "  %w = load f32 %x[%i]\n  %v = ftos i32 %w\n  %n = and i32 %v, 15\n"
              "  %s = loop (%k: i32 = 0, %acc: i32 = 0) -> i32 {\n"
              "    %done = sge i32 %k, %n\n    if %done { break %acc }\n"
              "    %seven = ieq i32 %k, 7\n    if %seven { break 77 }\n"
              "    %e = load i32 %b[%k]\n    %acc2 = add i32 %acc, %e\n"
              "    %k2 = add i32 %k, 1\n    continue %k2, %acc2\n  }\n"
              "  store i32 %a[%i], %s\n}\n",
         usual, USUAL, args, 4);
}

static void narrow_indices_may_wrap(void **state)
{
    (void)state;
    ARGS;
    /* Bytes as indices: linear until a lane wraps from 127 to -128. */
    same(HEAD "  %j = trunc i8 %i\n  %k = add i8 %j, 100\n  %u = zext i64 %k\n  %v = load i32 %a[%u]\n"
              "  %s = sext i64 %j\n  %s2 = add i64 %s, 128\n  %w = load i32 %a[%s2]\n  %t = add i32 %v, %w\n"
              "  store i32 %b[%i], %t\n}\n",
         usual, USUAL, args, 4);
}

static void strides_gathers_and_scatters(void **state)
{
    (void)state;
    ARGS;
    same(
        HEAD
        "  %i2 = mul i64 %i, 2\n  %v = load i32 %a[%i2]\n  %n = load i32 %a[%i]\n  %m = and i32 %n, 127\n"
        "  %g = load f32 %x[%m]\n  %r = sub i64 255, %i\n  store f32 %y[%r], %g\n  %one = or i64 %i2, 1\n"
        "  store i32 %b[%one], %v\n  %c = slt i32 %n, 0\n  if %c {\n    %h = load f32 %x[%m]\n    store f32 %y[%r], 2\n"
        "    store i32 %b[%i2], %m\n  }\n}\n",
        usual, USUAL, args, 4);
}

static void vectors_in_memory(void **state)
{
    (void)state;
    ARGS;
    same(HEAD "  %v = load i32x4 %a[%i]\n  %w = shuffle i32x4 %v, %v, [3, 2, 5, 0]\n"
              "  %s = add i32x4 %v, %w\n  store i32x4 %b[%i], %s\n"
              "  %f = load f32x3 %x[%i]\n  %d = dot f32x3 %f, %f\n  %e = extract f32x3 %f, 1\n  %p = vec f32x2 %d, %e\n"
              "  store f32x2 %y[%i], %p\n}\n",
         (const struct nd_range[]){RANGE(100, 32), RANGE(7, 7), RANGE(33, 64)}, 3, args, 4);
}

static void private_variables(void **state)
{
    (void)state;
    ARGS;
    same(HEAD "  %v = load i32 %a[%i]\n  %m = var [8 x i32]\n"
              "  loop (%k: i32 = 0) {\n    %done = sge i32 %k, 8\n    if %done { break }\n"
              "    %p = elem i32 %m, %k\n    %e = mul i32 %v, %k\n    store i32 %p, %e\n"
              "    %k2 = add i32 %k, 1\n    continue %k2\n  }\n"
              "  %n = and i32 %v, 7\n  %q = elem i32 %m, %n\n  %r = load i32 %q\n  store i32 %b[%i], %r\n}\n",
         usual, USUAL, args, 4);
}

static void calls_are_inlined(void **state)
{
    (void)state;
    ARGS;
    same("func @f(%v: i32) -> i32 {\n  %c = slt i32 %v, 0\n  if %c { return 3 }\n  %r = mul i32 %v, %v\n  return "
         "%r\n}\n" HEAD "  %v = load i32 %a[%i]\n  %r = call @f(%v)\n  %s = call @f(%r)\n  store i32 %b[%i], %s\n}\n",
         usual, USUAL, args, 4);
}

static void constants_and_local_variables(void **state)
{
    (void)state;
    ARGS;
    same("constant @table: [4 x i32] = { 10, 20, 30, 40 }\n" HEAD
         "  %v = load i32 %a[%i]\n  %n = and i32 %v, 3\n  %t = global @table\n  %p = elem i32 %t, %n\n"
         "  %e = load i32 %p\n  store i32 %b[%i], %e\n}\n",
         usual, USUAL, args, 4);
}

static void atomics(void **state)
{
    (void)state;
    int32_t sums[16] = {0, 0, 0, INT32_MAX, INT32_MIN, -1, 0, 0};
    struct interp_arg args[] = {BUFFER(sums), BUFFER(ints)};
    same("kernel @k(%o: ptr.global i32, %a: ptr.global i32) {\n  %i = global_id x\n  %v = load i32 %a[%i]\n"
         "  %p0 = elem i32 %o, 0\n  %p1 = elem i32 %o, 1\n  %p2 = elem i32 %o, 2\n  %p3 = elem i32 %o, 3\n"
         "  %p4 = elem i32 %o, 4\n  %p5 = elem i32 %o, 5\n  %p6 = elem i32 %o, 6\n  %p7 = elem i32 %o, 7\n"
         "  %a0 = atomic_add i32 %p0, %v, device, relaxed\n  %c = slt i32 %v, 0\n"
         "  if %c { %a1 = atomic_sub i32 %p1, %v, device, acq_rel\n }\n"
         "  %a2 = atomic_or i32 %p2, %v, device, seq_cst\n  %a3 = atomic_smin i32 %p3, %v, device, relaxed\n"
         "  %a4 = atomic_smax i32 %p4, %v, device, relaxed\n  %a5 = atomic_umin i32 %p5, %v, device, relaxed\n"
         "  %a6 = atomic_xor i32 %p6, %v, device, relaxed\n  %a7 = atomic_umax i32 %p7, %v, device, relaxed\n}\n",
         usual, USUAL, args, 2);
}

/* In memory of the work-group, with numbers that are the same for all and others; each has a place of its own where the
   result counts. */
static void atomics_of_a_group(void **state)
{
    (void)state;
    static int32_t out[400];
    struct interp_arg args[] = {BUFFER(out), BUFFER(ints), {INTERP_ARG_LOCAL, NULL, 512 * 4, NULL}};
    same("kernel @k(%o: ptr.global i32, %a: ptr.global i32, %t: ptr.local i32) {\n  %i = global_id x\n"
         "  %l = local_id x\n  %v = load i32 %a[%i]\n  %b = and i64 %l, 7\n  %b8 = add i64 %b, 500\n"
         "  %mine = elem i32 %t, %l\n  %bin = elem i32 %t, %b8\n  store i32 %mine, 7\n  %f = ult i64 %l, 8\n"
         "  if %f { store i32 %bin, 0\n }\n  barrier work_group, local\n"
         "  %x = atomic_add i32 %mine, 3, work_group, relaxed\n  %y = atomic_xchg i32 %mine, %v, work_group, relaxed\n"
         "  %z = atomic_sub i32 %mine, %x, work_group, relaxed\n  %n = atomic_add i32 %bin, 1, work_group, relaxed\n"
         "  %m = atomic_smax i32 %mine, 2, work_group, relaxed\n"
         "  %c = slt i32 %v, 0\n  if %c { %n2 = atomic_add i32 %bin, %v, work_group, relaxed\n }\n"
         "  barrier work_group, local\n  %all = load i32 %bin\n  %w = load i32 %mine\n  %r0 = mul i32 %all, 31\n"
         "  %r1 = xor i32 %r0, %w\n  %r2 = add i32 %r1, %y\n  %r3 = xor i32 %r2, %z\n  %r = sub i32 %r3, %m\n"
         "  store i32 %o[%i], %r\n}\n",
         usual, USUAL, args, 3);
}

static void streaming_stores(void **state)
{
    (void)state;
    ARGS;
    kit_same_everywhere(HEAD "  %v = load f32 %x[%i]\n  %w = fadd f32 %v, 1\n  store f32 %y[%i], %w\n"
                             "  %n = load i32 %a[%i]\n  %j = add i64 %i, 3\n  store i32 %b[%j], %n\n}\n",
                        usual, USUAL, KERNEL_LAUNCH_STREAM, args, 4);
}

static void what_is_refused_is_named(void **state)
{
    (void)state;
    struct ir_module *m = kit_parse("import global @g: i32\nkernel @k(%o: ptr.global i32) {\n"
                                    "  %g = global @g\n  %r = load i32 %g\n  store i32 %o, %r\n}\n");
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX512)};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), -1);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.items[0].function, "k");
    assert_int_equal(list.items[0].line, 3);
    assert_non_null(strstr(list.items[0].text, "global: the variable is not defined"));
    assert_null(object.elf);
    diag_clear(&list);
    ir_module_free(m);
}

static void targets_have_names(void **state)
{
    (void)state;
    struct cpu_target generic = cpu_target_host(CPU_ISA_GENERIC), best = cpu_target_host(CPU_ISA_AVX512);
    assert_int_equal(generic.isa, CPU_ISA_GENERIC);
    assert_true(best.isa >= generic.isa);
    assert_non_null(strstr(best.text, "gcc-"));
    assert_non_null(strstr(best.text, cpu_isa_name(best.isa)));
}

static void code_says_how_wide_it_is(void **state)
{
    (void)state;
    struct ir_module *m = kit_parse("kernel @k(%o: ptr.global i32) {\n  %i = global_id x\n  store i32 %o[%i], 1\n}\n");
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n = kit_ways(ways);
    for (unsigned w = 0; w < n; w++) {
        struct compiled c;
        assert_true(kit_make(&c, kit_kernel(m), &ways[w]));
        bool one = ways[w].scalar || ways[w].batch || ways[w].isa == CPU_ISA_GENERIC;
        assert_true(one ? c.info->lanes == 1 : c.info->lanes >= 4);
        assert_int_equal(c.info->args_size, 8);
        compiled_clear(&c);
    }
    ir_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_remainder),
        cmocka_unit_test(ranges_of_more_dimensions),
        cmocka_unit_test(groups_may_be_merged_or_not),
        cmocka_unit_test(divergent_ifs),
        cmocka_unit_test(divergent_loops),
        cmocka_unit_test(loops_in_loops_and_branches),
        cmocka_unit_test(returns_in_loops_and_branches),
        cmocka_unit_test(loops_that_end_nowhere),
        cmocka_unit_test(uniform_branches_in_divergent_loops),
        cmocka_unit_test(narrow_indices_may_wrap),
        cmocka_unit_test(strides_gathers_and_scatters),
        cmocka_unit_test(vectors_in_memory),
        cmocka_unit_test(private_variables),
        cmocka_unit_test(calls_are_inlined),
        cmocka_unit_test(constants_and_local_variables),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomics_of_a_group),
        cmocka_unit_test(streaming_stores),
        cmocka_unit_test(what_is_refused_is_named),
        cmocka_unit_test(targets_have_names),
        cmocka_unit_test(code_says_how_wide_it_is),
    };
    return cmocka_run_group_tests_name("cpu", tests, fill, NULL);
}
