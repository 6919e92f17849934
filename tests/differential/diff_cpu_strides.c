/* Random steps of work-groups in local memory at distances that only the run knows, as scans take them up and down a
   tree, and numbers that change places by products of ids: the interpreter against compiled code of each instruction
   set. FUSIOND_TEST_SEED says where to begin. */
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

static void steps(void **state)
{
    (void)state;
    static const char *const types[] = {"i8", "i16", "i32", "i32", "i64", "f32", "f32", "f64"};
    static const unsigned sizes[] = {16, 32, 48, 64, 100, 128, 256};
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (unsigned cases = test_cases(40); cases; cases--, seed++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps)};
    return cmocka_run_group_tests_name("diff_cpu_strides", tests, NULL, NULL);
}
