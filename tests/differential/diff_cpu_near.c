/*
 * Loads at places that ids are computed to, where those of neighbours lie near each other, or do not: the interpreter
 * against compiled code of each instruction set, in memory that begins and ends where nothing else is.
 */
#include <sys/mman.h>

#include "tests/support/compiled_kit.h"

enum { ITEMS = 1100, NUMBERS = 1400, PAGE = 4096, PAGES = 6, BYTES = NUMBERS * 8 };

/* Memory of so many bytes between pages that cannot be touched. */
struct guarded {
    char *pages;
    void *first, *last; /* at its begin, and up to its end */
};

static struct guarded guarded_new(size_t bytes)
{
    struct guarded g;
    assert_true(bytes <= (PAGES - 2) * PAGE);
    g.pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(g.pages, MAP_FAILED);
    assert_int_equal(mprotect(g.pages, PAGE, PROT_NONE), 0);
    size_t end = PAGE + (bytes + PAGE - 1) / PAGE * PAGE;
    assert_int_equal(mprotect(g.pages + end, PAGES * PAGE - end, PROT_NONE), 0);
    g.first = g.pages + PAGE;
    g.last = g.pages + end - bytes;
    return g;
}

struct type {
    const char *name;
    unsigned bytes;
};

/* %e of an id %i, below NUMBERS for all of them. */
static const char *const places[] = {
    "  %e = lshr i32 %i, 1\n",
    "  %e = udiv i32 %i, 3\n",
    "  %a = sub i32 %i, 3\n  %e = sclamp i32 %a, 5, 900\n",
    "  %e = xor i32 %i, 1\n",
    "  %a = lshr i32 %i, 1\n  %b = and i32 %i, 1\n  %c = shl i32 %b, 1\n  %d = add i32 %a, %c\n  %f = add i32 %d, 3\n"
    "  %e = sub i32 %f, 3\n",
    "  %a = lshr i32 %i, 1\n  %e = sub i32 1399, %a\n",
    "  %a = mul i32 %i, 7\n  %e = urem i32 %a, 1399\n",
    "  %a = lshr i32 %i, 4\n  %b = and i32 %i, 15\n  %c = mul i32 %b, 85\n  %d = lshr i32 %c, 4\n  %e = add i32 %a, "
    "%d\n",
    "  %a = lshr i32 %i, 4\n  %b = and i32 %i, 13\n  %c = mul i32 %a, 16\n  %e = add i32 %c, %b\n",
};

static void make(const struct type *t, const char *place, char text[1000])
{
    snprintf(text, 1000,
             "kernel @k(%%x: ptr.global, %%o: ptr.global) assumes(small_memory) {\n"
             "  %%g = global_id x\n  %%i = trunc i32 %%g\n%s"
             "  %%w = zext i64 %%e\n  %%p = elem %s %%x, %%w\n  %%v = load %s %%p\n"
             "  %%q = elem %s %%o, %%g\n  store %s %%q, %%v\n  return\n}\n",
             place, t->name, t->name, t->name, t->name);
}

/* What code gives of input at `at` is what the interpreter gives. */
static void compare(const struct ir_function *kernel, const struct compiled *c, const struct kit_way *way,
                    const struct nd_range *range, void *at, size_t size)
{
    static uint8_t want[BYTES], got[BYTES];
    memset(want, 0, sizeof want);
    memset(got, 0, sizeof got);
    struct interp_arg args[] = {{INTERP_ARG_BUFFER, at, size, NULL}, {INTERP_ARG_BUFFER, want, sizeof want, NULL}};
    for (size_t i = 0; i < size; i++) ((uint8_t *)at)[i] = (uint8_t)(i * 37 + i / 251);
    kit_interpret(kernel, range, args);
    args[1].data = got;
    compiled_run(c, kernel, range, args, 1, 0);
    kit_expect_equal_bytes(want, got, sizeof want, kit_way_name(way), 1);
}

static void run(const struct type *t, const char *place)
{
    char text[1000];
    size_t size = (size_t)NUMBERS * t->bytes;
    struct guarded g = guarded_new(size);
    make(t, place, text);
    struct ir_module *m = kit_parse(text);
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways(ways);
    const struct nd_range ranges[] = {{1, {ITEMS, 1, 1}, {0}, {100, 1, 1}}, {1, {ITEMS, 1, 1}, {0}, {ITEMS, 1, 1}}};
    for (unsigned w = 0; w < n_ways; w++) {
        struct compiled c;
        assert_true(kit_make(&c, kit_kernel(m), &ways[w]));
        for (unsigned r = 0; r < 2; r++) {
            compare(kit_kernel(m), &c, &ways[w], &ranges[r], g.first, size);
            compare(kit_kernel(m), &c, &ways[w], &ranges[r], g.last, size);
        }
        compiled_clear(&c);
    }
    ir_module_free(m);
    munmap(g.pages, PAGES * PAGE);
}

static void near_and_far(void **state)
{
    static const struct type types[] = {{"f32", 4}, {"i32", 4}, {"i8x4", 4}, {"f32x2", 8}, {"f64", 8}};
    unsigned n = sizeof places / sizeof *places;
    (void)state;
    for (unsigned i = 0; i < n; i++) run(&types[0], places[i]);
    for (unsigned t = 1; t < sizeof types / sizeof *types; t++)
        for (unsigned i = t % 2; i < n; i += 2) run(&types[t], places[i]);
}

static const char read_place[] = "kernel @k(%x: ptr.global, %o: ptr.global) assumes(small_memory) {\n"
                                 "  %g = global_id x\n  %s = elem i32 %o, %g\n  %i = load i32 %s\n"
                                 "  %e = lshr i32 %i, 1\n  %w = zext i64 %e\n  %p = elem f32 %x, %w\n"
                                 "  %v = load f32 %p\n  %q = elem f32 %o, %g\n  store f32 %q, %v\n  return\n}\n";

static bool has_permutation(const char *text)
{
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX2), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    assert_non_null(strstr(object.assembly, "vgatherdps"));
    bool has = strstr(object.assembly, "vpermd") != NULL;
    cpu_object_clear(&object);
    ir_module_free(m);
    return has;
}

/* Places that work-items have read are anywhere; whether they are near is not even asked. */
static void places_of_ids_only(void **state)
{
    char text[1000];
    (void)state;
    if (cpu_target_host(CPU_ISA_AVX2).isa != CPU_ISA_AVX2) skip();
    make(&(struct type){"f32", 4}, places[0], text);
    assert_true(has_permutation(text));
    assert_false(has_permutation(read_place));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_and_far), cmocka_unit_test(places_of_ids_only)};
    return cmocka_run_group_tests_name("diff_cpu_near", tests, NULL, NULL);
}
