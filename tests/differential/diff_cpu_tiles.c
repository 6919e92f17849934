/* Random kernels whose numbers are neighbours in memory along y: transposes, by guards of all kinds, with accesses that
   must keep their order, and through local memory. The interpreter against compiled code of each instruction set.
   FUSIOND_TEST_SEED says where to begin. */
#include "tests/support/cases.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/rng.h"

#include "ir/base/strbuf.h"

enum { PITCH = 80, NUMBERS = PITCH * PITCH, MOST_X = 70, MOST_Y = 50, RANGES = 3, DEEPEST = 2 };

static int64_t input[NUMBERS], output[NUMBERS], second[NUMBERS];
static int32_t n, m;

struct writer {
    struct strbuf text;
    struct rng rng;
    const char *type;
    unsigned names, value; /* the name of the latest number */
    bool turned[2];        /* by output: along y */
};

static unsigned below(struct writer *w, unsigned limit)
{
    return rng_below(&w->rng, limit);
}

static bool chance(struct writer *w, unsigned percent)
{
    return rng_chance(&w->rng, percent);
}

static const char *operation(struct writer *w)
{
    static const char *const ints[] = {"add", "sub", "mul", "xor"}, *const floats[] = {"fadd", "fsub", "fmul", "fmax"};
    return w->type[0] == 'f' ? floats[below(w, 4)] : ints[below(w, 4)];
}

/* ---- conditions ---- */

static unsigned compare(struct writer *w, const char *op, const char *a, const char *b)
{
    strbuf_printf(&w->text, "%%v%u = %s i32 %s, %s\n", ++w->names, op, a, b);
    return w->names;
}

static unsigned some_comparison(struct writer *w)
{
    static const char *const ops[] = {"slt", "sle", "sgt", "sge", "ult", "uge", "ieq", "ine"};
    const char *op = ops[below(w, 8)];
    switch (below(w, 8)) {
    case 0: return compare(w, op, "%x", "%n");
    case 1: return compare(w, op, "%y", "%m");
    case 2: return compare(w, op, "%sum", "%n");
    case 3: return compare(w, op, "%x", "%y");
    case 4: return compare(w, op, "%low", "%m");
    case 5: return compare(w, "ine", "%odd", "0");
    case 6: return compare(w, "slt", "%ofrow", "%n");
    default: return compare(w, "slt", "%x", "%n");
    }
}

static unsigned some_condition(struct writer *w)
{
    static const char *const ops[] = {"and", "and", "or", "xor"};
    unsigned a = some_comparison(w);
    for (unsigned more = below(w, 3); more; more--) {
        unsigned b = some_comparison(w);
        strbuf_printf(&w->text, "%%v%u = %s bool %%v%u, %%v%u\n", ++w->names, ops[below(w, 4)], a, b);
        a = w->names;
    }
    return a;
}

/* ---- statements ---- */

static void access_statement(struct writer *w, bool load)
{
    static const char *const memory[] = {"o", "q", "a"};
    unsigned in = below(w, load ? 3 : 2), place = ++w->names;
    bool turned = in < 2 ? w->turned[in] : chance(w, 70);
    strbuf_printf(&w->text, "%%v%u = elem %s %%%s, %%%s\n", place, w->type, memory[in], turned ? "column" : "row");
    if (!load) {
        strbuf_printf(&w->text, "store %s %%v%u, %%v%u\n", w->type, place, w->value);
        return;
    }
    unsigned loaded = ++w->names;
    strbuf_printf(&w->text, "%%v%u = load %s %%v%u\n", loaded, w->type, place);
    strbuf_printf(&w->text, "%%v%u = %s %s %%v%u, %%v%u\n", ++w->names, operation(w), w->type, w->value, loaded);
    w->value = w->names;
}

static void statements(struct writer *w, unsigned depth);

static void if_statement(struct writer *w, unsigned depth)
{
    unsigned value = w->value;
    strbuf_printf(&w->text, "if %%v%u {\n", some_condition(w));
    statements(w, depth + 1);
    w->value = value;
    if (chance(w, 30)) {
        strbuf_add(&w->text, "} else {\n");
        statements(w, depth + 1);
        w->value = value;
    }
    strbuf_add(&w->text, "}\n");
}

static void loop_statement(struct writer *w)
{
    unsigned name = ++w->names;
    strbuf_printf(&w->text, "loop (%%v%u: i32 = 0) {\n%%d%u = sge i32 %%v%u, %%rounds\nif %%d%u { break }\n", name,
                  name, name, name);
    unsigned value = w->value;
    access_statement(w, chance(w, 60));
    w->value = value;
    strbuf_printf(&w->text, "%%e%u = add i32 %%v%u, 1\ncontinue %%e%u\n}\n", name, name, name);
}

static void statements(struct writer *w, unsigned depth)
{
    for (unsigned i = 1 + below(w, 4); i; i--) {
        if (depth < DEEPEST && chance(w, 30))
            if_statement(w, depth);
        else if (chance(w, 15))
            loop_statement(w);
        else
            access_statement(w, chance(w, 50));
    }
}

static char *write_kernel(struct writer *w)
{
    const char *type = w->type;
    strbuf_printf(&w->text,
                  "kernel @k(%%a: ptr.global %s read, %%rows: ptr.global i32 read, %%o: ptr.global %s, "
                  "%%q: ptr.global %s, %%n: i32, %%m: i32) assumes(small_ids, small_memory) {\n"
                  "%%gx = global_id x\n%%gy = global_id y\n%%x = trunc i32 %%gx\n%%y = trunc i32 %%gy\n"
                  "%%sum = add i32 %%x, %%y\n%%low = sub i32 %%x, 3\n%%odd = and i32 %%x, 1\n"
                  "%%rounds = and i32 %%y, 1\n%%rowat = elem i32 %%rows, %%gy\n%%ofrow = load i32 %%rowat\n",
                  type, type, type);
    if (chance(w, 50))
        strbuf_printf(&w->text,
                      "%%c0 = mul i32 %%x, %u\n%%c1 = add i32 %%c0, %%y\n%%column = sext i64 %%c1\n"
                      "%%r0 = mul i32 %%y, %u\n%%r1 = add i32 %%r0, %%x\n%%row = sext i64 %%r1\n",
                      PITCH, PITCH);
    else
        strbuf_printf(&w->text,
                      "%%c0 = mul i64 %%gx, %u\n%%column = add i64 %%c0, %%gy\n%%r0 = mul i64 %%gy, %u\n"
                      "%%row = add i64 %%r0, %%gx\n",
                      PITCH, PITCH);
    strbuf_printf(&w->text, "%%first = elem %s %%a, %%%s\n%%v0 = load %s %%first\n", type,
                  chance(w, 50) ? "row" : "column", type);
    if (chance(w, 40)) strbuf_printf(&w->text, "if %%v%u { return }\n", some_condition(w));
    statements(w, 0);
    strbuf_add(&w->text, "return\n}\n");
    return strbuf_take(&w->text);
}

/* ---- cases ---- */

static void fill(struct writer *w)
{
    for (unsigned i = 0; i < NUMBERS; i++) {
        input[i] = (int64_t)(rng_next(&w->rng) & 0x3fff3fff3fff003f);
        output[i] = (int64_t)i << 32 | i;
        second[i] = (int64_t)i << 33 | i;
    }
}

static struct nd_range some_range(struct writer *w)
{
    return (struct nd_range){
        2, {1 + below(w, MOST_X), 1 + below(w, MOST_Y), 1}, {0}, {1 + below(w, 40), 1 + below(w, 20), 1}};
}

static const char *const types[] = {"i32", "f32", "i32", "f32", "i64", "f64", "i16", "i8"};

static void turned_memory(void **state)
{
    (void)state;
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (unsigned cases = test_cases(24); cases; cases--, seed++) {
        struct writer w = {.rng.state = seed};
        struct nd_range ranges[RANGES];
        w.type = types[below(&w, 8)];
        w.turned[0] = chance(&w, 80);
        w.turned[1] = chance(&w, 40);
        char *text = write_kernel(&w);
        fill(&w);
        for (unsigned i = 0; i < RANGES; i++) ranges[i] = some_range(&w);
        n = (int32_t)below(&w, 80) - 5;
        m = (int32_t)below(&w, 60) - 5;
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output},
                                    {.kind = INTERP_ARG_BUFFER, .data = second, .size = sizeof second},
                                    {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n},
                                    {.kind = INTERP_ARG_BYTES, .data = &m, .size = sizeof m}};
        if (first) fprintf(stderr, "# seed %llu\n%s", (unsigned long long)seed, text);
        print_message("# seed %llu\n", (unsigned long long)seed);
        kit_same_everywhere(text, ranges, RANGES, seed % 2 ? KERNEL_LAUNCH_STREAM : 0, args, 6);
        free(text);
    }
}

/* A square of numbers turned in local memory, where it fits. */
static void turned_in_local_memory(void **state)
{
    (void)state;
    static const unsigned sizes[] = {4, 8, 16, 17, 32};
    struct writer w = {.rng.state = 7};
    fill(&w);
    for (unsigned i = 0; i < 5 * 8; i++) {
        const char *type = types[i % 8];
        unsigned size = sizes[i / 8];
        char text[2048];
        snprintf(
            text, sizeof text,
            "local @t: [1120 x %s]\n"
            "kernel @k(%%a: ptr.global %s read, %%o: ptr.global %s, %%n: i32, %%m: i32) {\n"
            "%%x = local_id x\n%%y = local_id y\n%%gx = group_id x\n%%gy = group_id y\n%%t = global @t\n"
            "%%i0 = mul i64 %%y, 33\n%%i = add i64 %%i0, %%x\n%%j0 = mul i64 %%x, 33\n%%j = add i64 %%j0, %%y\n"
            "%%fx = mul i64 %%gx, %u\n%%px = add i64 %%fx, %%x\n%%fy = mul i64 %%gy, %u\n%%py = add i64 %%fy, %%y\n"
            "%%qx = add i64 %%fy, %%x\n%%qy = add i64 %%fx, %%y\n"
            "%%r0 = mul i64 %%py, %u\n%%r = add i64 %%r0, %%px\n%%s0 = mul i64 %%qy, %u\n%%s = add i64 %%s0, %%qx\n"
            "%%v = load %s %%a[%%r]\nstore %s %%t[%%i], %%v\nbarrier work_group, local\n"
            "%%x32 = trunc i32 %%qx\n%%y32 = trunc i32 %%qy\n%%c = slt i32 %%x32, %%n\n%%d = slt i32 %%y32, %%m\n"
            "%%both = and bool %%c, %%d\nif %%both {\n  %%u = load %s %%t[%%j]\n  store %s %%o[%%s], %%u\n}\n}\n",
            type, type, type, size, size, PITCH, PITCH, type, type, type, type);
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output},
                                    {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n},
                                    {.kind = INTERP_ARG_BYTES, .data = &m, .size = sizeof m}};
        struct nd_range range = {2, {2 * size, 2 * size, 1}, {0}, {size, size, 1}};
        n = (int32_t)below(&w, 3 * size);
        m = (int32_t)below(&w, 3 * size);
        kit_same_as_planned(text, &range, args, 4);
    }
}

/* That it is done with shuffles is not seen in what comes out. */
static void whole_registers(void **state)
{
    (void)state;
    struct ir_module *module =
        kit_parse("kernel @k(%a: ptr.global f32 read, %o: ptr.global f32, %n: i64) assumes(small_ids, small_memory) {\n"
                  "%x = global_id x\n%y = global_id y\n%r0 = mul i64 %y, %n\n%r = add i64 %r0, %x\n"
                  "%c0 = mul i64 %x, %n\n%c = add i64 %c0, %y\n%v = load f32 %a[%r]\nstore f32 %o[%c], %v\n}\n");
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX512), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    unsigned shuffles = 0;
    assert_int_equal(cpu_compile(kit_kernel(module), &options, &object, &list), 0);
    for (const char *s = object.assembly; (s = strpbrk(s, "v")); s++)
        if (strncmp(s, "vpermt2d", 8) == 0 || strncmp(s, "vpunpck", 7) == 0) shuffles++;
    if (options.target.isa >= CPU_ISA_AVX2) assert_true(shuffles >= 8 * 3);
    cpu_object_clear(&object);
    ir_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(turned_memory), cmocka_unit_test(turned_in_local_memory),
                                       cmocka_unit_test(whole_registers)};
    return cmocka_run_group_tests_name("diff_cpu_tiles", tests, NULL, NULL);
}
