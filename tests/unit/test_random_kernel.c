/* The generator of kernels for differential tests keeps its word: valid, without races, out-of-bounds or
   unwritten reads, the same every time, and different from seed to seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/interp.h"
#include "ir/text/print/print.h"
#include "ir/verify/verify.h"
#include "tests/support/cases.h"
#include "tests/support/random_args.h"

static void run(const struct random_kernel *k, const struct interp_arg *args, uint64_t local, unsigned seed)
{
    struct nd_range range = {1, {k->items, 1, 1}, {0, 0, 0}, {local, 1, 1}};
    struct interp_options options = {.check_races = true, .check_unwritten = true};
    struct interp_result result;
    int error = interp_run(k->function, &range, args, &options, &result);
    if (error || result.n_findings)
        fail_msg("seed %u: %s\n%s", seed, result.n_findings ? result.findings[0].text : "refused",
                 ir_print_function(k->function));
    interp_result_clear(&result);
}

static void check_kernel(unsigned seed, const struct random_kernel_options *options)
{
    struct random_kernel k = random_kernel(seed, options);
    struct diag_list list = {0};
    if (!ir_verify(k.module, &list)) fail_msg("seed %u: %s", seed, diag_format(&list));
    struct interp_arg *args = random_args(&k, seed), *again = random_args(&k, seed);
    run(&k, args, 8, seed);
    run(&k, again, options->local_size ? 8 : 16, seed); /* how it is cut into groups must not matter */
    for (uint32_t i = 0; i < k.n_args; i++)
        if (k.args[i].kind == RANDOM_BUFFER)
            assert_int_equal(random_kernel_compare(&k.args[i], args[i].data, again[i].data, 0), -1);
    random_args_free(&k, again);
    random_args_free(&k, args);
    random_kernel_clear(&k);
}

static void test_plain(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_cases(500); seed++)
        check_kernel(seed, &(struct random_kernel_options){.items = 32});
}

static void test_with_everything(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_cases(500) / 5; seed++)
        check_kernel(seed, &(struct random_kernel_options){
                               .items = 16, .local_size = 8, .inexact = true, .instructions = 150, .depth = 5});
}

static void forbidden(struct ir_inst *inst, void *data)
{
    (void)data;
    if (ir_type_is_vector(inst->type) || ir_type_kind(inst->type) == IR_KIND_F64 || inst->op == IR_OP_LOOP ||
        inst->op == IR_OP_CALL || inst->op == IR_OP_VAR)
        fail_msg("a kernel has what its options leave out: %s", ir_print_inst(inst));
}

static void test_options(void **state)
{
    (void)state;
    const struct random_kernel_options options = {
        .no_vectors = true, .no_f64 = true, .no_control = true, .no_calls = true, .no_private = true};
    for (unsigned seed = 0; seed < 100; seed++) {
        struct random_kernel k = random_kernel(seed, &options);
        ir_walk(k.function->body, forbidden, NULL);
        random_kernel_clear(&k);
    }
}

/* Guarded kernels leave alone what is beyond their items. */
static void test_guarded(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 50; seed++) {
        struct random_kernel k = random_kernel(seed, &(struct random_kernel_options){.items = 20, .guarded = true});
        assert_true(k.guarded);
        struct interp_arg *args = random_args(&k, seed);
        k.items = 48;
        run(&k, args, 16, seed);
        random_args_free(&k, args);
        random_kernel_clear(&k);
    }
}

static unsigned changed_buffers(unsigned seed)
{
    struct random_kernel k = random_kernel(seed, NULL);
    struct interp_arg *args = random_args(&k, seed), *before = random_args(&k, seed);
    run(&k, args, 8, seed);
    unsigned changed = 0;
    for (uint32_t i = 0; i < k.n_args; i++)
        if (k.args[i].kind == RANDOM_BUFFER && random_kernel_compare(&k.args[i], args[i].data, before[i].data, 0) >= 0)
            changed++;
    random_args_free(&k, before);
    random_args_free(&k, args);
    random_kernel_clear(&k);
    return changed;
}

/* They compute: most of them leave something else behind than they found. */
static void test_not_idle(void **state)
{
    (void)state;
    unsigned busy = 0;
    for (unsigned seed = 0; seed < 100; seed++) busy += changed_buffers(seed) != 0;
    assert_in_range(busy, 80, 100);
}

static void test_compare(void **state)
{
    (void)state;
    struct random_arg arg = {.kind = RANDOM_BUFFER, .type = IR_TYPE(IR_KIND_F32, 3, 0), .count = 2, .size = 32};
    const float a[8] = {1, 2, 3, 100, 5, 6, __builtin_nanf(""), 8}, b[8] = {1, 2, 3, 200, 5, 6, __builtin_nanf("1"), 9};
    float c[8];
    memcpy(c, a, sizeof c);
    assert_int_equal(random_kernel_compare(&arg, a, b, 0), -1); /* the fourth float of a vector of 3 is padding */
    c[5] = 6.0001f;
    assert_int_equal(random_kernel_compare(&arg, a, c, 1e-3), 1);
    arg.inexact = true;
    assert_int_equal(random_kernel_compare(&arg, a, c, 1e-3), -1);
    assert_int_equal(random_kernel_compare(&arg, a, c, 1e-6), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),   cmocka_unit_test(test_with_everything), cmocka_unit_test(test_options),
        cmocka_unit_test(test_guarded), cmocka_unit_test(test_not_idle),        cmocka_unit_test(test_compare),
    };
    return cmocka_run_group_tests_name("random_kernel", tests, NULL, NULL);
}
