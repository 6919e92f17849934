/* Random loops that work-items leave in different rounds and in which they are anywhere in memory, as in the rows of
   sparse matrices and in graphs: nested, with breaks and early rounds, stores, atomics and private variables, in ifs
   and between barriers. They use all sorts of values from around them. The interpreter against compiled code of each
   instruction set. FUSIOND_TEST_SEED says where to begin. */
#include "tests/support/cases.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/rng.h"

enum { ITEMS = 300, SLOTS = 6, LOADS = 512, COUNTS = 8, TEXT = 64 << 10, DEEPEST = 2 };

static int32_t input[LOADS], output[ITEMS * SLOTS], counts[COUNTS];
static float floats[LOADS];
static int32_t n;

struct writer {
    char text[TEXT];
    size_t length;
    unsigned names, loop; /* loop: the name of its counter; before it those of what it carries */
    struct rng rng;
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

/* Of the code around all loops: uniform, linear, narrow, and varying ones. */
static unsigned outer_value(struct writer *w)
{
    static const char *const values[] = {"%n", "%i", "%narrow", "%from", "%len", "%picked", "%high"};
    write_text(w, "%%v%u = add i32 %s, %u\n", w->names + 1, values[below(w, 7)], below(w, 3));
    return ++w->names;
}

static unsigned some_value(struct writer *w)
{
    unsigned v = w->names + 1;
    switch (w->loop ? below(w, 6) : 5) {
    case 0: write_text(w, "%%v%u = add i32 %%j%u, 1\n", v, w->loop); break;
    case 1: write_text(w, "%%v%u = xor i32 %%t%u, %%i\n", v, w->loop); break;
    case 2: write_text(w, "%%v%u = select i32 %%c%u, %%t%u, %%len\n", v, w->loop, w->loop); break;
    case 3: write_text(w, "%%g%u = global_id x\n%%v%u = trunc i32 %%g%u\n", v, v, v); break;
    case 4: write_text(w, "%%v%u = mul i32 %%j%u, %u\n", v, w->loop, below(w, 40)); break;
    default: return outer_value(w);
    }
    return w->names = v;
}

static unsigned index_value(struct writer *w, unsigned mask)
{
    unsigned v = some_value(w), at = w->names += 2;
    write_text(w, "%%v%u = and i32 %%v%u, %u\n%%v%u = sext i64 %%v%u\n", at - 1, v, mask, at, at - 1);
    return at;
}

static unsigned loaded(struct writer *w)
{
    unsigned at;
    if (chance(w, 20)) {
        at = index_value(w, 7);
        write_text(w, "%%v%u = load i32 %%own[%%v%u]\n", ++w->names, at);
    } else {
        at = index_value(w, LOADS - 1);
        write_text(w, "%%v%u = load i32 %%a[%%v%u]\n", ++w->names, at);
    }
    return w->names;
}

static unsigned condition(struct writer *w)
{
    static const char *const ops[] = {"slt", "sgt", "ult", "ieq", "ine"};
    unsigned a = chance(w, 60) ? loaded(w) : some_value(w), b = some_value(w), v = w->names += 2;
    write_text(w, "%%v%u = and i32 %%v%u, 31\n%%v%u = %s i32 %%v%u, %%v%u\n", v - 1, a, v, ops[below(w, 5)], v - 1, b);
    if (chance(w, 30)) {
        write_text(w, "%%v%u = %s bool %%v%u, %%outer\n", v + 1, chance(w, 50) ? "or" : "xor", v);
        w->names++;
    }
    return w->names;
}

/* ---- statements ---- */

static void store(struct writer *w)
{
    unsigned value = loaded(w), v = w->names += 1;
    if (chance(w, 25)) {
        unsigned at = index_value(w, 7);
        write_text(w, "store i32 %%own[%%v%u], %%v%u\n", at, value);
    } else {
        write_text(w, "%%v%u = add i64 %%item, %u\nstore i32 %%o[%%v%u], %%v%u\n", v, below(w, SLOTS) * ITEMS, v,
                   value);
    }
}

static void count(struct writer *w)
{
    unsigned value = some_value(w), at = index_value(w, COUNTS - 1), v = w->names += 2;
    write_text(w, "%%v%u = elem i32 %%counts, %%v%u\n%%v%u = atomic_add i32 %%v%u, %%v%u, device, relaxed\n", v - 1, at,
               v, v - 1, value);
}

static void statements(struct writer *w, unsigned depth);

/* What goes on with the next round, or leaves with it. */
struct carried {
    unsigned s, t, c;
};

static struct carried carried(struct writer *w, unsigned loop)
{
    struct carried r = {.t = loaded(w)};
    r.s = ++w->names;
    write_text(w, "%%next%u = add i32 %%j%u, 1\n", r.s, loop);
    write_text(w, "%%m%u = fmul f32 %%s%u, 0.75\n%%v%u = fadd f32 %%m%u, %%weight\n", r.s, loop, r.s, r.s);
    r.c = condition(w);
    write_text(w, "%%pair%u = fadd f32x2 %%p%u, %%both\n", r.s, loop);
    return r;
}

static void leave_or_go_on(struct writer *w, bool on, const struct carried *r)
{
    if (on)
        write_text(w, "continue %%next%u, ", r->s);
    else
        write_text(w, "break ");
    write_text(w, "%%v%u, %%v%u, %%v%u, %%pair%u\n", r->s, r->t, r->c, r->s);
}

/* The end of a round; some loops are tested there once more. */
static void end_round(struct writer *w, unsigned loop)
{
    struct carried on = carried(w, loop);
    if (chance(w, 50)) {
        leave_or_go_on(w, true, &on);
        return;
    }
    write_text(w, "if %%v%u {\n", condition(w));
    leave_or_go_on(w, true, &on);
    write_text(w, "}\n");
    if (chance(w, 50)) store(w);
    struct carried out = carried(w, loop);
    leave_or_go_on(w, false, &out);
}

static void if_statement(struct writer *w, unsigned depth)
{
    unsigned c = condition(w);
    write_text(w, "if %%v%u {\n", c);
    statements(w, depth + 1);
    uint32_t exit = w->loop ? below(w, 6) : 5;
    if (exit < 3) {
        struct carried r = carried(w, w->loop);
        leave_or_go_on(w, exit == 2, &r);
    } else {
        write_text(w, "yield\n");
    }
    write_text(w, "}\n");
}

static void loop_statement(struct writer *w, unsigned depth)
{
    unsigned outer = w->loop, start = some_value(w), length = loaded(w), v = w->names += 2;
    write_text(w, "%%start%u = and i32 %%v%u, 255\n%%length%u = and i32 %%v%u, %u\n", v, start, v, length,
               chance(w, 70) ? 15 : 3);
    write_text(w, "%%end%u = add i32 %%start%u, %%length%u\n", v, v, v);
    write_text(
        w,
        "%%rs%u, %%rt%u, %%rc%u, %%rp%u = loop (%%j%u: i32 = %%start%u, %%s%u: f32 = %%weight, %%t%u: i32 = %%len, "
        "%%c%u: bool = %%outer, %%p%u: f32x2 = %%both) -> f32, i32, bool, f32x2 {\n",
        v, v, v, v, v, v, v, v, v, v);
    write_text(w, "%%over%u = sge i32 %%j%u, %%end%u\nif %%over%u {\nbreak %%s%u, %%t%u, %%c%u, %%p%u\n}\n", v, v, v, v,
               v, v, v, v);
    w->loop = v;
    statements(w, depth + 1);
    end_round(w, v);
    write_text(w, "}\n");
    w->loop = outer;
    write_text(w, "%%px%u = extract f32x2 %%rp%u, 0\n%%py%u = extract f32x2 %%rp%u, 1\n", v, v, v, v);
    write_text(w, "%%sum%u = fadd f32 %%rs%u, %%px%u\n%%all%u = fsub f32 %%sum%u, %%py%u\n", v, v, v, v, v, v);
    write_text(w, "%%bits%u = bitcast i32 %%all%u\n%%or%u = xor i32 %%bits%u, %%rt%u\n", v, v, v, v, v);
    write_text(w, "%%res%u = select i32 %%rc%u, %%or%u, %%bits%u\n", v, v, v, v);
    write_text(w, "%%at%u = add i64 %%item, %u\nstore i32 %%o[%%at%u], %%res%u\n", v, below(w, SLOTS) * ITEMS, v, v);
}

static void statements(struct writer *w, unsigned depth)
{
    for (unsigned left = 1 + below(w, 3); left; left--) {
        uint32_t choice = depth >= DEEPEST ? below(w, 4) : below(w, 10);
        if (choice < 2)
            store(w);
        else if (choice < 4)
            count(w);
        else if (choice < 7)
            if_statement(w, depth);
        else
            loop_statement(w, depth);
    }
}

static void write_kernel(struct writer *w, bool groups)
{
    write_text(w, "kernel @k(%%a: ptr.global i32 read, %%f: ptr.global f32 read, %%o: ptr.global i32, "
                  "%%counts: ptr.global i32, %%n: i32) {\n"
                  "%%item = global_linear_id\n%%i = trunc i32 %%item\n%%own = var [8 x i32]\n");
    for (int k = 0; k < 8; k++)
        write_text(w, "%%k%d = add i64 %d, 0\n%%init%d = mul i32 %%i, %d\nstore i32 %%own[%%k%d], %%init%d\n", k, k, k,
                   k + 3, k, k);
    write_text(w,
               "%%from = load i32 %%a[%%item]\n%%at = add i64 %%item, 9\n%%len = load i32 %%a[%%at]\n"
               "%%narrow = mul i32 %%i, 16777216\n%%pick = and i32 %%from, %d\n%%wide = sext i64 %%pick\n"
               "%%picked = load i32 %%a[%%wide]\n%%high = add i32 %%i, 2147483600\n%%outer = slt i32 %%from, 50\n"
               "%%weight = load f32 %%f[%%wide]\n%%other = load f32 %%f[%%item]\n"
               "%%both = vec f32x2 %%weight, %%other\n",
               LOADS - 1);
    loop_statement(w, 0);
    if (groups) write_text(w, "barrier work_group, local\n");
    statements(w, 0);
    loop_statement(w, 0);
    write_text(w, "return\n}\n");
}

static void lane_loops(void **state)
{
    (void)state;
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (unsigned i = 0; i < LOADS; i++) input[i] = (int32_t)(i * 2654435761u >> 20) % 100;
    for (unsigned i = 0; i < LOADS; i++) floats[i] = (float)input[i] / 7 - 5;
    for (unsigned cases = test_cases(16); cases; cases--, seed++) {
        struct writer w = {.rng.state = seed};
        bool groups = chance(&w, 25);
        write_kernel(&w, groups);
        n = (int32_t)below(&w, 60);
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = floats, .size = sizeof floats},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output},
                                    {.kind = INTERP_ARG_BUFFER, .data = counts, .size = sizeof counts},
                                    {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
        struct nd_range r = {1, {1 + below(&w, ITEMS), 1, 1}, {0}, {1 + below(&w, 70), 1, 1}};
        if (first) fprintf(stderr, "# seed %llu\n%s", (unsigned long long)seed, w.text);
        print_message("# seed %llu\n", (unsigned long long)seed);
        if (groups)
            kit_same_as_planned(w.text, &r, args, 5);
        else
            kit_same_everywhere(w.text, &r, 1, 0, args, 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lane_loops)};
    return cmocka_run_group_tests_name("diff_cpu_lane_loops", tests, NULL, NULL);
}
