/* Coarser kernels do what the given ones do, whatever their ranges, offsets, alignment and work-groups are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuser/coarsen/coarsen.h"
#include "fuser/passes/manager/pass_manager.h"
#include "fuser/passes/passes.h"
#include "ir/interp/interp.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "ir/verify/verify.h"
#include "tests/support/cases.h"
#include "tests/support/random_args.h"

enum { MOST_ARGS = 40 };

static const struct pass *const first[] = {&pass_inline, &pass_byval_copy, NULL};
static const struct pass *const repeat[] = {&pass_fold, &pass_cse, &pass_mem2reg, &pass_dce, NULL};
static const struct pass *const last[] = {&pass_lower_returns, NULL};
static const struct pipeline prepare = {"prepare", .first = first, .repeat = repeat, .last = last};
static const struct pipeline tidy = {"tidy", .repeat = repeat};

/* ---- runs ---- */

struct seen {
    unsigned vectors; /* accesses of so many bytes that two numbers would not have them */
    unsigned bytes;
};

static bool see(void *data, const struct interp_access *access)
{
    struct seen *s = data;
    s->vectors += access->size >= s->bytes;
    return true;
}

static void run(const struct ir_function *f, const struct nd_range *range, const struct interp_arg *args,
                struct seen *seen)
{
    const struct interp_observer observer = {seen, see};
    /* Tolerant: it takes arguments to be aligned as nothing else is. */
    const struct interp_options options = {.check_races = true, .tolerant = true, .observer = seen ? &observer : NULL};
    struct interp_result result;
    if (interp_run(f, range, args, &options, &result) != 0 || result.n_findings)
        fail_msg("%s\n%s", result.findings[0].text, ir_print_function(f));
    interp_result_clear(&result);
}

/* The same by work-items that do several; items: as many as they can, or 1. */
static void run_coarse(const struct ir_function *f, unsigned items, const struct nd_range *range, uint64_t local,
                       const struct interp_arg *args, struct seen *seen)
{
    struct interp_arg all[MOST_ARGS];
    uint64_t size = range->global[0], offset = range->offset[0];
    uint32_t n = f->n_params - COARSEN_PARAMS, each = items;
    struct nd_range coarse = *range;
    memcpy(all, args, n * sizeof *all);
    all[n] = (struct interp_arg){.kind = INTERP_ARG_BYTES, .data = &size, .size = 8};
    all[n + 1] = (struct interp_arg){.kind = INTERP_ARG_BYTES, .data = &offset, .size = 8};
    all[n + 2] = (struct interp_arg){.kind = INTERP_ARG_BYTES, .data = &each, .size = 4};
    coarse.local[0] = local;
    coarse.local[1] = coarse.local[2] = 1;
    coarse.offset[0] = 0;
    coarse.global[0] = (size + local * items - 1) / (local * items) * local;
    run(f, &coarse, all, seen);
}

static unsigned make_coarse(struct ir_function *f)
{
    struct diag_list list = {0};
    pipeline_run(&prepare, f);
    unsigned items = coarsen(f);
    if (items == 1) return 1;
    if (!ir_verify(f->module, &list)) fail_msg("%s\n%s", diag_format(&list), ir_print_function(f));
    pipeline_run(&tidy, f);
    return items;
}

/* ---- random kernels ---- */

static bool check_random(unsigned seed, const struct random_kernel_options *options)
{
    struct random_kernel k = random_kernel(seed, options);
    struct interp_arg *want = random_args(&k, seed), *got = random_args(&k, seed), *narrow = random_args(&k, seed);
    struct nd_range range = {1, {k.guarded ? k.items + seed % 9 : k.items, 1, 1}, {0, 0, 0}, {1, 1, 1}};
    run(k.function, &range, want, NULL);
    unsigned items = make_coarse(k.function);
    if (items > 1) {
        run_coarse(k.function, items, &range, 1 + seed % 5, got, NULL);
        run_coarse(k.function, 1, &range, 1 + seed % 5, narrow, NULL);
        assert_true(random_args_equal(&k, want, got, "coarse", seed));
        assert_true(random_args_equal(&k, want, narrow, "one by one", seed));
    }
    random_args_free(&k, narrow);
    random_args_free(&k, got);
    random_args_free(&k, want);
    random_kernel_clear(&k);
    return items > 1;
}

static void test_random(void **state)
{
    (void)state;
    unsigned n = test_cases(1000), coarse = 0;
    for (unsigned seed = 0; seed < n; seed++)
        coarse += check_random(seed, &(struct random_kernel_options){.items = 20 + seed % 23, .guarded = seed & 1});
    for (unsigned seed = 0; seed < n; seed++)
        coarse += check_random(seed, &(struct random_kernel_options){.items = 20 + seed % 23,
                                                                     .no_private = true,
                                                                     .no_f64 = true,
                                                                     .instructions = 15,
                                                                     .no_calls = true,
                                                                     .guarded = seed & 1,
                                                                     .depth = 1 + seed % 3});
    assert_true(coarse * 15 > n);
}

/* ---- kernels as they are written ---- */

static struct ir_function *parse(const char *text, struct ir_module **module)
{
    struct diag_list list = {0};
    *module = ir_parse(text, strlen(text), "test", &list);
    if (!*module) fail_msg("%s", diag_format(&list));
    return (*module)->functions[0];
}

enum { ROOM = 4096, BUFFERS = 3 };

/* Two that are read, one that is written, then numbers. */
struct arguments {
    uint8_t *memory[BUFFERS];
    int32_t numbers[3];
    struct interp_arg args[BUFFERS + 3];
};

static void open_arguments(struct arguments *a, const unsigned *shift, const int32_t *numbers)
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        a->memory[i] = aligned_alloc(16, ROOM + 16);
        for (unsigned k = 0; k < ROOM + 16; k++) a->memory[i][k] = (uint8_t)(i == 2 ? 0xee : k * 37 + i + k / 50);
        a->args[i] = (struct interp_arg){
            .kind = INTERP_ARG_BUFFER, .data = a->memory[i] + shift[i], .size = ROOM + 16 - shift[i]};
    }
    memcpy(a->numbers, numbers, sizeof a->numbers);
    for (unsigned i = 0; i < 3; i++)
        a->args[BUFFERS + i] = (struct interp_arg){.kind = INTERP_ARG_BYTES, .data = &a->numbers[i], .size = 4};
}

static void close_arguments(struct arguments *a)
{
    for (unsigned i = 0; i < BUFFERS; i++) free(a->memory[i]);
}

/* How many vectors were moved. */
static unsigned check(const char *text, unsigned expected, const struct nd_range *range, uint64_t local,
                      const unsigned *shift, const int32_t *numbers)
{
    struct ir_module *module;
    struct ir_function *f = parse(text, &module);
    struct arguments want, got;
    struct seen seen = {.bytes = 9};
    open_arguments(&want, shift, numbers);
    run(f, range, want.args, NULL);
    unsigned items = make_coarse(f);
    assert_int_equal(items, expected);
    for (unsigned each = items == 1 ? 0 : items; each; each = each == 1 ? 0 : 1) {
        open_arguments(&got, shift, numbers);
        run_coarse(f, each, range, local, got.args, each == 1 ? NULL : &seen);
        if (memcmp(want.memory[2], got.memory[2], ROOM + 16) != 0)
            fail_msg("%llu by %llu, work-groups of %llu, %u at once, %u %u %u\n%s",
                     (unsigned long long)range->global[0], (unsigned long long)range->global[1],
                     (unsigned long long)local, each, shift[0], shift[1], shift[2], ir_print_function(f));
        close_arguments(&got);
    }
    close_arguments(&want);
    ir_module_free(module);
    return seen.vectors;
}

#define HEAD(T)                                                                                                        \
    "module \"m\" source none\nkernel @k(%a: ptr.global " T " read, %b: ptr.global " T " read, %o: ptr.global " T      \
    " write, %n: i32, %w: i32, %d: i32) assumes(small_ids, small_memory) {\n"

/* o[i] = a[i + d] where i < n */
#define MOVE(T)                                                                                                        \
    HEAD(T)                                                                                                            \
    "%g = global_id x\n%i = trunc i32 %g\n%in = slt i32 %i, %n\nif %in {\n%j = add i32 %i, %d\n%x = sext i64 %j\n"     \
    "%p = elem " T " %a, %x\n%v = load " T " %p\n%q = elem " T " %o, %g\nstore " T " %q, %v\nyield\n}\nreturn\n}\n"

static const struct {
    const char *text;
    unsigned items, bytes;
} moves[] = {{MOVE("i8"), 8, 1},    {MOVE("i16"), 8, 2},   {MOVE("f32"), 4, 4},
             {MOVE("i64"), 2, 8},   {MOVE("i8x2"), 8, 2},  {MOVE("i8x4"), 4, 4},
             {MOVE("f32x2"), 2, 8}, {MOVE("i16x4"), 2, 8}, {MOVE("f32x4"), 1, 16}};

static void test_types(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof moves / sizeof *moves; i++)
        for (unsigned n = 1; n < 40; n += n < 20 ? 1 : 7)
            for (unsigned way = 0; way < 12; way++) {
                const struct nd_range range = {1, {n, 1, 1}, {way & 4 ? 5 : 0, 0, 0}, {1, 1, 1}};
                const unsigned shift[3] = {way & 1 ? moves[i].bytes : 0, 0, way & 2 ? moves[i].bytes * 3 : 0};
                const int32_t numbers[3] = {way < 8 ? 1000 : (int32_t)n - 3, 0, way % 3 ? 0 : 3};
                unsigned vectors = check(moves[i].text, moves[i].items, &range, 1 + way % 4, shift, numbers);
                bool whole = !shift[0] && !shift[2] && !range.offset[0] && !numbers[2];
                if (moves[i].items > 1 && moves[i].items * moves[i].bytes == 16 && whole && n >= 16)
                    assert_true(vectors);
            }
}

/* The neighbours on both sides, inside; at the border what is there; both times another one. */
static const char stencil[] = HEAD(
    "f32") "%gx = global_id x\n%x = trunc i32 %gx\n%gy = global_id y\n%y = trunc i32 "
           "%gy\n%r = mul i32 %w, %y\n%i = add i32 %x, %r\n%c0 = sgt i32 %x, 0\n%l = add i32 %w, -1\n%c1 = slt i32 %x, "
           "%l\n"
           "%c = and bool %c0, %c1\n%s = if %c -> f32 {\n%i0 = sext i64 %i\n%p0 = elem f32 %a, %i0\n%h = add i32 %i, "
           "-1\n"
           "%i1 = sext i64 %h\n%p1 = elem f32 %a, %i1\n%v1 = load f32 %p1\n%v0 = load f32 %p0\n%j = sub i32 %i, -1\n"
           "%i2 = sext i64 %j\n%p2 = elem f32 %a, %i2\n%v2 = load f32 %p2\n%t = fmul f32 %v0, %v1\n%u = fadd f32 %t, "
           "%v2\n"
           "yield %u\n} else {\n%i3 = sext i64 %i\n%p3 = elem f32 %a, %i3\n%v3 = load f32 %p3\nyield %v3\n}\n"
           "%in = slt i32 %x, %w\nif %in {\n%i4 = sext i64 %i\n%p4 = elem f32 %b, %i4\n%v4 = load f32 %p4\n"
           "%z = fadd f32 %s, %v4\n%p5 = elem f32 %o, %i4\nstore f32 %p5, %z\nyield\n}\nreturn\n}\n";

static void test_stencil(void **state)
{
    (void)state;
    for (int32_t w = 5; w < 20; w++)
        for (unsigned way = 0; way < 8; way++) {
            const struct nd_range range = {2, {(uint64_t)w + way % 3, 7, 1}, {0, 0, 0}, {1, 1, 1}};
            const unsigned shift[3] = {way & 4 ? 4 : 0, 0, way == 7 ? 8 : 0};
            unsigned vectors = check(stencil, 4, &range, 1 + way % 5, shift, (int32_t[3]){0, w, 0});
            if (w % 4 == 0 && w > 8 && way < 4) assert_true(vectors);
        }
}

/* What one has and another has not: ids that are even, a loop of the same length for all, sizes. */
static const char mixed[] = HEAD(
    "i32") "%g = global_id x\n%i = trunc i32 %g\n%p = elem i32 %a, %g\n%v = load i32 %p\n"
           "%e = and i32 %v, 1\n%odd = ieq i32 %e, 1\n%s = if %odd -> i32 {\n%pb = elem i32 %b, %g\n%vb = load i32 "
           "%pb\n"
           "yield %vb\n} else {\nyield %i\n}\n%size = global_size x\n%off = global_offset x\n%m = add i64 %size, %off\n"
           "%k = trunc i32 %m\n%sum, %last = loop (%r: i32 = 0, %acc: i32 = %s) -> i32, i32 {\n%more = slt i32 %r, %d\n"
           "if %more {\n%acc1 = mul i32 %acc, 3\n%acc2 = add i32 %acc1, %i\n%r1 = add i32 %r, 1\ncontinue %r1, "
           "%acc2\n}\n"
           "break %acc, %r\n}\n%t = add i32 %sum, %k\n%u = add i32 %t, %last\n%q = elem i32 %o, %g\nstore i32 %q, %u\n"
           "return\n}\n";

static void test_mixed(void **state)
{
    (void)state;
    for (unsigned n = 1; n < 30; n += 3)
        for (unsigned way = 0; way < 6; way++) {
            const struct nd_range range = {1, {n, 1, 1}, {way & 1 ? 4 : 0, 0, 0}, {1, 1, 1}};
            const unsigned shift[3] = {0, 0, 0};
            unsigned vectors = check(mixed, 4, &range, 1 + way % 3, shift, (int32_t[3]){0, 0, (int32_t)way});
            if (n > 8) assert_true(vectors);
        }
}

/* Work-items that go round a loop in numbers of their own, or see where they are, stay by themselves. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD("i32") "%g = global_id x\n%l = local_id x\n%i = trunc i32 %l\n%q = elem i32 %o, %g\nstore i32 %q, %i\n"
                    "return\n}\n",
        HEAD("i32") "%g = global_id x\n%p = elem i32 %a, %g\n%v = load i32 %p\n%s = loop (%r: i32 = 0) -> i32 {\n"
                    "%more = slt i32 %r, %v\nif %more {\n%r1 = add i32 %r, 7\ncontinue %r1\n}\nbreak %r\n}\n"
                    "%q = elem i32 %o, %g\nstore i32 %q, %s\nreturn\n}\n",
        HEAD("i32") "%g = global_id x\n%h = mul i64 %g, 3\n%p = elem i32 %a, %h\n%v = load i32 %p\n"
                    "%q = elem i32 %o, %g\nstore i32 %q, %v\nreturn\n}\n",
    };
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ir_module *module;
        struct ir_function *f = parse(texts[i], &module);
        assert_int_equal(make_coarse(f), 1);
        ir_module_free(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_types),   cmocka_unit_test(test_stencil),
        cmocka_unit_test(test_mixed),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("coarsen", tests, NULL, NULL);
}
