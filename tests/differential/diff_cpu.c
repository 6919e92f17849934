/* Random kernels: the interpreter against compiled code of each instruction set this machine has, made with all
   effort and, in turn, with each lesser one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/cases.h"
#include "tests/support/compiled.h"
#include "tests/support/random_args.h"

static void compare_code(const struct random_kernel *k, const struct nd_range *range, uint64_t seed, struct compiled *c,
                         const char *how, const struct interp_arg *want)
{
    struct interp_arg *got = random_args(k, seed);
    compiled_run(c, k->function, range, got, 1 + seed % 3, 0);
    bool same = random_args_equal(k, want, got, how, seed);
    random_args_free(k, got);
    compiled_clear(c);
    assert_true(same);
}

static void compare_one(const struct random_kernel *k, const struct nd_range *range, uint64_t seed, enum cpu_isa isa,
                        enum cpu_effort effort, const struct interp_arg *want)
{
    char how[64];
    snprintf(how, sizeof how, "%s, %s", cpu_isa_name(isa), cpu_effort_name(effort));
    struct compiled c;
    if (!compiled_make_with(&c, k->function, isa, effort)) {
        fprintf(stderr, "# seed %llu, %s\n", (unsigned long long)seed, how);
        fail();
    }
    compare_code(k, range, seed, &c, how, want);
}

static void compare_batches(const struct random_kernel *k, const struct nd_range *range, uint64_t seed,
                            const struct interp_arg *want)
{
    static const char *const how[] = {"batches", "batches, avx2", "batches, generic"};
    for (enum batch_loops loops = BATCH_BEST; loops <= BATCH_GENERIC; loops++) {
        struct compiled c;
        compiled_make_batch(&c, k->function, loops);
        compare_code(k, range, seed, &c, how[loops], want);
    }
}

static bool only_batches(void)
{
    const char *ways = getenv("FUSIOND_TEST_WAYS");
    return ways && strcmp(ways, "batches") == 0;
}

static void compare_seed(uint64_t seed, const struct random_kernel_options *options)
{
    struct random_kernel k = random_kernel(seed, options);
    struct nd_range range = {1, {k.items, 1, 1}, {0, 0, 0}, {1 + seed % 64, 1, 1}};
    if (options->local_size) range.local[0] = options->local_size;
    if (k.guarded) range.global[0] += seed % 7;
    struct interp_arg *want = random_args(&k, seed);
    struct interp_result result;
    assert_int_equal(interp_run(k.function, &range, want, NULL, &result), 0);
    assert_true(result.completed);
    interp_result_clear(&result);
    enum cpu_isa isas[CPU_ISA_COUNT];
    unsigned n = only_batches() ? 0 : compiled_isas(isas);
    for (unsigned i = 0; i < n; i++) compare_one(&k, &range, seed, isas[i], CPU_EFFORT_FULL, want);
    if (n) compare_one(&k, &range, seed, isas[n - 1], (enum cpu_effort)(1 + seed % (CPU_EFFORT_COUNT - 1)), want);
    compare_batches(&k, &range, seed, want);
    random_args_free(&k, want);
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
