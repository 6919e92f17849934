/* Random steps of work-groups in local memory at distances that only the run knows, as scans take them up and down a
   tree, numbers that change places by products of ids, and pointers that walk through memory from barrier to barrier:
   the interpreter against compiled code of each instruction set. FUSIOND_TEST_SEED says where to begin. */
#include "tests/support/cases.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/rng.h"

#include "ir/base/strbuf.h"

enum { MOST_ITEMS = 256, GROUPS = 3, NUMBERS = 2 * MOST_ITEMS * GROUPS };

static int64_t input[NUMBERS], output[2 * NUMBERS];

struct writer {
    struct strbuf text;
    struct rng rng;
    const char *type;
    unsigned items, half; /* of a work-group; the largest power of two in it */
};

static unsigned below(struct writer *w, unsigned n)
{
    return rng_below(&w->rng, n);
}

static const char *operation(struct writer *w)
{
    static const char *const ints[] = {"add", "sub", "mul", "xor"}, *const floats[] = {"fadd", "fsub", "fmul", "fmax"};
    return w->type[0] == 'f' ? floats[below(w, 4)] : ints[below(w, 4)];
}

/* Whether a work-item is below %k, in one of the ways to say so. */
static void write_condition(struct writer *w)
{
    static const char *const ways[] = {"%c = slt i32 %l, %k\n", "%c = sgt i32 %k, %l\n",
                                       "%k1 = sub i32 %k, 1\n%c = sle i32 %l, %k1\n", "%c = ult i32 %l, %k\n"};
    strbuf_add(&w->text, ways[below(w, 4)]);
}

/* A pair of numbers %s apart for each of the first %k work-items. */
static void write_pair(struct writer *w)
{
    const char *type = w->type;
    strbuf_printf(&w->text,
                  "  if %%c {\n    %%u = add i32 %%l2, 1\n    %%v = add i32 %%l2, 2\n    %%us = mul i32 %%u, %%s\n"
                  "    %%vs = mul i32 %%v, %%s\n    %%a = sub i32 %%us, 1\n    %%b = sub i32 %%vs, 1\n"
                  "    %%aw = sext i64 %%a\n    %%bw = sext i64 %%b\n    %%p = elem %s %%t, %%aw\n"
                  "    %%q = elem %s %%t, %%bw\n    %%x = load %s %%p\n    %%y = load %s %%q\n"
                  "    %%z = %s %s %%x, %%y\n",
                  type, type, type, type, operation(w), type);
    if (below(w, 2)) strbuf_printf(&w->text, "    store %s %%p, %%y\n", type);
    strbuf_printf(&w->text, "    store %s %%q, %%z\n", type);
    if (below(w, 3) == 0) strbuf_printf(&w->text, "  } else {\n    store %s %%o[%%apart], %%first\n", type);
    strbuf_add(&w->text, "  }\n");
}

static void write_tree(struct writer *w)
{
    bool up = below(w, 2);
    strbuf_printf(&w->text, "loop (%%s: i32 = %u, %%k: i32 = %u) {\n  barrier work_group, local\n", up ? 1 : w->half,
                  up ? w->half : 1);
    write_condition(w);
    write_pair(w);
    strbuf_printf(&w->text,
                  "  %%s1 = %s i32 %%s, 1\n  %%k1n = %s i32 %%k, 1\n  %%done = ieq i32 %%%s, %u\n"
                  "  if %%done { break }\n  continue %%s1, %%k1n\n}\n",
                  up ? "shl" : "lshr", up ? "lshr" : "shl", up ? "k" : "s", 1);
}

static char *write_kernel(struct writer *w)
{
    const char *type = w->type;
    strbuf_printf(
        &w->text,
        "local @t: [%u x %s]\n"
        "kernel @k(%%in: ptr.global %s read, %%o: ptr.global %s) {\n"
        "%%i = global_id x\n%%lw = local_id x\n%%l = trunc i32 %%lw\n%%l2 = shl i32 %%l, 1\n"
        "%%t = global @t\n%%i2 = shl i64 %%i, 1\n%%j2 = or i64 %%i2, 1\n%%e = shl i64 %%lw, 1\n"
        "%%f = or i64 %%e, 1\n%%apart = add i64 %%i, %u\n%%first = load %s %%in[%%i2]\n%%second = load %s %%in[%%j2]\n"
        "store %s %%t[%%e], %%first\nstore %s %%t[%%f], %%second\n",
        2 * MOST_ITEMS, type, type, type, NUMBERS, type, type, type, type);
    write_tree(w);
    strbuf_printf(&w->text,
                  "barrier work_group, local\n%%r = mul i64 %%lw, %u\n%%rm = and i64 %%r, %u\n"
                  "%%moved = load %s %%t[%%rm]\nbarrier work_group, local\n"
                  "%%half = ult i64 %%lw, %u\nif %%half {\n  store %s %%t[%%rm], %%moved\n}\n"
                  "barrier work_group, local\n%%g = load %s %%t[%%e]\n%%h = load %s %%t[%%f]\n"
                  "store %s %%o[%%i2], %%g\nstore %s %%o[%%j2], %%h\n}\n",
                  2 * below(w, 40) + 1, w->half - 1, type, w->half, type, type, type, type, type);
    return strbuf_take(&w->text);
}

static const char *const types[] = {"i8", "i16", "i32", "i32", "i64", "f32", "f32", "f64"};

static void steps(void **state)
{
    (void)state;
    static const unsigned sizes[] = {16, 32, 48, 64, 100, 128, 256};
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (unsigned cases = test_cases(24); cases; cases--, seed++) {
        struct writer w = {.rng.state = seed};
        w.type = types[below(&w, 8)];
        w.items = sizes[below(&w, 7)];
        for (w.half = 1; w.half * 2 <= w.items;) w.half *= 2;
        char *text = write_kernel(&w);
        for (unsigned i = 0; i < NUMBERS; i++) input[i] = (int64_t)(rng_next(&w.rng) & 0x3fff3fff3fff3fff);
        memset(output, 0, sizeof output);
        struct nd_range range = {1, {GROUPS * w.items, 1, 1}, {0}, {w.items, 1, 1}};
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output}};
        if (first) fprintf(stderr, "# seed %llu\n%s", (unsigned long long)seed, text);
        print_message("# seed %llu\n", (unsigned long long)seed);
        kit_same_everywhere(text, &range, 1, 0, args, 2);
        kit_same_as_planned(text, &range, args, 2);
        free(text);
    }
}

/* ---- what work-items carry through loops of the work-group ---- */

enum { WALK = 64, ROUNDS = 5 };

/* A step in numbers, as i64: the same for all work-items, or not. */
static void write_step(struct writer *w, const char *name)
{
    static const char *const steps[] = {"add i64 %n, 0", "add i64 %round, 1", "mul i64 %round, %n",
                                        "add i64 2, 1",  "and i64 %l, 1",     "add i64 %g, 1"};
    strbuf_printf(&w->text, "  %%%s = %s\n", name, steps[below(w, 6)]);
}

static char *write_walk(struct writer *w)
{
    const char *type = w->type;
    strbuf_printf(
        &w->text,
        "local @t: [%u x %s]\n"
        "kernel @k(%%a: ptr.global %s read, %%o: ptr.global %s, %%n: i64) {\n"
        "%%i = global_id x\n%%l = local_id x\n%%g = group_id x\n%%t = global @t\n"
        "%%mine = elem %s %%t, %%l\n%%other = xor i64 %%l, 1\n%%theirs = elem %s %%t, %%other\n"
        "%%start = elem %s %%a, %%l\n%%first = load %s %%start\n%%l32 = trunc i32 %%l\n%%place = elem %s %%o, %%i\n",
        WALK, type, type, type, type, type, type, type, type);
    strbuf_printf(&w->text,
                  "%%last, %%sum, %%at = loop (%%p: ptr.global = %%start, %%s: %s = %%first, %%c: i32 = %%l32, "
                  "%%round: i64 = 0) -> ptr.global, %s, i32 {\n"
                  "  %%x = load %s %%p\n  store %s %%mine, %%x\n  barrier work_group, local\n"
                  "  %%y = load %s %%theirs\n  barrier work_group, local\n  %%s1 = %s %s %%s, %%y\n",
                  type, type, type, type, type, operation(w), type);
    write_step(w, "d");
    write_step(w, "e");
    strbuf_printf(&w->text, "  %%p1 = elem %s %%p, %%d\n  %%e32 = trunc i32 %%e\n  %%c1 = add i32 %%c, %%e32\n", type);
    if (below(w, 2))
        strbuf_printf(&w->text, "  %%p2 = elem %s %%p1, %%e\n", type);
    else
        strbuf_printf(&w->text, "  %%p2 = elem %s %%p1, 1\n", type);
    strbuf_printf(&w->text,
                  "  %%next = add i64 %%round, 1\n  %%done = ieq i64 %%next, %u\n"
                  "  if %%done { break %%p2, %%s1, %%c1 }\n",
                  ROUNDS);
    if (below(w, 2))
        strbuf_add(&w->text, "  %odd = and i64 %round, 1\n  %is = ieq i64 %odd, 0\n"
                             "  if %is { continue %p1, %s1, %c1, %next }\n");
    strbuf_printf(&w->text,
                  "  continue %%p2, %%s1, %%c1, %%next\n}\n%%z = load %s %%last\n%%m = and i32 %%at, 63\n"
                  "%%v = elem %s %%a, %%m\n%%w = load %s %%v\n%%zw = %s %s %%z, %%w\n%%r = %s %s %%zw, %%sum\n"
                  "store %s %%place, %%r\n}\n",
                  type, type, type, operation(w), type, operation(w), type, type);
    return strbuf_take(&w->text);
}

static void walks(void **state)
{
    (void)state;
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (unsigned cases = test_cases(12); cases; cases--, seed++) {
        struct writer w = {.rng.state = seed};
        w.type = types[below(&w, 8)];
        char *text = write_walk(&w);
        for (unsigned i = 0; i < NUMBERS; i++) input[i] = (int64_t)(rng_next(&w.rng) & 0x3fff3fff3fff3fff);
        memset(output, 0, sizeof output);
        int64_t n = below(&w, 9);
        struct nd_range range = {1, {2 * WALK, 1, 1}, {0}, {WALK, 1, 1}};
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output},
                                    {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
        if (first) fprintf(stderr, "# seed %llu\n%s", (unsigned long long)seed, text);
        print_message("# seed %llu\n", (unsigned long long)seed);
        kit_same_as_planned(text, &range, args, 3);
        free(text);
    }
}

/* Neighbours that walk together stay neighbours. */
static void no_gathers(void **state)
{
    (void)state;
    struct ir_module *module = kit_parse(
        "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32, %n: i64, %t: ptr.local f32) work_group_size(64, 1, 1) "
        "{\n"
        "%l = local_id x\n%start = elem f32 %a, %l\n%mine = elem f32 %t, %l\n"
        "loop (%p: ptr.global = %start, %k: i64 = 0) {\n"
        "  %x = load f32 %p\n  store f32 %mine, %x\n  barrier work_group, local\n  %next = elem f32 %p, %n\n"
        "  %more = add i64 %k, 1\n  %done = ieq i64 %more, %n\n  if %done { break }\n  continue %next, %more\n}\n"
        "%q = elem f32 %o, %l\n%y = load f32 %mine\nstore f32 %q, %y\n}\n");
    struct cpu_options options = {.target = cpu_target_host(CPU_ISA_AVX512), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(module), &options, &object, &list), 0);
    assert_null(strstr(object.assembly, "gather"));
    assert_int_equal(object.effort, CPU_EFFORT_FULL);
    cpu_object_clear(&object);
    ir_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps), cmocka_unit_test(walks), cmocka_unit_test(no_gathers)};
    return cmocka_run_group_tests_name("diff_cpu_strides", tests, NULL, NULL);
}
