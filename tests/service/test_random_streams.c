/*
 * Random chains of streaming kernels compute the same fused and unfused, and in the interpreter, submission after
 * submission: also where some take fewer packets than there are, so that the next submission finds the rest.
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

enum { MOST_STAGES = 6, MOST_PACKETS = 300, SUBMISSIONS = 4, ROOM = 1 << 15 };

struct chain {
    char text[ROOM];
    size_t n;
    unsigned stages;
    int counts[MOST_STAGES + 1]; /* given to each: packets that it takes, or makes */
};

static struct service service;

static void put(struct chain *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct chain *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    c->n += (size_t)vsnprintf(c->text + c->n, ROOM - c->n, format, args);
    va_end(args);
    assert_true(c->n < ROOM);
}

/* ---- kernels ---- */

/* A number made of %x and %last. */
static void put_work(struct rng *r, struct chain *c)
{
    static const char *const operations[] = {"add", "sub", "xor", "mul"};
    put(c, "    %%u = %s i32 %%x, %%last\n", operations[rng_below(r, 4)]);
    put(c, "    %%v = %s i32 %%u, %u\n", operations[rng_below(r, 4)], 1 + rng_below(r, 9));
    put(c, "    store i32 %%w, %%v\n");
}

static void open_kernel(struct chain *c, unsigned stage, const char *pointer)
{
    put(c, "kernel @k%u(%%n: i32%s) {\n", stage, pointer);
    if (stage) put(c, "  %%in = global @p%u\n", stage - 1);
    if (stage + 1 < c->stages) put(c, "  %%out = global @p%u\n", stage);
    put(c, "  %%w = var i32\n");
}

static void open_loop(struct chain *c)
{
    put(c, "  loop (%%i: i32 = 0, %%last: i32 = 7) {\n    %%end = sge i32 %%i, %%n\n    if %%end { break }\n");
}

static void close_loop(struct chain *c, const char *last)
{
    put(c, "    %%next = add i32 %%i, 1\n    continue %%next, %s\n  }\n}\n", last);
}

static void put_source(struct rng *r, struct chain *c)
{
    open_kernel(c, 0, ", %a: ptr.global i32");
    open_loop(c);
    put(c, "    %%x = load i32 %%a[%%i]\n");
    put_work(r, c);
    put(c, "    pipe_write_wait i32 %%out, %%w\n");
    close_loop(c, "%v");
}

/* One that tests at the end of its rounds, behind a guard, as compilers make them. */
static int put_turned(struct rng *r, struct chain *c, unsigned stage, int left)
{
    open_kernel(c, stage, "");
    put(c, "  %%some = sgt i32 %%n, 0\n  if %%some {\n    %%first = mul i32 %%n, 3\n"
           "    loop (%%i: i32 = 0, %%last: i32 = %%first) {\n");
    put(c, "    pipe_read_wait i32 %%in, %%w\n    %%x = load i32 %%w\n");
    put_work(r, c);
    put(c, "    pipe_write_wait i32 %%out, %%w\n    %%next = add i32 %%i, 1\n    %%on = slt i32 %%next, %%n\n"
           "    if %%on { continue %%next, %%v }\n    break\n    }\n  }\n}\n");
    return left;
}

static int put_map(struct rng *r, struct chain *c, unsigned stage, int left)
{
    open_kernel(c, stage, "");
    open_loop(c);
    put(c, "    pipe_read_wait i32 %%in, %%w\n    %%x = load i32 %%w\n");
    put_work(r, c);
    put(c, "    pipe_write_wait i32 %%out, %%w\n");
    close_loop(c, "%v");
    return left;
}

/* Puts but every third one. */
static int put_some(struct rng *r, struct chain *c, unsigned stage, int left)
{
    open_kernel(c, stage, "");
    open_loop(c);
    put(c, "    pipe_read_wait i32 %%in, %%w\n    %%x = load i32 %%w\n");
    put_work(r, c);
    put(c, "    %%third = urem i32 %%i, 3\n    %%is = ieq i32 %%third, 0\n"
           "    if %%is { } else { pipe_write_wait i32 %%out, %%w }\n");
    close_loop(c, "%v");
    return left - (left + 2) / 3;
}

/* The sum of so many at a time. */
static int put_sums(struct rng *r, struct chain *c, unsigned stage, int *left)
{
    int block = 1 + (int)rng_below(r, 4);
    *left /= block;
    open_kernel(c, stage, "");
    open_loop(c);
    put(c,
        "    %%x = loop (%%k: i32 = 0, %%s: i32 = 0) -> i32 {\n      %%all = sge i32 %%k, %d\n"
        "      if %%all { break %%s }\n      pipe_read_wait i32 %%in, %%w\n      %%one = load i32 %%w\n"
        "      %%t = add i32 %%s, %%one\n      %%k1 = add i32 %%k, 1\n      continue %%k1, %%t\n    }\n",
        block);
    put_work(r, c);
    put(c, "    pipe_write_wait i32 %%out, %%w\n");
    close_loop(c, "%v");
    return *left;
}

static void put_sink(struct rng *r, struct chain *c)
{
    open_kernel(c, c->stages - 1, ", %o: ptr.global i32");
    open_loop(c);
    put(c, "    pipe_read_wait i32 %%in, %%w\n    %%x = load i32 %%w\n");
    put_work(r, c);
    put(c, "    store i32 %%o[%%i], %%v\n");
    close_loop(c, "%x");
}

/* Of any capacity, but with room for what kernels do not take of so many packets. */
static void put_pipe(struct rng *r, struct chain *c, unsigned pipe, int given)
{
    bool leaves = c->counts[pipe + 1] != given;
    put(c, "pipe @p%u: packet i32 capacity %u\n", pipe, (leaves ? 8 * SUBMISSIONS : 1) + rng_below(r, 9));
}

static void make_chain(struct rng *r, struct chain *c)
{
    c->n = 0;
    c->stages = 2 + rng_below(r, MOST_STAGES - 1);
    int left = c->counts[0] = 1 + (int)rng_below(r, MOST_PACKETS);
    bool leaves = false; /* once a chain */
    put_source(r, c);
    for (unsigned i = 1; i + 1 < c->stages; i++) {
        int given = left;
        if (!leaves && left > 4 && rng_chance(r, 20)) {
            left -= 1 + (int)rng_below(r, 3);
            leaves = true;
        }
        c->counts[i] = left;
        switch (rng_below(r, 4)) {
        case 0: left = put_map(r, c, i, left); break;
        case 1: left = put_turned(r, c, i, left); break;
        case 2: left = put_some(r, c, i, left); break;
        default: c->counts[i] = put_sums(r, c, i, &left);
        }
        put_pipe(r, c, i - 1, given);
    }
    c->counts[c->stages - 1] = left;
    put_pipe(r, c, c->stages - 2, left);
    put_sink(r, c);
}

/* ---- runs ---- */

/* A session's own pipes, memory and executables of a chain. */
struct side {
    fusion_session *session;
    fusion_buffer *a, *o;
    fusion_exec *apart, *one;
};

static fusion_exec *finalize(struct side *s, fusion_module *m, const struct chain *c, fusion_mode mode,
                             const char *device)
{
    const fusion_finalize_options options = {.mode = mode, .device = device};
    fusion_graph *g;
    fusion_exec *e;
    expect_ok(fusion_graph_create(s->session, &g));
    for (unsigned i = 0; i < c->stages; i++) {
        char name[16];
        fusion_arg args[2] = {fusion_arg_i32(c->counts[i])};
        bool ends = i == 0 || i + 1 == c->stages;
        if (ends) args[1] = i ? fusion_arg_write(s->o) : fusion_arg_read(s->a);
        snprintf(name, sizeof name, "k%u", i);
        add_node(g, m, name, 1, args, ends ? 2 : 1);
    }
    expect_ok(fusion_graph_finalize(g, &options, &e));
    fusion_graph_destroy(g);
    return e;
}

static struct side open_side(const struct chain *c, const char *device)
{
    struct side s = {.session = service_connect(&service)};
    fusion_module *m;
    s.a = index_buffer(s.session, "a", MOST_PACKETS, 5, 0);
    s.o = index_buffer(s.session, "o", MOST_PACKETS, 0, 0);
    expect_ok(fusion_module_load(s.session, "chain.fk", c->text, c->n, &m));
    if (strcmp(device, "cpu") == 0) s.apart = finalize(&s, m, c, FUSION_NONE, device);
    s.one = finalize(&s, m, c, FUSION_ENABLE, device);
    return s;
}

static const int *run(struct side *s, fusion_exec *e, int submission)
{
    void *memory;
    fusion_event event;
    expect_ok(fusion_buffer_map(s->a, &memory));
    for (int i = 0; i < MOST_PACKETS; i++) ((int *)memory)[i] = 5 * i + submission;
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    expect_ok(fusion_event_wait(s->session, event, 20000, NULL));
    expect_ok(fusion_buffer_map(s->o, &memory));
    return memory;
}

static void try_chain(uint64_t seed)
{
    static struct chain c;
    struct rng r = {seed};
    make_chain(&r, &c);
    struct side apart = open_side(&c, "cpu"), mixed = open_side(&c, "cpu"), reference = open_side(&c, "reference");
    const fusion_report *report = fusion_exec_report(mixed.one);
    for (uint32_t i = 0; i < report->n_remarks && report->launches > 1; i++)
        print_message("%s: %s\n", report->remarks[i].code, report->remarks[i].text);
    if (report->launches != 1)
        fail_msg("seed %llu: %u launches of\n%s", (unsigned long long)seed, report->launches, c.text);
    for (int i = 0; i < SUBMISSIONS; i++) {
        const int *wanted = run(&apart, apart.apart, i);
        const int *some = run(&mixed, rng_chance(&r, 70) ? mixed.one : mixed.apart, i);
        const int *others = run(&reference, reference.one, i);
        for (int k = 0; k < MOST_PACKETS; k++)
            if (some[k] != wanted[k] || others[k] != wanted[k])
                fail_msg("seed %llu: submission %d, number %d is %d, in the interpreter %d, not %d\n%s",
                         (unsigned long long)seed, i, k, some[k], others[k], wanted[k], c.text);
    }
    fusion_disconnect(apart.session);
    fusion_disconnect(mixed.session);
    fusion_disconnect(reference.session);
}

static void test_chains(void **state)
{
    (void)state;
    const char *seed = getenv("FUSIOND_TEST_SEED");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
    for (unsigned i = 0; i < test_cases(40); i++) try_chain(first + i);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains)};
    return cmocka_run_group_tests(tests, start, stop);
}
