/*
 * Loads and stores whose lanes are anywhere, of each size of number and of vectors and structs: the interpreter against
 * compiled code of each instruction set, under masks and not, in memory that is assumed small and not.
 */
#include "tests/support/compiled_kit.h"

enum { ITEMS = 131, ELEMENT_BYTES = 16, ARGS = 4 };

struct form {
    const char *type, *index; /* how the index that is loaded is made one of 64 bits */
    bool masked, small, loop;
};

/* Each work-item moves the element whose number lies in a table, to where that number says. */
static void make(const struct form *f, char text[2000])
{
    size_t n = (size_t)snprintf(text, 2000,
                                "struct Pair { f32 @0, i32 @4, f64 @8 } size 16 align 8\n"
                                "kernel @k(%%x: ptr.global, %%t: ptr.global i32, %%o: ptr.global, %%n: i32) %s {\n"
                                "  %%g = global_id x\n  %%j = load i32 %%t[%%g]\n%s  %%c = slt i32 %%j, %%n\n",
                                f->small ? "assumes(small_memory)" : "", f->index);
    n += (size_t)snprintf(text + n, 2000 - n, "%s", f->masked ? "  if %c {\n" : "");
    if (strcmp(f->type, "struct Pair") == 0)
        n += (size_t)snprintf(
            text + n, 2000 - n,
            "  %%p = elem struct Pair %%x, %%e\n  %%p1 = field struct Pair %%p, 1\n  %%a = load i32 %%p1\n"
            "  %%q = elem struct Pair %%o, %%e\n  %%q1 = field struct Pair %%q, 1\n  store i32 %%q1, %%a\n"
            "  %%p2 = field struct Pair %%p, 2\n  %%b = load f64 %%p2\n"
            "  %%q2 = field struct Pair %%q, 2\n  store f64 %%q2, %%b\n");
    else if (f->loop)
        n += (size_t)snprintf(
            text + n, 2000 - n,
            "  %%l = loop (%%i: i64 = %%e, %%k: i32 = 0) -> i64 {\n"
            "    %%at = load i32 %%t[%%i]\n    %%w = zext i64 %%at\n    %%k2 = add i32 %%k, 1\n"
            "    %%go = slt i32 %%k2, 3\n    if %%go { continue %%w, %%k2 }\n    break %%w\n  }\n"
            "  %%p = elem %s %%x, %%l\n  %%v = load %s %%p\n  %%q = elem %s %%o, %%l\n  store %s %%q, %%v\n",
            f->type, f->type, f->type, f->type);
    else
        n += (size_t)snprintf(
            text + n, 2000 - n,
            "  %%p = elem %s %%x, %%e\n  %%v = load %s %%p\n  %%q = elem %s %%o, %%e\n  store %s %%q, %%v\n", f->type,
            f->type, f->type, f->type);
    snprintf(text + n, 2000 - n, "%s  return\n}\n", f->masked ? "  }\n" : "");
}

static void run(const struct form *f)
{
    char text[2000];
    uint8_t x[(ITEMS + 1) * ELEMENT_BYTES], o[(ITEMS + 1) * ELEMENT_BYTES] = {0};
    int32_t table[ITEMS], n = 77;
    for (size_t i = 0; i < sizeof x; i++) x[i] = (uint8_t)(i * 37 + i / 251);
    for (int i = 0; i < ITEMS; i++) table[i] = i * 50 % ITEMS; /* 131 is a prime number */
    const struct interp_arg args[ARGS] = {{INTERP_ARG_BUFFER, x, sizeof x, NULL},
                                          {INTERP_ARG_BUFFER, table, sizeof table, NULL},
                                          {INTERP_ARG_BUFFER, o, sizeof o, NULL},
                                          {INTERP_ARG_BYTES, &n, sizeof n, NULL}};
    const struct nd_range ranges[] = {{1, {ITEMS, 1, 1}, {0}, {100, 1, 1}}, {1, {ITEMS, 1, 1}, {0}, {7, 1, 1}}};
    make(f, text);
    kit_same_everywhere(text, ranges, 2, 0, args, ARGS);
}

static void gathers_and_scatters(void **state)
{
    static const char *const types[] = {"f32", "f64", "i64", "i16", "i8", "f32x4", "f32x3", "i64x2", "struct Pair"};
    static const char *const indices[] = {"  %e = sext i64 %j\n",
                                          "  %j2 = add i32 %j, 3\n  %e2 = zext i64 %j2\n  %e = sub i64 %e2, 3\n"};
    (void)state;
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned how = 0; how < 4; how++) {
            bool masked = how & 1, small = how & 2;
            run(&(struct form){types[t], indices[(t + how / 2) % 2], masked, small, (t + how) % 3 == 0});
        }
}

int main(void)
{
    kit_tries_gathers = true;
    const struct CMUnitTest tests[] = {cmocka_unit_test(gathers_and_scatters)};
    return cmocka_run_group_tests_name("diff_cpu_gathers", tests, NULL, NULL);
}
