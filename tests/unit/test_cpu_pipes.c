/* Compiled code: reservations of pipes, against the interpreter. */
#include "tests/support/compiled_kit.h"

enum { ITEMS = 75, CAPACITY = 256, PACKETS = 220 };

static const struct nd_range ranges[] = {
    {1, {ITEMS, 1, 1}, {0, 0, 0}, {25, 1, 1}},
    {1, {64, 1, 1}, {3, 0, 0}, {64, 1, 1}},
    {2, {5, 13, 1}, {0, 0, 0}, {5, 1, 1}},
};

static void same_everywhere(const char *text)
{
    int32_t from[CAPACITY], to[CAPACITY] = {0};
    int64_t out[ITEMS] = {0};
    for (int32_t i = 0; i < CAPACITY; i++) from[i] = i * 7 + 1;
    /* Numbers of packets go past 32 bits on the way. */
    uint64_t first = UINT32_MAX - 40;
    struct interp_pipe in = {(uint8_t *)from, 4, CAPACITY, first, first + PACKETS};
    struct interp_pipe other = {(uint8_t *)to, 4, CAPACITY, first + 17, first + 17};
    const struct interp_arg args[] = {{INTERP_ARG_PIPE, &in, 0, NULL},
                                      {INTERP_ARG_PIPE, &other, 0, NULL},
                                      {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    kit_same_everywhere(text, ranges, 3, 0, args, 3);
}

/* Each work-item has reservations of 0 to 3 packets; every second one commits late. */
static void of_work_items(void **state)
{
    (void)state;
    same_everywhere("kernel @k(%in: pipe.read, %out: pipe.write, %o: ptr.global i64 write) {\n"
                    "  %i = global_linear_id\n"
                    "  %n64 = urem i64 %i, 4\n"
                    "  %n = trunc i32 %n64\n"
                    "  %word = var i32\n"
                    "  %r = pipe_reserve_read %in, %n\n"
                    "  %w = pipe_reserve_write %out, %n\n"
                    "  %sum = loop (%k: i32 = 0, %s: i32 = 0) -> i32 {\n"
                    "    %end = uge i32 %k, %n\n"
                    "    if %end { break %s }\n"
                    "    %got = pipe_read_at i32 %in, %word, %r, %k\n"
                    "    %v = load i32 %word\n"
                    "    %s2 = add i32 %s, %v\n"
                    "    %back = sub i32 %n, %k\n"
                    "    %at = sub i32 %back, 1\n"
                    "    %put = pipe_write_at i32 %out, %word, %w, %at\n"
                    "    %both = and bool %got, %put\n"
                    "    %f = select i32 %both, 0, 1000000\n"
                    "    %s3 = add i32 %s2, %f\n"
                    "    %k2 = add i32 %k, 1\n"
                    "    continue %k2, %s3\n"
                    "  }\n"
                    "  %low = and i64 %i, 1\n"
                    "  %odd = ieq i64 %low, 1\n"
                    "  if %odd {\n"
                    "    pipe_commit_write %out, %w\n"
                    "    pipe_commit_read %in, %r\n"
                    "  } else {\n"
                    "    pipe_commit_read %in, %r\n"
                    "    pipe_commit_write %out, %w\n"
                    "  }\n"
                    "  %x = zext i64 %sum\n"
                    "  store i64 %o[%i], %x\n"
                    "}\n");
}

/* What does not fit is no reservation, and packets go on without it. */
static void too_large(void **state)
{
    (void)state;
    same_everywhere("kernel @k(%in: pipe.read, %out: pipe.write, %o: ptr.global i64 write) {\n"
                    "  %i = global_linear_id\n"
                    "  %r = pipe_reserve_read %in, 221\n"
                    "  %w = pipe_reserve_write %out, 257\n"
                    "  %m = pipe_reserve_write %out, -1\n"
                    "  %a = or i64 %r, %w\n"
                    "  %b = or i64 %a, %m\n"
                    "  %word = var i32\n"
                    "  %got = pipe_read i32 %in, %word\n"
                    "  %put = pipe_write i32 %out, %word\n"
                    "  %n = pipe_num_packets %out\n"
                    "  %any = ugt i32 %n, 0\n"
                    "  %p = zext i64 %put\n"
                    "  %q = zext i64 %any\n"
                    "  %v = load i32 %word\n"
                    "  %x = zext i64 %v\n"
                    "  %y = add i64 %x, %b\n"
                    "  %z = add i64 %y, %p\n"
                    "  %z2 = add i64 %z, %q\n"
                    "  store i64 %o[%i], %z2\n"
                    "}\n");
}

/* One work-item reserves for all, as functions of work-groups are read. */
static void of_work_groups(void **state)
{
    (void)state;
    same_everywhere("kernel @k(%in: pipe.read, %out: pipe.write, %o: ptr.global i64 write) {\n"
                    "  %i = global_linear_id\n"
                    "  %l = local_linear_id\n"
                    "  %at = trunc i32 %l\n"
                    "  %first = ieq i64 %l, 0\n"
                    "  %sx = local_size x\n"
                    "  %n = trunc i32 %sx\n"
                    "  %a, %b = if %first -> i64, i64 {\n"
                    "    %r1 = pipe_reserve_read %in, %n\n"
                    "    %w1 = pipe_reserve_write %out, %n\n"
                    "    yield %r1, %w1\n"
                    "  } else { yield 0, 0 }\n"
                    "  %r = group_broadcast i64 %a, 0, work_group\n"
                    "  %w = group_broadcast i64 %b, 0, work_group\n"
                    "  %word = var i32\n"
                    "  %got = pipe_read_at i32 %in, %word, %r, %at\n"
                    "  %put = pipe_write_at i32 %out, %word, %w, %at\n"
                    "  %v = load i32 %word\n"
                    "  %both = and bool %got, %put\n"
                    "  %s = select i32 %both, %v, 9\n"
                    "  %x = zext i64 %s\n"
                    "  store i64 %o[%i], %x\n"
                    "  barrier work_group\n"
                    "  if %first {\n"
                    "    pipe_commit_read %in, %r\n"
                    "    pipe_commit_write %out, %w\n"
                    "  }\n"
                    "}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_work_items), cmocka_unit_test(too_large),
                                       cmocka_unit_test(of_work_groups)};
    return cmocka_run_group_tests_name("cpu_pipes", tests, NULL, NULL);
}
