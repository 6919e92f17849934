/*
 * One file of the corpus: test_corpus FILE.cl FILE.O0.spv FILE.O2.spv. Beside each module lies the same as bitcode
 * (.bc), for a PoCL that does not read SPIR-V. A case is a kernel at a level: the interpreter's result is the reference
 * for the CPU code and PoCL.
 *
 * CPU code and PoCL run in processes of their own, with the buffers in shared memory: neither takes the test down.
 * What the CPU code refuses in words is counted and printed, not a failure.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuser/passes/manager/pipelines.h"
#include "ir/base/arena.h"
#include "ir/spirv/spirv.h"
#include "tests/corpus/corpus.h"
#include "tests/support/compiled.h"

enum { LEVELS = 2, CPU_SECONDS = 60, POCL_SECONDS = 300, VERSION_SIZE = 32 };

/* One module: the file at one level of optimization, and what PoCL made of its kernels. */
struct level {
    const char *path;
    struct ir_module *module;
    uint8_t **pocl; /* buffers by kernel, shared with the process that runs PoCL */
    volatile uint8_t *pocl_status;
};

/* A kernel at a level. */
struct corpus_case {
    struct level *level;
    uint32_t index;
};

static struct corpus corpus;
static struct level levels[LEVELS];
static struct {
    unsigned cases, interpreted, cpu_agreed, cpu_refused, cpu_differed, pocl_agreed, pocl_left_out, pocl_differed;
} counts;

static void *shared(size_t size)
{
    void *p = mmap(NULL, size + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

/* A child for what may die. The test library's signal handlers would let it run on with the cases that follow. */
static pid_t fork_child(unsigned seconds)
{
    static const int caught[] = {SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGSYS, SIGABRT};
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], SIG_DFL);
    alarm(seconds);
    return 0;
}

/* The buffers of a kernel before it runs, in memory that child processes share. */
static uint8_t *fresh_buffers(const struct corpus_kernel *k)
{
    uint8_t *data = shared(corpus_buffer_at(k, k->n_args));
    for (uint32_t i = 0; i < k->n_args; i++)
        if (corpus_has_memory(&k->args[i])) corpus_fill(&k->args[i], i, data + corpus_buffer_at(k, i));
    return data;
}

static void free_buffers(const struct corpus_kernel *k, uint8_t *data)
{
    munmap(data, corpus_buffer_at(k, k->n_args) + 1);
}

/* ---- results ---- */

static bool agree(const struct corpus_kernel *k, const char *who, const uint8_t *want, const uint8_t *got,
                  const struct corpus_kernel *differs)
{
    bool good = true;
    for (uint32_t i = 0; i < k->n_args; i++) {
        if (!corpus_has_memory(&k->args[i])) continue;
        char text[200];
        uint64_t at = corpus_buffer_at(k, i);
        uint64_t n = corpus_compare(&k->args[i], want + at, got + at, differs, text, sizeof text);
        if (n) fprintf(stderr, "# %s, %s, argument %u, %llu wrong: %s\n", k->name, who, i, (unsigned long long)n, text);
        if (n) good = false;
    }
    return good;
}

/* ---- the interpreter ---- */

/* At -O0 compilers read vectors that are not written as a whole yet: that is no finding there. */
static bool interpret(const struct ir_function *f, const struct corpus_case *c, uint32_t sub_group_size, uint8_t *data)
{
    const struct corpus_kernel *k = corpus.kernels[c->index];
    struct corpus_arguments a;
    struct interp_options options = {.sub_group_size = sub_group_size, .check_races = true};
    options.check_unwritten = c->level != &levels[0];
    struct interp_result result = {0};
    corpus_arguments(k, data, &a);
    int code = interp_run(f, &k->range, a.args, &options, &result);
    for (uint32_t i = 0; i < result.n_findings; i++)
        fprintf(stderr, "# %s, interpreter, line %u: %s\n", k->name, result.findings[i].line, result.findings[i].text);
    bool good = code == 0 && result.completed && result.n_findings == 0;
    interp_result_clear(&result);
    return agree(k, "interpreter", data, data, NULL) && good; /* with itself, but for what must be zero */
}

/* ---- CPU code ---- */

/* Exit statuses of the child, but for the last; nothing else exits with these. */
enum cpu_end { CPU_RAN = 40, CPU_REFUSED, CPU_DIED };

/* What runs: code; the kernel in batches, cleaned up as in the service; the same as it was read, with its calls. */
enum cpu_way { CPU_CODE, CPU_BATCHES, CPU_BATCHES_AS_READ, CPU_WAYS };
static const char *const cpu_way_names[] = {"CPU code", "batches", "batches, as it was read"};

static bool make(struct compiled *c, struct ir_function *f, enum cpu_way way)
{
    if (way != CPU_BATCHES_AS_READ) pipeline_run(&pipeline_cleanup, f);
    if (way != CPU_CODE) return compiled_make_batch(c, f, BATCH_BEST);
    return compiled_make(c, f, CPU_ISA_COUNT - 1, false) || compiled_make(c, f, CPU_ISA_COUNT - 1, true);
}

/* In the child, so that the interpreter gets the module as it was read. The passes come first, as in the service. What
   the code for vectors refuses may run one work-item at a time. */
static enum cpu_end cpu_child(struct ir_function *f, const struct corpus_kernel *k, enum cpu_way way, uint8_t *data,
                              uint32_t *sub_group_size)
{
    struct corpus_arguments a;
    struct compiled c;
    corpus_arguments(k, data, &a);
    if (!make(&c, f, way)) return CPU_REFUSED;
    *sub_group_size = c.info->sub_group_size;
    compiled_run(&c, f, &k->range, a.args, 1, 0);
    return CPU_RAN;
}

static enum cpu_end run_cpu(struct ir_function *f, const struct corpus_kernel *k, enum cpu_way way, uint8_t *data,
                            uint32_t *sub_group_size)
{
    uint32_t *size = shared(sizeof *size);
    pid_t child = fork_child(CPU_SECONDS);
    if (child == 0) _exit(cpu_child(f, k, way, data, size));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    *sub_group_size = *size;
    munmap(size, sizeof *size + 1);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == CPU_RAN || WEXITSTATUS(status) == CPU_REFUSED))
        return WEXITSTATUS(status);
    fprintf(stderr, "# %s, %s: the process died, status 0x%x\n", k->name, cpu_way_names[way], status);
    return CPU_DIED;
}

/* ---- PoCL ---- */

/* The version of PoCL, in memory of its own. */
static char *pocl_version(void)
{
    char *version = shared(VERSION_SIZE);
    pid_t child = fork_child(POCL_SECONDS);
    if (child == 0) {
        corpus_pocl_version(version, VERSION_SIZE);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    return version;
}

/* Where PoCL takes its process down, the kernels behind the fatal one run in a new process. */
static void run_pocl(struct level *l)
{
    char program[4096];
    if (corpus.no_pocl) return;
    snprintf(program, sizeof program, "%.*s", (int)(strlen(l->path) - strlen(".spv")), l->path);
    for (uint32_t first = 0; first < corpus.n;) {
        pid_t child = fork_child(POCL_SECONDS);
        if (child == 0) _exit(corpus_pocl_run(program, &corpus, first, l->pocl, l->pocl_status) ? 0 : 1);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) return;
        while (first < corpus.n && (l->pocl_status[first] != CORPUS_POCL_TRIED)) first++;
        if (first == corpus.n) return;
        fprintf(stderr, "# %s, PoCL: the process died, status 0x%x\n", corpus.kernels[first++]->name, status);
    }
}

/* ---- cases ---- */

static bool check_cpu(const struct corpus_kernel *k, enum cpu_way way, enum cpu_end end, const uint8_t *want,
                      const uint8_t *got)
{
    bool good = end == CPU_REFUSED || (end == CPU_RAN && agree(k, cpu_way_names[way], want, got, NULL));
    if (end == CPU_REFUSED) fprintf(stderr, "# %s: not compiled\n", k->name);
    *(end == CPU_REFUSED ? &counts.cpu_refused : good ? &counts.cpu_agreed : &counts.cpu_differed) += 1;
    return good;
}

static bool check_pocl(const struct corpus_case *c, const struct corpus_kernel *k, const uint8_t *want)
{
    if (k->no_pocl) {
        counts.pocl_left_out++;
        fprintf(stderr, "# %s: not with PoCL: %s\n", k->name, k->no_pocl);
        return true;
    }
    for (uint32_t i = 0; i < k->n_differs; i++)
        fprintf(stderr, "# %s: %s%s not compared with PoCL: %s\n", k->name, k->differs[i].only_zeros ? "zeros of " : "",
                k->differs[i].rule, k->differs[i].reason);
    bool ran = c->level->pocl_status[c->index] == CORPUS_POCL_RAN;
    if (!ran) fprintf(stderr, "# %s: PoCL did not run it\n", k->name);
    bool good = ran && agree(k, "PoCL", want, c->level->pocl[c->index], k);
    *(good ? &counts.pocl_agreed : &counts.pocl_differed) += 1;
    return good;
}

static void run_case(void **state)
{
    const struct corpus_case *c = *state;
    const struct corpus_kernel *k = corpus.kernels[c->index];
    counts.cases++;
    assert_non_null(c->level->module);
    struct ir_function *f = ir_module_find(c->level->module, k->name);
    assert_non_null(f);
    uint8_t *want = fresh_buffers(k), *got[CPU_WAYS];
    uint32_t sub_group_size = 0;
    enum cpu_end cpu[CPU_WAYS];
    bool cpu_good = true;
    for (int way = 0; way < CPU_WAYS; way++) {
        got[way] = fresh_buffers(k);
        cpu[way] = run_cpu(f, k, (enum cpu_way)way, got[way], &sub_group_size);
    }
    bool interpreted = interpret(f, c, sub_group_size, want);
    counts.interpreted += interpreted;
    for (int way = 0; way < CPU_WAYS; way++) {
        cpu_good &= check_cpu(k, (enum cpu_way)way, cpu[way], want, got[way]);
        free_buffers(k, got[way]);
    }
    bool pocl_good = check_pocl(c, k, want);
    free_buffers(k, want);
    assert_true(interpreted && cpu_good && pocl_good);
}

static void read_module(struct level *l)
{
    FILE *f = fopen(l->path, "rb");
    assert_non_null(f);
    uint8_t *bytes = arena_realloc(NULL, 16 << 20);
    size_t size = fread(bytes, 1, 16 << 20, f);
    fclose(f);
    struct diag_list list = {0};
    l->module = ir_read_spirv(bytes, size, l->path, &list);
    if (!l->module) {
        char *text = diag_format(&list);
        fprintf(stderr, "# %s: refused:\n%s", l->path, text);
        free(text);
    }
    diag_clear(&list);
    free(bytes);
}

static int set_up(void **state)
{
    (void)state;
    for (struct level *l = levels; l < levels + LEVELS; l++) {
        l->pocl = arena_realloc(NULL, corpus.n * sizeof *l->pocl);
        for (uint32_t i = 0; i < corpus.n; i++) l->pocl[i] = fresh_buffers(corpus.kernels[i]);
        l->pocl_status = shared(corpus.n);
        run_pocl(l);
        read_module(l);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (struct level *l = levels; l < levels + LEVELS; l++) {
        for (uint32_t i = 0; i < corpus.n; i++) free_buffers(corpus.kernels[i], l->pocl[i]);
        munmap((void *)l->pocl_status, corpus.n + 1);
        free(l->pocl);
        ir_module_free(l->module);
    }
    fprintf(stderr,
            "# %u cases: %u interpreted; CPU code %u agreed, %u refused, %u differed; PoCL %u agreed, %u left out, %u "
            "differed\n",
            counts.cases, counts.interpreted, counts.cpu_agreed, counts.cpu_refused, counts.cpu_differed,
            counts.pocl_agreed, counts.pocl_left_out, counts.pocl_differed);
    return 0;
}

/* One test for each kernel and level. */
static struct CMUnitTest *make_tests(struct corpus_case *cases)
{
    struct CMUnitTest *tests = arena_realloc(NULL, LEVELS * corpus.n * sizeof *tests);
    for (uint32_t i = 0; i < LEVELS * corpus.n; i++) {
        cases[i] = (struct corpus_case){&levels[i % LEVELS], i / LEVELS};
        char *name = arena_realloc(NULL, 100);
        snprintf(name, 100, "%s -O%u", corpus.kernels[i / LEVELS]->name, i % LEVELS * 2);
        tests[i] = (struct CMUnitTest){.name = name, .test_func = run_case, .initial_state = &cases[i]};
    }
    return tests;
}

int main(int argc, char **argv)
{
    if (argc != 2 + LEVELS) {
        fprintf(stderr, "usage: test_corpus FILE.cl FILE.O0.spv FILE.O2.spv\n");
        return 2;
    }
    char *version = pocl_version();
    bool read = corpus_read(argv[1], version, &corpus);
    munmap(version, VERSION_SIZE + 1);
    if (!read) return 1;
    for (int i = 0; i < LEVELS; i++) levels[i].path = argv[2 + i];
    struct corpus_case *cases = arena_realloc(NULL, LEVELS * corpus.n * sizeof *cases);
    struct CMUnitTest *tests = make_tests(cases);
    int failed = _cmocka_run_group_tests("corpus", tests, LEVELS * corpus.n, set_up, tear_down);
    for (uint32_t i = 0; i < LEVELS * corpus.n; i++) free((void *)tests[i].name);
    free(tests);
    free(cases);
    corpus_clear(&corpus);
    return failed;
}
