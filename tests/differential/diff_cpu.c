/* Random kernels: the interpreter against compiled code of each instruction set this machine has, whole
   vectors and one work-item at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "tests/support/cases.h"
#include "tests/support/compiled.h"
#include "tests/support/random_kernel.h"

enum { MAX_ARGS = 16 };

/* What the kernel works on: one copy of each argument for the interpreter and one for the code. */
struct data {
    struct interp_arg args[MAX_ARGS];
};

static void data_make(struct data *d, const struct random_kernel *k, uint64_t seed)
{
    assert_true(k->n_args <= MAX_ARGS);
    for (uint32_t i = 0; i < k->n_args; i++) {
        const struct random_arg *a = &k->args[i];
        struct interp_arg *to = &d->args[i];
        *to = (struct interp_arg){.size = a->size};
        to->kind = a->kind == RANDOM_BUFFER   ? INTERP_ARG_BUFFER
                   : a->kind == RANDOM_SCALAR ? INTERP_ARG_BYTES
                                              : INTERP_ARG_LOCAL;
        if (a->kind == RANDOM_LOCAL) continue;
        to->data = malloc(a->size + 1);
        assert_non_null(to->data);
        if (a->kind == RANDOM_SCALAR)
            memcpy(to->data, a->value, a->size);
        else
            random_kernel_fill(a, seed + i, to->data);
    }
}

static void data_clear(struct data *d, const struct random_kernel *k)
{
    for (uint32_t i = 0; i < k->n_args; i++) free(d->args[i].data);
}

/* Where the contents differ the kernel is printed, so that the case can be tried by hand. */
static bool equal(const struct random_kernel *k, const struct data *want, const struct data *got, const char *how,
                  uint64_t seed)
{
    for (uint32_t i = 0; i < k->n_args; i++) {
        if (k->args[i].kind != RANDOM_BUFFER) continue;
        int64_t at = random_kernel_compare(&k->args[i], want->args[i].data, got->args[i].data, 1e-5);
        if (at < 0) continue;
        char *text = ir_print(k->module);
        fprintf(stderr, "# seed %llu, %s: buffer %u differs at element %lld\n%s\n", (unsigned long long)seed, how, i,
                (long long)at, text);
        free(text);
        return false;
    }
    return true;
}

static void compare_one(const struct random_kernel *k, const struct interp_range *range, uint64_t seed,
                        enum gccjit_isa isa, bool scalar, const struct data *want)
{
    char how[64];
    snprintf(how, sizeof how, "%s%s", gccjit_isa_name(isa), scalar ? " scalar" : "");
    struct compiled c;
    if (!compiled_make(&c, k->function, isa, scalar)) {
        fprintf(stderr, "# seed %llu, %s\n", (unsigned long long)seed, how);
        fail();
    }
    struct data got;
    data_make(&got, k, seed);
    compiled_run(&c, k->function, range, got.args, 1 + seed % 3, 0);
    bool same = equal(k, want, &got, how, seed);
    data_clear(&got, k);
    compiled_clear(&c);
    assert_true(same);
}

static void compare_seed(uint64_t seed, const struct random_kernel_options *options)
{
    struct random_kernel k = random_kernel(seed, options);
    struct interp_range range = {1, {k.items, 1, 1}, {0, 0, 0}, {1 + seed % 64, 1, 1}};
    if (options->local_size) range.local[0] = options->local_size;
    if (k.guarded) range.global[0] += seed % 7;
    struct data want;
    data_make(&want, &k, seed);
    struct interp_result result;
    assert_int_equal(interp_run(k.function, &range, want.args, NULL, &result), 0);
    assert_true(result.completed);
    interp_result_clear(&result);
    enum gccjit_isa isas[GCCJIT_ISA_COUNT];
    unsigned n = compiled_isas(isas);
    for (unsigned i = 0; i < n; i++) compare_one(&k, &range, seed, isas[i], false, &want);
    compare_one(&k, &range, seed, isas[n - 1], true, &want);
    data_clear(&want, &k);
    random_kernel_clear(&k);
}

static uint64_t first_seed(void)
{
    const char *s = getenv("FUSIOND_TEST_SEED");
    return s ? strtoull(s, NULL, 10) : 1;
}

static void small_kernels(void **state)
{
    (void)state;
    unsigned cases = test_cases(12);
    for (uint64_t seed = first_seed(); cases--; seed++)
        compare_seed(seed, &(struct random_kernel_options){.items = 1 + seed % 67, .instructions = 12});
}

static void large_kernels(void **state)
{
    (void)state;
    unsigned cases = test_cases(12) / 3;
    for (uint64_t seed = first_seed() + 100000; cases--; seed++)
        compare_seed(seed, &(struct random_kernel_options){.items = 1 + seed % 200, .instructions = 60});
}

static void inexact_functions(void **state)
{
    (void)state;
    unsigned cases = test_cases(12) / 3;
    for (uint64_t seed = first_seed() + 200000; cases--; seed++)
        compare_seed(seed,
                     &(struct random_kernel_options){.items = 1 + seed % 67, .instructions = 16, .inexact = true});
}

/* Local memory and barriers; values that live across them. */
static void work_groups(void **state)
{
    (void)state;
    unsigned cases = test_cases(12) / 2;
    for (uint64_t seed = first_seed() + 300000; cases--; seed++)
        compare_seed(seed, &(struct random_kernel_options){
                               .items = 1 + seed % 150, .instructions = 24, .local_size = 1 + seed * 7 % 48});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_kernels),
        cmocka_unit_test(large_kernels),
        cmocka_unit_test(inexact_functions),
        cmocka_unit_test(work_groups),
    };
    return cmocka_run_group_tests_name("diff_cpu", tests, NULL, NULL);
}
