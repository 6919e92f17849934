/*
 * How much code a parallel region becomes, in statements given to gcc, whose time and memory follow them. A step of a
 * tree of sums is a row that is cut once: its code without masks and its code under them. What runs for whole vectors
 * only, or one by one, is there once.
 */
#include "ir/base/strbuf.h"
#include "tests/support/compiled_kit.h"

enum { GROUP = 256, TREE_STEP = 85, WHOLE_STEP = 25, DISTANT_STEP = 36, FIXED = 150 };

static unsigned statements_of(const char *text, enum cpu_isa isa)
{
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(isa), .emit_only = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    assert_int_equal(object.effort, CPU_EFFORT_FULL);
    ir_module_free(m);
    return object.statements;
}

/* What the steps of a work-group are: the sum of its numbers, half of the work-items fewer each time; steps that all
   take; or those at distances that only the run knows. */
enum form { TREE, WHOLE, DISTANT };

static char *steps(unsigned n, enum form form)
{
    struct strbuf b = {0};
    strbuf_printf(&b,
                  "local @tile: [%u x f32]\n"
                  "kernel @k(%%a: ptr.global f32, %%o: ptr.global f32) work_group_size(%u, 1, 1)\n"
                  "        assumes(small_ids, small_memory, whole_groups) {\n"
                  "  %%i = global_id x\n  %%l = local_id x\n  %%t = global @tile\n  %%p = elem f32 %%a, %%i\n"
                  "  %%x = load f32 %%p\n  %%mine = elem f32 %%t, %%l\n  store f32 %%mine, %%x\n"
                  "  barrier work_group, local\n",
                  GROUP, GROUP);
    bool tree = form == TREE;
    if (form == DISTANT) strbuf_add(&b, "  %s = load i64 %o\n");
    for (unsigned k = 0; k < n; k++) {
        if (form == DISTANT) {
            strbuf_printf(&b,
                          "  %%d%u = add i64 %%s, %u\n  %%e%u = mul i64 %%d%u, %%l\n  %%q%u = elem f32 %%t, %%e%u\n"
                          "  %%z%u = load f32 %%q%u\n  %%s%u = fneg f32 %%z%u\n  store f32 %%q%u, %%s%u\n"
                          "  barrier work_group, local\n",
                          k, k, k, k, k, k, k, k, k, k, k, k);
            continue;
        }
        unsigned half = GROUP / 2 >> k;
        if (tree)
            strbuf_printf(&b, "  %%c%u = ult i64 %%l, %u\n  if %%c%u {\n  %%j%u = add i64 %%l, %u\n", k, half, k, k,
                          half);
        strbuf_printf(&b,
                      "  %%q%u = elem f32 %%t, %s%.0u\n  %%y%u = load f32 %%q%u\n  %%z%u = load f32 %%mine\n"
                      "  %%s%u = fadd f32 %%y%u, %%z%u\n  store f32 %%mine, %%s%u\n%s  barrier work_group, local\n",
                      k, tree ? (k ? "%j" : "%j0") : "%l", tree ? k : 0, k, k, k, k, k, k, k, tree ? "  }\n" : "");
    }
    strbuf_add(&b, "  %r = load f32 %mine\n  %w = elem f32 %o, %i\n  store f32 %w, %r\n}\n");
    return strbuf_take(&b);
}

static void check_steps(enum form form, unsigned most)
{
    for (enum cpu_isa isa = CPU_ISA_SSE4; isa < CPU_ISA_COUNT; isa++) {
        char *few = steps(2, form), *many = steps(8, form);
        unsigned two = statements_of(few, isa), eight = statements_of(many, isa);
        print_message("# %s: 2 steps %u, 8 steps %u statements\n", cpu_isa_name(isa), two, eight);
        assert_true(two <= FIXED + 2 * most && eight - two <= 6 * most);
        free(few);
        free(many);
    }
}

static void a_step_of_a_tree(void **state)
{
    (void)state;
    check_steps(TREE, TREE_STEP);
}

static void a_step_of_all_work_items(void **state)
{
    (void)state;
    check_steps(WHOLE, WHOLE_STEP);
}

/* Scalar code once, not gathers and scatters of all lanes. */
static void a_step_at_a_distance(void **state)
{
    (void)state;
    check_steps(DISTANT, DISTANT_STEP);
}

/* The rounds in which a group goes over a row: what a work-item does, twice, and the loop. */
static void rounds_of_a_group(void **state)
{
    (void)state;
    enum { ROUNDS = 400 };
    for (enum cpu_isa isa = CPU_ISA_SSE4; isa < CPU_ISA_COUNT; isa++) {
        unsigned n = statements_of(
            "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32, %n: i32) work_group_size(256, 1, 1)\n"
            "        assumes(small_ids, small_memory, whole_groups) {\n"
            "  %g = group_id x\n  %l = local_id x\n  %j0 = trunc i32 %l\n  %g1 = trunc i32 %g\n"
            "  %row = mul i32 %g1, %n\n  %i = global_id x\n"
            "  %sum = loop (%j: i32 = %j0, %s: f32 = 0.0) -> f32 {\n    %c = slt i32 %j, %n\n    if %c {\n"
            "      %at = add i32 %row, %j\n      %x = load f32 %a[%at]\n      %t = fadd f32 %s, %x\n"
            "      %next = add i32 %j, 256\n      continue %next, %t\n    }\n    break %s\n  }\n"
            "  store f32 %o[%i], %sum\n  return\n}\n",
            isa);
        print_message("# %s: %u statements\n", cpu_isa_name(isa), n);
        assert_true(n <= ROUNDS);
    }
}

/* A row's sum of n products in each round, whose factors are one's own and everybody's. */
static char *products(unsigned n)
{
    struct strbuf b = {0};
    strbuf_add(&b, "kernel @k(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32, %n: i64) "
                   "work_group_size(16, 16, 1)\n        assumes(small_ids, small_memory, whole_groups) {\n"
                   "  %x = global_id x\n  %y = global_id y\n  %row = mul i64 %y, %n\n"
                   "  %sum = loop (%k: i64 = 0, %s0: f32 = 0.0) -> f32 {\n    %at = add i64 %row, %k\n"
                   "    %there = mul i64 %k, %n\n    %right = add i64 %there, %x\n    %pa = elem f32 %a, %at\n"
                   "    %pb = elem f32 %b, %right\n");
    for (unsigned i = 0; i < n; i++)
        strbuf_printf(
            &b,
            "    %%ea%u = elem f32 %%pa, %u\n    %%eb%u = elem f32 %%pb, %u\n    %%u%u = load f32 %%ea%u\n"
            "    %%v%u = load f32 %%eb%u\n    %%p%u = fmul f32 %%u%u, %%v%u\n    %%s%u = fadd f32 %%s%u, %%p%u\n",
            i, i, i, 64 * i, i, i, i, i, i, i, i, i + 1, i, i);
    strbuf_printf(&b,
                  "    %%k1 = add i64 %%k, %u\n    %%c = slt i64 %%k1, %%n\n    if %%c {\n      continue %%k1, %%s%u\n"
                  "    }\n    break %%s%u\n  }\n  %%q = add i64 %%row, %%x\n  store f32 %%o[%%q], %%sum\n  return\n}\n",
                  n, n, n);
    return strbuf_take(&b);
}

static unsigned size_of_products(unsigned n)
{
    char *text = products(n);
    unsigned statements = statements_of(text, CPU_ISA_AVX2);
    free(text);
    return statements;
}

/* Rows run as one where that is little code; where it is much, the kernel is compiled as it is, with no less effort. */
static void joined_rows_are_not_too_much(void **state)
{
    (void)state;
    if (cpu_target_host(CPU_ISA_AVX2).isa != CPU_ISA_AVX2) skip();
    unsigned each = size_of_products(9) - size_of_products(8), alone = size_of_products(121) - size_of_products(120);
    assert_true(each > 2 * alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joined_rows_are_not_too_much),
                                       cmocka_unit_test(a_step_of_a_tree), cmocka_unit_test(a_step_of_all_work_items),
                                       cmocka_unit_test(a_step_at_a_distance), cmocka_unit_test(rounds_of_a_group)};
    return cmocka_run_group_tests_name("cpu_region_size", tests, NULL, NULL);
}
