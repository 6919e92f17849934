/*
 * The corpus there and back: test_round_trip FILE.cl FILE.O0.spv FILE.O2.spv. Each kernel is cleaned up, written in the
 * kernel dialect and read again; the interpreter must get the same values from both. There is none that cannot be
 * written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuser/passes/manager/pipelines.h"
#include "fuser/spirv/writer.h"
#include "ir/base/arena.h"
#include "ir/spirv/spirv.h"
#include "tests/corpus/corpus.h"
#include "tests/spirv_out/read_module.h"
#include "tests/spirv_out/records.h"

static struct corpus corpus;
static struct {
    unsigned agreed, refused, differed;
} counts;

static uint8_t *fresh_buffers(const struct corpus_kernel *k)
{
    uint8_t *data = arena_realloc(NULL, corpus_buffer_at(k, k->n_args) + 1);
    for (uint32_t i = 0; i < k->n_args; i++)
        if (corpus_has_memory(&k->args[i])) corpus_fill(&k->args[i], i, data + corpus_buffer_at(k, i));
    return data;
}

/* written: as it comes back, with records for images and pipes. */
static bool interpret(const struct ir_function *f, const struct corpus_kernel *k, uint8_t *data, bool written)
{
    struct corpus_arguments a;
    struct records r;
    struct interp_options options = {.sub_group_size = 16};
    struct interp_result result = {0};
    corpus_arguments(k, data, &a);
    if (written) records_open(&r, a.args, f);
    if (written) options.finder = &r.finder;
    int code = interp_run(f, &k->range, written ? r.args : a.args, &options, &result);
    if (written) records_close(&r);
    for (uint32_t i = 0; i < result.n_findings; i++)
        fprintf(stderr, "# %s, line %u: %s\n", k->name, result.findings[i].line, result.findings[i].text);
    bool good = code == 0 && result.completed && result.n_findings == 0;
    interp_result_clear(&result);
    return good;
}

/* The same function computed both: nothing but padding may differ. */
static bool same(const struct corpus_kernel *k, const uint8_t *want, const uint8_t *got)
{
    static char exact[] = "exact";
    bool good = true;
    for (uint32_t i = 0; i < k->n_args; i++) {
        struct corpus_arg a = k->args[i];
        if (!corpus_has_memory(&a)) continue;
        for (uint32_t r = 0; r < a.n_rules; r++)
            if (strcmp(a.rules[r], "unset") != 0 && strcmp(a.rules[r], "xyz") != 0) a.rules[r] = exact;
        char text[200];
        uint64_t at = corpus_buffer_at(k, i), n = corpus_compare(&a, want + at, got + at, NULL, text, sizeof text);
        if (n) fprintf(stderr, "# %s, argument %u, %llu differ: %s\n", k->name, i, (unsigned long long)n, text);
        good = good && !n;
    }
    return good;
}

/* ---- one kernel ---- */

static void print_findings(const char *kernel, const char *what, struct diag_list *list)
{
    char *text = diag_format(list);
    fprintf(stderr, "# %s: %s: %s", kernel, what, text);
    free(text);
    diag_clear(list);
}

static struct ir_module *there_and_back(const struct ir_function *f, int *result)
{
    struct spirv_module m;
    struct diag_list list = {0};
    *result = spirv_write(f, &spirv_target_kernel, &m, &list);
    if (*result) {
        print_findings(f->name, "not written", &list);
        return NULL;
    }
    struct ir_module *back = ir_read_spirv(m.words, m.n_words * sizeof *m.words, "back", &list);
    if (!back || list.n) print_findings(f->name, "not read", &list);
    spirv_module_clear(&m);
    return back;
}

static void run_kernel(struct ir_function *f, const struct corpus_kernel *k)
{
    uint8_t *want = fresh_buffers(k), *got = fresh_buffers(k);
    bool ran = interpret(f, k, want, false);
    int result;
    pipeline_run(&pipeline_cleanup, f);
    struct ir_module *back = there_and_back(f, &result);
    struct ir_function *again = back ? ir_module_find(back, k->name) : NULL;
    bool good = false;
    if (again) good = interpret(again, k, got, true) && same(k, want, got);
    *(result == -1 ? &counts.refused : good ? &counts.agreed : &counts.differed) += 1;
    if (!good) fprintf(stderr, "# %s differs\n", k->name);
    ir_module_free(back);
    free(want);
    free(got);
    assert_true(ran && good);
}

/* ---- all of them ---- */

struct corpus_case {
    struct ir_module **module;
    const struct corpus_kernel *kernel;
};

static void run_case(void **state)
{
    const struct corpus_case *c = *state;
    struct ir_function *f = ir_module_find(*c->module, c->kernel->name);
    assert_non_null(f);
    run_kernel(f, c->kernel);
}

int main(int argc, char **argv)
{
    if (argc != 4 || !corpus_read(argv[1], "", &corpus)) return 2;
    struct ir_module *modules[2] = {read_module(argv[2]), read_module(argv[3])};
    struct corpus_case *cases = arena_realloc(NULL, 2 * corpus.n * sizeof *cases);
    struct CMUnitTest *tests = arena_realloc(NULL, 2 * corpus.n * sizeof *tests);
    for (uint32_t i = 0; i < 2 * corpus.n; i++) {
        cases[i] = (struct corpus_case){&modules[i % 2], corpus.kernels[i / 2]};
        tests[i] =
            (struct CMUnitTest){.name = corpus.kernels[i / 2]->name, .test_func = run_case, .initial_state = &cases[i]};
    }
    int failed = _cmocka_run_group_tests("round trip", tests, 2 * corpus.n, NULL, NULL);
    fprintf(stderr, "# %u agreed, %u not written, %u differed\n", counts.agreed, counts.refused, counts.differed);
    for (int i = 0; i < 2; i++) ir_module_free(modules[i]);
    free(tests);
    free(cases);
    corpus_clear(&corpus);
    return failed;
}
