/*
 * What an operation of a work-item costs in batches, by the interpreter and in code: nanoseconds, the least of many
 * rounds in which ways take turns, in one thread. Operations are those that the interpreter counts.
 *
 * meson test -C build --benchmark --verbose batches
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ir/text/parse/parse.h"
#include "tests/support/compiled.h"

enum { ITEMS = 1 << 16, FEW = 1 << 10, LOCAL = 256, ROUNDS = 12 };

#define HEAD "kernel @k(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32 write, %n: i32) {\n"
#define TEN                                                                                                            \
    "%x1 = fmul f32 %x, %y\n %x2 = fadd f32 %x1, %x\n %x3 = fsub f32 %x2, %y\n %x4 = fmul f32 %x3, 0.5\n"              \
    "%x5 = fadd f32 %x4, %y\n %x6 = fmul f32 %x5, %x5\n %x7 = fadd f32 %x6, 1\n %x8 = fmul f32 %x7, %x2\n"             \
    "%x9 = fsub f32 %x8, %x3\n %z = fmul f32 %x9, %y\n"
#define LOADS "%x = load f32 %a[%i]\n %y = load f32 %b[%i]\n"

static const struct work {
    const char *name, *text;
} works[] = {
    {"floats", HEAD "%i = global_id x\n" LOADS TEN " store f32 %o[%i], %z\n}\n"},
    {"floats, int id, guard", HEAD "%g = global_id x\n %i = trunc i32 %g\n %in = slt i32 %i, %n\n if %in {\n" LOADS TEN
                                   " store f32 %o[%i], %z\n }\n}\n"},
    {"integers", HEAD "%i = global_id x\n %w = trunc i32 %i\n %p = mul i32 %w, 31\n %q = xor i32 %p, %n\n"
                      " %r = lshr i32 %q, 3\n %s = add i32 %r, %p\n %t = and i32 %s, 65535\n %u = smin i32 %t, %q\n"
                      " %v = shl i32 %u, 2\n %e = or i32 %v, %w\n %f = stof f32 %e\n store f32 %o[%i], %f\n}\n"},
    {"gather", HEAD "%i = global_id x\n %w = trunc i32 %i\n %p = mul i32 %w, 40503\n %q = and i32 %p, 65535\n"
                    " %x = load f32 %a[%q]\n store f32 %o[%i], %x\n}\n"},
    {"sin, exp, pow", HEAD "%i = global_id x\n" LOADS " %p = sin f32 %x\n %q = exp f32 %y\n %r = pow f32 %q, %p\n"
                           " store f32 %o[%i], %r\n}\n"},
    {"loop, all the same", HEAD "%i = global_id x\n" LOADS " %s = loop (%k: i32 = 0, %v: f32 = %x) -> f32 {\n"
                                " %end = sge i32 %k, 32\n if %end { break %v }\n %w = mad f32 %v, %y, %x\n"
                                " %next = add i32 %k, 1\n continue %next, %w\n }\n store f32 %o[%i], %s\n}\n"},
    {"loop, each its own", HEAD "%i = global_id x\n" LOADS " %w = trunc i32 %i\n %m = and i32 %w, 31\n"
                                " %s = loop (%k: i32 = 0, %v: f32 = %x) -> f32 {\n"
                                " %end = sge i32 %k, %m\n if %end { break %v }\n %w2 = mad f32 %v, %y, %x\n"
                                " %next = add i32 %k, 1\n continue %next, %w2\n }\n store f32 %o[%i], %s\n}\n"},
    {"sum of a work-group",
     "local @t: [256 x f32]\n" HEAD "%i = global_id x\n %l = local_id x\n %t = global @t\n %x = load f32 %a[%i]\n"
     " store f32 %t[%l], %x\n barrier work_group, local\n loop (%h: i64 = 128) {\n"
     " %done = ieq i64 %h, 0\n if %done { break }\n %in = slt i64 %l, %h\n if %in {\n"
     " %j = add i64 %l, %h\n %p = load f32 %t[%l]\n %q = load f32 %t[%j]\n %s = fadd f32 %p, %q\n"
     " store f32 %t[%l], %s\n }\n barrier work_group, local\n %next = lshr i64 %h, 1\n"
     " continue %next\n }\n %first = ieq i64 %l, 0\n if %first {\n %r = load f32 %t\n"
     " store f32 %o[%i], %r\n }\n}\n"},
};

static float a[ITEMS], b[ITEMS], out[ITEMS];
static int32_t n = ITEMS;
static const struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                         {.kind = INTERP_ARG_BUFFER, .data = b, .size = sizeof b},
                                         {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out},
                                         {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Operations of a work-item, and what one takes. */
static double interpret(const struct ir_function *kernel, uint64_t *steps)
{
    const struct nd_range range = {1, {FEW, 1, 1}, {0}, {LOCAL, 1, 1}};
    struct interp_result result;
    double start = now_ns();
    interp_run(kernel, &range, args, &(struct interp_options){.tolerant = true}, &result);
    double ns = now_ns() - start;
    *steps = result.steps / FEW;
    interp_result_clear(&result);
    return ns / FEW;
}

static double run(const struct compiled *c, const struct ir_function *kernel)
{
    const struct nd_range range = {1, {ITEMS, 1, 1}, {0}, {LOCAL, 1, 1}};
    double start = now_ns();
    compiled_run(c, kernel, &range, args, 1, 0);
    return (now_ns() - start) / ITEMS;
}

static void measure(const struct work *w)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(w->text, strlen(w->text), "bench", &list);
    const struct ir_function *kernel = m ? ir_module_find(m, "k") : NULL;
    struct compiled ways[4];
    double least[5] = {1e9, 1e9, 1e9, 1e9, 1e9};
    uint64_t steps = 1;
    if (!kernel || !compiled_make(&ways[3], kernel, CPU_ISA_AVX512, false)) {
        fprintf(stderr, "%s%s\n", w->text, kernel ? "" : diag_format(&list));
        exit(1);
    }
    double start = now_ns();
    for (int i = 0; i < 3; i++) compiled_make_batch(&ways[i], kernel, (enum batch_loops)i);
    double translation = (now_ns() - start) / 3e3;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 5; i++) {
            double ns = i == 4 ? interpret(kernel, &steps) : run(&ways[i], kernel);
            if (ns < least[i]) least[i] = ns;
        }
    printf("%-22s %4llu operations: batches %6.3f ns (avx2 %6.3f, generic %6.3f), code %6.3f, interpreter %6.1f; "
           "2^16 work-items %6.2f ms; translated in %.0f us\n",
           w->name, (unsigned long long)steps, least[0] / (double)steps, least[1] / (double)steps,
           least[2] / (double)steps, least[3] / (double)steps, least[4] / (double)steps, least[0] * ITEMS * 1e-6,
           translation);
    for (int i = 0; i < 4; i++) compiled_clear(&ways[i]);
    ir_module_free(m);
}

int main(void)
{
    for (int i = 0; i < ITEMS; i++) a[i] = (float)(i % 100) * 0.01f, b[i] = (float)(i % 77) * 0.01f;
    for (unsigned i = 0; i < sizeof works / sizeof *works; i++) measure(&works[i]);
    return 0;
}
