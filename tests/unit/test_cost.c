/* The cost model: figures of the machine, and what they decide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fuser/cost/cost.h"
#include "ir/text/parse/parse.h"

static void figures_are_kept(void **state)
{
    (void)state;
    struct cost_machine m = {.operations = 181543, .bytes = 27225, .launch_ns = 2659, .cores = 2}, kept = {.cores = 3};
    uint8_t bytes[COST_FIGURES_BYTES];
    cost_figures_write(&m, bytes);
    assert_true(cost_figures_read(&kept, bytes, sizeof bytes));
    assert_int_equal(kept.operations, m.operations);
    assert_int_equal(kept.bytes, m.bytes);
    assert_int_equal(kept.launch_ns, m.launch_ns);
    assert_int_equal(kept.cores, 3);
}

static void what_are_no_figures(void **state)
{
    (void)state;
    struct cost_machine m = {.operations = 1, .bytes = 2, .launch_ns = 3}, kept = {0};
    uint8_t bytes[COST_FIGURES_BYTES];
    cost_figures_write(&m, bytes);
    assert_false(cost_figures_read(&kept, bytes, sizeof bytes - 1));
    m.bytes = 0;
    cost_figures_write(&m, bytes);
    assert_false(cost_figures_read(&kept, bytes, sizeof bytes));
    m.bytes = UINT64_MAX;
    cost_figures_write(&m, bytes);
    assert_false(cost_figures_read(&kept, bytes, sizeof bytes));
    assert_int_equal(kept.operations, 0);
}

/* Whatever the machine, there are figures, and the same again from bytes. */
static void measured(void **state)
{
    (void)state;
    struct cost_machine m = {.cores = 2}, kept = {0};
    uint8_t bytes[COST_FIGURES_BYTES];
    cost_measure(&m, 4);
    assert_true(m.operations && m.bytes && m.launch_ns);
    assert_true(m.launch_ns <= COST_MOST_LAUNCH_NS); /* on a machine that sleeps, too */
    cost_figures_write(&m, bytes);
    assert_true(cost_figures_read(&kept, bytes, sizeof bytes));
}

static uint64_t cost_of(const char *operation)
{
    char text[200];
    struct diag_list list = {0};
    int size =
        snprintf(text, sizeof text,
                 "kernel @k(%%o: ptr.global f32, %%a: f32) {\n %%r = %s\n store f32 %%o, %%r\n return\n}\n", operation);
    struct ir_module *m = ir_parse(text, (size_t)size, "test.fk", &list);
    assert_non_null(m);
    uint64_t cost = cost_of_block(m->functions[0]->body);
    ir_module_free(m);
    return cost;
}

/* A product and a sum in one are no function, whichever way they round. */
static void products_with_sums(void **state)
{
    (void)state;
    assert_int_equal(cost_of("mad f32 %a, %a, %a"), cost_of("fadd f32 %a, %a"));
    assert_int_equal(cost_of("fma f32 %a, %a, %a"), cost_of("fadd f32 %a, %a"));
    assert_true(cost_of("exp f32 %a") > 10 * cost_of("fma f32 %a, %a, %a"));
    assert_false(ir_op_is_function(IR_OP_MAD));
    assert_false(ir_op_is_function(IR_OP_FMA));
    assert_true(ir_op_is_function(IR_OP_EXP));
}

static void time_of_launches(void **state)
{
    (void)state;
    struct cost_machine m = {.operations = 1000, .bytes = 100, .launch_ns = 7000, .cores = 2};
    assert_int_equal(cost_launch_ns(&m, 0, 0), 7000);
    assert_int_equal(cost_launch_ns(&m, 0, 1000), 7000 + 10000);         /* bound by memory, */
    assert_int_equal(cost_launch_ns(&m, 2000 * 50, 1000), 7000 + 50000); /* by both cores */
    m.cores = 1;
    assert_int_equal(cost_launch_ns(&m, 2000 * 50, 1000), 7000 + 100000);
}

/* A machine that computes more in the time of a byte computes more again; none does without bounds. */
static void recomputing(void **state)
{
    (void)state;
    struct cost_machine usual = {0}, slow = {.operations = 1000, .bytes = 1000},
                        fast = {.operations = 24000, .bytes = 1000}, faster = {.operations = 1000000, .bytes = 1},
                        banded = {.cache_bytes = 1 << 20};
    const struct {
        const struct cost_machine *machine;
        uint64_t most; /* operations for 100 bytes */
    } cases[] = {{&usual, 1600}, {&slow, 800}, {&fast, 2400}, {&faster, 3200}, {&banded, 400}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(cost_recomputing_pays(cases[i].machine, cases[i].most + 7, 7, 100));
        assert_false(cost_recomputing_pays(cases[i].machine, cases[i].most + 7 + 32, 7, 100));
        assert_true(cost_recomputing_pays(cases[i].machine, 5, 9, 0));
    }
}

static void bands(void **state)
{
    (void)state;
    struct cost_machine m = {.cache_bytes = 8 << 20, .own_bytes = 1 << 20, .cores = 2};
    assert_int_equal(cost_own_caches(&m), 2 << 20);
    assert_true(cost_bands_pay(&m, 16 << 20, 12 << 20));
    assert_false(cost_bands_pay(&m, 16 << 20, 13 << 20));
    assert_false(cost_bands_pay(&m, 15 << 20, 1 << 20));
    m.cores = 64;
    assert_int_equal(cost_bands_at_once(&m), 16);
    assert_int_equal(cost_own_caches(&m), 8 << 20);
}

/* How often loops run, of counters as people write them; n is not known. */
static void rounds(void **state)
{
    (void)state;
    static const struct {
        const char *from, *steps, *test, *to;
        uint64_t least, most;
    } cases[] = {
        {"0", "add i32 %k, 1", "slt", "64", 64, 65},    {"0", "add i32 %k, 4", "slt", "64", 16, 17},
        {"64", "sub i32 %k, 1", "sgt", "0", 64, 65},    {"128", "lshr i32 %k, 1", "sgt", "0", 8, 9},
        {"256", "ashr i32 %k, 1", "sgt", "1", 8, 9},    {"81", "udiv i32 %k, 3", "ugt", "0", 5, 6},
        {"1", "shl i32 %k, 1", "slt", "512", 9, 10},    {"1", "mul i32 %k, 4", "ult", "256", 4, 5},
        {"%i", "add i32 %k, 256", "slt", "1024", 4, 5}, {"%n", "lshr i32 %k, 1", "ugt", "0", 4, 16},
        {"1", "shl i32 %k, 1", "slt", "%n", 4, 16},     {"0", "add i32 %k, 1", "slt", "%n", 200, 300},
        {"0", "xor i32 %k, 1", "slt", "%n", 200, 300},  {"-8", "add i32 %k, 1", "slt", "8", 16, 17},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[500];
        struct diag_list list = {0};
        int size = snprintf(text, sizeof text,
                            "kernel @k(%%n: i32) {\n %%g = global_id x\n %%i = trunc i32 %%g\n loop (%%k: i32 = %s) {\n"
                            "  %%c = %s i32 %%k, %s\n  if %%c { yield } else { break }\n  %%next = %s\n"
                            "  continue %%next\n }\n return\n}\n",
                            cases[i].from, cases[i].test, cases[i].to, cases[i].steps);
        struct ir_module *m = ir_parse(text, (size_t)size, "test.fk", &list);
        assert_non_null(m);
        const struct ir_inst *inst = m->functions[0]->body->first;
        while (inst->op != IR_OP_LOOP) inst = inst->next;
        uint64_t n = cost_rounds(inst);
        if (n < cases[i].least || n > cases[i].most)
            fail_msg("from %s by %s to %s: %llu rounds", cases[i].from, cases[i].steps, cases[i].to,
                     (unsigned long long)n);
        ir_module_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_kept),
        cmocka_unit_test(what_are_no_figures),
        cmocka_unit_test(measured),
        cmocka_unit_test(products_with_sums),
        cmocka_unit_test(time_of_launches),
        cmocka_unit_test(recomputing),
        cmocka_unit_test(bands),
        cmocka_unit_test(rounds),
    };
    return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
