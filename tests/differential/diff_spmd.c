/* Random programs of work-groups and sub-groups: the interpreter against compiled code of each instruction set this
   machine has. FUSIOND_TEST_CASES says how many, FUSIOND_TEST_SEED where to begin; --long runs 10000 and
   needs hours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text/print/print.h"
#include "tests/support/cases.h"
#include "tests/support/compiled.h"
#include "tests/support/random_args.h"
#include "tests/support/random_spmd.h"

enum { SHORT_CASES = 180, LONG_CASES = 10000 };

static unsigned usual_cases = SHORT_CASES;

static bool interpret(const struct random_spmd *p, struct interp_arg *args, uint32_t sub_group_size)
{
    struct interp_options options = {.sub_group_size = sub_group_size};
    struct interp_result result;
    bool ok = interp_run(p->kernel.function, &p->range, args, &options, &result) == 0 && result.n_findings == 0;
    interp_result_clear(&result);
    return ok;
}

static void say(const struct random_spmd *p, uint64_t seed, const char *how, const char *what)
{
    char *text = ir_print(p->kernel.module);
    fprintf(stderr, "# seed %llu, %s: %s\n%s\n", (unsigned long long)seed, how, what, text);
    free(text);
}

/* The size of its sub-groups is the code's to choose where the kernel leaves that open. */
static bool compare_code(const struct random_spmd *p, uint64_t seed, const char *how, const struct compiled *c)
{
    struct interp_arg *want = random_args(&p->kernel, seed), *got = random_args(&p->kernel, seed);
    bool same = interpret(p, want, c->info->sub_group_size);
    if (!same) say(p, seed, how, "the interpreter finds something");
    if (same) {
        compiled_run(c, p->kernel.function, &p->range, got, 1 + seed % 3, 0);
        same = random_args_equal(&p->kernel, want, got, how, seed);
    }
    random_args_free(&p->kernel, got);
    random_args_free(&p->kernel, want);
    return same;
}

static void compare_one(const struct random_spmd *p, uint64_t seed, enum cpu_isa isa, bool scalar)
{
    char how[64];
    struct compiled c;
    snprintf(how, sizeof how, "%s%s", cpu_isa_name(isa), scalar ? " scalar" : "");
    bool good = compiled_make(&c, p->kernel.function, isa, scalar);
    if (!good) say(p, seed, how, "no code");
    good = good && compare_code(p, seed, how, &c);
    compiled_clear(&c);
    assert_true(good);
}

static void compare_batches(const struct random_spmd *p, uint64_t seed)
{
    struct compiled c;
    compiled_make_batch(&c, p->kernel.function, (enum batch_loops)(seed % 3));
    bool good = compare_code(p, seed, "batches", &c);
    compiled_clear(&c);
    assert_true(good);
}

static uint64_t first_seed(void)
{
    const char *s = getenv("FUSIOND_TEST_SEED");
    return s ? strtoull(s, NULL, 10) : 1;
}

/* The long check, and one that begins at a seed, takes each program through all instruction sets; the short one takes
   them in turn, for each costs a compilation. */
static void programs(void **state)
{
    (void)state;
    enum cpu_isa isas[CPU_ISA_COUNT];
    const char *only = getenv("FUSIOND_TEST_WAYS");
    bool code = !only || strcmp(only, "batches") != 0;
    unsigned n = code ? compiled_isas(isas) : 0, cases = test_cases(usual_cases);
    bool all = cases >= LONG_CASES || getenv("FUSIOND_TEST_SEED");
    for (uint64_t seed = first_seed(); cases--; seed++) {
        struct random_spmd p = random_spmd(seed);
        for (unsigned i = 0; i < n; i++)
            if (all || i == seed % n) compare_one(&p, seed, isas[i], false);
        if (all && n) compare_one(&p, seed, isas[n - 1], true);
        compare_batches(&p, seed);
        random_spmd_clear(&p);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs)};
    if (argc > 1 && strcmp(argv[1], "--long") == 0) usual_cases = LONG_CASES;
    return cmocka_run_group_tests_name("diff_spmd", tests, NULL, NULL);
}
