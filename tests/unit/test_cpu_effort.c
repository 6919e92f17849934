/* Kernels of any size are compiled, within the time and memory of a compiler process: large ones with less effort. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/strbuf.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/fork.h"

enum { MOST_MB = 1200, MOST_SECONDS = 20 /* of the processor; a compiler process has 60 */ };

struct made {
    int result;
    unsigned lanes;
    enum cpu_effort effort;
    long mb;
    char reason[400];
};

static void make(const struct ir_function *kernel, enum cpu_effort effort, struct made *made)
{
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX512), .effort = effort};
    struct cpu_object object;
    struct diag_list list = {0};
    struct rusage use;
    *made = (struct made){.result = cpu_compile(kernel, &options, &object, &list)};
    if (list.n) snprintf(made->reason, sizeof made->reason, "%s", list.items[0].text);
    getrusage(RUSAGE_SELF, &use);
    made->lanes = object.lanes;
    made->effort = object.effort;
    made->mb = use.ru_maxrss >> 10;
    cpu_object_clear(&object);
    diag_clear(&list);
}

/* In a child with the limits. */
static struct made compile(const struct ir_function *kernel, enum cpu_effort effort)
{
    int fds[2];
    struct made made = {0};
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork_or_fail();
    if (child == 0) {
        struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS};
        setrlimit(RLIMIT_CPU, &seconds);
        make(kernel, effort, &made);
        _exit(write(fds[1], &made, sizeof made) == sizeof made ? 0 : 1);
    }
    close(fds[1]);
    bool whole = read(fds[0], &made, sizeof made) == sizeof made;
    close(fds[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(whole);
    return made;
}

/* n operations, each on the one before; with accesses, each third one reads memory at a place of its own. */
static struct ir_module *chain(unsigned n, bool accesses)
{
    struct strbuf b = {0};
    strbuf_printf(&b,
                  "kernel @k(%%a: ptr.global f32 read, %%o: ptr.global f32 write, %%s: i32) {\n  %%i = global_id x\n"
                  "  %%j = trunc i32 %%i\n  %%v0 = load f32 %%a[%%i]\n");
    for (unsigned k = 0; k < n; k++) {
        if (accesses && k % 3 == 0) {
            strbuf_printf(&b,
                          "  %%p%u = mul i32 %%j, %%s\n  %%q%u = and i32 %%p%u, %u\n  %%x%u = load f32 %%a[%%q%u]\n", k,
                          k, k, k % 64, k, k);
            strbuf_printf(&b, "  %%v%u = fadd f32 %%v%u, %%x%u\n", k + 1, k, k);
        } else {
            strbuf_printf(&b, "  %%v%u = %s f32 %%v%u, 0.5\n", k + 1, k & 1 ? "fmul" : "fadd", k);
        }
    }
    strbuf_printf(&b, "  store f32 %%o[%%i], %%v%u\n}\n", n);
    char *text = strbuf_take(&b);
    struct ir_module *m = kit_parse(text);
    free(text);
    return m;
}

static void small_ones_get_all(void **state)
{
    (void)state;
    struct ir_module *m = chain(100, true);
    struct made made = compile(kit_kernel(m), CPU_EFFORT_FULL);
    assert_int_equal(made.result, 0);
    assert_int_equal(made.effort, CPU_EFFORT_FULL);
    ir_module_free(m);
}

/* Two vectors where the work is in functions; a product and a sum are none, even as one operation. */
static void work_in_memory_gets_one_vector(void **state)
{
    (void)state;
    static const char *const operations[] = {"%r = mad f32 %x, %x, %x", "%r = exp f32 %x"};
    struct made made[2];
    for (int k = 0; k < 2; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "kernel @k(%%a: ptr.global f32 read, %%o: ptr.global f32 write) {\n  %%i = global_id x\n"
                 "  %%x = load f32 %%a[%%i]\n  %s\n  store f32 %%o[%%i], %%r\n}\n",
                 operations[k]);
        struct ir_module *m = kit_parse(text);
        made[k] = compile(kit_kernel(m), CPU_EFFORT_FULL);
        assert_int_equal(made[k].result, 0);
        ir_module_free(m);
    }
    assert_int_equal(made[1].lanes, made[0].lanes * (made[0].lanes > 1 ? 2 : 1));
}

static void large_ones_get_less(void **state)
{
    (void)state;
    static const struct {
        unsigned n;
        bool accesses;
    } cases[] = {{1000, true}, {9000, false}, {12000, false}, {22000, false}};
    enum cpu_effort before = CPU_EFFORT_FULL;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct ir_module *m = chain(cases[k].n, cases[k].accesses);
        struct made made = compile(kit_kernel(m), CPU_EFFORT_FULL);
        print_message("# %u operations: effort %s, %u lanes, %ld MB\n", cases[k].n, cpu_effort_name(made.effort),
                      made.lanes, made.mb);
        assert_int_equal(made.result, 0);
        assert_true(made.effort > CPU_EFFORT_FULL && made.effort >= before);
        assert_true(made.mb < MOST_MB);
        if (cases[k].n > 10000) { /* where an instruction set has what it takes, vectors */
            assert_int_equal(made.effort, CPU_EFFORT_PLAIN);
            assert_int_equal(made.lanes > 1, cpu_target_host(CPU_ISA_AVX512).isa >= CPU_ISA_AVX2);
        }
        before = made.effort;
        ir_module_free(m);
    }
}

static void what_is_too_large_is_told(void **state)
{
    (void)state;
    struct ir_module *m = chain(60000, true);
    struct made made = compile(kit_kernel(m), CPU_EFFORT_FULL);
    assert_int_equal(made.result, 1);
    assert_true(made.mb < MOST_MB);
    ir_module_free(m);
}

/* Of n sums with numbers that are known, rotated by others: each is set once, however often the code of it is there. */
static unsigned statements_of_mixing(unsigned n)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32 write) {\n  %%i = global_id x\n"
                      "  %%v0 = load i32 %%a[%%i]\n");
    for (unsigned k = 0; k < n; k++)
        strbuf_printf(&b, "  %%s%u = add i32 %%v%u, %u\n  %%v%u = rotate i32 %%s%u, %u\n", k, k, 1000 + k % 8, k + 1, k,
                      1 + k % 31);
    strbuf_printf(&b, "  store i32 %%o[%%i], %%v%u\n}\n", n);
    char *text = strbuf_take(&b);
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = {.isa = CPU_ISA_AVX512}, .emit_only = true};
    struct cpu_object object;
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, NULL), 0);
    assert_int_equal(object.effort, CPU_EFFORT_FULL);
    assert_int_equal(object.lanes, 16);
    ir_module_free(m);
    free(text);
    return object.statements;
}

/* The code is there twice, under masks and without: a statement for the sum and one for the rotation in each. */
static void constants_are_no_statements(void **state)
{
    (void)state;
    assert_int_equal(statements_of_mixing(500) - statements_of_mixing(100), 400 * 2 * 2);
}

static void all_efforts_compute_the_same(void **state)
{
    (void)state;
    struct ir_module *m = chain(60, true);
    float in[200], want[200], got[200];
    int32_t scale = 3;
    for (int i = 0; i < 200; i++) in[i] = (float)i / 7;
    struct nd_range range = {1, {200, 1, 1}, {0}, {32, 1, 1}};
    struct interp_arg args[] = {
        {.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
        {.kind = INTERP_ARG_BUFFER, .data = want, .size = sizeof want},
        {.kind = INTERP_ARG_BYTES, .data = &scale, .size = sizeof scale},
    };
    struct interp_result result;
    assert_int_equal(interp_run(kit_kernel(m), &range, args, NULL, &result), 0);
    assert_true(result.completed);
    interp_result_clear(&result);
    args[1].data = got;
    for (int effort = 0; effort < CPU_EFFORT_COUNT; effort++) {
        struct compiled c;
        memset(got, 0, sizeof got);
        assert_true(compiled_make_with(&c, kit_kernel(m), CPU_ISA_AVX512, (enum cpu_effort)effort));
        compiled_run(&c, kit_kernel(m), &range, args, 2, 0);
        assert_memory_equal(got, want, sizeof want);
        compiled_clear(&c);
    }
    ir_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones_get_all),          cmocka_unit_test(work_in_memory_gets_one_vector),
        cmocka_unit_test(large_ones_get_less),         cmocka_unit_test(what_is_too_large_is_told),
        cmocka_unit_test(constants_are_no_statements), cmocka_unit_test(all_efforts_compute_the_same),
    };
    return cmocka_run_group_tests_name("cpu_effort", tests, NULL, NULL);
}
