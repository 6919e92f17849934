/* Vectors of neighbours, and numbers at even distances, are moved by whole registers: compiled code gives what the
   interpreter does, reads nothing after the last number, and writes nothing between numbers. */
#include "tests/support/compiled_kit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/strbuf.h"

enum { ITEMS = 131, WHOLE = 64, /* work-items, that fill all vectors */ MAX_BYTES = 16 * 8 * (ITEMS + 1) };

static const char *const kinds[] = {"i8", "i16", "i32", "i64", "f16", "f32", "f64"};
static const unsigned sizes[] = {1, 2, 4, 8, 2, 4, 8}, counts[] = {2, 3, 4, 8, 16};

static const struct nd_range ranges[] = {{1, {ITEMS, 1, 1}, {0, 0, 0}, {64, 1, 1}},
                                         {1, {WHOLE, 1, 1}, {0, 0, 0}, {WHOLE, 1, 1}}};

/* The end of memory after which there is none. */
struct edge {
    uint8_t *start;
    size_t size;
};

static struct edge edge_new(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (MAX_BYTES + page - 1) / page * page;
    uint8_t *start = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(start != MAP_FAILED);
    assert_int_equal(mprotect(start + size, page, PROT_NONE), 0);
    for (size_t i = 0; i < size; i++) start[i] = (uint8_t)(i * 37 + i / 251);
    return (struct edge){start, size};
}

/* The kernel by all ways, reading the last `bytes` before the edge. */
static void run_at_edge(const char *text, struct edge *from, uint64_t bytes)
{
    struct ir_module *m = kit_parse(text);
    struct ir_function *kernel = kit_kernel(m);
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n = kit_ways(ways);
    static uint8_t want[MAX_BYTES], got[MAX_BYTES];
    struct interp_arg args[] = {{INTERP_ARG_BUFFER, from->start + from->size - bytes, bytes, NULL},
                                {INTERP_ARG_BUFFER, want, sizeof want, NULL}};
    memset(want, 0x55, sizeof want);
    kit_interpret(kernel, &ranges[1], args);
    for (unsigned w = 0; w < n; w++) {
        struct compiled c;
        assert_true(kit_make(&c, kernel, &ways[w]));
        args[1].data = memset(got, 0x55, sizeof got);
        compiled_run(&c, kernel, &ranges[1], args, 1, 0);
        kit_expect_equal_bytes(want, got, sizeof want, cpu_isa_name(ways[w].isa), 1);
        compiled_clear(&c);
    }
    ir_module_free(m);
}

/* A vector of each work-item, with its first and last number exchanged. */
static void write_turn(struct strbuf *text, const char *kind, unsigned size, unsigned c)
{
    unsigned n = counts[c], bytes = size * (n == 3 ? 4 : n);
    char type[16];
    snprintf(type, sizeof type, "%sx%u", kind, n);
    strbuf_printf(text, "  %%p%u = elem %s %%x, %%i\n  %%v%u = load %s %%p%u\n", n, type, n, type, n);
    strbuf_printf(text, "  %%a%u = extract %s %%v%u, 0\n  %%b%u = extract %s %%v%u, %u\n", n, type, n, n, type, n,
                  n - 1);
    strbuf_printf(text, "  %%w%u = insert %s %%v%u, %%b%u, 0\n", n, type, n, n);
    strbuf_printf(text, "  %%z%u = insert %s %%w%u, %%a%u, %u\n", n, type, n, n, n - 1);
    strbuf_printf(text, "  %%j%u = add i64 %%i, %u\n", n, c * MAX_BYTES / bytes); /* each has its part of the memory */
    strbuf_printf(text, "  %%q%u = elem %s %%out, %%j%u\n  store %s %%q%u, %%z%u\n", n, type, n, type, n, n);
}

/* Vectors of each length. */
static void test_vectors(void **state)
{
    (void)state;
    struct edge edge = edge_new();
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct strbuf text = {0};
        strbuf_printf(&text, "kernel @k(%%x: ptr.global %s read, %%out: ptr.global %s) {\n  %%i = global_id x\n",
                      kinds[k], kinds[k]);
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) write_turn(&text, kinds[k], sizes[k], c);
        strbuf_printf(&text, "}\n");
        char *kernel = strbuf_take(&text);
        static uint8_t out[MAX_BYTES * sizeof counts / sizeof *counts];
        struct interp_arg args[] = {{INTERP_ARG_BUFFER, edge.start, MAX_BYTES, NULL},
                                    {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
        kit_same_everywhere(kernel, ranges, 2, 0, args, 2);
        free(kernel);
    }
}

/* Every second, fourth and eighth number, up to the last one there is. */
static void test_even_distances(void **state)
{
    (void)state;
    struct edge edge = edge_new();
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned distance = 2; distance <= 8; distance *= 2) {
            char text[512];
            snprintf(text, sizeof text,
                     "kernel @k(%%x: ptr.global %s read, %%out: ptr.global %s) {\n  %%i = global_id x\n"
                     "  %%j = mul i64 %%i, %u\n  %%v = load %s %%x[%%j]\n  store %s %%out[%%j], %%v\n}\n",
                     kinds[k], kinds[k], distance, kinds[k], kinds[k]);
            run_at_edge(text, &edge, ((WHOLE - 1) * distance + 1) * sizes[k]);
        }
}

/* The first n of so many numbers of each work-item, in turned order; without gaps where n is all of them. */
static char *packed_kernel(const char *kind, unsigned distance, unsigned n)
{
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "kernel @k(%%x: ptr.global %s read, %%out: ptr.global %s) {\n  %%i = global_id x\n"
                  "  %%j = mul i64 %%i, %u\n",
                  kind, kind, distance);
    for (unsigned m = 0; m < n; m++)
        strbuf_printf(&text, "  %%a%u = add i64 %%j, %u\n  %%v%u = load %s %%x[%%a%u]\n", m, m, m, kind, m);
    for (unsigned m = 0; m < n; m++) strbuf_printf(&text, "  store %s %%out[%%a%u], %%v%u\n", kind, n - 1 - m, m);
    strbuf_printf(&text, "}\n");
    return strbuf_take(&text);
}

static void run_packed(const char *kind, unsigned size, unsigned distance, unsigned n, struct edge *edge)
{
    char *kernel = packed_kernel(kind, distance, n);
    run_at_edge(kernel, edge, ((WHOLE - 1) * distance + n) * size);
    free(kernel);
}

/* Structs of numbers that are no power of two: whole ones, as the pixels of RGB pictures, and parts of them. */
static void test_packed(void **state)
{
    (void)state;
    static const unsigned distances[] = {3, 5, 6, 7, 12};
    struct edge edge = edge_new();
    for (unsigned k = 0; k < 4; k++) /* one of each size */
        for (unsigned d = 0; d < sizeof distances / sizeof *distances; d++) {
            const unsigned parts[] = {1, distances[d] - 1, distances[d]};
            for (unsigned p = 0; p < 3; p++) run_packed(kinds[k], sizes[k], distances[d], parts[p], &edge);
        }
}

/* That is whole registers and shuffles: how often an instruction is in the code of AVX2. */
static unsigned count_in_packed(const char *kind, const char *instruction)
{
    char *text = packed_kernel(kind, 3, 3);
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX2), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    unsigned n = 0;
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    for (const char *at = object.assembly; (at = strstr(at, instruction)); at++) n++;
    cpu_object_clear(&object);
    ir_module_free(m);
    free(text);
    return n;
}

/* Each of three registers is blended out of three, and back. */
static void test_packed_code(void **state)
{
    (void)state;
    if (cpu_target_host(CPU_ISA_AVX2).isa != CPU_ISA_AVX2) skip();
    assert_int_equal(count_in_packed("f32", "vblendps"), 3 * 2 * 2);
    assert_int_equal(count_in_packed("f32", "vpermd"), 3 * 2);
    assert_int_equal(count_in_packed("i8", "vpermd"), 2);
}

/* Small vectors that are words: anywhere, under a condition, with numbers that are extended, narrowed and neither. */
static void test_words(void **state)
{
    (void)state;
    static const char *const types[] = {"i8", "i16", "f16"}, *const conditions[] = {"ult i64 %o, 5", "uge i64 %i, 3"};
    static const char *const places[] = {"add i64 %i, 0", "xor i64 %i, 5", "mul i64 %i, 3"};
    struct edge edge = edge_new();
    for (unsigned k = 0; k < 3 * 2 * 3; k++) {
        const char *type = types[k % 3], *condition = conditions[k / 3 % 2], *place = places[k / 6];
        unsigned n = k % 3 ? 2 : 4;
        char text[2000], change[1000], v[16], wide[16];
        snprintf(v, sizeof v, "%sx%u", type, n);
        snprintf(wide, sizeof wide, "i32x%u", n);
        if (k % 3 == 2)
            snprintf(change, sizeof change, "  %%r = fneg %s %%v\n", v);
        else
            snprintf(change, sizeof change,
                     "  %%s = sext %s %%v\n  %%z = zext %s %%v\n  %%m = mul %s %%s, %%z\n  %%q = ssat %s %%m\n"
                     "  %%u = s2u_sat %s %%m\n  %%qs = sext %s %%q\n  %%uz = zext %s %%u\n  %%t = sub %s %%qs, %%uz\n"
                     "  %%low = trunc %s %%t\n  %%a1 = add %s %%low, %%v\n  %%a2 = smax %s %%a1, %%q\n"
                     "  %%r = xor %s %%a2, %%u\n",
                     wide, wide, wide, v, v, wide, wide, wide, v, v, v, v);
        snprintf(
            text, sizeof text,
            "kernel @k(%%x: ptr.global %s read, %%out: ptr.global %s) {\n  %%i = global_id x\n  %%p = %s\n"
            "  %%o7 = mul i64 %%i, 7\n  %%o = and i64 %%o7, 7\n  %%c = %s\n  if %%c {\n  %%from = elem %s %%x, %%p\n"
            "  %%v = load %s %%from\n%s  %%to = elem %s %%out, %%p\n  store %s %%to, %%r\n  }\n}\n",
            type, type, place, condition, v, v, change, v, v);
        static uint8_t out[MAX_BYTES];
        struct interp_arg args[] = {{INTERP_ARG_BUFFER, edge.start, MAX_BYTES, NULL},
                                    {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
        kit_same_everywhere(text, ranges, 2, 0, args, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_even_distances),
                                       cmocka_unit_test(test_packed), cmocka_unit_test(test_packed_code),
                                       cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
