/* The clean-up passes: none changes what a random kernel computes, or grows without bound. What each makes of small
   kernels: test_pass_files.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "ir/verify/verify.h"
#include "tests/support/cases.h"
#include "tests/support/kernel_run.h"
#include "tests/support/random_kernel.h"
#include "tests/support/random_module.h"
#include "tests/support/rng.h"

#define HEAD "kernel @k(%o: ptr.global i32, %p: ptr.global i32, %n: i32) {\n"

static struct ir_module *parsed(const char *functions, const char *body)
{
    struct strbuf text = {0};
    struct diag_list list = {0};
    strbuf_printf(&text, "%s%s%s}\n", functions ? functions : "", HEAD, body);
    struct ir_module *m = ir_parse(text.text, text.size, "test.fk", &list);
    if (!m) fail_msg("%s%s", diag_format(&list), text.text);
    free(strbuf_take(&text));
    return m;
}

static void expect_valid(const struct ir_module *m)
{
    struct diag_list list = {0};
    if (!ir_verify(m, &list)) fail_msg("%s\n%s", diag_format(&list), ir_print(m));
}

/* Both kernels leave the same in memory. */
static void expect_same_results(struct ir_function *a, struct ir_function *b)
{
    struct slot slots[2][3];
    struct nd_range range = {1, {16, 1, 1}, {0}, {4, 1, 1}};
    for (uint64_t seed = 0; seed < 16; seed++) {
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < 3; i++) slots[k][i] = slot_new(a->module, &a->params[i], 64, 3 * seed + i);
            struct slot *args[] = {&slots[k][0], &slots[k][1], &slots[k][2]};
            assert_true(slots_run(k ? b : a, &range, args));
        }
        for (int i = 0; i < 3; i++) assert_memory_equal(slots[0][i].data, slots[1][i].data, slots[0][i].bytes);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 3; i++) slot_clear(&slots[k][i]);
    }
}

/* ---- kernels that are made ---- */

static void many_early_returns_do_not_nest(void **state)
{
    (void)state;
    struct strbuf f = {0};
    strbuf_add(&f, "func @f(%x: i32) -> i32 {\n");
    for (int i = 0; i < 300; i++)
        strbuf_printf(&f, "    %%c%d = ieq i32 %%x, %d\n    if %%c%d {\n        return %d\n    }\n", i, i, i, 7 * i);
    strbuf_add(&f, "    return 1\n}\n");
    static const char body[] = "    %i = global_id x\n"
                               "    %j = trunc i32 %i\n"
                               "    %m = mul i32 %j, 50\n"
                               "    %r = call @f(%m)\n"
                               "    store i32 %o[%i], %r\n";
    struct ir_module *before = parsed(f.text, body), *m = parsed(f.text, body);
    pipeline_run(&pipeline_cleanup, ir_module_find(m, "k"));
    expect_valid(m);
    expect_same_results(ir_module_find(before, "k"), ir_module_find(m, "k"));
    ir_module_free(m);
    ir_module_free(before);
    free(strbuf_take(&f));
}

/* Functions that call each other twice would grow without bound. */
static void calls_stop_growing(void **state)
{
    (void)state;
    struct strbuf f = {0};
    strbuf_add(&f, "func @f0(%x: i32) -> i32 {\n    %y = add i32 %x, 1\n    return %y\n}\n");
    for (int i = 1; i < 40; i++)
        strbuf_printf(&f,
                      "func @f%d(%%x: i32) -> i32 {\n    %%y = call @f%d(%%x)\n    %%z = call @f%d(%%y)\n"
                      "    return %%z\n}\n",
                      i, i - 1, i - 1);
    struct ir_module *m = parsed(f.text, "    %r = call @f39(%n)\n    store i32 %o, %r\n");
    assert_true(pass_run(&pass_inline, ir_module_find(m, "k")));
    expect_valid(m);
    assert_true(arena_size(m->arena) < 512 << 20);
    ir_module_free(m);
    free(strbuf_take(&f));
}

/* ---- random kernels ---- */

static void *filled(const struct random_arg *arg, uint64_t seed)
{
    void *memory = arena_realloc(NULL, arg->size + 1);
    random_kernel_fill(arg, seed, memory);
    return memory;
}

/* Runs the kernel on data made from the seed; the buffers' contents after it. */
static void **run_random(const struct random_kernel *k, uint64_t local, uint64_t seed)
{
    void **memory = calloc(k->n_args, sizeof *memory);
    struct interp_arg *args = calloc(k->n_args, sizeof *args);
    struct nd_range range = {1, {k->items, 1, 1}, {0}, {local, 1, 1}};
    struct interp_options options = {.sub_group_size = 4, .check_races = true, .check_unwritten = true};
    struct interp_result result = {0};
    for (uint32_t i = 0; i < k->n_args; i++) {
        struct random_arg *a = &k->args[i];
        if (a->kind == RANDOM_BUFFER) memory[i] = filled(a, seed + i);
        args[i].kind = a->kind == RANDOM_BUFFER  ? INTERP_ARG_BUFFER
                       : a->kind == RANDOM_LOCAL ? INTERP_ARG_LOCAL
                                                 : INTERP_ARG_BYTES;
        args[i].data = a->kind == RANDOM_SCALAR ? a->value : memory[i];
        args[i].size = a->size;
    }
    int rc = interp_run(k->function, &range, args, &options, &result);
    for (uint32_t i = 0; i < result.n_findings; i++) print_error("%s\n", result.findings[i].text);
    if (rc || result.n_findings || !result.completed) fail_msg("%s", ir_print(k->module));
    interp_result_clear(&result);
    free(args);
    return memory;
}

static void free_memory(void **memory, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) free(memory[i]);
    free(memory);
}

/* Single passes in any order, or the standard sequence. Contraction changes results, and stays away. */
static void change(struct random_kernel *k, struct rng *rng)
{
    const struct pass *const *all = pass_all();
    uint32_t n = 0;
    while (all[n]) n++;
    if (rng_chance(rng, 30)) {
        pipeline_run(&pipeline_cleanup, k->function);
        return;
    }
    for (int i = 0; i < 8; i++) {
        const struct pass *pass = all[rng_below(rng, n)];
        if (pass != &pass_contract) pass_run(pass, k->function);
        expect_valid(k->module);
    }
}

static void check_random(uint64_t seed, const struct random_kernel_options *options)
{
    struct rng rng = {seed};
    uint64_t local = options->local_size ? options->local_size : 8;
    struct random_kernel before = random_kernel(seed, options), after = random_kernel(seed, options);
    change(&after, &rng);
    void **a = run_random(&before, local, seed), **b = run_random(&after, local, seed);
    for (uint32_t i = 0; i < before.n_args; i++) {
        if (before.args[i].kind != RANDOM_BUFFER) continue;
        int64_t at = random_kernel_compare(&before.args[i], a[i], b[i], 0);
        if (at >= 0)
            fail_msg("seed %llu: argument %u differs at %lld\n%s\n%s", (unsigned long long)seed, i, (long long)at,
                     ir_print(before.module), ir_print(after.module));
    }
    free_memory(a, before.n_args);
    free_memory(b, before.n_args);
    random_kernel_clear(&before);
    random_kernel_clear(&after);
}

static void random_kernels_compute_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < test_cases(300); seed++) {
        check_random(seed, &(struct random_kernel_options){.items = 16});
        check_random(seed, &(struct random_kernel_options){.items = 16, .instructions = 120, .depth = 5});
        check_random(seed, &(struct random_kernel_options){.items = 16, .local_size = 4});
    }
}

/* Every operation and every shape, kernels or not: what comes out is valid, and stays as it is. */
static void random_modules_stay_valid(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < test_cases(300); seed++) {
        struct random_module_options options = {.functions = 3, .instructions = 100, .depth = 8};
        struct ir_module *m = random_module(seed, &options);
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (m->functions[i]->body) pipeline_run(&pipeline_cleanup, m->functions[i]);
        expect_valid(m);
        char *once = ir_print(m);
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (m->functions[i]->body) pipeline_run(&pipeline_cleanup, m->functions[i]);
        char *twice = ir_print(m);
        assert_string_equal(once, twice);
        free(once);
        free(twice);
        ir_module_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_early_returns_do_not_nest),
        cmocka_unit_test(calls_stop_growing),
        cmocka_unit_test(random_kernels_compute_the_same),
        cmocka_unit_test(random_modules_stay_valid),
    };
    return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
