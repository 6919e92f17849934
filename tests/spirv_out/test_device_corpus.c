/*
 * The corpus on a device of Vulkan, or of Level Zero: test_..._corpus FILE.cl FILE.O0.spv FILE.O2.spv [KERNEL]. Each
 * kernel is cleaned up, written for the device that is there, dispatched, and compared with the interpreter under the
 * corpus's rules, and those for PoCL where that is what the device computes with. Skipped where there is no device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuser/passes/manager/pipelines.h"
#include "fuser/spirv/abi/abi.h"
#include "fuser/spirv/writer.h"
#include "ir/base/arena.h"
#include "tests/corpus/corpus.h"
#include "tests/spirv_out/dispatch.h"
#include "tests/spirv_out/read_module.h"
#include "tests/spirv_out/records.h"

static struct corpus corpus;
static struct dispatcher *device;
static struct {
    unsigned agreed, refused, differed, coarse, of_pocl; /* of_pocl: differed as the corpus says of PoCL */
} counts;

static void fill(const struct corpus_kernel *k, uint8_t *data)
{
    for (uint32_t i = 0; i < k->n_args; i++)
        if (corpus_has_memory(&k->args[i])) corpus_fill(&k->args[i], i, data + corpus_buffer_at(k, i));
}

static bool interpret(const struct ir_function *f, const struct corpus_kernel *k, uint8_t *data)
{
    struct corpus_arguments a;
    struct interp_options options = {.sub_group_size = dispatch_target(device)->sub_group};
    struct interp_result result = {0};
    corpus_arguments(k, data, &a);
    bool good = interp_run(f, &k->range, a.args, &options, &result) == 0 && result.completed && result.n_findings == 0;
    interp_result_clear(&result);
    return good;
}

/* The record of an image or pipe; gives where it is. */
static uint64_t put_record(const struct interp_arg *a, uint64_t data, void **record)
{
    uint64_t address = 0;
    *record = dispatch_memory(device, record_bytes(a), &address);
    assert_non_null(*record);
    record_fill(a, data, *record);
    return address;
}

/* The arguments as they lie in memory; gives the bytes of local pointers. */
static uint32_t put_arguments(const struct ir_function *f, const struct corpus_kernel *k,
                              const struct corpus_arguments *host, uint64_t data, uint32_t own_local, uint8_t *args,
                              void **records)
{
    uint32_t offsets[CORPUS_MAX_ARGS], local = 0;
    ir_param_layout(f, offsets);
    for (uint32_t i = 0; i < k->n_args; i++) {
        const struct corpus_arg *a = &k->args[i];
        uint64_t word = corpus_has_memory(a) ? data + corpus_buffer_at(k, i) : own_local + local;
        if (record_bytes(&host->args[i])) word = put_record(&host->args[i], word, &records[i]);
        bool inside = a->kind == INTERP_ARG_BYTES;
        memcpy(args + offsets[i], inside ? a->value : (const uint8_t *)&word, inside ? a->size : sizeof word);
        if (a->kind == INTERP_ARG_LOCAL)
            local += (uint32_t)((a->size + SPIRV_BLOCK_ALIGN - 1) / SPIRV_BLOCK_ALIGN * SPIRV_BLOCK_ALIGN);
    }
    return local;
}

static bool agree(const struct corpus_kernel *k, const uint8_t *want, const uint8_t *got)
{
    bool good = true;
    for (uint32_t i = 0; i < k->n_args; i++) {
        if (!corpus_has_memory(&k->args[i])) continue;
        char text[200];
        uint64_t at = corpus_buffer_at(k, i);
        uint64_t n =
            corpus_compare(&k->args[i], want + at, got + at, *dispatch_pocl(device) ? k : NULL, text, sizeof text);
        if (n) fprintf(stderr, "# %s, argument %u, %llu wrong: %s\n", k->name, i, (unsigned long long)n, text);
        good = good && !n;
    }
    return good;
}

static bool run_on_device(const struct ir_function *f, const struct corpus_kernel *k, const struct spirv_module *m,
                          const uint8_t *want, uint32_t items)
{
    uint64_t address = 0;
    dispatch_reset(device);
    uint8_t *data = dispatch_memory(device, corpus_buffer_at(k, k->n_args) + 1, &address);
    if (!data) return false;
    fill(k, data);
    uint8_t *args = calloc(1, m->args_size + 8);
    struct corpus_arguments host;
    void *records[CORPUS_MAX_ARGS] = {0};
    corpus_arguments(k, data, &host);
    uint32_t local = put_arguments(f, k, &host, address, dispatch_own_local(device, m, &k->range), args, records);
    bool good = dispatch_run(device, m, &k->range, args, local, items);
    for (uint32_t i = 0; i < k->n_args; i++)
        if (records[i]) record_give_back(&host.args[i], records[i]);
    good = good && (k->ordered || agree(k, want, data));
    free(args);
    return good;
}

static void run_kernel(struct ir_function *f, const struct corpus_kernel *k)
{
    uint8_t *want = arena_realloc(NULL, corpus_buffer_at(k, k->n_args) + 1);
    struct spirv_module m;
    struct diag_list list = {0};
    fill(k, want);
    bool good = interpret(f, k, want);
    f->assumes |= IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY; /* as the planner finds of them */
    pipeline_run(&pipeline_cleanup, f);
    int result = spirv_write(f, dispatch_target(device), &m, &list);
    if (result) {
        char *text = diag_format(&list);
        fprintf(stderr, "# %s: not written: %s", f->name, text);
        free(text);
    } else {
        good = run_on_device(f, k, &m, want, 1) && good;
        if (m.items > 1) good = run_on_device(f, k, &m, want, m.items) && good;
        counts.coarse += m.items > 1;
    }
    bool of_pocl = !good && result == 0 && k->no_pocl && *dispatch_pocl(device);
    *(result == -1      ? &counts.refused
      : good && !result ? &counts.agreed
      : of_pocl         ? &counts.of_pocl
                        : &counts.differed) += 1;
    spirv_module_clear(&m);
    diag_clear(&list);
    free(want);
    assert_true((good || of_pocl) && result != -2);
}

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

/* FUSIOND_TEST_EVERY: one of so many kernels is taken. */
static uint32_t sample(void)
{
    const char *every = getenv("FUSIOND_TEST_EVERY");
    return every && !getenv("FUSIOND_TEST_WHOLE") && atoi(every) > 1 ? (uint32_t)atoi(every) : 1;
}

/* A count that is known, by the environment: of the sample and, behind a space where there is one, of all kernels. */
static bool is_as_known(const char *variable, unsigned count)
{
    const char *known = getenv(variable), *of_all = known ? strchr(known, ' ') : NULL;
    if (of_all && getenv("FUSIOND_TEST_WHOLE")) known = of_all + 1;
    bool same = !known || (unsigned)atoi(known) == count;
    if (!same) fprintf(stderr, "# %s: %s are known, not %u\n", variable, known, count);
    return same;
}

enum { SKIPPED = 77 };

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    device = dispatch_open();
    if (!device) return SKIPPED;
    if (!corpus_read(argv[1], dispatch_pocl(device), &corpus)) return 2;
    fprintf(stderr, "# %s\n", dispatch_device(device));
    struct ir_module *modules[2] = {read_module(argv[2]), read_module(argv[3])};
    struct corpus_case *cases = arena_realloc(NULL, 2 * corpus.n * sizeof *cases);
    struct CMUnitTest *tests = arena_realloc(NULL, 2 * corpus.n * sizeof *tests);
    uint32_t n = 0, every = sample();
    for (uint32_t i = 0; i < 2 * corpus.n; i += every) {
        if (argc > 4 && strcmp(argv[4], corpus.kernels[i / 2]->name) != 0) continue;
        cases[n] = (struct corpus_case){&modules[i % 2], corpus.kernels[i / 2]};
        tests[n] =
            (struct CMUnitTest){.name = corpus.kernels[i / 2]->name, .test_func = run_case, .initial_state = &cases[n]};
        n++;
    }
    int failed = _cmocka_run_group_tests("on a device", tests, n, NULL, NULL);
    fprintf(stderr, "# %u agreed, %u not written, %u differed, %u as PoCL does, %u did several work-items at once\n",
            counts.agreed, counts.refused, counts.differed, counts.of_pocl, counts.coarse);
    failed |= !is_as_known("FUSIOND_TEST_NOT_WRITTEN", counts.refused) ||
              !is_as_known("FUSIOND_TEST_AS_POCL", counts.of_pocl);
    for (int i = 0; i < 2; i++) ir_module_free(modules[i]);
    free(tests);
    free(cases);
    corpus_clear(&corpus);
    dispatch_close(device);
    return failed;
}
