/* Loops in which each lane is in memory of its own, whether they leave it in different rounds or together: each runs
   them by itself. All together where the work is in registers; and what is fetched ahead in them. */
#include "ir/base/strbuf.h"
#include "tests/support/compiled_kit.h"

/* A row of a sparse matrix. */
static const char *const sparse_row =
    "kernel @k(%values: ptr.global f32 read, %columns: ptr.global i32 read, %starts: ptr.global i32 read, "
    "%x: ptr.global f32 read, %y: ptr.global f32) {\n"
    "  %row = global_id x\n  %from = load i32 %starts[%row]\n  %next = add i64 %row, 1\n"
    "  %to = load i32 %starts[%next]\n"
    "  %all = loop (%k: i32 = %from, %sum: f32 = 0.0) -> f32 {\n"
    "    %over = sge i32 %k, %to\n    if %over {\n      break %sum\n    }\n"
    "    %at = sext i64 %k\n    %value = load f32 %values[%at]\n    %column = load i32 %columns[%at]\n"
    "    %there = sext i64 %column\n    %factor = load f32 %x[%there]\n"
    "    %product = fmul f32 %value, %factor\n    %more = fadd f32 %sum, %product\n"
    "    %k1 = add i32 %k, 1\n    continue %k1, %more\n  }\n"
    "  store f32 %y[%row], %all\n  return\n}\n";

/* A sweep along each row of a matrix. */
static const char *const sweep =
    "kernel @k(%a: ptr.global f32 read, %b: ptr.global f32, %c: ptr.global f32, %n: i32) {\n"
    "  %i = global_id x\n  %row = trunc i32 %i\n  %first = mul i32 %row, %n\n"
    "  loop (%j: i32 = 0, %before: f32 = 1.0, %other: f32 = 2.0) {\n"
    "    %over = sge i32 %j, %n\n    if %over {\n      break\n    }\n"
    "    %k = add i32 %first, %j\n    %at = sext i64 %k\n    %x = load f32 %a[%at]\n"
    "    %y = load f32 %b[%at]\n    %z = load f32 %c[%at]\n    %p = fmul f32 %before, %x\n"
    "    %q = fsub f32 %y, %p\n    store f32 %b[%at], %q\n    %r = fmul f32 %other, %x\n"
    "    %s = fsub f32 %z, %r\n    store f32 %c[%at], %s\n"
    "    %j1 = add i32 %j, 1\n    continue %j1, %q, %s\n  }\n  return\n}\n";

static const char *const escape_time =
    "kernel @k(%from: ptr.global f32 read, %rounds: ptr.global i32) {\n"
    "  %i = global_id x\n  %c = load f32 %from[%i]\n"
    "  %count = loop (%n: i32 = 0, %z: f32 = 0.0) -> i32 {\n"
    "    %square = fmul f32 %z, %z\n    %out = fogt f32 %square, 4.0\n    %last = sge i32 %n, 100\n"
    "    %over = or bool %out, %last\n    if %over {\n      break %n\n    }\n"
    "    %next = fadd f32 %square, %c\n    %n1 = add i32 %n, 1\n    continue %n1, %next\n  }\n"
    "  store i32 %rounds[%i], %count\n  return\n}\n";

/* A level of a pyramid: of each row four numbers, at two for each work-item, inside of the row. */
static const char *const shrink =
    "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32, %w: i32) assumes(small_ids, small_memory) {\n"
    "  %i = global_id x\n  %own = trunc i32 %i\n  %last = add i32 %w, -1\n  %x1 = shl i32 %own, 1\n"
    "  %x0 = add i32 %x1, -1\n  %x2 = add i32 %x1, 1\n  %x3 = add i32 %x1, 2\n"
    "  %c0 = sclamp i32 %x0, 0, %last\n  %c1 = sclamp i32 %x1, 0, %last\n"
    "  %c2 = sclamp i32 %x2, 0, %last\n  %c3 = sclamp i32 %x3, 0, %last\n"
    "  %sum = loop (%j: i32 = 0, %s: f32 = 0.0) -> f32 {\n"
    "    %over = sge i32 %j, 4\n    if %over {\n      break %s\n    }\n    %row = mul i32 %j, %w\n"
    "    %p0 = add i32 %row, %c0\n    %q0 = sext i64 %p0\n    %v0 = load f32 %a[%q0]\n"
    "    %p1 = add i32 %row, %c1\n    %q1 = sext i64 %p1\n    %v1 = load f32 %a[%q1]\n"
    "    %p2 = add i32 %row, %c2\n    %q2 = sext i64 %p2\n    %v2 = load f32 %a[%q2]\n"
    "    %p3 = add i32 %row, %c3\n    %q3 = sext i64 %p3\n    %v3 = load f32 %a[%q3]\n"
    "    %m1 = fma f32 %v1, 3.0, %v0\n    %m2 = fma f32 %v2, 3.0, %m1\n    %m3 = fadd f32 %m2, %v3\n"
    "    %more = fma f32 %m3, 0.25, %s\n    %j1 = add i32 %j, 1\n    continue %j1, %more\n  }\n"
    "  store f32 %o[%i], %sum\n  return\n}\n";

/* Colours that each work-item counts for itself, over a row that all go along together. */
static const char *const own_histogram =
    "kernel @k(%a: ptr.global i32 read, %o: ptr.global i32, %n: i32, %step: i32) {\n"
    "  %i = global_id x\n  %first = trunc i32 %i\n  %counts = var [64 x i32]\n"
    "  %some = elem i32 %counts, 0\n  store i32 %some, 0\n"
    "  loop (%k: i32 = %first) {\n"
    "    %over = uge i32 %k, %n\n    if %over {\n      break\n    }\n"
    "    %at = zext i64 %k\n    %colour = load i32 %a[%at]\n    %place = zext i64 %colour\n"
    "    %count = elem i32 %counts, %place\n    %so_far = load i32 %count\n"
    "    %more = add i32 %so_far, 1\n    store i32 %count, %more\n"
    "    %next = add i32 %k, %step\n    continue %next\n  }\n"
    "  %result = load i32 %some\n  store i32 %o[%i], %result\n  return\n}\n";

/* The sum of a column, so far as the work-item's is long; `step` bytes from one number to the next, 0: nobody knows. */
static char *column(unsigned step)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "kernel @k(%%a: ptr.global f32 read, %%o: ptr.global f32, %%n: i32, %%pitch: i32) {\n"
                      "  %%i = global_id x\n  %%own = trunc i32 %%i\n"
                      "  %%sum = loop (%%j: i32 = 0, %%s: f32 = 0.0) -> f32 {\n"
                      "    %%over = sge i32 %%j, %%n\n    if %%over {\n      break %%s\n    }\n");
    if (step)
        strbuf_printf(&b, "    %%row = mul i32 %%j, %u\n", step / 4);
    else
        strbuf_printf(&b, "    %%row = mul i32 %%j, %%pitch\n");
    strbuf_add(&b, "    %at = add i32 %row, %own\n    %there = sext i64 %at\n    %x = load f32 %a[%there]\n"
                   "    %more = fadd f32 %s, %x\n    %j1 = add i32 %j, 1\n    continue %j1, %more\n  }\n"
                   "  store f32 %o[%i], %sum\n  return\n}\n");
    return strbuf_take(&b);
}

/* Sums of two numbers that are `apart` numbers apart: %w, or one. */
static char *sums(bool narrow, const char *apart)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "kernel @k(%%a: ptr.global f32 read, %%o: ptr.global f32, %%w: %s) {\n", narrow ? "i32" : "i64");
    strbuf_add(&b, "  %g = global_id x\n");
    if (narrow)
        strbuf_printf(
            &b, "  %%h = trunc i32 %%g\n  %%k = add i32 %%h, %s\n  %%i = sext i64 %%h\n  %%j = sext i64 %%k\n", apart);
    else
        strbuf_printf(&b, "  %%i = add i64 %%g, 0\n  %%j = add i64 %%g, %s\n", apart);
    strbuf_add(&b, "  %x = load f32 %a[%i]\n  %y = load f32 %a[%j]\n  %s = fadd f32 %x, %y\n"
                   "  store f32 %o[%i], %s\n  return\n}\n");
    return strbuf_take(&b);
}

/* Counts in the group's memory of what lies in steps of the size of all, or of 128 numbers. */
static char *bins(bool over_all)
{
    struct strbuf b = {0};
    strbuf_add(&b, "local @bins: [256 x i32]\n"
                   "kernel @k(%a: ptr.global i8 read, %o: ptr.global i32, %n: i32) work_group_size(128, 1, 1) {\n"
                   "  %l = local_id x\n  %i = global_id x\n  %first = trunc i32 %i\n  %bins = global @bins\n"
                   "  %size = global_size x\n  %all = trunc i32 %size\n  %some = trunc i32 %l\n"
                   "  barrier work_group, local\n");
    strbuf_printf(&b, "  loop (%%j: i32 = %%%s) {\n", over_all ? "first" : "some");
    strbuf_add(&b, "    %c = slt i32 %j, %n\n    if %c {\n    %at = sext i64 %j\n    %v = load i8 %a[%at]\n"
                   "    %k = zext i64 %v\n    %p = elem i32 %bins, %k\n    %old = atomic_add i32 %p, 1\n");
    strbuf_printf(&b, "    %%next = add i32 %%j, %s\n    continue %%next\n    }\n    break\n  }\n",
                  over_all ? "%all" : "128");
    strbuf_add(&b, "  barrier work_group, local\n  %mine = elem i32 %bins, %l\n  %sum = load i32 %mine\n"
                   "  store i32 %o[%l], %sum\n  return\n}\n");
    return strbuf_take(&b);
}

/* What it is compiled to, for the caller to free. */
static char *assembly_of(const char *text, enum cpu_isa isa)
{
    struct ir_module *m = kit_parse(text);
    struct ir_function *kernel = kit_kernel(m);
    struct cpu_options options = {.target = cpu_target_host(isa), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    kernel->assumes |= IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY;
    assert_int_equal(cpu_compile(kernel, &options, &object, &list), 0);
    char *assembly = strdup(object.assembly);
    cpu_object_clear(&object);
    ir_module_free(m);
    return assembly;
}

static bool has_avx2(void)
{
    return cpu_target_host(CPU_ISA_AVX2).isa == CPU_ISA_AVX2;
}

static void each_lane_walks_its_row(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    char *assembly = assembly_of(sparse_row, CPU_ISA_AVX2);
    assert_null(strstr(assembly, "vgather"));
    assert_non_null(strstr(assembly, "vmulss"));
    free(assembly);
}

static void each_lane_sweeps_its_row(void **state)
{
    (void)state;
    enum { ROWS = 70, COLUMNS = 13 };
    static float a[ROWS * COLUMNS], b[ROWS * COLUMNS], c[ROWS * COLUMNS];
    static const struct nd_range ranges[] = {{1, {ROWS, 1, 1}, {0}, {10, 1, 1}}, {1, {64, 1, 1}, {0}, {64, 1, 1}}};
    int32_t n = COLUMNS;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        a[i] = (float)(i % 7) * 0.25f;
        b[i] = (float)(i % 11);
        c[i] = (float)(i % 5);
    }
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                {.kind = INTERP_ARG_BUFFER, .data = b, .size = sizeof b},
                                {.kind = INTERP_ARG_BUFFER, .data = c, .size = sizeof c},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
    kit_same_everywhere(sweep, ranges, 2, 0, args, 4);
    if (!has_avx2()) return;
    char *assembly = assembly_of(sweep, CPU_ISA_AVX2);
    assert_null(strstr(assembly, "vgather"));
    assert_non_null(strstr(assembly, "vmulss"));
    free(assembly);
}

/* Bytes that each work-item copies into memory of its own, all as many: how many is the same for all of them, and where
   the next one would come from is so many more for each. */
static const char *const counted =
    "kernel @k(%a: ptr.global i8 read, %o: ptr.global i32, %n: i32) {\n"
    "  %i = global_id x\n  %first = trunc i32 %i\n  %own = var [64 x i8]\n  %more = add i32 %first, 4\n"
    "  loop (%k: i32 = 0) {\n"
    "    %q = elem i8 %own, %k\n    store i8 %q, 0\n    %k1 = add i32 %k, 1\n    %full = uge i32 %k1, 64\n"
    "    if %full {\n      break\n    }\n    continue %k1\n  }\n"
    "  %count, %next = loop (%j: i32 = 0, %from: i32 = %more) -> i32, i32 {\n"
    "    %there = zext i64 %from\n    %at = zext i64 %j\n    %twice = mul i64 %at, 3\n"
    "    %place = add i64 %twice, %there\n    %v = load i8 %a[%place]\n    %r = zext i64 %v\n"
    "    %in = and i64 %r, 63\n    %p = elem i8 %own, %in\n    %was = load i8 %p\n    %sum = add i8 %was, %v\n"
    "    store i8 %p, %sum\n    %j1 = add i32 %j, 1\n    %f1 = add i32 %from, 2\n"
    "    %over = uge i32 %j1, %n\n    if %over {\n      break %j1, %f1\n    }\n    continue %j1, %f1\n  }\n"
    "  %some = and i32 %next, 63\n  %e = elem i8 %own, %some\n  %b = load i8 %e\n  %c = zext i32 %b\n"
    "  %d = mul i32 %count, %c\n  %f = mul i32 %next, 1000\n  %g = add i32 %d, %f\n"
    "  store i32 %o[%i], %g\n  return\n}\n";

static void results_are_the_same_for_all(void **state)
{
    (void)state;
    enum { N = 150, LENGTH = 40 };
    static uint8_t a[N + 5 * LENGTH + 4];
    static int32_t o[N];
    static const struct nd_range ranges[] = {{1, {N, 1, 1}, {0}, {10, 1, 1}}, {1, {128, 1, 1}, {0}, {64, 1, 1}}};
    int32_t n = LENGTH;
    for (size_t i = 0; i < sizeof a; i++) a[i] = (uint8_t)(i * 37 % 101);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                {.kind = INTERP_ARG_BUFFER, .data = o, .size = sizeof o},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
    kit_same_everywhere(counted, ranges, 2, 0, args, 3);
}

/* A row of a matrix times a vector, by each work-item. */
static const char *const row_of_matrix =
    "kernel @k(%a: ptr.global f32 read, %x: ptr.global f32 read, %y: ptr.global f32, %n: i32) {\n"
    "  %i = global_id x\n  %row = trunc i32 %i\n  %first = mul i32 %row, %n\n"
    "  %sum = loop (%j: i32 = 0, %s: f32 = 0.0) -> f32 {\n"
    "    %k = add i32 %first, %j\n    %at = sext i64 %k\n    %v = load f32 %a[%at]\n    %j64 = sext i64 %j\n"
    "    %w = load f32 %x[%j64]\n    %p = fmul f32 %v, %w\n    %t = fadd f32 %s, %p\n"
    "    %j1 = add i32 %j, 1\n    %c = slt i32 %j1, %n\n    if %c {\n      continue %j1, %t\n    }\n"
    "    break %t\n  }\n  store f32 %y[%i], %sum\n  return\n}\n";

static void rows_come_by_registers(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    char *assembly = assembly_of(row_of_matrix, CPU_ISA_AVX2);
    assert_null(strstr(assembly, "vmulss"));
    assert_non_null(strstr(assembly, "vmulps"));
    assert_non_null(strstr(assembly, "vunpcklps"));
    free(assembly);
}

static void what_is_in_registers_runs_together(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    char *assembly = assembly_of(escape_time, CPU_ISA_AVX2);
    assert_non_null(strstr(assembly, "vmulps"));
    assert_null(strstr(assembly, "vmulss"));
    free(assembly);
}

/* Each would come to every line of the row by itself. */
/* Where lanes are near each other a gather finds all of them in the nearest cache. */
static void near_lanes_run_together(void **state)
{
    enum { WIDTH = 150, ITEMS = WIDTH / 2 };
    static float a[4 * WIDTH], o[ITEMS];
    static const struct nd_range ranges[] = {{1, {ITEMS, 1, 1}, {0}, {ITEMS, 1, 1}}, {1, {64, 1, 1}, {0}, {64, 1, 1}}};
    int32_t w = WIDTH;
    (void)state;
    for (int i = 0; i < 4 * WIDTH; i++) a[i] = (float)(i * 7 % 31);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                {.kind = INTERP_ARG_BUFFER, .data = o, .size = sizeof o},
                                {.kind = INTERP_ARG_BYTES, .data = &w, .size = sizeof w}};
    kit_same_everywhere(shrink, ranges, 2, 0, args, 3);
    if (!has_avx2()) return;
    char *assembly = assembly_of(shrink, CPU_ISA_AVX2);
    assert_non_null(strstr(assembly, "vaddps"));
    assert_null(strstr(assembly, "vaddss"));
    free(assembly);
}

static void lanes_that_leap_side_by_side_run_together(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    char *assembly = assembly_of(own_histogram, CPU_ISA_AVX2);
    assert_non_null(strstr(assembly, "vpaddd"));
    assert_non_null(strstr(assembly, "gather"));
    free(assembly);
}

/* The next work-items' numbers, where the processor would not expect that they are read. */
static void columns_are_fetched_ahead(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    static const unsigned steps[] = {0, 16384, 64};
    for (unsigned i = 0; i < 3; i++) {
        char *text = column(steps[i]), *assembly = assembly_of(text, CPU_ISA_AVX2);
        assert_int_equal(strstr(assembly, "prefetch") != NULL, i < 2);
        free(assembly);
        free(text);
    }
}

/* Rounds of a group that begin in other pages each time, not those that go on where the last one ended. What they find
   bins by is taken from memory, not from vectors. */
static void rounds_are_fetched_ahead(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    for (unsigned over_all = 0; over_all < 2; over_all++) {
        char *text = bins(over_all), *assembly = assembly_of(text, CPU_ISA_AVX2);
        assert_int_equal(strstr(assembly, "prefetch") != NULL, over_all);
        assert_non_null(strstr(assembly, "movzbl"));
        assert_null(strstr(assembly, "vpmovzxbq"));
        free(assembly);
        free(text);
    }
}

/* Tiles down a matrix, whose rows are as far from each other as an argument says; not those along its rows. */
static void tiles_down_a_matrix_are_fetched_ahead(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    static const char *const places[] = {"    %k = add i32 %y, %t\n    %r = mul i32 %n, %k\n",
                                         "    %k = mul i32 %n, %y\n    %r = add i32 %k, %t\n"};
    for (unsigned along = 0; along < 2; along++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "local @tile: [256 x f32]\n"
                 "kernel @k(%%b: ptr.global f32 read, %%o: ptr.global f32 write, %%n: i32) work_group_size(16, 16, 1)\n"
                 "        assumes(small_ids, small_memory, whole_groups) {\n"
                 "  %%lx = local_id x\n  %%ly = local_id y\n  %%y = trunc i32 %%ly\n  %%gx = global_id x\n"
                 "  %%x = trunc i32 %%gx\n  %%l16 = mul i64 %%ly, 16\n  %%l = add i64 %%l16, %%lx\n"
                 "  %%tile = global @tile\n  %%mine = elem f32 %%tile, %%l\n"
                 "  %%sum = loop (%%t: i32 = 0, %%s: f32 = 0.0) -> f32 {\n%s"
                 "    %%c = add i32 %%x, %%r\n    %%at = sext i64 %%c\n    %%v = load f32 %%b[%%at]\n"
                 "    store f32 %%mine, %%v\n    barrier work_group, local\n    %%other = elem f32 %%tile, %%lx\n"
                 "    %%w = load f32 %%other\n    %%u = fadd f32 %%s, %%w\n    barrier work_group, local\n"
                 "    %%t1 = add i32 %%t, 16\n    %%on = slt i32 %%t1, %%n\n"
                 "    if %%on {\n      continue %%t1, %%u\n    }\n    break %%u\n  }\n"
                 "  store f32 %%o[%%gx], %%sum\n  return\n}\n",
                 places[along]);
        char *assembly = assembly_of(text, CPU_ISA_AVX2);
        assert_int_equal(strstr(assembly, "prefetch") != NULL, !along);
        free(assembly);
    }
}

/* Of several rows of the same memory, as a stencil has, whatever the type of ids; not of one. */
static void last_rows_are_fetched_ahead(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    static const char *const apart[] = {"%w", "1"};
    for (unsigned i = 0; i < 4; i++) {
        char *text = sums(i / 2, apart[i % 2]), *assembly = assembly_of(text, CPU_ISA_AVX2);
        assert_int_equal(strstr(assembly, "prefetch") != NULL, i % 2 == 0);
        free(assembly);
        free(text);
    }
}

/* Where a guard leaves vectors under masks at the ends of rows, whose lines those past the cache would wait for. */
static void ends_of_rows_that_stream_are_fetched(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    static const char *const guards[] = {"%c = and bool %l, %r", "%c = ieq i32 %n, 0"};
    for (unsigned i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "kernel @k(%%a: ptr.global f32 read, %%o: ptr.global f32 write, %%n: i32) work_group_size(256, 4, 1)\n"
                 "        assumes(small_ids, small_memory, whole_groups) {\n"
                 "  %%i = global_id x\n  %%x = trunc i32 %%i\n  %%l = sgt i32 %%x, 0\n  %%r = slt i32 %%x, %%n\n  %s\n"
                 "  if %%c {\n    %%v = load f32 %%a[%%i]\n    store f32 %%o[%%i], %%v\n    yield\n  }\n  return\n}\n",
                 guards[i]);
        char *assembly = assembly_of(text, CPU_ISA_AVX2);
        assert_non_null(strstr(assembly, "vmovnt"));
        assert_int_equal(strstr(assembly, "prefetch") != NULL, i == 0);
        free(assembly);
    }
}

/* An index that a border holds back does not leap: the neighbours of a pixel are in the cache. */
static void held_indices_are_not_fetched_ahead(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    char *assembly = assembly_of("kernel @k(%a: ptr.global f32 read, %o: ptr.global f32, %n: i32) {\n"
                                 "  %i = global_id x\n  %x = trunc i32 %i\n"
                                 "  %sum = loop (%j: i32 = 0, %s: f32 = 0.0) -> f32 {\n    %at = add i32 %x, %j\n"
                                 "    %in = sclamp i32 %at, 0, %n\n    %there = sext i64 %in\n"
                                 "    %v = load f32 %a[%there]\n    %t = fadd f32 %s, %v\n    %j1 = add i32 %j, 1\n"
                                 "    %on = slt i32 %j1, %n\n    if %on {\n      continue %j1, %t\n    }\n"
                                 "    break %t\n  }\n  store f32 %o[%i], %sum\n  return\n}\n",
                                 CPU_ISA_AVX2);
    assert_null(strstr(assembly, "prefetch"));
    free(assembly);
}

/* Bytes that floats were cut to are numbers of 32 bits still, for who goes on with them. */
static void bytes_are_not_cut_off_and_extended(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    char *assembly = assembly_of("kernel @k(%a: ptr.global f32) {\n  %i = global_id x\n  %p = elem f32 %a, %i\n"
                                 "  %x = load f32 %p\n  %b = ftou i8 %x, rte, saturate\n  %f = utof f32 %b\n"
                                 "  store f32 %p, %f\n  return\n}\n",
                                 CPU_ISA_AVX2);
    assert_null(strstr(assembly, "pmovzxbd"));
    free(assembly);
}

/* A number that all work-items add to is added to once by all lanes. */
static void lanes_add_together(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    char *assembly = assembly_of("kernel @k(%a: ptr.global i32 read, %o: ptr.global i32) {\n  %i = global_id x\n"
                                 "  %x = load i32 %a[%i]\n  %old = atomic_add i32 %o, %x\n  return\n}\n",
                                 CPU_ISA_AVX2);
    assert_non_null(strstr(assembly, "vpaddd"));
    free(assembly);
}

/* A sum over so many rounds as an argument says, but for work-items that are too near to the first one: a test of ids
   beside one that is the same for all. */
static const char *const window =
    "kernel @k(%a: ptr.global i32x4 read, %o: ptr.global i32, %n: i32, %step: i32) {\n"
    "  %i = global_id x\n  %x = trunc i32 %i\n"
    "  %sum = loop (%j: i32 = 0, %s: i32x4 = 0) -> i32x4 {\n"
    "    %over = sge i32 %j, %n\n    if %over {\n      break %s\n    }\n"
    "    %back = mul i32 %j, %step\n    %before = sgt i32 %back, %x\n    if %before {\n      break %s\n    }\n"
    "    %k = sub i32 %x, %back\n    %at = sext i64 %k\n    %v = load i32x4 %a[%at]\n"
    "    %t = add i32x4 %s, %v\n    %j1 = add i32 %j, 1\n    continue %j1, %t\n  }\n"
    "  %p = extract i32x4 %sum, 1\n  %q = extract i32x4 %sum, 3\n  %r = sub i32 %p, %q\n"
    "  store i32 %o[%i], %r\n  return\n}\n";

static void tests_that_are_the_same_do_not_part_lanes(void **state)
{
    (void)state;
    enum { N = 150 };
    static int32_t a[4 * N], o[N];
    static const struct nd_range ranges[] = {{1, {N, 1, 1}, {0}, {10, 1, 1}}, {1, {128, 1, 1}, {0}, {64, 1, 1}}};
    for (int i = 0; i < 4 * N; i++) a[i] = i * 37 % 101;
    for (int32_t n = 0; n < 6; n += 5) {
        int32_t step = 7;
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                    {.kind = INTERP_ARG_BUFFER, .data = o, .size = sizeof o},
                                    {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n},
                                    {.kind = INTERP_ARG_BYTES, .data = &step, .size = sizeof step}};
        kit_same_everywhere(window, ranges, 2, 0, args, 4);
    }
    if (!has_avx2()) return;
    char *assembly = assembly_of(window, CPU_ISA_AVX2);
    assert_non_null(strstr(assembly, "vshufps")); /* vectors by registers, while all lanes are in it */
    free(assembly);
}

/* Steps up a tree, which one work-item of so many takes, the first of them or the last. */
static const char *const apart =
    "local @tile: [128 x f32]\n"
    "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32) work_group_size(128, 1, 1)\n"
    "        assumes(small_ids, small_memory, whole_groups) {\n"
    "  %g = global_id x\n  %x = load f32 %a[%g]\n  %l = local_id x\n  %t = trunc i32 %l\n  %p = global @tile\n"
    "  %mine = elem f32 %p, %l\n  store f32 %mine, %x\n  barrier work_group, local\n"
    "  %r0 = and i32 %t, 7\n  %c0 = ieq i32 %r0, 0\n"
    "  if %c0 {\n    %k0 = add i64 %l, 4\n    %e0 = elem f32 %p, %k0\n    %v0 = load f32 %e0\n"
    "    %w0 = load f32 %mine\n    %s0 = fadd f32 %v0, %w0\n    store f32 %mine, %s0\n    yield\n  }\n"
    "  barrier work_group, local\n  %t1 = add i32 %t, 1\n  %r1 = urem i32 %t1, 24\n  %c1 = ieq i32 %r1, 0\n"
    "  if %c1 {\n    %k1 = add i64 %l, -8\n    %e1 = elem f32 %p, %k1\n    %v1 = load f32 %e1\n"
    "    %w1 = load f32 %mine\n    %s1 = fadd f32 %v1, %w1\n    store f32 %mine, %s1\n    yield\n  }\n"
    "  barrier work_group, local\n  %sum = load f32 %mine\n  store f32 %o[%g], %sum\n  return\n}\n";

/* They run one by one, and no others: nothing is stored under masks. */
static void every_so_manieth_item_runs_alone(void **state)
{
    (void)state;
    enum { N = 512 };
    static float a[N], o[N];
    static const struct nd_range range = {1, {N, 1, 1}, {0}, {128, 1, 1}};
    for (int i = 0; i < N; i++) a[i] = (float)(i * 37 % 101) / 8;
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                {.kind = INTERP_ARG_BUFFER, .data = o, .size = sizeof o}};
    kit_same_everywhere(apart, &range, 1, 0, args, 2);
    if (!has_avx2()) return;
    char *assembly = assembly_of(apart, CPU_ISA_AVX2);
    assert_null(strstr(assembly, "maskmov"));
    assert_non_null(strstr(assembly, "vaddss"));
    free(assembly);
}

/* How many loops are around a place in the text: jumps back to a label before it. */
static unsigned loops_around(const char *assembly, const char *place)
{
    unsigned n = 0;
    for (const char *line = strchr(place, '\n'); line; line = strchr(line + 1, '\n')) {
        char label[32], head[36];
        if (sscanf(line, "\n\tj%*s %31s", label) != 1 || label[0] != '.') continue;
        snprintf(head, sizeof head, "\n%s:", label);
        const char *target = strstr(assembly, head);
        if (target && target < place) n++;
    }
    return n;
}

/* A function of arguments, which is the same for all. */
static void functions_of_arguments_are_computed_before(void **state)
{
    (void)state;
    if (!has_avx2()) skip();
    char *assembly = assembly_of("kernel @k(%a: ptr.global f32 read, %o: ptr.global f32, %n: i32, %b: f32, %c: f32) {\n"
                                 "  %i = global_id x\n  %x = trunc i32 %i\n  %in = slt i32 %x, %n\n  if %in {\n"
                                 "    %f = pow f32 %b, %c\n    %v = load f32 %a[%i]\n    %r = fmul f32 %v, %f\n"
                                 "    store f32 %o[%i], %r\n    yield\n  }\n  return\n}\n",
                                 CPU_ISA_AVX2);
    const char *call = strstr(assembly, "Sleef_"), *whole = strstr(assembly, "vmulps");
    assert_non_null(call);
    assert_non_null(whole);
    print_message("# loops around the function %u, around the product %u\n", loops_around(assembly, call),
                  loops_around(assembly, whole));
    assert_true(loops_around(assembly, call) < loops_around(assembly, whole));
    free(assembly);
}

/* Each work-item has a column of bytes in the group's memory, and counts in it what four numbers say at a time. */
static char *columns_of_bytes(void)
{
    struct strbuf b = {0};
    strbuf_add(&b, "local @bins: [1024 x i8]\n"
                   "kernel @k(%a: ptr.global i32x4 read, %o: ptr.global i32, %n: i32) work_group_size(64, 1, 1)\n"
                   "        assumes(small_ids, small_memory, whole_groups) {\n"
                   "  %l = local_id x\n  %i = global_id x\n  %first = trunc i32 %i\n  %size = global_size x\n"
                   "  %all = trunc i32 %size\n  %bins = global @bins\n  %column = elem i8 %bins, %l\n");
    for (unsigned k = 0; k < 16; k++)
        strbuf_printf(&b, "  %%z%u = elem i8 %%column, %u\n  store i8 %%z%u, 0\n", k, k * 64, k);
    strbuf_add(&b, "  barrier work_group, local\n  loop (%j: i32 = %first) {\n    %c = ult i32 %j, %n\n    if %c {\n"
                   "    %at = zext i64 %j\n    %v = load i32x4 %a[%at]\n");
    for (unsigned k = 0; k < 4; k++)
        strbuf_printf(
            &b,
            "    %%x%u = extract i32x4 %%v, %u\n    %%y%u = and i32 %%x%u, 15\n    %%m%u = mul i32 %%y%u, 64\n"
            "    %%e%u = zext i64 %%m%u\n    %%p%u = elem i8 %%column, %%e%u\n    %%s%u = load i8 %%p%u\n"
            "    %%t%u = add i8 %%s%u, 1\n    store i8 %%p%u, %%t%u\n",
            k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k);
    strbuf_add(&b, "    %next = add i32 %j, %all\n    continue %next\n    }\n    break\n  }\n"
                   "  barrier work_group, local\n  %row = mul i64 %l, 16\n  %some = elem i8 %bins, %row\n"
                   "  %sum = loop (%q: i32 = 0, %u: i32 = 0) -> i32 {\n    %qe = zext i64 %q\n"
                   "    %qp = elem i8 %some, %qe\n    %qv = load i8 %qp\n    %qw = zext i32 %qv\n"
                   "    %w = mul i32 %u, 3\n    %un = add i32 %w, %qw\n    %qn = add i32 %q, 1\n"
                   "    %on = ult i32 %qn, 16\n    if %on {\n      continue %qn, %un\n    }\n    break %un\n  }\n"
                   "  store i32 %o[%i], %sum\n  return\n}\n");
    return strbuf_take(&b);
}

/* Vectors of them would be taken apart for each byte. */
static void bytes_of_its_own_each_counts_alone(void **state)
{
    (void)state;
    enum { N = 500, ITEMS = 128 };
    static int32_t a[4 * N], o[ITEMS];
    static const struct nd_range range = {1, {ITEMS, 1, 1}, {0}, {64, 1, 1}};
    int32_t n = N;
    for (int i = 0; i < 4 * N; i++) a[i] = i * 37 % 101;
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                {.kind = INTERP_ARG_BUFFER, .data = o, .size = sizeof o},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
    char *text = columns_of_bytes();
    kit_same_everywhere(text, &range, 1, 0, args, 3);
    if (has_avx2()) {
        char *assembly = assembly_of(text, CPU_ISA_AVX2);
        assert_non_null(strstr(assembly, "addb"));
        assert_null(strstr(assembly, "pextr"));
        assert_null(strstr(assembly, "pinsr"));
        free(assembly);
    }
    free(text);
}

/* A work-item of 32 that count in the same places puts a mark on each number, and does it again where another one's is
   there then; or the loop goes on for another reason. */
static char *marked_counts(const char *compared)
{
    struct strbuf b = {0};
    strbuf_printf(
        &b,
        "local @bins: [128 x i32]\n"
        "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32) work_group_size(64, 1, 1)\n"
        "        assumes(small_ids, small_memory, whole_groups) {\n"
        "  %%l = local_id x\n  %%i = global_id x\n  %%bins = global @bins\n  %%own = elem i32 %%bins, %%l\n"
        "  store i32 %%own, 0\n  %%more = add i64 %%l, 64\n  %%second = elem i32 %%bins, %%more\n"
        "  store i32 %%second, 0\n  %%thin = trunc i32 %%l\n  %%mark = shl i32 %%thin, 27\n"
        "  %%warp = and i64 %%more, -32\n  %%half = elem i32 %%bins, %%warp\n  barrier work_group, local\n"
        "  %%v = load i32 %%a[%%i]\n  %%bin = and i32 %%v, 31\n  %%at = zext i64 %%bin\n"
        "  %%p = elem i32 %%half, %%at\n  loop {\n    %%x = load i32 %%p, volatile\n"
        "    %%y = and i32 %%x, 134217727\n    %%z = add i32 %%y, 1\n    %%marked = or i32 %%z, %%mark\n"
        "    store i32 %%p, %%marked, volatile\n    %%again = load i32 %%p, volatile\n"
        "    %%same = ieq i32 %%again, %s\n    if %%same {\n    } else {\n      continue\n    }\n    break\n  }\n"
        "  barrier work_group, local\n  %%w = load i32 %%second\n  %%sum = and i32 %%w, 134217727\n"
        "  store i32 %%o[%%i], %%sum\n  return\n}\n",
        compared);
    return strbuf_take(&b);
}

/* One work-item after the other needs no second round, and what it stored need not be read again. A loop that may wait
   for another work-item stays as it is. */
static void marks_are_no_reason_to_wait(void **state)
{
    (void)state;
    enum { ITEMS = 128 };
    static int32_t a[ITEMS], o[ITEMS];
    static const struct nd_range range = {1, {ITEMS, 1, 1}, {0}, {64, 1, 1}};
    for (int i = 0; i < ITEMS; i++) a[i] = i * i % 29;
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                {.kind = INTERP_ARG_BUFFER, .data = o, .size = sizeof o}};
    char *marks = marked_counts("%marked"), *waits = marked_counts("%y");
    kit_same_everywhere(marks, &range, 1, 0, args, 2);
    if (has_avx2()) {
        char *assembly = assembly_of(marks, CPU_ISA_AVX2), *waiting = assembly_of(waits, CPU_ISA_AVX2);
        assert_null(strstr(assembly, "gather"));
        assert_null(strstr(assembly, "vpaddd"));
        assert_non_null(strstr(waiting, "vpaddd"));
        free(assembly);
        free(waiting);
    }
    free(marks);
    free(waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_lane_walks_its_row),
                                       cmocka_unit_test(each_lane_sweeps_its_row),
                                       cmocka_unit_test(results_are_the_same_for_all),
                                       cmocka_unit_test(rows_come_by_registers),
                                       cmocka_unit_test(what_is_in_registers_runs_together),
                                       cmocka_unit_test(lanes_that_leap_side_by_side_run_together),
                                       cmocka_unit_test(near_lanes_run_together),
                                       cmocka_unit_test(columns_are_fetched_ahead),
                                       cmocka_unit_test(rounds_are_fetched_ahead),
                                       cmocka_unit_test(tiles_down_a_matrix_are_fetched_ahead),
                                       cmocka_unit_test(last_rows_are_fetched_ahead),
                                       cmocka_unit_test(ends_of_rows_that_stream_are_fetched),
                                       cmocka_unit_test(held_indices_are_not_fetched_ahead),
                                       cmocka_unit_test(bytes_are_not_cut_off_and_extended),
                                       cmocka_unit_test(lanes_add_together),
                                       cmocka_unit_test(tests_that_are_the_same_do_not_part_lanes),
                                       cmocka_unit_test(functions_of_arguments_are_computed_before),
                                       cmocka_unit_test(every_so_manieth_item_runs_alone),
                                       cmocka_unit_test(bytes_of_its_own_each_counts_alone),
                                       cmocka_unit_test(marks_are_no_reason_to_wait)};
    return cmocka_run_group_tests_name("test_cpu_lane_loops", tests, NULL, NULL);
}
