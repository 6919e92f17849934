/* Compiled kernels with sub-groups: each operation at each size, over rows, planes and incomplete groups. */
#include "tests/support/compiled_kit.h"

enum { BYTES = 16384, ALL_SIZES = 0x3f };

static const unsigned sizes[] = {1, 4, 8, 16, 32, 64};
static uint8_t in[BYTES], out[BYTES];

static int fill(void **state)
{
    (void)state;
    uint32_t x = 7;
    for (size_t i = 0; i < sizeof in; i++) {
        x = x * 1664525 + 1013904223;
        in[i] = (uint8_t)(x >> 13);
    }
    /* As floats of any width numbers of a common size. */
    for (size_t i = 1; i < sizeof in; i += 2) in[i] = (uint8_t)((in[i] & 0x83) | 0x3c);
    return 0;
}

static const struct interp_range ranges[] = {
    {1, {64, 1, 1}, {0, 0, 0}, {64, 1, 1}}, {1, {150, 1, 1}, {3, 0, 0}, {37, 1, 1}},
    {1, {16, 1, 1}, {0, 0, 0}, {1, 1, 1}},  {2, {16, 16, 1}, {0, 0, 0}, {16, 4, 1}},
    {2, {20, 7, 1}, {2, 1, 0}, {5, 3, 1}},  {3, {9, 5, 4}, {0, 0, 0}, {4, 3, 2}},
    {3, {6, 6, 6}, {0, 0, 0}, {6, 6, 6}},
};

/* At the sizes whose bits are set: each work-item takes %x of the type from the input by its linear id, and puts %r
 * out. */
static void on_each(unsigned which, const char *type, const char *result, const char *body)
{
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out}};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        char text[4096];
        if (!(which & 1u << s)) continue;
        snprintf(text, sizeof text,
                 "kernel @k(%%a: ptr.global %s, %%o: ptr.global %s) sub_group_size(%u) {\n"
                 "  %%g = global_linear_id\n  %%l = sub_group_local_id\n  %%n = sub_group_size\n"
                 "  %%x = load %s %%a[%%g]\n%s  store %s %%o[%%g], %%r\n}\n",
                 type, result, sizes[s], type, body, result);
        kit_same_everywhere(text, ranges, sizeof ranges / sizeof *ranges, 0, args, 2);
    }
}

/* A few sizes for each type: all come with some. */
static unsigned some(unsigned t)
{
    return (9u << t % 6 | 9u << t % 6 >> 6) & ALL_SIZES;
}

static void numbers(void **state)
{
    (void)state;
    on_each(ALL_SIZES, "i32", "i32x8",
            "  %m = sub_group_max_size\n  %c = num_sub_groups\n  %e = enqueued_num_sub_groups\n  %i = sub_group_id\n"
            "  %r = vec i32x8 %l, %n, %m, %c, %e, %i, %x, 0\n");
}

static void ids(void **state)
{
    (void)state;
    on_each(ALL_SIZES, "i8", "i64x8",
            "  %gx = global_id x\n  %gy = global_id y\n  %gz = global_id z\n  %lx = local_id x\n  %ly = local_id y\n"
            "  %lz = local_id z\n  %ll = local_linear_id\n"
            "  %r = vec i64x8 %gx, %gy, %gz, %lx, %ly, %lz, %ll, %g\n");
}

static void reductions(void **state)
{
    (void)state;
    static const char *const types[] = {"i8", "i16", "i32", "i64", "f16", "f32", "f64", "i32x3", "f32x4"};
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        bool is_float = types[t][0] == 'f';
        const char *join = is_float ? "fadd" : "xor", *p = is_float ? "add" : "umax", *q = is_float ? "smin" : "xor";
        char body[1024];
        snprintf(body, sizeof body,
                 "  %%p = group_reduce %s %%x, sub_group, %s\n  %%q = group_scan_incl %s %%x, sub_group, %s\n"
                 "  %%t = group_scan_excl %s %%x, sub_group, add\n  %%m = group_reduce %s %%t, sub_group, %s\n"
                 "  %%u = %s %s %%p, %%q\n  %%v = %s %s %%u, %%t\n  %%r = %s %s %%v, %%m\n",
                 types[t], p, types[t], q, types[t], types[t], q, join, types[t], join, types[t], join, types[t]);
        on_each(some(t), types[t], types[t], body);
    }
}

static void votes(void **state)
{
    (void)state;
    on_each(ALL_SIZES, "i32", "i32x4",
            "  %odd = trunc i8 %x\n  %neg = slt i8 %odd, 20\n  %big = slt i32 %l, 5\n"
            "  %some = group_any %neg, sub_group\n  %every = group_all %big, sub_group\n"
            "  %b = sub_group_ballot %neg\n  %w = extract i32x4 %b, 0\n  %v = extract i32x4 %b, 1\n"
            "  %i = zext i32 %some\n  %j = zext i32 %every\n  %k = shl i32 %i, 1\n  %f = or i32 %k, %j\n"
            "  %same = sub_group_all_equal i32 %f\n  %s = zext i32 %same\n"
            "  %r = vec i32x4 %f, %w, %v, %s\n");
}

static void divergent(void **state)
{
    (void)state;
    on_each(ALL_SIZES, "i32", "i32x4",
            "  %bit = and i32 %x, 256\n  %c = ieq i32 %bit, 0\n"
            "  %p, %q = if %c -> i32, i32 {\n"
            "    %e = sub_group_elect\n    %one = zext i32 %e\n    %b = sub_group_ballot %c\n"
            "    %w = extract i32x4 %b, 0\n    yield %one, %w\n"
            "  } else {\n"
            "    %same = sub_group_all_equal i32 %bit\n    %two = zext i32 %same\n"
            "    %y = sub_group_shuffle i32 %x, %l\n    yield %two, %y\n  }\n"
            "  %b2 = sub_group_ballot %c\n  %w2 = extract i32x4 %b2, 0\n"
            "  %r = vec i32x4 %p, %q, %w2, %l\n");
}

static void shuffles(void **state)
{
    (void)state;
    static const char *const types[] = {"i8", "i32", "f64", "i16x3", "i8x16"};
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            "  %%m = sub i32 %%n, 1\n  %%back = sub i32 %%m, %%l\n"
            "  %%p = sub_group_shuffle %s %%x, %%back\n  %%q = sub_group_rotate %s %%p, 3\n"
            "  %%s = group_broadcast %s %%q, %%m, sub_group\n"
            "  %%first = ieq i32 %%l, 0\n  %%t = select %s %%first, %%s, %%q\n"
            "  %%z = sub_group_shuffle %s %%x, 0\n  %%last = ieq i32 %%l, %%m\n  %%r = select %s %%last, %%z, %%t\n",
            types[t], types[t], types[t], types[t], types[t], types[t]);
        on_each(some(t), types[t], types[t], body);
    }
}

/* Where the sub-groups are complete: those that go past the end. */
static const struct interp_range complete[] = {{1, {256, 1, 1}, {0, 0, 0}, {128, 1, 1}},
                                               {2, {4, 64, 1}, {0, 0, 0}, {4, 32, 1}}};

static void complete_shuffles(void **state)
{
    (void)state;
    static const char *const types[] = {"i8", "f64", "i32x2"};
    static const char *const amounts[] = {"1", "%k"};
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned a = 0; a < sizeof amounts / sizeof *amounts; a++)
            for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                if (!(some(t + a) & 1u << s)) continue;
                struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                            {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out}};
                char text[2048];
                const char *x = a == 0 && sizes[s] == 1 ? "0" : amounts[a];
                snprintf(text, sizeof text,
                         "kernel @k(%%a: ptr.global %s, %%o: ptr.global %s) sub_group_size(%u) {\n"
                         "  %%g = global_linear_id\n  %%l = sub_group_local_id\n  %%m = sub_group_max_size\n"
                         "  %%k0 = mul i32 %%l, 5\n  %%k1 = sub i32 %%m, 1\n  %%k = and i32 %%k0, %%k1\n"
                         "  %%x = load %s %%a[%%g]\n  %%y = sub_group_shuffle_xor %s %%x, %s\n"
                         "  %%u = sub_group_shuffle_up %s %%x, %%y, %s\n"
                         "  %%d = sub_group_shuffle_down %s %%u, %%x, %s\n  store %s %%o[%%g], %%d\n}\n",
                         types[t], types[t], sizes[s], types[t], types[t], x, types[t], x, types[t], x, types[t]);
                kit_same_everywhere(text, complete, 2, 0, args, 2);
            }
}

static void blocks(void **state)
{
    (void)state;
    static const char *const types[] = {"i8x16", "i16x2", "i64"};
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                        {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out}};
            if (!(some(t) & 1u << s)) continue;
            struct interp_range range = {1, {128, 1, 1}, {0, 0, 0}, {64, 1, 1}};
            char text[2048];
            snprintf(text, sizeof text,
                     "kernel @k(%%a: ptr.global %s, %%o: ptr.global %s) sub_group_size(%u) {\n"
                     "  %%g = group_id x\n  %%i = sub_group_id\n  %%n = num_sub_groups\n  %%w = zext i64 %%i\n"
                     "  %%nw = zext i64 %%n\n  %%b0 = mul i64 %%g, %%nw\n  %%b1 = add i64 %%b0, %%w\n"
                     "  %%b = mul i64 %%b1, %u\n  %%p = elem %s %%a, %%b\n  %%q = elem %s %%o, %%b\n"
                     "  %%x = block_read %s %%p\n  %%y = not %s %%x\n  block_write %s %%q, %%y\n}\n",
                     types[t], types[t], sizes[s], sizes[s], types[t], types[t], types[t], types[t], types[t]);
            kit_same_everywhere(text, &range, 1, 0, args, 2);
        }
}

/* Barriers of the work-group between, and operations of both kinds of group. */
static void with_work_groups(void **state)
{
    (void)state;
    on_each(ALL_SIZES, "f32", "f32",
            "  %s = group_reduce f32 %x, sub_group, add\n  %w = group_reduce f32 %x, work_group, add\n"
            "  %d = fsub f32 %s, %w\n  %p = sub_group_shuffle_xor f32 %d, 0\n  barrier work_group, global\n"
            "  %q = group_scan_incl f32 %p, sub_group, smax\n  %b = group_broadcast f32 %q, 0, work_group\n"
            "  %r = fadd f32 %q, %b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),           cmocka_unit_test(ids),
        cmocka_unit_test(reductions),        cmocka_unit_test(votes),
        cmocka_unit_test(divergent),         cmocka_unit_test(shuffles),
        cmocka_unit_test(complete_shuffles), cmocka_unit_test(blocks),
        cmocka_unit_test(with_work_groups),
    };
    return cmocka_run_group_tests_name("gccjit_subgroups", tests, fill, NULL);
}
