/*
 * Kernels of which each work-item puts a packet and takes one compute the same fused and unfused, and in the
 * interpreter, submission after submission: also where something is in the pipe before, so that they run one by one, or
 * at the same time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fusiond/finalize.h>

#include "tests/support/cases.h"
#include "tests/support/rng.h"
#include "tests/support/service.h"

enum { MOST_ITEMS = 64, SUBMISSIONS = 5, MOST_BEFORE = 3 };

struct pair {
    char text[4096];
    size_t n;
    bool waits;
    uint32_t items, capacity;
    int number; /* given to both kernels */
};

/* What a session has of a pair. */
struct side {
    fusion_session *session;
    fusion_buffer *a, *o;
    fusion_exec *before, *apart, *one;
};

static struct service service;

static void put(struct pair *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct pair *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p->n += (size_t)vsnprintf(p->text + p->n, sizeof p->text - p->n, format, args);
    va_end(args);
    assert_true(p->n < sizeof p->text);
}

static void begin_kernel(struct pair *p, const char *name)
{
    put(p, "kernel @%s(%%n: i32, %%x: ptr.global i32) {\n  %%p = global @p\n  %%w = var i32\n", name);
    put(p, "  %%id = global_id x\n  %%i = trunc i32 %%id\n");
}

static void make_pair(struct rng *r, struct pair *p)
{
    static const char *const conditions[][2] = {{"slt i32 %i, %n", "sgt i32 %n, %i"},
                                                {"sge i32 %i, %n", "sle i32 %n, %i"},
                                                {"ult i32 %i, %n", "ult i32 %i, %n"}};
    const char *const *condition = conditions[rng_below(r, 3)];
    p->n = 0;
    p->items = 1 + rng_below(r, MOST_ITEMS);
    p->number = (int)rng_below(r, 2 * p->items);
    p->waits = rng_chance(r, 50);
    p->capacity = p->waits ? 4 + rng_below(r, 90) : p->items + SUBMISSIONS * MOST_BEFORE;
    bool guarded = rng_chance(r, 60);
    put(p, "pipe @p: packet i32 capacity %u\n", p->capacity);
    put(p, "kernel @before(%%n: i32, %%x: ptr.global i32) {\n  %%p = global @p\n  %%ok = pipe_write i32 %%p, %%x\n}\n");
    begin_kernel(p, "put");
    put(p, "  %%v = load i32 %%x[%%i]\n  %%u = mul i32 %%v, %u\n  store i32 %%w, %%u\n", 1 + rng_below(r, 9));
    if (guarded) put(p, "  %%in = %s\n  if %%in {\n", condition[0]);
    put(p, p->waits ? "  pipe_write_wait i32 %%p, %%w\n" : "  %%ok = pipe_write i32 %%p, %%w\n");
    put(p, "%s}\n", guarded ? "  }\n" : "");
    begin_kernel(p, "take");
    if (guarded) put(p, "  %%in = %s\n  if %%in {\n", condition[1]);
    if (p->waits)
        put(p, "  pipe_read_wait i32 %%p, %%w\n  %%s = load i32 %%w\n");
    else
        put(p, "  %%ok = pipe_read i32 %%p, %%w\n  %%t = load i32 %%w\n  %%s = select i32 %%ok, %%t, 7\n");
    put(p, "  %%r = add i32 %%s, %%i\n  store i32 %%x[%%i], %%r\n%s}\n", guarded ? "  }\n" : "");
}

/* ---- runs ---- */

static void add(fusion_graph *g, fusion_module *m, const struct pair *p, const char *kernel, uint32_t items,
                fusion_arg memory)
{
    const fusion_arg args[] = {fusion_arg_i32(p->number), memory};
    const fusion_kernel_node node = {.module = m,
                                     .kernel = kernel,
                                     .dims = 1,
                                     .global = {items},
                                     .local = {items}, /* one work-group, in which packets are in order */
                                     .args = args,
                                     .n_args = 2};
    expect_ok(fusion_graph_add_kernel(g, &node, NULL));
}

static fusion_exec *finalize(fusion_graph *g, fusion_mode mode, const char *device)
{
    const fusion_finalize_options options = {.mode = mode, .device = device};
    fusion_exec *e;
    expect_ok(fusion_graph_finalize(g, &options, &e));
    fusion_graph_destroy(g);
    return e;
}

static fusion_exec *both(struct side *s, fusion_module *m, const struct pair *p, fusion_mode mode, const char *device)
{
    fusion_graph *g;
    expect_ok(fusion_graph_create(s->session, &g));
    add(g, m, p, "put", p->items, fusion_arg_read(s->a));
    add(g, m, p, "take", p->items, fusion_arg_write(s->o));
    return finalize(g, mode, device);
}

static struct side open_side(const struct pair *p, const char *device)
{
    struct side s = {.session = service_connect(&service)};
    fusion_module *m;
    fusion_graph *g;
    s.a = index_buffer(s.session, "a", MOST_ITEMS, 5, 0);
    s.o = index_buffer(s.session, "o", MOST_ITEMS, 0, 0);
    expect_ok(fusion_module_load(s.session, "pair.fk", p->text, p->n, &m));
    expect_ok(fusion_graph_create(s.session, &g));
    add(g, m, p, "before", 1, fusion_arg_read(s.a));
    s.before = finalize(g, FUSION_NONE, device);
    s.apart = both(&s, m, p, FUSION_NONE, device);
    s.one = both(&s, m, p, FUSION_ENABLE, device);
    return s;
}

static void submit(const struct side *s, fusion_exec *e)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    expect_ok(fusion_event_wait(s->session, event, 20000, NULL));
}

static const int *run(const struct side *s, fusion_exec *e, uint32_t before, int submission)
{
    void *memory;
    expect_ok(fusion_buffer_map(s->a, &memory));
    for (int i = 0; i < MOST_ITEMS; i++) ((int *)memory)[i] = 5 * i + submission;
    for (uint32_t i = 0; i < before; i++) submit(s, s->before);
    submit(s, e);
    expect_ok(fusion_buffer_map(s->o, &memory));
    return memory;
}

static void compare(const struct pair *p, uint64_t seed, int submission, const int *is, const int *wanted)
{
    for (uint32_t i = 0; i < MOST_ITEMS; i++)
        if (is[i] != wanted[i])
            fail_msg("seed %llu: submission %d, work-item %u has %d, not %d\n%s", (unsigned long long)seed, submission,
                     i, is[i], wanted[i], p->text);
}

/* In the interpreter kernels wait for each other only where they are one. */
static void try_pair(uint64_t seed)
{
    static struct pair p;
    struct rng r = {seed};
    uint32_t left = 0;
    make_pair(&r, &p);
    struct side apart = open_side(&p, "cpu"), mixed = open_side(&p, "cpu"), reference = open_side(&p, "reference");
    if (fusion_exec_report(mixed.one)->launches != 1)
        fail_msg("seed %llu: %u launches of\n%s", (unsigned long long)seed, fusion_exec_report(mixed.one)->launches,
                 p.text);
    bool interprets = !p.waits || p.capacity >= p.items + SUBMISSIONS * MOST_BEFORE;
    for (int i = 0; i < SUBMISSIONS; i++) {
        uint32_t before = i && rng_chance(&r, 40) ? rng_below(&r, MOST_BEFORE + 1) : 0;
        if (left + before > 4) before = 0; /* what stays in it must fit */
        left += before;
        const int *wanted = run(&apart, apart.apart, before, i);
        compare(&p, seed, i, run(&mixed, rng_chance(&r, 75) ? mixed.one : mixed.apart, before, i), wanted);
        if (interprets || left == 0) compare(&p, seed, i, run(&reference, reference.one, before, i), wanted);
    }
    fusion_disconnect(apart.session);
    fusion_disconnect(mixed.session);
    fusion_disconnect(reference.session);
}

static void test_pairs(void **state)
{
    (void)state;
    const char *seed = getenv("FUSIOND_TEST_SEED");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
    for (unsigned i = 0; i < test_cases(40); i++) try_pair(first + i);
}

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, start, stop);
}
