/* Compiled kernels with sub-groups over rows, planes and incomplete groups: where work-items are, which of them run,
   and groups within groups. What the operations give for which types is differential/diff_sub_group_table's. */
#include "tests/support/compiled_kit.h"

enum { BYTES = 16384 };

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

static const struct nd_range ranges[] = {
    {1, {64, 1, 1}, {0, 0, 0}, {64, 1, 1}}, {1, {150, 1, 1}, {3, 0, 0}, {37, 1, 1}},
    {1, {16, 1, 1}, {0, 0, 0}, {1, 1, 1}},  {2, {16, 16, 1}, {0, 0, 0}, {16, 4, 1}},
    {2, {20, 7, 1}, {2, 1, 0}, {5, 3, 1}},  {3, {9, 5, 4}, {0, 0, 0}, {4, 3, 2}},
    {3, {6, 6, 6}, {0, 0, 0}, {6, 6, 6}},
};

/* At each size: each work-item takes %x of the type from the input by its linear id, and puts %r
 * out. */
static void on_each(const char *type, const char *result, const char *body)
{
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out}};
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        char text[4096];
        snprintf(text, sizeof text,
                 "kernel @k(%%a: ptr.global %s, %%o: ptr.global %s) sub_group_size(%u) {\n"
                 "  %%g = global_linear_id\n  %%l = sub_group_local_id\n  %%n = sub_group_size\n"
                 "  %%x = load %s %%a[%%g]\n%s  store %s %%o[%%g], %%r\n}\n",
                 type, result, sizes[s], type, body, result);
        kit_same_everywhere(text, ranges, sizeof ranges / sizeof *ranges, 0, args, 2);
    }
}

static void numbers(void **state)
{
    (void)state;
    on_each("i32", "i32x8",
            "  %m = sub_group_max_size\n  %c = num_sub_groups\n  %e = enqueued_num_sub_groups\n  %i = sub_group_id\n"
            "  %r = vec i32x8 %l, %n, %m, %c, %e, %i, %x, 0\n");
}

static void ids(void **state)
{
    (void)state;
    on_each("i8", "i64x8",
            "  %gx = global_id x\n  %gy = global_id y\n  %gz = global_id z\n  %lx = local_id x\n  %ly = local_id y\n"
            "  %lz = local_id z\n  %ll = local_linear_id\n"
            "  %r = vec i64x8 %gx, %gy, %gz, %lx, %ly, %lz, %ll, %g\n");
}

static void divergent(void **state)
{
    (void)state;
    on_each("i32", "i32x4",
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

/* Barriers of the work-group between, and operations of both kinds of group. */
static void with_work_groups(void **state)
{
    (void)state;
    on_each("f32", "f32",
            "  %s = group_reduce f32 %x, sub_group, add\n  %w = group_reduce f32 %x, work_group, add\n"
            "  %d = fsub f32 %s, %w\n  %p = sub_group_shuffle_xor f32 %d, 0\n  barrier work_group, global\n"
            "  %q = group_scan_incl f32 %p, sub_group, smax\n  %b = group_broadcast f32 %q, 0, work_group\n"
            "  %r = fadd f32 %q, %b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(ids),
        cmocka_unit_test(divergent),
        cmocka_unit_test(with_work_groups),
    };
    return cmocka_run_group_tests_name("cpu_subgroups", tests, fill, NULL);
}
