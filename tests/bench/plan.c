/* How long graphs take to plan: medians of the CPU time, for graphs of several shapes and sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/support/graph_make.h"
#include "tests/support/rng.h"

enum { RUNS = 5 };

#define LOAD_AND_ADD(k) "    %j" #k " = add i64 %i, " #k "\n    %x" #k " = load i32 %a[%j" #k "]\n"

static const char kernels[] =
    "kernel @move(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n"
    "    %x = load i32 %a[%i]\n"
    "    %s = add i32 %x, 1\n"
    "    store i32 %o[%i], %s\n"
    "}\n"
    "kernel @squads(%a: ptr.global i32, %o: ptr.global i32) sub_group_size(8) {\n"
    "    %i = global_id x\n"
    "    %x = load i32 %a[%i]\n"
    "    store i32 %o[%i], %x\n"
    "}\n"
    "kernel @platoons(%a: ptr.global i32, %o: ptr.global i32) sub_group_size(16) {\n"
    "    %i = global_id x\n"
    "    %x = load i32 %a[%i]\n"
    "    store i32 %o[%i], %x\n"
    "}\n"
    "kernel @next(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n"
    "    %j = add i64 %i, 1\n"
    "    %x = load i32 %a[%j]\n"
    "    store i32 %o[%i], %x\n"
    "}\n"
    "kernel @blur(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n" LOAD_AND_ADD(1) LOAD_AND_ADD(2) LOAD_AND_ADD(3) LOAD_AND_ADD(4) LOAD_AND_ADD(5)
        LOAD_AND_ADD(6) LOAD_AND_ADD(7)
            LOAD_AND_ADD(8) "    %s = add i32 %x1, %x2\n    %t = add i32 %x3, %x4\n    %u = add i32 %x5, %x6\n"
                            "    %v = add i32 %x7, %x8\n    %st = add i32 %s, %t\n    %uv = add i32 %u, %v\n"
                            "    %r = add i32 %st, %uv\n    store i32 %o[%i], %r\n"
                            "}\n";

struct making {
    struct test_graph *graph;
    uint32_t n, n_buffers;
    struct rng rng;
};

static void add(struct making *m, const char *kernel, uint32_t from, uint32_t to)
{
    char name[16];
    struct fuser_arg args[] = {test_arg_buffer(from % m->n_buffers), test_arg_buffer(to % m->n_buffers)};
    snprintf(name, sizeof name, "n%u", m->graph->graph.n_nodes);
    test_kernel(m->graph, name, kernel, test_range(16, 0), args, 2);
}

/* Any buffer to its neighbour. */
static void shape_random(struct making *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t a = rng_below(&m->rng, m->n_buffers);
        add(m, "move", a, a + 1);
    }
}

static void shape_chain(struct making *m)
{
    for (uint32_t i = 0; i < m->n; i++) add(m, "move", i, i + 1);
}

/* Ten chains side by side, in which one kernel of three has to be apart from what it reads. */
static void shape_stencils(struct making *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        add(m, rng_chance(&m->rng, 33) ? "next" : "move", (i % 10) * 2 + i / 10 % 2, (i % 10) * 2 + (i / 10 + 1) % 2);
}

/* The same with more accesses, between few buffers: much to prove. */
static void shape_blurs(struct making *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t a = rng_below(&m->rng, 6);
        add(m, rng_chance(&m->rng, 25) ? "blur" : "move", a, (a + 1 + rng_below(&m->rng, 5)) % 6);
    }
}

/* Kernels of two kinds that cannot be one launch, whatever they touch. */
static void shape_two_kinds(struct making *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t a = rng_below(&m->rng, m->n_buffers);
        add(m, rng_chance(&m->rng, 50) ? "squads" : "platoons", a, a + 1);
    }
}

static const struct {
    const char *name;
    void (*make)(struct making *m);
} shapes[] = {{"random", shape_random},
              {"chain", shape_chain},
              {"stencils", shape_stencils},
              {"blurs", shape_blurs},
              {"two kinds", shape_two_kinds}};

static struct test_graph *make(int shape, uint32_t n)
{
    struct making m = {.graph = test_graph_new(kernels), .n = n, .n_buffers = 20 + n / 10, .rng = {3}};
    char name[16];
    for (uint32_t i = 0; i < m.n_buffers; i++) {
        snprintf(name, sizeof name, "b%u", i);
        test_buffer(m.graph, name, IR_I32, 32, (struct fuser_props){0});
    }
    shapes[shape].make(&m);
    return m.graph;
}

static double milliseconds(void)
{
    return (double)clock() * 1e3 / CLOCKS_PER_SEC;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool time_planning(int shape, uint32_t n)
{
    double times[RUNS];
    uint32_t n_launches = 0;
    struct test_graph *g = make(shape, n);
    for (int k = 0; k < RUNS; k++) {
        struct error error;
        double start = milliseconds();
        g->options.device.machine.cores = 2;
        struct fuser_plan *plan = fuser_plan_new(&g->graph, &g->options, &error);
        times[k] = milliseconds() - start;
        if (!plan) return fprintf(stderr, "%s: %s\n", error.object, error.reason) < 0;
        n_launches = plan->n_launches;
        fuser_plan_free(plan);
    }
    test_graph_free(g);
    qsort(times, RUNS, sizeof *times, compare);
    printf("%-12s %6u nodes: %8.2f ms, %u launches\n", shapes[shape].name, n, times[RUNS / 2], n_launches);
    return true;
}

int main(void)
{
    static const uint32_t sizes[] = {12, 100, 1000, 10000};
    for (int shape = 0; shape < (int)(sizeof shapes / sizeof *shapes); shape++)
        for (int i = 0; i < 4; i++)
            if (!time_planning(shape, sizes[i])) return 1;
    return 0;
}
