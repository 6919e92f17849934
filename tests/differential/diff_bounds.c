/*
 * Kernels whose accesses go anywhere, checked: in the interpreter, in batches and compiled, in vectors and scalar, they
 * leave in memory what the kernel leaves that the interpreter runs and watches, and tell of the same first access
 * outside in the same words. What is left unchecked is never outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/strbuf.h"
#include "ir/printf/finding.h"
#include "ir/printf/printer.h"
#include "ir/text/print/print.h"
#include "tests/support/cases.h"
#include "tests/support/compiled.h"
#include "tests/support/plan_check.h"
#include "tests/support/rng.h"

enum { WORDS = 40, BUFFERS = 4, VALUES = 64, OUT = 2, BINS = 3, STEPS = 6, LOCAL = 12 };

/* ---- kernels ---- */

struct writing {
    struct rng rng;
    struct strbuf text;
    unsigned n;                    /* names so far */
    char indices[VALUES][8];       /* i64 */
    char numbers[VALUES][8];       /* i32 */
    unsigned n_indices, n_numbers; /* of each */
};

static unsigned below(struct writing *w, unsigned n)
{
    return (unsigned)rng_below(&w->rng, n);
}

static const char *any_index(struct writing *w)
{
    return w->indices[below(w, w->n_indices)];
}

static const char *any_number(struct writing *w)
{
    return w->numbers[below(w, w->n_numbers)];
}

static void new_index(struct writing *w, unsigned name)
{
    if (w->n_indices < VALUES) snprintf(w->indices[w->n_indices++], 8, "%%x%u", name);
}

static void new_number(struct writing *w, unsigned name)
{
    if (w->n_numbers < VALUES) snprintf(w->numbers[w->n_numbers++], 8, "%%x%u", name);
}

static void write_index(struct writing *w)
{
    static const char *const ops[] = {"add", "sub", "mul", "smin", "and", "umin"};
    unsigned op = below(w, 8), v = w->n++;
    if (op < 6)
        strbuf_printf(&w->text, "    %%x%u = %s i64 %s, %d\n", v, ops[op], any_index(w),
                      (int)below(w, op < 3 ? 6 : 40) - 2);
    else if (op == 6)
        strbuf_printf(&w->text, "    %%x%u = sext i64 %s\n", v, any_number(w));
    else
        strbuf_printf(&w->text, "    %%x%u = add i64 %s, %s\n", v, any_index(w), any_index(w));
    new_index(w, v);
}

static void write_load(struct writing *w)
{
    unsigned v = w->n++, c = below(w, 4);
    if (c == 0) { /* one or the other, from different places on */
        strbuf_printf(&w->text, "    %%c%u = slt i64 %s, %u\n", v, any_index(w), below(w, 40));
        strbuf_printf(&w->text, "    %%q%u = elem i32 %%b, %u\n", v, below(w, 5));
        strbuf_printf(&w->text, "    %%p%u = select ptr.global %%c%u, %%a, %%q%u\n", v, v, v);
        strbuf_printf(&w->text, "    %%x%u = load i32 %%p%u[%s]\n", v, v, any_index(w));
    } else if (c == 1) {
        strbuf_printf(&w->text, "    %%v%u = load i32x4 %%a[%s], align 4\n", v, any_index(w));
        strbuf_printf(&w->text, "    %%x%u = extract i32x4 %%v%u, %u\n", v, v, below(w, 4));
    } else if (c == 2) {
        strbuf_printf(&w->text, "    %%t%u = trunc i32 %s\n", v, any_index(w));
        strbuf_printf(&w->text, "    %%x%u = load i32 %%b[%%t%u]\n", v, v);
    } else {
        strbuf_printf(&w->text, "    %%x%u = load i32 %%a[%s]\n", v, any_index(w));
    }
    new_number(w, v);
}

/* A pointer that walks, and one that an if gives. */
static void write_walk(struct writing *w)
{
    unsigned v = w->n++;
    strbuf_printf(&w->text, "    %%b%u = elem i32 %%a, %s\n", v, any_index(w));
    strbuf_printf(
        &w->text,
        "    %%e%u, %%x%u = loop (%%p%u: ptr.global = %%b%u, %%s%u: i32 = 0, %%k%u: i32 = 0) -> ptr.global, i32 {\n", v,
        v, v, v, v, v);
    strbuf_printf(&w->text, "        %%d%u = uge i32 %%k%u, %u\n        if %%d%u { break %%p%u, %%s%u }\n", v, v,
                  below(w, 5), v, v, v);
    strbuf_printf(&w->text, "        %%l%u = load i32 %%p%u\n        %%u%u = add i32 %%s%u, %%l%u\n", v, v, v, v, v);
    strbuf_printf(&w->text, "        %%n%u = elem i32 %%p%u, %d\n        %%m%u = add i32 %%k%u, 1\n", v, v,
                  (int)below(w, 9) - 3, v, v);
    strbuf_printf(&w->text, "        continue %%n%u, %%u%u, %%m%u\n    }\n", v, v, v);
    strbuf_printf(&w->text, "    %%x%u = load i32 %%e%u\n", w->n, v);
    new_number(w, v);
    new_number(w, w->n++);
}

static void write_own(struct writing *w)
{
    unsigned v = w->n++;
    if (below(w, 2)) {
        strbuf_printf(&w->text, "    store i32 %%own[%s], %s\n", any_index(w), any_number(w));
        strbuf_printf(&w->text, "    %%x%u = load i32 %%own[%s]\n", v, any_index(w));
    } else { /* of its own in work-group memory */
        strbuf_printf(&w->text, "    %%z%u = add i64 %%l, %%%s\n", v, below(w, 2) ? "less" : "n");
        strbuf_printf(&w->text, "    store i32 %%m[%%z%u], %s\n    %%x%u = load i32 %%m[%%z%u]\n", v, any_number(w), v,
                      v);
    }
    new_number(w, v);
}

static void write_step(struct writing *w)
{
    unsigned c = below(w, 10);
    if (c < 4)
        write_index(w);
    else if (c < 6)
        write_load(w);
    else if (c == 6)
        write_walk(w);
    else if (c == 7)
        write_own(w);
    else if (c == 8)
        strbuf_printf(&w->text, "    %%x%u = atomic_add i32 %%h[%s], 3, device, relaxed\n", w->n++, any_index(w));
    else {
        strbuf_printf(&w->text, "    %%c%u = slt i64 %s, %u\n    if %%c%u {\n", w->n, any_index(w), below(w, 60), w->n);
        w->n++;
        unsigned indices = w->n_indices, numbers = w->n_numbers;
        write_load(w);
        write_own(w);
        w->n_indices = indices;
        w->n_numbers = numbers;
        strbuf_printf(&w->text, "    }\n");
    }
}

static char *write_kernel(unsigned seed)
{
    struct writing w = {
        .rng = {seed + 77}, .indices = {"%j", "%n", "%g"}, .numbers = {"%t"}, .n_indices = 3, .n_numbers = 1};
    strbuf_printf(&w.text, "kernel @k(%%a: ptr.global i32, %%b: ptr.global i32, %%o: ptr.global i32, %%h: ptr.global "
                           "i32, %%n: i64, %%m: ptr.local i32) {\n"
                           "    %%i = global_id x\n    %%l = local_id x\n    %%t = trunc i32 %%i\n"
                           "    %%j = add i64 %%i, %%n\n    %%less = sub i64 %%n, 3\n    %%w = load i32 %%b[%%i]\n"
                           "    %%g = sext i64 %%w\n"
                           "    %%own = var [6 x i32]\n"
                           "    %%y = loop (%%k: i32 = 0) -> i32 {\n        %%d = uge i32 %%k, 6\n"
                           "        if %%d { break %%k }\n        store i32 %%own[%%k], %%k\n"
                           "        %%round = add i32 %%k, 1\n        continue %%round\n    }\n");
    for (unsigned i = 0; i < 1 + seed % STEPS; i++) write_step(&w);
    strbuf_printf(&w.text, "    %%place = mul i64 %%i, %u\n    %%at = add i64 %%place, %%%s\n", below(&w, 2) + 1,
                  below(&w, 2) ? "less" : "n");
    strbuf_printf(&w.text, "    store i32 %%o[%%at], %s\n}\n", any_number(&w));
    return strbuf_take(&w.text);
}

/* ---- memory ---- */

struct memory {
    int32_t words[BUFFERS][WORDS];
    int64_t n;
};

static void fill(struct memory *m, unsigned seed)
{
    struct rng rng = {seed};
    memset(m, 0, sizeof *m);
    for (unsigned b = 0; b < BUFFERS; b++)
        for (unsigned i = 0; i < WORDS; i++) m->words[b][i] = (int32_t)rng_below(&rng, 45) - 2;
    m->n = (int64_t)rng_below(&rng, 10);
}

static void bind(struct memory *m, const struct ir_function *kernel, const struct fuser_launch *launch,
                 struct interp_arg *args)
{
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        uint32_t of = i; /* which argument of the node */
        if (launch) {
            const struct fuser_param *p = &launch->params[i];
            of = p->kind == FUSER_PARAM_BUFFER ? p->index : p->kind == FUSER_PARAM_VALUE ? BUFFERS : BUFFERS + 1;
        }
        args[i] = of < BUFFERS    ? (struct interp_arg){INTERP_ARG_BUFFER, m->words[of], sizeof m->words[of], NULL}
                  : of == BUFFERS ? (struct interp_arg){INTERP_ARG_BYTES, &m->n, sizeof m->n, NULL}
                                  : (struct interp_arg){INTERP_ARG_LOCAL, NULL, LOCAL * 4, NULL};
    }
}

/* ---- the kernel as it was written, watched ---- */

static char *watched(const struct ir_function *kernel, const struct nd_range *range, struct memory *m)
{
    struct interp_arg args[BUFFERS + 2];
    struct interp_result result = {0};
    struct interp_options options = {.max_findings = 1000};
    struct strbuf text = {0};
    char place[32];
    bind(m, kernel, NULL, args);
    assert_int_equal(interp_run(kernel, range, args, &options, &result), 0);
    const struct interp_finding *first = NULL;
    for (uint32_t i = 0; i < result.n_findings; i++) {
        const struct interp_finding *f = &result.findings[i];
        assert_int_equal(f->kind, INTERP_OUT_OF_BOUNDS);
        if (!first || f->linear < first->linear || (f->linear == first->linear && f->step < first->step)) first = f;
    }
    if (first) {
        snprintf(place, sizeof place, "k, line %u", first->line);
        strbuf_add(&text, "kernel k\n");
        ir_finding_begin(&text, place, range, first->item);
        strbuf_add(&text, first->text);
        if (first->bytes) ir_finding_end(&text, first->offset, first->bytes);
    }
    interp_result_clear(&result);
    return first ? strbuf_take(&text) : NULL;
}

/* ---- the kernel with checks, by all means ---- */

struct want {
    const char *text; /* NULL: nothing is outside */
    const struct memory *memory;
    const char *source;
    unsigned seed;
};

static void compare(const struct want *w, const struct ir_function *kernel, struct ir_printer *printer,
                    const struct memory *m, const char *how)
{
    ir_printer_end_launch(printer);
    const char *text = ir_printer_take_finding(printer);
    if (!w->text != !text || (text && strcmp(text, w->text) != 0))
        fail_msg("seed %u, %s: told `%s`, not `%s`:\n%s%s", w->seed, how, text ? text : "nothing",
                 w->text ? w->text : "nothing", w->source, ir_print_function(kernel));
    for (unsigned b = 0; b < BUFFERS; b++)
        for (unsigned i = 0; i < WORDS; i++)
            if (m->words[b][i] != w->memory->words[b][i])
                fail_msg("seed %u, %s: word %u of buffer %u is %d, not %d:\n%s%s", w->seed, how, i, b, m->words[b][i],
                         w->memory->words[b][i], w->source, ir_print_function(kernel));
}

static void run_interpreted(const struct want *w, const struct fuser_launch *l)
{
    struct memory m;
    struct interp_arg args[BUFFERS + 2];
    struct interp_result result = {0};
    struct interp_options options = {.printer = ir_printer_new(1 << 16)};
    fill(&m, w->seed);
    bind(&m, l->kernel, l, args);
    assert_int_equal(interp_run(l->kernel, &l->range, args, &options, &result), 0);
    if (result.n_findings) fail_msg("seed %u: not checked: %s\n%s", w->seed, result.findings[0].text, w->source);
    interp_result_clear(&result);
    compare(w, l->kernel, options.printer, &m, "interpreted");
    ir_printer_free(options.printer);
}

static void run_compiled(const struct want *w, const struct fuser_launch *l, struct compiled *c, const char *how)
{
    struct memory m;
    struct interp_arg args[BUFFERS + 2];
    c->printer = ir_printer_new(1 << 16);
    fill(&m, w->seed);
    bind(&m, l->kernel, l, args);
    compiled_run(c, l->kernel, &l->range, args, 1 + w->seed % 2, 0);
    compare(w, l->kernel, c->printer, &m, how);
    ir_printer_free(c->printer);
    compiled_clear(c);
}

static struct test_graph *graph_of(const char *text, const struct nd_range *range)
{
    static const char *const names[] = {"a", "b", "o", "h"};
    struct test_graph *g = test_graph_new(text);
    struct fuser_arg args[BUFFERS + 2];
    for (unsigned i = 0; i < BUFFERS; i++)
        args[i] = test_arg_buffer(test_buffer(g, names[i], IR_I32, WORDS, (struct fuser_props){0}));
    args[BUFFERS] = test_arg_value(test_value(g, 8));
    args[BUFFERS + 1] = test_arg_local(LOCAL * 4);
    test_kernel(g, "k", "k", *range, args, BUFFERS + 2);
    g->options.bounds = true;
    return g;
}

struct counts {
    unsigned proved_outside, outside, inside;
};

static void check(unsigned seed, struct counts *counts)
{
    struct nd_range range = test_range(24, 8);
    char *source = write_kernel(seed);
    struct test_graph *g = graph_of(source, &range);
    struct memory m;
    struct error e = {0};
    struct fuser_plan *plan = fuser_plan_new(&g->graph, &g->options, &e);
    fill(&m, seed);
    char *told = watched(ir_module_find(g->module, "k"), &range, &m);
    if (!plan) {
        assert_int_equal(e.code, FUSER_INVALID);
        if (!told || !strstr(e.reason, "outside of buffer")) fail_msg("seed %u: %s\n%s", seed, e.reason, source);
        counts->proved_outside++;
    } else {
        enum cpu_isa isas[CPU_ISA_COUNT];
        unsigned n = compiled_isas(isas);
        struct want w = {told, &m, source, seed};
        const struct fuser_launch *l = &plan->launches[0];
        struct compiled c;
        run_interpreted(&w, l);
        assert_true(compiled_make(&c, l->kernel, isas[seed % n], seed % 5 == 4));
        run_compiled(&w, l, &c, "compiled");
        assert_true(compiled_make_batch(&c, l->kernel, BATCH_BEST)); /* last: it changes the kernel */
        run_compiled(&w, l, &c, "in batches");
        *(told ? &counts->outside : &counts->inside) += 1;
    }
    fuser_plan_free(plan);
    test_graph_free(g);
    free(told);
    free(source);
}

static void as_the_interpreter(void **state)
{
    (void)state;
    struct counts counts = {0};
    const char *seed_text = getenv("FUSIOND_TEST_SEED");
    unsigned first = seed_text ? (unsigned)strtoul(seed_text, NULL, 10) : 0, n = test_cases(60);
    for (unsigned seed = first; seed < first + n; seed++) check(seed, &counts);
    print_message("# %u proved to be outside, %u outside, %u inside\n", counts.proved_outside, counts.outside,
                  counts.inside);
    assert_true(n < 100 || (counts.outside > n / 4 && counts.inside > 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_interpreter)};
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
