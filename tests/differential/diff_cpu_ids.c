/*
 * Ids of all integer types as people use them for addresses: cut to a type, computed with, extended, guarded, and
 * wrapped near the ends of their type by offsets of the range. Random kernels, as they are and cleaned up, with and
 * without what the planner finds of their launch: the interpreter against compiled code. FUSIOND_TEST_CASES says how
 * many, FUSIOND_TEST_SEED where to begin.
 */
#include "fuser/passes/manager/pipelines.h"
#include "tests/support/cases.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/rng.h"

enum { ELEMENTS = 100, MOST_ITEMS = 150, ARGS = 6 };

struct program {
    struct rng rng;
    char text[8192];
    size_t used;
    const char *type; /* of the id that is computed with */
    unsigned bits;
    unsigned n;      /* values so far */
    unsigned loads;  /* numbers that are added up */
    bool injective;  /* different work-items have different ids */
    uint64_t offset; /* of the range */
    uint64_t back;   /* argument %c: adding it brings most ids between 0 and ELEMENTS */
};

static void put(struct program *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p->used += (size_t)vsnprintf(p->text + p->used, sizeof p->text - p->used, format, args);
    va_end(args);
    assert_true(p->used < sizeof p->text);
}

static bool chance(struct program *p, unsigned percent)
{
    return rng_chance(&p->rng, percent);
}

/* ---- the id ---- */

static void take_id(struct program *p)
{
    unsigned form = rng_below(&p->rng, 4);
    if (form == 0) {
        put(p,
            "  %%group = group_id x\n  %%size = enqueued_local_size x\n  %%local = local_id x\n  %%off = global_offset "
            "x\n"
            "  %%first = mul i64 %%group, %%size\n  %%in = add i64 %%first, %%local\n  %%id = add i64 %%in, %%off\n");
    } else {
        put(p, "  %%id = global_id x\n");
    }
    put(p, p->bits < 64 ? "  %%i0 = trunc %s %%id\n" : "  %%i0 = add %s %%id, 0\n", p->type);
}

static void compute(struct program *p)
{
    unsigned i = p->n++;
    switch (rng_below(&p->rng, 7)) {
    case 0: put(p, "  %%i%u = add %s %%i%u, %d\n", i + 1, p->type, i, (int)rng_below(&p->rng, 9) - 4); break;
    case 1: put(p, "  %%i%u = sub %s %%i%u, %u\n", i + 1, p->type, i, rng_below(&p->rng, 5)); break;
    case 2: put(p, "  %%i%u = mul %s %%i%u, %u\n", i + 1, p->type, i, 1 + rng_below(&p->rng, 3)); break;
    case 3: put(p, "  %%i%u = shl %s %%i%u, 1\n", i + 1, p->type, i); break;
    case 4: put(p, "  %%i%u = sub %s 90, %%i%u\n", i + 1, p->type, i); break;
    case 5:
        put(p, "  %%i%u = smax %s %%i%u, 3\n", i + 1, p->type, i);
        p->injective = false;
        break;
    default: put(p, "  %%i%u = and %s %%i%u, 127\n", i + 1, p->type, i); p->injective = false;
    }
}

/* %e: the id of 64 bits, by an extension or by what compilers make of one. */
static void extend(struct program *p, bool is_signed)
{
    const char *shift = is_signed ? "ashr" : "lshr";
    if (p->bits < 64) {
        put(p, "  %%e = %s i64 %%i%u\n", is_signed ? "sext" : "zext", p->n);
    } else if (chance(p, 30)) {
        put(p, "  %%up = shl i64 %%i%u, 32\n  %%one = add i64 %%up, 4294967296\n  %%e = %s i64 %%one, 32\n", p->n,
            shift);
    } else if (chance(p, 30)) {
        put(p, "  %%e = and i64 %%i%u, 4294967295\n", p->n);
    } else {
        put(p, "  %%e = add i64 %%i%u, 0\n", p->n);
    }
}

/* ---- what is done with it ---- */

static void add_load(struct program *p, const char *pointer)
{
    unsigned l = p->loads++;
    put(p, "    %%v%u = load f32 %%%s\n    %%s%u = fadd f32 %%s%u, %%v%u\n", l, pointer, l + 1, l, l);
}

/* The guard of `int` and `unsigned` ids, which says of the narrow number where the wide one is. */
static void guard(struct program *p, bool is_signed)
{
    if (p->bits == 64 || chance(p, 30))
        put(p, "  %%ok = ult i64 %%e, %u\n", ELEMENTS);
    else if (!is_signed || chance(p, 40))
        put(p, "  %%ok = ult %s %%i%u, %%n\n", p->type, p->n);
    else
        put(p, "  %%low = sge %s %%i%u, 0\n  %%high = sgt %s %%n, %%i%u\n  %%ok = select bool %%low, %%high, false\n",
            p->type, p->n, p->type, p->n);
}

static void access_at(struct program *p)
{
    put(p, "  if %%ok {\n    %%p = elem f32 %%x, %%e\n");
    add_load(p, "p");
    if (chance(p, 50)) {
        put(p, "    %%e2 = add i64 %%e, %d\n    %%q = elem f32 %%x, %%e2\n", (int)rng_below(&p->rng, 9) - 4);
        put(p, "    %%ok2 = ult i64 %%e2, %u\n    if %%ok2 {\n", ELEMENTS);
        unsigned before = p->loads;
        add_load(p, "q");
        put(p, "      store f32 %%o[%%at], %%s%u\n    }\n", p->loads);
        p->loads = before;
    } else {
        put(p, "    store f32 %%o[%%at], %%s%u\n", p->loads);
    }
    if (p->injective) put(p, "    %%r = elem f32 %%y, %%e\n    store f32 %%r, %%v0\n");
    put(p, "  }\n");
}

/* for (j = i; j < n; j += step) if it is one of the elements. */
static void loop(struct program *p)
{
    put(p, "  %%sum = loop (%%j: %s = %%i%u, %%a: f32 = 0, %%k: i32 = 0) -> f32 {\n", p->type, p->n);
    put(p, "    %%more = %s %s %%j, %%n\n    %%few = ult i32 %%k, 9\n    %%go = and bool %%more, %%few\n",
        chance(p, 50) ? "slt" : "ult", p->type);
    put(p, "    %%b = if %%go -> f32 {\n      %%is = ult %s %%j, %%n\n      %%t = if %%is -> f32 {\n", p->type);
    if (p->bits < 64)
        put(p, "        %%je = %s i64 %%j\n", chance(p, 50) ? "sext" : "zext");
    else
        put(p, "        %%je = add i64 %%j, 0\n");
    put(p, "        %%jp = elem f32 %%x, %%je\n        %%jv = load f32 %%jp\n        yield %%jv\n      } else { yield "
           "1 }\n");
    put(p, "      %%u = fadd f32 %%a, %%t\n      yield %%u\n    } else { break %%a }\n");
    put(p, "    %%j2 = add %s %%j, %u\n    %%k2 = add i32 %%k, 1\n    continue %%j2, %%b, %%k2\n  }\n", p->type,
        1 + 7 * rng_below(&p->rng, 3));
    put(p, "  store f32 %%z[%%at], %%sum\n");
}

static void make(struct program *p, uint64_t seed)
{
    static const struct {
        const char *type;
        unsigned bits;
    } types[] = {{"i8", 8}, {"i16", 16}, {"i32", 32}, {"i32", 32}, {"i32", 32}, {"i64", 64}};
    static const uint64_t ends[] = {0, 0, 0, 1u << 7, 1u << 15, 1u << 16, 1u << 31, 1ull << 32, 3ull << 31};
    *p = (struct program){.rng.state = seed, .injective = true};
    unsigned t = rng_below(&p->rng, 6);
    p->type = types[t].type;
    p->bits = types[t].bits;
    p->offset = ends[rng_below(&p->rng, 9)];
    if (p->offset) p->offset -= rng_below(&p->rng, 100);
    p->back = rng_below(&p->rng, 60) - 20 - (chance(p, 80) ? p->offset : 0);
    put(p,
        "kernel @k(%%x: ptr.global f32 read, %%y: ptr.global f32, %%z: ptr.global f32, %%w: ptr.global i64, %%n: %s, "
        "%%c: %s) {\n  %%o = elem f32 %%z, %u\n  %%at = global_linear_id\n",
        p->type, p->type, MOST_ITEMS);
    take_id(p);
    if (chance(p, 80)) put(p, "  %%i%u = add %s %%i%u, %%c\n", p->n + 1, p->type, p->n), p->n++;
    for (unsigned k = rng_below(&p->rng, 3); k; k--) compute(p);
    if (p->bits < 32) p->injective = false;
    bool is_signed = chance(p, 50);
    extend(p, is_signed);
    put(p, "  store i64 %%w[%%at], %%e\n  %%s0 = load f32 %%x[3]\n");
    guard(p, is_signed);
    access_at(p);
    if (chance(p, 40)) loop(p);
    put(p, "  return\n}\n");
}

/* ---- a case ---- */

static struct ir_module *parsed(const struct program *p, const struct nd_range *range, bool assumes, bool cleaned)
{
    struct ir_module *m = kit_parse(p->text);
    struct ir_function *k = kit_kernel(m);
    if (assumes) k->assumes = IR_ASSUME_SMALL_MEMORY | (nd_range_is_small(range) ? IR_ASSUME_SMALL_IDS : 0);
    if (cleaned) pipeline_run(&pipeline_cleanup, k);
    return m;
}

static void compare(const struct program *p, const struct nd_range *range, const struct interp_arg *args,
                    const struct interp_arg *want, uint64_t seed, unsigned way)
{
    struct kit_way ways[KIT_MAX_WAYS];
    struct kit_way w = ways[way % kit_ways(ways)];
    bool assumes = seed % 4 != 0, cleaned = seed % 3 != 0;
    struct ir_module *m = parsed(p, range, assumes, cleaned);
    struct interp_arg got[ARGS];
    struct compiled c;
    char how[128];
    snprintf(how, sizeof how, "seed %llu, %s%s%s", (unsigned long long)seed, kit_way_name(&w),
             assumes ? ", assuming" : "", cleaned ? ", cleaned up" : "");
    assert_true(kit_make(&c, kit_kernel(m), &w));
    kit_copy(got, args, ARGS);
    compiled_run(&c, kit_kernel(m), range, got, 1 + seed % 3, 0);
    for (unsigned i = 0; i < 4; i++)
        if (memcmp(want[i].data, got[i].data, want[i].size) != 0) fprintf(stderr, "# %s\n%s\n", how, p->text);
    kit_expect_same(want, got, ARGS, how);
    kit_free_copy(got, ARGS);
    compiled_clear(&c);
    ir_module_free(m);
}

static void run_case(uint64_t seed, bool all)
{
    static struct program p;
    float x[ELEMENTS], y[ELEMENTS] = {0}, z[2 * MOST_ITEMS] = {0};
    int64_t w[MOST_ITEMS] = {0};
    make(&p, seed);
    uint64_t n = ELEMENTS;
    struct interp_arg args[ARGS] = {
        {INTERP_ARG_BUFFER, x, sizeof x, NULL},   {INTERP_ARG_BUFFER, y, sizeof y, NULL},
        {INTERP_ARG_BUFFER, z, sizeof z, NULL},   {INTERP_ARG_BUFFER, w, sizeof w, NULL},
        {INTERP_ARG_BYTES, &n, p.bits / 8, NULL}, {INTERP_ARG_BYTES, &p.back, p.bits / 8, NULL}};
    struct nd_range range = {
        1, {1 + rng_below(&p.rng, MOST_ITEMS), 1, 1}, {p.offset, 0, 0}, {1 + rng_below(&p.rng, 70), 1, 1}};
    for (unsigned i = 0; i < ELEMENTS; i++) x[i] = (float)i + 0.5f;
    struct ir_module *m = parsed(&p, &range, false, false);
    struct interp_arg want[ARGS];
    kit_copy(want, args, ARGS);
    kit_interpret(kit_kernel(m), &range, want);
    ir_module_free(m);
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways(ways);
    for (unsigned i = 0; i < (all ? n_ways : 2); i++)
        compare(&p, &range, args, want, seed, all ? i : (unsigned)seed + 2 * i);
    kit_free_copy(want, ARGS);
}

static void random_ids(void **state)
{
    (void)state;
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (unsigned cases = test_cases(60); cases--; seed++) run_case(seed, first != NULL);
}

/* ---- what wraps, used as a number ---- */

static const char numbers[] = "kernel @k(%w: ptr.global i64, %f: ptr.global f32, %n: i32) {\n"
                              "  %at = global_linear_id\n"
                              "  %id = global_id x\n"
                              "  %i = trunc i32 %id\n"
                              "  %i1 = add i32 %i, 1\n"
                              "  %a = sext i64 %i\n"
                              "  %b = sext i64 %i1\n"
                              "  %d = sub i64 %b, %a\n" /* 1, but where it wraps */
                              "  %bits = bitcast f32 %i\n"
                              "  store f32 %f[%at], %bits\n"
                              "  %far = mul i64 %a, 4294967297\n"
                              "  %sum = add i64 %d, %far\n"
                              "  %last = loop (%j: i32 = %i, %k: i32 = 0, %s: i64 = %sum) -> i64 {\n"
                              "    %e = sext i64 %j\n"
                              "    %s3 = mul i64 %s, 3\n"
                              "    %s2 = add i64 %s3, %e\n"
                              "    %j2 = add i32 %j, 9\n"
                              "    %k2 = add i32 %k, 1\n"
                              "    %go = slt i32 %k2, %n\n"
                              "    if %go { continue %j2, %k2, %e }\n" /* as it was before %j2 */
                              "    break %s2\n"
                              "  }\n"
                              "  store i64 %w[%at], %last\n"
                              "}\n";

static void what_wraps_as_a_number(void **state)
{
    (void)state;
    int64_t w[MOST_ITEMS] = {0};
    float f[MOST_ITEMS] = {0};
    int32_t n = 4;
    const struct interp_arg args[] = {{INTERP_ARG_BUFFER, w, sizeof w, NULL},
                                      {INTERP_ARG_BUFFER, f, sizeof f, NULL},
                                      {INTERP_ARG_BYTES, &n, sizeof n, NULL}};
    const struct nd_range ranges[] = {{1, {MOST_ITEMS, 1, 1}, {(1u << 31) - 53, 0, 0}, {75, 1, 1}},
                                      {1, {MOST_ITEMS, 1, 1}, {(1ull << 32) - 85, 0, 0}, {64, 1, 1}}};
    kit_same_everywhere(numbers, ranges, 2, 0, args, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_ids), cmocka_unit_test(what_wraps_as_a_number)};
    return cmocka_run_group_tests_name("diff_cpu_ids", tests, NULL, NULL);
}
