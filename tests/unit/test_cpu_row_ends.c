/*
 * What vectors at the ends of rows load: neighbours that are held back by borders. They are taken out of registers that
 * hold all of them, of which nothing may lie outside of the lanes' pages; where they do not fit, by gathers.
 */
#include <sys/mman.h>

#include "tests/support/compiled_kit.h"

enum { PAGE = 4096, N = PAGE / 4, ROW = 77 };

/* A page of numbers with nothing before and behind it. */
static int32_t *page_between_guards(void)
{
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    int32_t *numbers = (int32_t *)(pages + PAGE);
    for (int i = 0; i < N; i++) numbers[i] = 3 * i + 1;
    return numbers;
}

static void unmap(int32_t *numbers)
{
    munmap((uint8_t *)numbers - PAGE, 3 * PAGE);
}

/* One row of n work-items after another, whole vectors and a rest. */
static void expect_same_rows(const struct compiled *c, const struct ir_function *kernel, int32_t *in, uint64_t n,
                             const char *how)
{
    static int32_t want[2 * N], got[2 * N];
    struct nd_range range = {2, {n, 2, 1}, {0}, {n, 1, 1}};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = PAGE},
                                {.kind = INTERP_ARG_BUFFER, .data = want, .size = sizeof want}};
    kit_interpret(kernel, &range, args);
    args[1].data = got;
    compiled_run(c, kernel, &range, args, 1, 0);
    kit_expect_equal_bytes(want, got, sizeof want, how, 1);
}

/* By all ways, with the numbers in that page: the kernel's result is the interpreter's, in short rows and long ones. */
static void expect_same(const char *text, uint64_t longest)
{
    struct ir_module *m = kit_parse(text);
    struct ir_function *kernel = kit_kernel(m);
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways(ways);
    int32_t *in = page_between_guards();
    for (unsigned w = 0; w < n_ways; w++) {
        struct compiled c;
        assert_true(kit_make(&c, kernel, &ways[w]));
        expect_same_rows(&c, kernel, in, ROW, kit_way_name(&ways[w]));
        expect_same_rows(&c, kernel, in, longest, kit_way_name(&ways[w]));
        compiled_clear(&c);
    }
    unmap(in);
    ir_module_free(m);
}

#define HEAD                                                                                                           \
    "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32) assumes(small_ids, small_memory) {\n"                    \
    "  %%x64 = global_id x\n  %%x = trunc i32 %%x64\n  %%y = global_id y\n  %%w = global_size x\n"                     \
    "  %%row = mul i64 %%y, %%w\n  %%i = add i64 %%row, %%x64\n"
#define TAIL "  store i32 %%o[%%i], %%v\n  return\n}\n"

/* a[clamp(stride * x + by, 0, last)]: the first and the last numbers of the page are among them. */
static void expect_clamped(int stride, int by)
{
    char text[1000];
    snprintf(text, sizeof text,
             HEAD "  %%s = mul i32 %%x, %d\n  %%t = add i32 %%s, %d\n  %%c = sclamp i32 %%t, 0, %d\n"
                  "  %%j = sext i64 %%c\n  %%v = load i32 %%a[%%j]\n" TAIL,
             stride, by, N - 1);
    expect_same(text, (uint64_t)((N + stride - 1) / stride));
}

static void clamped(void **state)
{
    (void)state;
    expect_clamped(1, -3);
    expect_clamped(1, 2);
    expect_clamped(2, -1);
    expect_clamped(2, 2);
    expect_clamped(3, -1); /* too far apart for two registers */
}

/* a[|x - by|], as borders that reflect have it: the first lanes count down. */
static void reflected(void **state)
{
    (void)state;
    char text[1000];
    for (int by = 1; by <= 20; by += 9) {
        snprintf(text, sizeof text,
                 HEAD "  %%s = sub i32 %%x, %d\n  %%t = sabs i32 %%s\n  %%c = sclamp i32 %%t, 0, %d\n"
                      "  %%j = sext i64 %%c\n  %%v = load i32 %%a[%%j]\n" TAIL,
                 by, N - 1);
        expect_same(text, N);
    }
}

/* Where only some of the lanes run, those before them lead outside. */
static void some_lanes(void **state)
{
    (void)state;
    char text[1000];
    for (int first = 1; first < ROW; first += 30) {
        snprintf(text, sizeof text,
                 HEAD "  %%far = sub i32 %%x, %d\n  %%is = sge i32 %%far, 0\n  %%v = if %%is -> i32 {\n"
                      "    %%c = smin i32 %%far, 9\n    %%j = sext i64 %%c\n    %%l = load i32 %%a[%%j]\n"
                      "    yield %%l\n  } else {\n    yield -1\n  }\n" TAIL,
                 first);
        expect_same(text, ROW);
    }
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) n++;
    return n;
}

/* Gathers of the code for an index, and how many of them are only for lanes that do not fit into registers. */
static void gathers_of(const char *index, unsigned *all, unsigned *rare)
{
    char text[1000];
    snprintf(text, sizeof text, HEAD "%s  %%j = sext i64 %%c\n  %%v = load i32 %%a[%%j]\n" TAIL, index);
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX512), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    *all = count(object.assembly, "vgatherdps");
    *rare = count(object.assembly, "vpcompressd");
    cpu_object_clear(&object);
    ir_module_free(m);
}

/* Under masks, each gather at an index that is made of ids is for lanes that do not fit; at one that is read, none. */
static void only_where_near(void **state)
{
    (void)state;
    enum cpu_isa isas[CPU_ISA_COUNT];
    if (isas[compiled_isas(isas) - 1] != CPU_ISA_AVX512) return;
    unsigned all, rare;
    gathers_of("  %t = add i32 %x, -2\n  %c = sclamp i32 %t, 0, 100\n", &all, &rare);
    assert_true(all > 0);
    assert_int_equal(all, rare);
    gathers_of("  %c = load i32 %a[%x64]\n", &all, &rare);
    assert_int_equal(rare, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clamped), cmocka_unit_test(reflected),
                                       cmocka_unit_test(some_lanes), cmocka_unit_test(only_where_near)};
    kit_tries_gathers = true;
    return cmocka_run_group_tests_name("cpu_row_ends", tests, NULL, NULL);
}
