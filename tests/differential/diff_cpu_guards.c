/* Random guards: ifs on comparisons of ids, however combined, with and without else, early returns, and loops whose
   bounds differ between work-items, over ranges of one to three dimensions with offsets near which ids of 32 bits wrap.
   The interpreter against compiled code of each instruction set. FUSIOND_TEST_SEED says where to begin. */
#include "tests/support/cases.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/rng.h"

enum { ITEMS = 400, SLOTS = 6, LOADS = 512, TEXT = 64 << 10, DEEPEST = 3 };

static int32_t input[LOADS], output[ITEMS * SLOTS];
static int32_t n, m;
static int64_t p;

struct writer {
    char text[TEXT];
    size_t length;
    unsigned names, indent;
    struct rng rng;
    unsigned counter; /* name of a value that a loop counts with; 0: not in a loop */
};

static void write_text(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void write_text(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->length += (size_t)vsnprintf(w->text + w->length, TEXT - w->length, format, args);
    va_end(args);
    assert_true(w->length < TEXT);
}

static uint32_t below(struct writer *w, uint32_t limit)
{
    return rng_below(&w->rng, limit);
}

static bool chance(struct writer *w, uint32_t percent)
{
    return rng_chance(&w->rng, percent);
}

/* ---- values; each function writes some and returns the number of their name ---- */

static const char *type_of(bool wide)
{
    return wide ? "i64" : "i32";
}

static unsigned constant(struct writer *w, bool wide, int64_t v)
{
    unsigned name = ++w->names;
    write_text(w, "%%v%u = add %s %lld, 0\n", name, type_of(wide), (long long)v);
    return name;
}

/* Around 0, around the sizes of ranges, or where numbers wrap. */
static int64_t some_number(struct writer *w, bool wide)
{
    int64_t near = (int64_t)below(w, 9) - 4;
    switch (below(w, 6)) {
    case 0: return (wide ? INT64_MAX - 4 : INT32_MAX - 4) + near;
    case 1: return (wide ? INT64_MIN + 4 : INT32_MIN + 4) + near;
    case 2:
    case 3: return (int64_t)below(w, 100);
    default: return near;
    }
}

static unsigned narrowed(struct writer *w, bool wide, const char *name)
{
    unsigned v = ++w->names;
    if (wide)
        write_text(w, "%%v%u = add i64 %s, 0\n", v, name);
    else
        write_text(w, "%%v%u = trunc i32 %s\n", v, name);
    return v;
}

/* Grows by a constant step along a row. */
static unsigned growing(struct writer *w, bool wide)
{
    static const char *const ids[] = {"%x", "%x", "%x", "%l", "%item"};
    static const int factors[] = {1, 1, 1, 1, -1, 2, 3, -5, 1 << 24};
    unsigned v = narrowed(w, wide, ids[below(w, 5)]);
    if (chance(w, 30)) {
        int factor = factors[below(w, 9)];
        write_text(w, "%%v%u = mul %s %%v%u, %d\n", w->names + 1, type_of(wide), v, factor);
        v = ++w->names;
    }
    if (chance(w, 40)) {
        int64_t more = some_number(w, wide);
        write_text(w, "%%v%u = add %s %%v%u, %lld\n", w->names + 1, type_of(wide), v, (long long)more);
        v = ++w->names;
    }
    return v;
}

/* The same along a row. */
static unsigned staying(struct writer *w, bool wide)
{
    unsigned v;
    switch (below(w, 6)) {
    case 0: return narrowed(w, wide, chance(w, 60) ? "%y" : "%z");
    case 1:
    case 2:
        v = ++w->names;
        if (wide)
            write_text(w, "%%v%u = add i64 %%p, %d\n", v, (int)below(w, 5) - 2);
        else
            write_text(w, "%%v%u = add i32 %%%s, %d\n", v, chance(w, 50) ? "n" : "m", (int)below(w, 5) - 2);
        return v;
    default: return constant(w, wide, some_number(w, wide));
    }
}

/* A quotient or remainder, the same or growing for parts of a row: by a constant, or by something that stays. */
static unsigned divided(struct writer *w, bool wide, unsigned by)
{
    static const char *const ops[] = {"sdiv", "udiv", "srem", "urem", "and", "ashr", "lshr"};
    static const int divisors[] = {64, 100, 33, 128, 1000, 7}, masks[] = {63, 127, 31, 255, 96, -1};
    uint32_t op = below(w, 7), which = below(w, 6);
    int known = op < 4 ? divisors[which] : op == 4 ? masks[which] : (int)which + 4;
    if (chance(w, 30)) {
        unsigned number = chance(w, 70) ? staying(w, wide) : constant(w, wide, known);
        write_text(w, "%%v%u = %s %s %%v%u, %%v%u\n", w->names + 1, ops[op], type_of(wide), by, number);
    } else {
        write_text(w, "%%v%u = %s %s %%v%u, %d\n", w->names + 1, ops[op], type_of(wide), by, known);
    }
    return ++w->names;
}

static unsigned loaded(struct writer *w)
{
    unsigned v = w->names += 2;
    if (chance(w, 40)) /* of %item / n, %item % n */
        write_text(w, "%%v%u = %s i64 %%item, %u\n", v - 1, chance(w, 50) ? "udiv" : "urem", 32 + below(w, 100));
    else
        write_text(w, "%%v%u = add i64 %%item, %u\n", v - 1, below(w, 9));
    write_text(w, "%%v%u = load i32 %%a[%%v%u]\n", v, v - 1);
    return v;
}

/* Something growing, and with a loop's counter if there is one. */
static unsigned counted(struct writer *w, bool wide)
{
    unsigned v = growing(w, wide), count = w->counter;
    if (!count || chance(w, 30)) return v;
    if (wide) {
        write_text(w, "%%v%u = %s i64 %%v%u\n", w->names + 1, chance(w, 70) ? "sext" : "zext", count);
        count = ++w->names;
    }
    write_text(w, "%%v%u = %s %s %%v%u, %%v%u\n", w->names + 1, chance(w, 80) ? "add" : "sub", type_of(wide), v, count);
    return ++w->names;
}

/* An index kept within borders. */
static unsigned bordered(struct writer *w)
{
    unsigned v = chance(w, 30) ? divided(w, true, growing(w, true)) : counted(w, true), at = w->names;
    w->names += 4;
    switch (below(w, 4)) {
    case 0: write_text(w, "%%v%u = sclamp i64 %%v%u, 0, %d\n", at + 4, v, LOADS - 1); break;
    case 1:
        write_text(w, "%%v%u = smin i64 %%v%u, %d\n%%v%u = smax i64 0, %%v%u\n", at + 1, v, LOADS - 1, at + 4, at + 1);
        break;
    case 2: write_text(w, "%%v%u = umin i64 %%v%u, %d\n", at + 4, v, LOADS - 1); break;
    default:
        write_text(w,
                   "%%v%u = slt i64 %%v%u, %d\n%%v%u = select i64 %%v%u, %%v%u, %d\n%%v%u = sgt i64 0, %%v%u\n"
                   "%%v%u = select i64 %%v%u, 0, %%v%u\n",
                   at + 1, v, LOADS, at + 2, at + 1, v, LOADS - 1, at + 3, at + 2, at + 4, at + 3, at + 2);
    }
    write_text(w, "%%v%u = load i32 %%a[%%v%u]\n", w->names + 1, at + 4);
    return ++w->names;
}

static unsigned comparison(struct writer *w)
{
    static const char *const ops[] = {"slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "ieq", "ine"};
    bool wide = chance(w, 40);
    unsigned a, b = staying(w, wide);
    if (chance(w, 10)) {
        wide = false;
        a = loaded(w);
        b = constant(w, false, 50);
    } else if (w->counter && !wide && chance(w, 40)) {
        a = w->counter;
    } else {
        a = counted(w, wide);
        if (chance(w, 20)) a = divided(w, wide, a);
    }
    if (chance(w, 25)) {
        unsigned first = a;
        a = b;
        b = first;
    }
    write_text(w, "%%v%u = %s %s %%v%u, %%v%u\n", w->names + 1, ops[below(w, 10)], type_of(wide), a, b);
    return ++w->names;
}

static unsigned condition(struct writer *w, unsigned depth)
{
    if (depth >= 3 || chance(w, 35)) return comparison(w);
    unsigned a = condition(w, depth + 1), b, v;
    switch (below(w, 6)) {
    case 0: write_text(w, "%%v%u = not bool %%v%u\n", w->names + 1, a); return ++w->names;
    case 1: /* as && is without optimization */
        v = ++w->names;
        write_text(w, "%%v%u = if %%v%u -> bool {\n", v, a);
        b = condition(w, depth + 1);
        write_text(w, "yield %%v%u\n} else {\nyield false\n}\n", b);
        return v;
    case 2:
        b = condition(w, depth + 1);
        if (chance(w, 50))
            write_text(w, "%%v%u = select bool %%v%u, %%v%u, false\n", w->names + 1, a, b);
        else
            write_text(w, "%%v%u = select bool %%v%u, true, %%v%u\n", w->names + 1, a, b);
        return ++w->names;
    default:
        b = condition(w, depth + 1);
        write_text(w, "%%v%u = %s bool %%v%u, %%v%u\n", w->names + 1,
                   chance(w, 70)   ? "and"
                   : chance(w, 70) ? "or"
                                   : "xor",
                   a, b);
        return ++w->names;
    }
}

/* ---- statements ---- */

static void store(struct writer *w, unsigned value)
{
    unsigned v = w->names += 1;
    write_text(w, "%%v%u = add i64 %%item, %u\nstore i32 %%o[%%v%u], %%v%u\n", v, below(w, SLOTS) * ITEMS, v, value);
}

static void store_something(struct writer *w)
{
    unsigned v = chance(w, 50) ? loaded(w) : bordered(w),
             other = w->counter && chance(w, 60) ? w->counter : growing(w, false);
    write_text(w, "%%v%u = mul i32 %%v%u, 5\n%%v%u = add i32 %%v%u, %%v%u\n", w->names + 1, v, w->names + 2,
               w->names + 1, other);
    w->names += 2;
    store(w, w->names);
}

static void statements(struct writer *w, unsigned depth);

static void if_statement(struct writer *w, unsigned depth)
{
    unsigned c = condition(w, 1), v = ++w->names;
    bool gives = chance(w, 40), otherwise = chance(w, 50);
    if (gives)
        write_text(w, "%%v%u = if %%v%u -> i32 {\n", v, c);
    else
        write_text(w, "if %%v%u {\n", c);
    for (int b = 0; b < 2; b++) {
        if (b == 0 || otherwise) statements(w, depth + 1);
        if (!w->counter && chance(w, 12))
            write_text(w, "return\n");
        else if (gives)
            write_text(w, "yield %%v%u\n", growing(w, false));
        else
            write_text(w, "yield\n");
        if (b == 0) write_text(w, "} else {\n");
    }
    write_text(w, "}\n");
    if (gives) store(w, v);
}

/* for (j = from; j < to; j++), the same for all, as around a pixel. */
static void window_statement(struct writer *w, unsigned depth)
{
    unsigned v = w->names += 8, outer = w->counter;
    int from = (int)below(w, 5) - 3;
    if (chance(w, 50))
        write_text(w, "%%v%u = add i32 %d, 0\n%%v%u = add i32 %d, %u\n", v - 1, from, v - 2, from, below(w, 5));
    else
        write_text(w, "%%v%u = and i32 %%n, 3\n%%v%u = sub i32 0, %%v%u\n", v - 2, v - 1, v - 2);
    write_text(w, "%%v%u = loop (%%v%u: i32 = %%v%u, %%v%u: i32 = 7) -> i32 {\n", v, v - 3, v - 1, v - 4);
    write_text(w, "%%v%u = sgt i32 %%v%u, %%v%u\nif %%v%u {\nbreak %%v%u\n}\n", v - 5, v - 3, v - 2, v - 5, v - 4);
    w->counter = v - 3;
    unsigned c = condition(w, 2), load = bordered(w), sum = w->names += 2;
    write_text(w, "%%v%u = if %%v%u -> i32 {\n", sum, c);
    write_text(w, "%%v%u = add i32 %%v%u, %%v%u\nyield %%v%u\n} else {\nyield %%v%u\n}\n", sum - 1, load, v - 4,
               sum - 1, v - 4);
    if (depth < DEEPEST && chance(w, 40)) statements(w, depth + 1);
    write_text(w, "%%v%u = add i32 %%v%u, 1\ncontinue %%v%u, %%v%u\n}\n", v - 6, v - 3, v - 6, sum);
    w->counter = outer;
    store(w, v);
}

/* for (j = from; j < to; j += step) sum = 5 * sum + j: tested before each round, or after it. */
static void loop_statement(struct writer *w, unsigned depth)
{
    static const int steps[] = {1, 7, 16, 64, 256};
    unsigned from = narrowed(w, false, chance(w, 50) ? "%l" : "%item"), v = w->names += 8, outer = w->counter;
    unsigned to = chance(w, 70) ? constant(w, false, below(w, 400)) : narrowed(w, false, "%l");
    bool before = chance(w, 50);
    int step = steps[chance(w, 30) ? 0 : 1 + below(w, 4)];
    write_text(w, "%%v%u = loop (%%v%u: i32 = %%v%u, %%v%u: i32 = 1) -> i32 {\n", v, v - 1, from, v - 2);
    w->counter = v - 1;
    if (before)
        write_text(w, "%%v%u = sge i32 %%v%u, %%v%u\nif %%v%u {\nbreak %%v%u\n}\n", v - 3, v - 1, to, v - 3, v - 2);
    write_text(w, "%%v%u = mul i32 %%v%u, 5\n%%v%u = add i32 %%v%u, %%v%u\n", v - 4, v - 2, v - 5, v - 4, v - 1);
    if (depth < DEEPEST && chance(w, 60)) statements(w, depth + 1);
    write_text(w, "%%v%u = add i32 %%v%u, %d\n", v - 6, v - 1, step);
    if (before)
        write_text(w, "continue %%v%u, %%v%u\n}\n", v - 6, v - 5);
    else
        write_text(w, "%%v%u = slt i32 %%v%u, %%v%u\nif %%v%u {\ncontinue %%v%u, %%v%u\n}\nbreak %%v%u\n}\n", v - 7,
                   v - 6, to, v - 7, v - 6, v - 5, v - 5);
    w->counter = outer;
    store(w, v);
}

static void statements(struct writer *w, unsigned depth)
{
    for (unsigned left = 1 + below(w, 3 - depth / 2); left; left--) {
        uint32_t choice = depth >= DEEPEST ? 0 : below(w, 10);
        if (choice < 3)
            store_something(w);
        else if (choice < 8)
            if_statement(w, depth);
        else if (chance(w, 50))
            loop_statement(w, depth);
        else
            window_statement(w, depth);
    }
}

static void write_kernel(struct writer *w)
{
    write_text(w, "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32, %%n: i32, %%m: i32, %%p: i64) {\n"
                  "%%x = global_id x\n%%y = global_id y\n%%z = global_id z\n%%l = local_id x\n"
                  "%%item = global_linear_id\n");
    statements(w, 0);
    write_text(w, "return\n}\n");
}

/* ---- ranges ---- */

static struct nd_range some_range(struct writer *w)
{
    static const uint64_t offsets[] = {0, 0, 0, 3, INT32_MAX - 20, UINT32_MAX - 30};
    static const uint32_t most[3][3] = {{ITEMS}, {80, 5}, {50, 4, 2}};
    struct nd_range r = {1 + below(w, 3), {1, 1, 1}, {0}, {1, 1, 1}};
    for (unsigned d = 0; d < r.dims; d++) {
        r.global[d] = 1 + below(w, most[r.dims - 1][d]);
        r.local[d] = 1 + below(w, d ? 3 : 70);
        r.offset[d] = offsets[below(w, 6)];
    }
    return r;
}

static void guards(void **state)
{
    (void)state;
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (unsigned i = 0; i < LOADS; i++) input[i] = (int32_t)(i * 2654435761u >> 20) % 100;
    for (unsigned cases = test_cases(24); cases; cases--, seed++) {
        struct writer w = {.rng.state = seed};
        struct nd_range ranges[4];
        write_kernel(&w);
        for (unsigned i = 0; i < 4; i++) ranges[i] = some_range(&w);
        n = (int32_t)some_number(&w, false);
        m = (int32_t)some_number(&w, false);
        p = some_number(&w, true);
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output},
                                    {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n},
                                    {.kind = INTERP_ARG_BYTES, .data = &m, .size = sizeof m},
                                    {.kind = INTERP_ARG_BYTES, .data = &p, .size = sizeof p}};
        if (first) fprintf(stderr, "# seed %llu\n%s", (unsigned long long)seed, w.text);
        print_message("# seed %llu\n", (unsigned long long)seed);
        kit_same_everywhere(w.text, ranges, 4, seed % 2 ? KERNEL_LAUNCH_STREAM : 0, args, 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(guards)};
    return cmocka_run_group_tests_name("diff_cpu_guards", tests, NULL, NULL);
}
