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
    "  %a = shl i32 %i, 1\n  %b = sub i32 %a, 1\n  %e = sclamp i32 %b, 0, 1399\n",
    "  %a = mul i32 %i, 2\n  %b = add i32 %a, 2\n  %e = smin i32 %b, 1399\n",
    "  %a = mul i32 %i, 2\n  %b = umin i32 %a, 1398\n  %c = and i32 %i, 1\n  %e = add i32 %b, %c\n",
    "  %a = mul i32 %i, 3\n  %e = umin i32 %a, 1399\n",
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

/* Two arrays at one place: before, in and behind an if that most work-items are in, and in a loop. */
static const char two_arrays[] =
    "kernel @k(%x: ptr.global, %y: ptr.global, %o: ptr.global) assumes(small_memory) {\n"
    "  %g = global_id x\n  %i = trunc i32 %g\n  %h = lshr i32 %i, 1\n  %f = add i32 %h, 7\n"
    "  %w = zext i64 %h\n  %p = elem f32 %x, %w\n  %a = load f32 %p\n  %q = elem f32 %y, %w\n  %b = load f32 %q\n"
    "  %c = ult i32 %i, 900\n"
    "  %t = if %c -> f32 {\n"
    "    %w1 = zext i64 %f\n    %p1 = elem f32 %x, %w1\n    %a1 = load f32 %p1\n    %q1 = elem f32 %y, %w1\n"
    "    %b1 = load f32 %q1\n    %s1 = fsub f32 %a1, %b1\n    yield %s1\n"
    "  } else {\n    yield %a\n  }\n"
    "  %w2 = zext i64 %f\n  %p2 = elem f32 %y, %w2\n  %a2 = load f32 %p2\n  %q2 = elem f32 %x, %w2\n"
    "  %b2 = load f32 %q2\n  %s2 = fsub f32 %a2, %b2\n  %s3 = fadd f32 %s2, %t\n  %s4 = fadd f32 %s3, %b\n"
    "  %r = loop (%j: i32 = 0, %sum: f32 = %s4) -> f32 {\n"
    "    %k = add i32 %f, %j\n    %w3 = zext i64 %k\n    %p3 = elem f32 %x, %w3\n    %a3 = load f32 %p3\n"
    "    %q3 = elem f32 %y, %w3\n    %b3 = load f32 %q3\n    %d3 = fsub f32 %a3, %b3\n    %u = fadd f32 %sum, %d3\n"
    "    %n = add i32 %j, 1\n    %e = ieq i32 %n, 3\n    if %e {\n      break %u\n    }\n    continue %n, %u\n  }\n"
    "  %z = elem f32 %o, %g\n  store f32 %z, %r\n  return\n}\n";

static void arrays_share_places(void **state)
{
    static uint8_t out[BYTES];
    static float in[2][NUMBERS];
    const struct nd_range range = {1, {ITEMS, 1, 1}, {0}, {ITEMS, 1, 1}};
    (void)state;
    for (unsigned i = 0; i < NUMBERS; i++) {
        in[0][i] = (float)(i * 37 % 101);
        in[1][i] = (float)(i * 11 % 53);
    }
    const struct interp_arg args[] = {{INTERP_ARG_BUFFER, in[0], sizeof in[0], NULL},
                                      {INTERP_ARG_BUFFER, in[1], sizeof in[1], NULL},
                                      {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    kit_same_everywhere(two_arrays, &range, 1, 0, args, 3);
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) n++;
    return n;
}

/* How often a word is in the code of the best instruction set here. */
static unsigned count_in_code(const char *kernel, enum cpu_isa isa, const char *word)
{
    struct ir_module *m = kit_parse(kernel);
    struct cpu_options options = {.target = cpu_target_host(isa), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    unsigned n = count(object.assembly, word);
    cpu_object_clear(&object);
    ir_module_free(m);
    return n;
}

/* Bytes that say where in a table numbers of a type are, as look-ups of gamma; `slowly`: for a processor whose gathers
   take longer than loads. How often two words are in the code. */
static void count_looked_up(const char *type, enum cpu_isa isa, bool slowly, const char *const words[2],
                            unsigned counts[2])
{
    char text[1000];
    snprintf(text, sizeof text,
             "kernel @k(%%x: ptr.global, %%t: ptr.global, %%o: ptr.global) assumes(small_memory) {\n"
             "  %%g = global_id x\n  %%b = elem i8 %%x, %%g\n  %%i = load i8 %%b\n  %%w = zext i64 %%i\n"
             "  %%p = elem %s %%t, %%w\n  %%v = load %s %%p\n  %%q = elem %s %%o, %%g\n"
             "  store %s %%q, %%v\n  return\n}\n",
             type, type, type, type);
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(isa), .keep_assembly = true};
    options.target.gathers_slowly = slowly;
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    for (unsigned i = 0; i < 2; i++) counts[i] = count(object.assembly, words[i]);
    /* neither goes by 64 bits */
    assert_int_equal(count(object.assembly, "vpmovzxbq") + count(object.assembly, "vpmovzxdq"), 0);
    cpu_object_clear(&object);
    ir_module_free(m);
}

/* Gathers, or a load for each of the lanes; those under masks, of a row's end, are gathers. */
static void looked_up(void **state)
{
    static const char *const singles[] = {"vgatherdps", "vinsertps"}, *const doubles[] = {"vgatherdpd", "vmovhpd"};
    (void)state;
    if (cpu_target_host(CPU_ISA_AVX2).isa != CPU_ISA_AVX2) skip();
    for (unsigned slowly = 0; slowly < 2; slowly++) {
        unsigned counts[2];
        count_looked_up("f32", CPU_ISA_AVX2, slowly, singles, counts);
        assert_int_equal(counts[0], slowly ? 1 : 2);
        assert_int_equal(counts[1], slowly ? 8 - 2 : 0);
        count_looked_up("f64", CPU_ISA_AVX2, slowly, doubles, counts); /* two registers of four */
        assert_int_equal(counts[0], slowly ? 2 : 4);
        assert_int_equal(counts[1], slowly ? 4 : 0);
    }
}

/* With bits as masks numbers of 8 bytes are loaded one by one under a mask, too, where all lanes run: as often as
   without, each register by four pairs, beside a gather. */
static void looked_up_under_masks(void **state)
{
    static const char *const words[] = {"vgatherdpd", "vmovhpd"};
    unsigned counts[2];
    (void)state;
    if (cpu_target_host(CPU_ISA_AVX512).isa != CPU_ISA_AVX512) skip();
    count_looked_up("f64", CPU_ISA_AVX512, true, words, counts);
    assert_true(counts[0] > 0);
    assert_int_equal(counts[1], 2 * 4 * counts[0]);
}

/* Numbers of each size at places that vectors and numbers of bytes and words say, extended either way, with something
   added or masked: as the interpreter has it. */
static void looked_up_values(void **state)
{
    static const char *const found[] = {
        "  %b = elem i8 %x, %g\n  %n = load i8 %b\n  %w = zext i64 %n\n",
        "  %b = elem i8x4 %x, %g\n  %v4 = load i8x4 %b\n  %n = extract i8x4 %v4, 2\n  %w = zext i64 %n\n",
        "  %m = mul i64 %g, 3\n  %b = elem i8 %x, %m\n  %n = load i8 %b\n  %s = zext i32 %n\n  %s1 = add i32 %s, 300\n"
        "  %w = zext i64 %s1\n",
        "  %b = elem i16 %x, %g\n  %n = load i16 %b\n  %s = sext i32 %n\n  %s1 = and i32 %s, 511\n  %w = sext i64 "
        "%s1\n",
        "  %b = elem i8 %x, %g\n  %n = load i8 %b\n  %s = sext i64 %n\n  %w = add i64 %s, 200\n"};
    static const char *const types[] = {"f32", "i8", "i16", "f64"};
    static uint8_t in[4 * ITEMS], table[BYTES], out[BYTES];
    const struct nd_range range = {1, {ITEMS, 1, 1}, {0}, {100, 1, 1}};
    (void)state;
    for (unsigned i = 0; i < sizeof in; i++) in[i] = (uint8_t)(i * 89 + i / 7);
    for (unsigned i = 0; i < sizeof table; i++) table[i] = (uint8_t)(i * 37 + i / 251) & 0x3f;
    for (unsigned k = 0; k < sizeof found / sizeof *found * 4; k++) {
        char text[1000];
        const char *t = types[k % 4];
        snprintf(text, sizeof text,
                 "kernel @k(%%x: ptr.global i8 read, %%t: ptr.global %s read, %%o: ptr.global %s write) "
                 "assumes(small_memory) "
                 "{\n  %%g = global_id x\n%s  %%p = elem %s %%t, %%w\n  %%v = load %s %%p\n"
                 "  %%q = elem %s %%o, %%g\n  store %s %%q, %%v\n  return\n}\n",
                 t, t, found[k / 4], t, t, t, t);
        const struct interp_arg args[] = {{INTERP_ARG_BUFFER, in, sizeof in, NULL},
                                          {INTERP_ARG_BUFFER, table, sizeof table, NULL},
                                          {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
        kit_same_everywhere(text, &range, 1, 0, args, 3);
    }
}

/* Where each lane has a load of its own, its place is loaded as well: nothing is taken out of the midst of a register.
 */
static void places_come_from_memory(void **state)
{
    static const char text[] =
        "kernel @k(%x: ptr.global i8 read, %t: ptr.global f32 read, %o: ptr.global f32 write) assumes(small_memory) {\n"
        "  %g = global_id x\n  %b = elem i8x4 %x, %g\n  %v4 = load i8x4 %b\n  %n = extract i8x4 %v4, 1\n"
        "  %w = zext i64 %n\n  %p = elem f32 %t, %w\n  %v = load f32 %p\n  %q = elem f32 %o, %g\n"
        "  store f32 %q, %v\n  return\n}\n";
    (void)state;
    if (cpu_target_host(CPU_ISA_AVX2).isa != CPU_ISA_AVX2) skip();
    struct ir_module *m = kit_parse(text);
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX2), .keep_assembly = true};
    options.target.gathers_slowly = true;
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    assert_int_equal(count(object.assembly, "vpextr"), 0);
    assert_true(count(object.assembly, "movzbl") >= 8);
    cpu_object_clear(&object);
    ir_module_free(m);
}

/* In all: where the lanes are in the register is seen once for both arrays, which are then two permutations. (Under
   masks, at a row's end, those of two registers are seen for each.) */
static void seen_once(void **state)
{
    static const char two[] = "kernel @k(%x: ptr.global, %y: ptr.global, %o: ptr.global) assumes(small_memory) {\n"
                              "  %g = global_id x\n  %i = trunc i32 %g\n  %h = lshr i32 %i, 1\n  %w = zext i64 %h\n"
                              "  %p = elem f32 %x, %w\n  %a = load f32 %p\n  %q = elem f32 %y, %w\n"
                              "  %b = load f32 %q\n  %c = fadd f32 %a, %b\n  %z = elem f32 %o, %g\n"
                              "  store f32 %z, %c\n  return\n}\n";
    (void)state;
    if (cpu_target_host(CPU_ISA_AVX512).isa != CPU_ISA_AVX512) skip();
    unsigned seen = count_in_code(two, CPU_ISA_AVX512, "vprord") - count_in_code(two, CPU_ISA_AVX512, "vpermt2d");
    assert_int_equal(count_in_code(two, CPU_ISA_AVX512, "vpermd"), 2 * seen);
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
    kit_tries_gathers = true;
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_and_far),
                                       cmocka_unit_test(arrays_share_places),
                                       cmocka_unit_test(seen_once),
                                       cmocka_unit_test(looked_up),
                                       cmocka_unit_test(looked_up_under_masks),
                                       cmocka_unit_test(looked_up_values),
                                       cmocka_unit_test(places_come_from_memory),
                                       cmocka_unit_test(places_of_ids_only)};
    return cmocka_run_group_tests_name("diff_cpu_near", tests, NULL, NULL);
}
