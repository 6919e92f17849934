/* Sums of bytes in loops, with few rounds and with many: the same bits as the interpreter's, with all that they add up
 * to. */
#include "ir/base/strbuf.h"
#include "tests/support/compiled_kit.h"

enum { N = 1024, ROWS = 3, ROW = 70 };

static uint8_t bytes[N];
static float sums[ROWS * ROW * 16];

/* What is added, to what. */
struct form {
    const char *bytes, *sum, *zero, *add;
};

static const struct form forms[] = {
    {"i8x4", "f32x4", "0.0", "utof f32x4 %byte\n      %more = fadd f32x4 %s, %f"},
    {"i8x4", "i32x4", "0", "zext i32x4 %byte\n      %more = add i32x4 %f, %s"},
    {"i8", "f32", "0.0", "utof f32 %byte\n      %more = fadd f32 %f, %s"},
    {"i8", "i32", "0", "zext i32 %byte\n      %more = add i32 %s, %f"},
    {"i8x2", "f32x2", "0.0", "utof f32x2 %byte\n      %more = fadd f32x2 %s, %f"},
};

/* A box of `radius` around each work-item, held inside of the memory; without those that are odd where a guard says so.
 */
static char *box(const struct form *f, bool guard)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "kernel @k(%%a: ptr.global %s read, %%o: ptr.global %s, %%radius: i32) {\n", f->bytes, f->sum);
    strbuf_printf(&b, "  %%gx = global_id x\n  %%gy = global_id y\n  %%x = trunc i32 %%gx\n  %%y = trunc i32 %%gy\n"
                      "  %%first = sub i32 0, %%radius\n  %%none = sgt i32 %%first, %%radius\n");
    strbuf_printf(&b, "  %%sum = if %%none -> %s {\n  yield %s\n  } else {\n", f->sum, f->zero);
    strbuf_printf(&b, "  %%all = loop (%%r: %s = %s, %%dy: i32 = %%first) -> %s {\n", f->sum, f->zero, f->sum);
    strbuf_printf(&b, "    %%inner = loop (%%s: %s = %%r, %%dx: i32 = %%first) -> %s {\n", f->sum, f->sum);
    strbuf_printf(&b,
                  "      %%u = add i32 %%x, %%dx\n      %%v = add i32 %%y, %%dy\n      %%w = mul i32 %%v, %d\n"
                  "      %%at = add i32 %%w, %%u\n      %%in = sclamp i32 %%at, 0, %d\n      %%i = sext i64 %%in\n",
                  ROW, N / 4 - 1);
    strbuf_printf(&b, "      %%byte = load %s %%a[%%i]\n      %%f = %s\n", f->bytes, f->add);
    if (guard)
        strbuf_printf(&b,
                      "      %%odd = and i32 %%u, 1\n      %%c = ieq i32 %%odd, 0\n"
                      "      %%n = if %%c -> %s {\n        yield %%more\n      } else {\n        yield %%s\n      }\n",
                      f->sum);
    strbuf_printf(&b,
                  "      %%dx1 = add i32 %%dx, 1\n      %%on = slt i32 %%dx, %%radius\n"
                  "      if %%on {\n        continue %s, %%dx1\n      }\n      break %s\n    }\n",
                  guard ? "%n" : "%more", guard ? "%n" : "%more");
    strbuf_printf(&b,
                  "    %%dy1 = add i32 %%dy, 1\n    %%next = slt i32 %%dy, %%radius\n"
                  "    if %%next {\n      continue %%inner, %%dy1\n    }\n    break %%inner\n  }\n  yield %%all\n  }\n"
                  "  %%p = mul i64 %%gy, %d\n  %%q = add i64 %%p, %%gx\n  store %s %%o[%%q], %%sum\n  return\n}\n",
                  ROW, f->sum);
    return strbuf_take(&b);
}

static void boxes(void **state)
{
    (void)state;
    static const struct nd_range ranges[] = {{2, {ROW, ROWS, 1}, {0}, {ROW, ROWS, 1}}};
    static const int32_t radii[] = {-1, 0, 3, 7, 8};
    int32_t radius;
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = bytes, .size = sizeof bytes},
                                {.kind = INTERP_ARG_BUFFER, .data = sums, .size = sizeof sums},
                                {.kind = INTERP_ARG_BYTES, .data = &radius, .size = sizeof radius}};
    for (int i = 0; i < N; i++) bytes[i] = (uint8_t)(i < N / 8 ? 255 : i * 37);
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        for (unsigned r = 0; r < sizeof radii / sizeof *radii; r++) {
            radius = radii[r];
            char *text = box(&forms[i], r % 2);
            kit_same_everywhere(text, ranges, 1, 0, args, 3);
            free(text);
        }
}

/* As many bytes of 255 as there may be, and one more. */
static void most_bytes(void **state)
{
    (void)state;
    static const struct nd_range ranges[] = {{1, {40, 1, 1}, {0}, {40, 1, 1}}};
    int32_t n;
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = bytes, .size = sizeof bytes},
                                {.kind = INTERP_ARG_BUFFER, .data = sums, .size = sizeof sums},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
    memset(bytes, 255, sizeof bytes);
    for (n = 254; n < 259; n++)
        kit_same_everywhere(
            "kernel @k(%a: ptr.global i8x4 read, %o: ptr.global f32x4, %n: i32) {\n"
            "  %i = global_id x\n"
            "  %sum = loop (%s: f32x4 = 0.0, %j: i32 = 0) -> f32x4 {\n    %k = and i32 %j, 127\n"
            "    %w = sext i64 %k\n    %at = add i64 %w, %i\n    %b = load i8x4 %a[%at]\n"
            "    %f = utof f32x4 %b\n    %t = fadd f32x4 %s, %f\n    %j1 = add i32 %j, 1\n"
            "    %done = ieq i32 %j1, %n\n    if %done {\n      break %t\n    }\n    continue %t, %j1\n  }\n"
            "  store f32x4 %o[%i], %sum\n  return\n}\n",
            ranges, 1, 0, args, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(boxes), cmocka_unit_test(most_bytes)};
    return cmocka_run_group_tests_name("test_cpu_byte_sums", tests, NULL, NULL);
}
