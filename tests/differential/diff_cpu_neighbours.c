/* Random kernels that read the neighbours of a pixel: inside of a guard, held back by borders, or only where a narrow
   index has not wrapped; by the launch's sizes, in loops and without. The interpreter against compiled code of each
   instruction set. FUSIOND_TEST_SEED says where to begin. */
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/rng.h"

enum { MOST_WIDTH = 150, MOST_HEIGHT = 6, BORDER = 4, NUMBERS = MOST_WIDTH * MOST_HEIGHT, BYTES = NUMBERS * 4 };

static uint8_t input[BYTES], output[3 * BYTES];

struct writer {
    struct strbuf text;
    struct rng rng;
    const char *type, *operation;
    unsigned names, sum; /* values so far; the one that sums up */
};

static unsigned below(struct writer *w, unsigned n)
{
    return rng_below(&w->rng, n);
}

static void add_to_sum(struct writer *w, unsigned v)
{
    strbuf_printf(&w->text, "%%v%u = %s %s %%v%u, %%v%u\n", w->names + 1, w->operation, w->type, w->sum, v);
    w->sum = ++w->names;
}

/* A neighbour's number, at an index of 32 bits that is a sum in one order or another. */
static void write_load(struct writer *w, const char *x, const char *y)
{
    unsigned v = w->names += 4;
    strbuf_printf(&w->text, "%%v%u = mul i32 %s, %%w\n%%v%u = add i32 %s, %s%u\n", v - 3, y, v - 2, x, "%v", v - 3);
    strbuf_printf(&w->text, "%%v%u = sext i64 %%v%u\n%%v%u = load %s %%a[%%v%u]\n", v - 1, v - 2, v, w->type, v - 1);
    add_to_sum(w, v);
}

static void write_beside(struct writer *w)
{
    int dx = (int)below(w, 2 * BORDER + 1) - BORDER, dy = (int)below(w, 3) - 1;
    unsigned v = w->names += 4;
    strbuf_printf(&w->text, "%%v%u = mul i32 %%w, %d\n%%v%u = add i32 %%i, %%v%u\n", v - 3, dy, v - 2, v - 3);
    if (below(w, 2))
        strbuf_printf(&w->text, "%%v%u = add i32 %%v%u, %d\n", v - 1, v - 2, dx);
    else
        strbuf_printf(&w->text, "%%v%u = sub i32 %%v%u, %d\n", v - 1, v - 2, -dx);
    strbuf_printf(&w->text, "%%v%u = sext i64 %%v%u\n%%v%u = load %s %%a[%%v%u]\n", v, v - 1, v + 1, w->type, v);
    w->names++;
    add_to_sum(w, v + 1);
}

static void write_clamped(struct writer *w, const char *dx, const char *dy)
{
    unsigned v = w->names += 4;
    char x[16], y[16];
    strbuf_printf(&w->text, "%%v%u = add i32 %%x, %s\n%%v%u = add i32 %%y, %s\n", v - 3, dx, v - 2, dy);
    snprintf(x, sizeof x, "%%v%u", v - 1);
    snprintf(y, sizeof y, "%%v%u", v);
    if (below(w, 3)) {
        strbuf_printf(&w->text, "%s = sclamp i32 %%v%u, 0, %%w1\n%s = sclamp i32 %%v%u, 0, %%h1\n", x, v - 3, y, v - 2);
    } else {
        w->names = v += 2;
        strbuf_printf(&w->text, "%%v%u = smax i32 %%v%u, 0\n%s = smin i32 %%v%u, %%w1\n", v - 1, v - 5, x, v - 1);
        strbuf_printf(&w->text, "%%v%u = smin i32 %%v%u, %%h1\n%s = smax i32 %%v%u, 0\n", v, v - 4, y, v);
    }
    write_load(w, x, y);
}

/* A number before this one, if there is one: elsewhere the index wraps. */
static void write_unwrapped(struct writer *w)
{
    unsigned k = below(w, 40), v = w->names += 5, before = w->sum;
    strbuf_printf(&w->text, "%%v%u = sub i32 %%i, %u\n%%v%u = ult i32 %%v%u, %%all\n%%v%u = if %%v%u -> %s {\n", v - 4,
                  k, v - 3, v - 4, v, v - 3, w->type);
    strbuf_printf(&w->text, "%%v%u = zext i64 %%v%u\n%%v%u = load %s %%a[%%v%u]\n", v - 2, v - 4, v - 1, w->type,
                  v - 2);
    w->sum = before;
    add_to_sum(w, v - 1);
    strbuf_printf(&w->text, "yield %%v%u\n} else {\nyield %%v%u\n}\n", w->sum, before);
    w->sum = v;
}

static void write_loops(struct writer *w)
{
    unsigned before = w->sum, v = w->names += 6;
    strbuf_printf(&w->text,
                  "%%v%u = loop (%%dy: i32 = %%low, %%v%u: %s = %%v%u) -> %s {\n"
                  "%%v%u = loop (%%dx: i32 = %%low, %%v%u: %s = %%v%u) -> %s {\n",
                  v, v - 1, w->type, before, w->type, v - 2, v - 3, w->type, v - 1, w->type);
    w->sum = v - 3;
    write_clamped(w, "%dx", "%dy");
    strbuf_printf(
        &w->text,
        "%%dx1 = add i32 %%dx, 1\n%%mx = slt i32 %%dx, %%r\nif %%mx { continue %%dx1, %%v%u\n}\nbreak %%v%u\n}\n"
        "%%dy1 = add i32 %%dy, 1\n%%my = slt i32 %%dy, %%r\nif %%my { continue %%dy1, %%v%u\n}\nbreak %%v%u\n}\n",
        w->sum, w->sum, v - 2, v - 2);
    w->sum = v;
}

static void write_sum(struct writer *w, bool inside)
{
    static const char *const offsets[] = {"-3", "-2", "-1", "0", "1", "2", "3"};
    unsigned n = 1 + below(w, 6);
    for (unsigned k = 0; k < n; k++) {
        unsigned way = below(w, inside ? 4 : 3);
        if (way == 0)
            write_unwrapped(w);
        else if (way == 3)
            write_beside(w);
        else
            write_clamped(w, offsets[below(w, 7)], offsets[below(w, 7)]);
    }
    if (below(w, 3) == 0) write_loops(w);
}

/* Whether neighbours within the border are there is asked by an if, perhaps in another, or by an early return. */
static char *write_kernel(struct writer *w)
{
    bool inside = below(w, 2), returns = below(w, 3) == 0;
    strbuf_printf(&w->text,
                  "kernel @k(%%a: ptr.global %s read, %%o: ptr.global %s, %%w: i32, %%h: i32, %%r: i32)\n"
                  "        assumes(small_ids%s) {\n"
                  "%%xw = global_id x\n%%yw = global_id y\n%%x = trunc i32 %%xw\n%%y = trunc i32 %%yw\n"
                  "%%w1 = sub i32 %%w, 1\n%%h1 = sub i32 %%h, 1\n%%all = mul i32 %%w, %%h\n%%low = sub i32 0, %%r\n"
                  "%%row = mul i32 %%y, %%w\n%%i = add i32 %%row, %%x\n",
                  w->type, w->type, below(w, 4) ? ", small_memory" : "");
    if (inside)
        strbuf_printf(
            &w->text,
            "%%we = sub i32 %%w, %u\n%%c0 = sge i32 %%x, %u\n%%c1 = slt i32 %%x, %%we\n%%c2 = sgt i32 %%y, 0\n"
            "%%c3 = slt i32 %%y, %%h1\n%%c4 = and bool %%c0, %%c2\n%%c5 = and bool %%c1, %%c3\n",
            BORDER, BORDER);
    else
        strbuf_add(&w->text, "%c4 = slt i32 %x, %w\n%c5 = slt i32 %y, %h\n");
    if (returns)
        strbuf_add(&w->text, "%c6 = and bool %c4, %c5\n%c7 = not bool %c6\nif %c7 { return\n}\n");
    else
        strbuf_add(&w->text, "if %c4 {\nif %c5 {\n");
    strbuf_printf(&w->text, "%%iw = sext i64 %%i\n%%v1 = load %s %%a[%%iw]\n", w->type);
    w->names = w->sum = 1;
    write_sum(w, inside);
    strbuf_printf(&w->text, "store %s %%o[%%iw], %%v%u\n", w->type, w->sum);
    if (below(w, 2))
        strbuf_printf(&w->text, "%%i2 = add i32 %%i, %%all\n%%iw2 = zext i64 %%i2\nstore %s %%o[%%iw2], %%v1\n",
                      w->type);
    if (!returns) strbuf_add(&w->text, "}\n}\n");
    strbuf_add(&w->text, "return\n}\n");
    return strbuf_take(&w->text);
}

/* Small numbers, so that sums of floats are no NaNs. */
static void fill_input(struct writer *w)
{
    for (unsigned i = 0; i < BYTES; i++) input[i] = (uint8_t)rng_next(&w->rng);
    if (w->type[0] != 'f') return;
    for (unsigned i = 0; i < NUMBERS; i++) ((float *)input)[i] = (float)below(w, 1000) / 8 - 50;
}

static void neighbours(void **state)
{
    (void)state;
    static const char *const types[][2] = {{"f32", "fadd"}, {"f32", "fsub"}, {"i32", "add"},
                                           {"i8", "add"},   {"i16", "sub"},  {"i8x4", "xor"}};
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (unsigned cases = test_cases(36); cases; cases--, seed++) {
        struct writer w = {.rng.state = seed};
        unsigned type = below(&w, 6);
        w.type = types[type][0];
        w.operation = types[type][1];
        int32_t width = 1 + (int32_t)below(&w, MOST_WIDTH), height = 1 + (int32_t)below(&w, MOST_HEIGHT);
        int32_t radius = (int32_t)below(&w, 4);
        uint64_t over = below(&w, 2) ? below(&w, 40) : 0, local = 1 + below(&w, 70);
        char *text = write_kernel(&w);
        fill_input(&w);
        memset(output, 0, sizeof output);
        struct nd_range range = {2, {(uint64_t)width + over, (uint64_t)height, 1}, {0}, {local, 1 + below(&w, 3), 1}};
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output},
                                    {.kind = INTERP_ARG_BYTES, .data = &width, .size = sizeof width},
                                    {.kind = INTERP_ARG_BYTES, .data = &height, .size = sizeof height},
                                    {.kind = INTERP_ARG_BYTES, .data = &radius, .size = sizeof radius}};
        if (first) fprintf(stderr, "# seed %llu, %d x %d\n%s", (unsigned long long)seed, width, height, text);
        print_message("# seed %llu\n", (unsigned long long)seed);
        kit_same_everywhere(text, &range, 1, below(&w, 2) ? KERNEL_LAUNCH_STREAM : 0, args, 5);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours)};
    return cmocka_run_group_tests_name("diff_cpu_neighbours", tests, NULL, NULL);
}
